import { type TSchema, Type } from 'typebox'
import { DoneEnvelope } from '../routes/envelope.ts'

/** A success with this in `Meta`. */
export const okWith = (meta: TSchema, title: string) =>
  Type.Object({ Status: Type.Literal('OK'), Message: Type.String(), Meta: meta }, { title })

/** A success that says nothing besides. */
export const OK = DoneEnvelope

/** A browser session has ended here; after a SAML sign-in, logout continues at the identity provider. */
export const SIGNED_OUT = okWith(
  Type.Union([
    Type.Null(),
    Type.Object({ location: Type.String({ description: 'Where the browser ends its session elsewhere, too.' }) }),
  ]),
  'SignedOut',
)

const TICKET = Type.String({ minLength: 43, maxLength: 43, description: 'What `ticket` was answered.' })

/** The results of a browser's passkey calls; checked by the library. */
export const CREDENTIAL = Type.Object(
  { id: Type.String(), response: Type.Object({}, { additionalProperties: true }) },
  {
    title: 'PasskeyCredential',
    additionalProperties: true,
    description: 'The answer of `navigator.credentials`, as JSON.',
  },
)

/** The input of `navigator.credentials`. */
export const PASSKEY_OPTIONS = Type.Object(
  { challenge: Type.String() },
  { title: 'PasskeyOptions', additionalProperties: true },
)

const CSRF = Type.String({ description: 'For `X-CSRF-Token` of every call that writes.' })

/** A session has begun, or what is needed before it does. */
export const SIGN_IN_ANSWER = okWith(
  Type.Union([
    Type.Object(
      {
        user_id: Type.String(),
        email_address: Type.String(),
        org_id: Type.String(),
        csrf_token: CSRF,
        recovery_codes: Type.Optional(Type.Array(Type.String())),
      },
      { title: 'SignInDone' },
    ),
    Type.Object(
      {
        needs: Type.Enum(['organisation', 'second_factor', 'new_password', 'enrolment']),
        ticket: Type.String(),
        organisations: Type.Optional(
          Type.Array(Type.Object({ id: Type.String(), name: Type.String() }, { title: 'OrganisationName' })),
        ),
        methods: Type.Optional(Type.Array(Type.Enum(['code', 'passkey', 'recovery_code']))),
        passkey_options: Type.Optional(PASSKEY_OPTIONS),
        otpauth_uri: Type.Optional(Type.String()),
        secret: Type.Optional(Type.String()),
      },
      { title: 'SignInNeeds' },
    ),
  ]),
  'SignInAnswer',
)

/** Input that continues a sign-in: the ticket, and what `needs` named. */
export const CONTINUE_BODY = Type.Object(
  {
    ticket: TICKET,
    org_id: Type.Optional(Type.String()),
    code: Type.Optional(Type.String()),
    recovery_code: Type.Optional(Type.String()),
    passkey: Type.Optional(CREDENTIAL),
    new_password: Type.Optional(Type.String()),
  },
  { title: 'SignInContinuation' },
)

/** A passkey that signs in by itself. */
export const PASSKEY_BODY = Type.Object({ ticket: TICKET, response: CREDENTIAL }, { title: 'PasskeySignIn' })

/** The response of `POST /api/login/passkey/options`. */
export const PASSKEY_LOGIN_OPTIONS = okWith(
  Type.Object({ ticket: Type.String(), options: PASSKEY_OPTIONS }),
  'PasskeySignInOptions',
)

/** Who is signed in. */
export const SESSION = Type.Object(
  {
    user: Type.Object(
      {
        id: Type.String(),
        email_address: Type.String(),
        first_name: Type.String(),
        last_name: Type.String(),
        group_id: Type.String(),
        is_admin: Type.Boolean(),
        permissions: Type.Record(Type.String(), Type.String()),
      },
      { title: 'SignedInUser' },
    ),
    organisation: Type.Union(
      [Type.Null(), Type.Object({ id: Type.String(), name: Type.String() }, { title: 'OrganisationName' })],
      {
        description:
          'The own one; for a user without one, what `PUT /api/session/organisation` chose, or null for all.',
      },
    ),
    unbounded: Type.Boolean({ description: 'True for a user without an organisation: it only looks.' }),
    csrf_token: CSRF,
    via: Type.String(),
  },
  { title: 'SignedInSession' },
)

/** A session that continues under another id. */
export const RENEWED = okWith(
  Type.Object(
    { csrf_token: CSRF, recovery_codes: Type.Optional(Type.Array(Type.String())) },
    { title: 'RenewedSession' },
  ),
  'SessionRenewed',
)
