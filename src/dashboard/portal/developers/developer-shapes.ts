import { Type } from 'typebox'
import { DEVELOPER_FIELDS } from '../../../model/portal/developers/developer-fields.ts'
import { answeredScalars, sentScalars } from '../../routes/scalar-shapes.ts'

const Texts = Type.Record(Type.String(), Type.String())

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
    oauth_clients: Type.Record(
      Type.String(),
      Type.Array(Type.Object({ client_id: Type.String() }, { title: 'DeveloperAppName' })),
    ),
    password_updated: Type.String(),
    PWHistory: Type.Array(Type.String(), { maxItems: 0 }),
    last_login_date: Type.String(),
  },
  { title: 'Developer' },
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

const members = {
  password: Type.Optional(
    Type.Unknown({ description: 'In clear, or a bcrypt hash ($2a$, $2b$, $2y$, cost up to 14).' }),
  ),
  fields: Type.Optional(Type.Unknown({ description: 'Texts by name.' })),
  keys: Type.Optional(Type.Unknown({ description: 'Other policies that a key is listed under.' })),
  oauth_clients: Type.Optional(
    Type.Unknown({ description: 'The details of the apps. Create and delete apps by their own calls.' }),
  ),
  ...sentScalars(DEVELOPER_FIELDS),
}

/** A whole record. What it must be is checked where it is read. */
export const DeveloperBody = Type.Object({ email: Type.String(), ...members }, { title: 'DeveloperInput' })

/** Parts of a record. */
export const DeveloperPatch = Type.Object(
  { email: Type.Optional(Type.Unknown()), ...members },
  { title: 'DeveloperPatch' },
)
