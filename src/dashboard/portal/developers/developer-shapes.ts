import { type TSchema, Type } from 'typebox'
import { describedAs, describedAsAnyOf } from '../../../model/openapi/component-schemas.ts'
import { DEVELOPER_FIELDS } from '../../../model/portal/developers/developer-fields.ts'
import { answeredScalars, sentScalars } from '../../routes/scalar-shapes.ts'

const Texts = Type.Record(Type.String(), Type.String())
const Ids = Type.Array(Type.String())

/** Members of an OAuth app that its developer's record holds and writes. */
const SAID = {
  client_name: Type.Optional(Type.String()),
  app_description: Type.Optional(Type.String()),
  use_case: Type.Optional(Type.String()),
}
const App = Type.Object(
  {
    ...{ client_id: Type.String(), ...SAID },
    secret: Type.Optional(Type.String({ description: 'Always blank.' })),
    redirect_uri: Type.Optional(Type.String()),
    date_created: Type.Optional(Type.String()),
  },
  { title: 'DeveloperAppEntry' },
)

/** A developer as it is answered. */
export const DeveloperShape = Type.Object(
  {
    id: Type.String({ pattern: '^[0-9a-f]{24}$' }),
    _id: Type.String({ pattern: '^[0-9a-f]{24}$' }),
    email: Type.String(),
    date_created: Type.String(),
    ...answeredScalars(DEVELOPER_FIELDS),
    org_id: Type.String(),
    keys: Type.Record(Type.String(), Type.Array(Type.String()), { description: 'Hash of a key to its policies.' }),
    subscriptions: Type.Record(Type.String(), Type.String(), { description: 'Policy to the hash of the key for it.' }),
    api_keys: Texts,
    fields: Texts,
    oauth_clients: Type.Record(Type.String(), Type.Array(App), { description: 'Policy to the apps made through it.' }),
    password_updated: Type.String(),
    PWHistory: Type.Array(Type.String(), { maxItems: 0 }),
    last_login_date: Type.String(),
  },
  { title: 'Developer', additionalProperties: true },
)

/** A page of developers. */
export const DeveloperPage = Type.Object(
  { Data: Type.Array(DeveloperShape), Pages: Type.Integer() },
  { title: 'DeveloperPage' },
)

/** The answer of a replacement: it names the OAuth apps that were left out and kept. */
export const Updated = Type.Object(
  {
    Status: Type.Literal('OK'),
    Message: Type.String(),
    Meta: Type.Union([
      Type.Null(),
      Type.Object({
        kept: Type.Object({
          oauth_clients: Type.Optional(Type.Array(Type.String(), { description: 'Client ids.' })),
          keys: Type.Optional(Type.Array(Type.String(), { description: 'Hashes.' })),
        }),
      }),
    ]),
  },
  { title: 'DeveloperUpdated' },
)

/** The answer of a creation: the new id is the message. */
export const CreatedDeveloperShape = Type.Object(
  {
    Status: Type.Literal('OK'),
    Message: Type.String({ pattern: '^[0-9a-f]{24}$' }),
    Meta: Type.Null(),
  },
  { title: 'Created' },
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
          { client_id: Type.String(), ...SAID },
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
  { email: Type.String(), ...members },
  { title: 'DeveloperInput', additionalProperties: true },
)

/** Parts of a record. */
export const DeveloperPatch = Type.Object(
  { email: checkedLater(Type.String()), ...members },
  { title: 'DeveloperPatch', additionalProperties: true },
)
