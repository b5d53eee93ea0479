import { type TSchema, Type } from 'typebox'
import { DoneEnvelope, OkStatus, OutcomeText } from '../routes/envelope.ts'
import { webAddress } from '../routes/text-forms.ts'

/** A success with this in `Meta`. */
export const okWith = (meta: TSchema, title: string) =>
  Type.Object({ Status: OkStatus, Message: OutcomeText, Meta: meta }, { title })

/** A success that says nothing besides. */
export const OK = DoneEnvelope

/** A browser session has ended here; after a SAML sign-in, logout continues at the identity provider. */
export const SIGNED_OUT = okWith(
  Type.Union(
    [
      Type.Null(),
      Type.Object({ location: Type.String({ description: 'Where the browser ends its session elsewhere, too.' }) }),
    ],
    { description: 'Null, unless the session came by SAML.' },
  ),
  'SignedOut',
)

const TICKET = Type.String({ minLength: 43, maxLength: 43, description: '`ticket` of the answer before.' })

/** The results of a browser's passkey calls; checked by the library. */
export const CREDENTIAL = Type.Object(
  {
    id: Type.String({ description: 'Id of the credential, in base64url.' }),
    response: Type.Object(
      {},
      { additionalProperties: true, description: "Members of the browser's answer, in base64url." },
    ),
  },
  {
    title: 'PasskeyCredential',
    additionalProperties: true,
    description: 'The answer of `navigator.credentials`, as JSON.',
  },
)

/** The input of `navigator.credentials`. */
export const PASSKEY_OPTIONS = Type.Object(
  { challenge: Type.String({ description: 'Challenge for the browser, in base64url.' }) },
  {
    title: 'PasskeyOptions',
    description: 'Options for `navigator.credentials` of the browser, as JSON.',
    additionalProperties: true,
  },
)

const CSRF = Type.String({ description: 'For `X-CSRF-Token` of every call that writes.' })

/** A session has begun, or what is needed before it does. */
export const SIGN_IN_ANSWER = okWith(
  Type.Union(
    [
      Type.Object(
        {
          user_id: Type.String({ description: 'Id of the user.' }),
          email_address: Type.String({ description: 'Email address of the user.' }),
          org_id: Type.String({
            description: 'Id of the organisation that the session is in. Blank for a user of none.',
          }),
          csrf_token: CSRF,
          recovery_codes: Type.Optional(
            Type.Array(Type.String(), { description: 'Recovery codes. They are shown now, and never again.' }),
          ),
        },
        { title: 'SignInDone', description: 'The user is signed in: the answer sets the cookie of the session.' },
      ),
      Type.Object(
        {
          needs: Type.Enum(['organisation', 'second_factor', 'new_password', 'enrolment'], {
            description: 'What the sign-in needs next.',
          }),
          ticket: Type.String({ description: 'Names the sign-in in the call that continues it.' }),
          organisations: Type.Optional(
            Type.Array(
              Type.Object(
                {
                  id: Type.String({ description: 'Id of the organisation.' }),
                  name: Type.String({ description: 'Name of the organisation.' }),
                },
                { title: 'OrganisationName' },
              ),
              { description: 'Organisations to choose from.' },
            ),
          ),
          methods: Type.Optional(
            Type.Array(Type.Enum(['code', 'passkey', 'recovery_code']), {
              description: 'Second factors that the user has.',
            }),
          ),
          passkey_options: Type.Optional(PASSKEY_OPTIONS),
          otpauth_uri: Type.Optional(webAddress('URI for an authenticator app, for `enrolment`.')),
          secret: Type.Optional(Type.String({ description: 'Secret of the same, for typing.' })),
        },
        { title: 'SignInNeeds', description: 'More is needed to sign in.' },
      ),
    ],
    { description: 'The user is signed in, or more is needed.' },
  ),
  'SignInAnswer',
)

/** Input that continues a sign-in: the ticket, and what `needs` named. */
export const CONTINUE_BODY = Type.Object(
  {
    ticket: TICKET,
    org_id: Type.Optional(Type.String({ description: 'Id of the chosen organisation.' })),
    code: Type.Optional(Type.String({ description: 'Code of an authenticator app.' })),
    recovery_code: Type.Optional(Type.String({ description: 'A recovery code, which is used up.' })),
    passkey: Type.Optional(CREDENTIAL),
    new_password: Type.Optional(Type.String({ description: 'New password, where `needs` asks for one.' })),
  },
  { title: 'SignInContinuation' },
)

/** A passkey that signs in by itself. */
export const PASSKEY_BODY = Type.Object({ ticket: TICKET, response: CREDENTIAL }, { title: 'PasskeySignIn' })

/** The response of `POST /api/login/passkey/options`. */
export const PASSKEY_LOGIN_OPTIONS = okWith(
  Type.Object(
    {
      ticket: Type.String({ description: 'Names the sign-in in the call that continues it.' }),
      options: PASSKEY_OPTIONS,
    },
    { description: 'What the browser needs to ask for a passkey.' },
  ),
  'PasskeySignInOptions',
)

/** Who is signed in. */
export const SESSION = Type.Object(
  {
    user: Type.Object(
      {
        id: Type.String({ description: 'Id of the user.' }),
        email_address: Type.String({ description: 'Email address of the user.' }),
        first_name: Type.String({ description: 'First name.' }),
        last_name: Type.String({ description: 'Last name.' }),
        group_id: Type.String({ description: 'Id of the user group. Blank: none.' }),
        is_admin: Type.Boolean({ description: 'True for an administrator of the organisation.' }),
        permissions: Type.Record(Type.String(), Type.String(), {
          description: 'Effective permissions by name, each `read`, `write` or `deny`.',
        }),
      },
      { title: 'SignedInUser', description: 'The signed-in user.' },
    ),
    organisation: Type.Union(
      [
        Type.Null(),
        Type.Object(
          {
            id: Type.String({ description: 'Id of the organisation.' }),
            name: Type.String({ description: 'Name of the organisation.' }),
          },
          { title: 'OrganisationName' },
        ),
      ],
      {
        description:
          'The own one; for a user without one, what `PUT /api/session/organisation` chose, or null for all.',
      },
    ),
    unbounded: Type.Boolean({ description: 'True for a user without an organisation: it only looks.' }),
    csrf_token: CSRF,
    via: Type.String({
      description:
        'How the user signed in: `password`, `passkey`, `sso`, or `credential` for a call with an API credential.',
    }),
  },
  { title: 'SignedInSession' },
)

/** A session that continues under another id. */
export const RENEWED = okWith(
  Type.Object(
    {
      csrf_token: CSRF,
      recovery_codes: Type.Optional(
        Type.Array(Type.String(), { description: 'Recovery codes. They are shown now, and never again.' }),
      ),
    },
    { title: 'RenewedSession', description: 'The session, which continues under a new id.' },
  ),
  'SessionRenewed',
)
