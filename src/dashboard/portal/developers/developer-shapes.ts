import { type TSchema, Type } from 'typebox'
import { describedAs, describedAsAnyOf } from '../../../model/openapi/component-schemas.ts'
import { DEVELOPER_FIELDS } from '../../../model/portal/developers/developer-fields.ts'
import { described } from '../../routes/described.ts'
import { OkStatus, OutcomeText, PageCount } from '../../routes/envelope.ts'
import { answeredScalars, sentScalars } from '../../routes/scalar-shapes.ts'
import { emailAddress, moment, storageId } from '../../routes/text-forms.ts'

const Texts = Type.Record(Type.String(), Type.String())
const Ids = Type.Array(Type.String())

/** Members of an OAuth app that its developer's record holds and writes. */
const SAID = {
  client_name: Type.Optional(Type.String({ description: 'Name of the app.' })),
  app_description: Type.Optional(Type.String({ description: 'Description of the app.' })),
  use_case: Type.Optional(Type.String({ description: 'What the app is for, as text for people.' })),
}
const App = Type.Object(
  {
    ...{ client_id: Type.String({ description: 'Client id.' }), ...SAID },
    secret: Type.Optional(Type.String({ description: 'Always blank.' })),
    redirect_uri: Type.Optional(Type.String({ description: 'Redirect URIs of the app.' })),
    date_created: Type.Optional(moment('Time of creation (RFC 3339).')),
  },
  { title: 'DeveloperAppEntry' },
)

/** A developer as it is answered. */
export const DeveloperShape = Type.Object(
  {
    id: storageId('Id of the developer: 24 hexadecimal digits.'),
    _id: storageId('As `id`: older name.'),
    email: emailAddress('Email address, by which the developer signs in at the portal.'),
    date_created: moment('Time of creation (RFC 3339).'),
    ...answeredScalars(DEVELOPER_FIELDS),
    org_id: Type.String({ description: 'Id of the organisation.' }),
    keys: Type.Record(Type.String(), Type.Array(Type.String()), { description: 'Hash of a key to its policies.' }),
    subscriptions: Type.Record(Type.String(), Type.String(), { description: 'Policy to the hash of the key for it.' }),
    api_keys: described(Texts, 'Id of an API to the hash of the key for it, as older portals keep it.'),
    fields: described(Texts, 'Values of custom fields by name, such as `Name`.'),
    oauth_clients: Type.Record(Type.String(), Type.Array(App), { description: 'Policy to the apps made through it.' }),
    password_updated: moment('Time at which the password was set (RFC 3339).'),
    PWHistory: Type.Array(Type.String(), {
      maxItems: 0,
      description: 'Always empty; kept for clients of the incumbent.',
    }),
    last_login_date: moment('Time of the last sign-in at the portal (RFC 3339); 0001-01-01T00:00:00Z = never.'),
  },
  { title: 'Developer', additionalProperties: true },
)

/** A page of developers. */
export const DeveloperPage = Type.Object(
  { Data: Type.Array(DeveloperShape, { description: 'Developers of the page.' }), Pages: PageCount },
  { title: 'DeveloperPage' },
)

/** The answer of a replacement: it names the OAuth apps that were left out and kept. */
export const Updated = Type.Object(
  {
    Status: OkStatus,
    Message: OutcomeText,
    Meta: Type.Union(
      [
        Type.Null(),
        Type.Object({
          kept: Type.Object(
            {
              oauth_clients: Type.Optional(Type.Array(Type.String(), { description: 'Client ids.' })),
              keys: Type.Optional(Type.Array(Type.String(), { description: 'Hashes.' })),
            },
            { description: 'What belongs to other owners and stays.' },
          ),
        }),
      ],
      { description: 'Null, unless something that was left out stays.' },
    ),
  },
  { title: 'DeveloperUpdated' },
)

const SENT_EMAIL = emailAddress(
  'Email address, by which the developer signs in at the portal. Unique in the organisation.',
)

/** A member whose check is where it is read, in words of its own. */
const checkedLater = (shape: TSchema) => Type.Optional(Type.Unknown(describedAs(shape)))

const members = {
  password: checkedLater(Type.String({ description: 'In clear, or a bcrypt hash ($2a$, $2b$, $2y$, cost up to 14).' })),
  fields: checkedLater(
    Type.Record(Type.String(), Type.Unknown(describedAsAnyOf(Type.String(), Type.Number(), Type.Boolean())), {
      description: 'Texts by name; numbers and flags become texts.',
    }),
  ),
  keys: checkedLater(
    Type.Record(Type.String(), Ids, { description: 'Hash of a key to other policies that it is listed under.' }),
  ),
  oauth_clients: checkedLater(
    Type.Record(
      Type.String(),
      Type.Array(
        Type.Object(
          { client_id: Type.String({ description: 'Client id of an app that the developer has.' }), ...SAID },
          { title: 'DeveloperAppDetails', additionalProperties: true },
        ),
      ),
      { description: 'The details of the apps. Create and delete apps by their own calls.' },
    ),
  ),
  ...sentScalars(DEVELOPER_FIELDS),
}

/** A whole record; further members are kept. What it must be is checked where it is read. */
export const DeveloperBody = Type.Object(
  {
    email: SENT_EMAIL,
    ...members,
  },
  { title: 'DeveloperInput', additionalProperties: true },
)

/** Parts of a record. */
export const DeveloperPatch = Type.Object(
  {
    email: checkedLater(SENT_EMAIL),
    ...members,
  },
  { title: 'DeveloperPatch', additionalProperties: true },
)
