import { Type } from 'typebox'

const Texts = Type.Record(Type.String(), Type.String())

/** A developer as it is answered. */
export const DeveloperShape = Type.Object({
  id: Type.String({ pattern: '^[0-9a-f]{24}$' }),
  _id: Type.String({ pattern: '^[0-9a-f]{24}$' }),
  email: Type.String(),
  date_created: Type.String(),
  inactive: Type.Boolean({
    description:
      'True: no portal session and no password link. Keys and OAuth apps keep working; `verify_credentials` answers as before.',
  }),
  org_id: Type.String(),
  keys: Type.Record(Type.String(), Type.Array(Type.String()), { description: 'Hash of a key to its policies.' }),
  subscriptions: Type.Record(Type.String(), Type.String(), { description: 'Policy to the hash of the key for it.' }),
  api_keys: Texts,
  fields: Texts,
  nonce: Type.String({ description: 'Blank for callers who may not write developers.' }),
  sso_key: Type.String(),
  oauth_clients: Type.Record(Type.String(), Type.Array(Type.Object({ client_id: Type.String() }))),
  password_max_days: Type.Integer(),
  password_updated: Type.String(),
  PWHistory: Type.Array(Type.String(), { maxItems: 0 }),
  last_login_date: Type.String(),
})

/** A page of developers. */
export const DeveloperPage = Type.Object({ Data: Type.Array(DeveloperShape), Pages: Type.Integer() })

/** The answer of a replacement: it names the OAuth apps that were left out and kept. */
export const Updated = Type.Object({
  Status: Type.Literal('OK'),
  Message: Type.String(),
  Meta: Type.Union([
    Type.Null(),
    Type.Object({ kept: Type.Object({ oauth_clients: Type.Array(Type.String(), { description: 'Client ids.' }) }) }),
  ]),
})

/** The answer of a creation: the new id is the message. */
export const CreatedDeveloperShape = Type.Object({
  Status: Type.Literal('OK'),
  Message: Type.String({ pattern: '^[0-9a-f]{24}$' }),
  Meta: Type.Null(),
})

const members = {
  password: Type.Optional(
    Type.Unknown({ description: 'In clear, or a bcrypt hash ($2a$, $2b$, $2y$, cost up to 14).' }),
  ),
  inactive: Type.Optional(Type.Unknown({ description: 'true or false.' })),
  fields: Type.Optional(Type.Unknown({ description: 'Texts by name.' })),
  keys: Type.Optional(Type.Unknown({ description: 'Other policies that a key is listed under.' })),
  oauth_clients: Type.Optional(
    Type.Unknown({ description: 'The details of the apps. Create and delete apps by their own calls.' }),
  ),
  nonce: Type.Optional(Type.Unknown({ description: 'Of a sign-in by single sign-on.' })),
  sso_key: Type.Optional(Type.Unknown({ description: 'Name under which the developer signs in elsewhere.' })),
  password_max_days: Type.Optional(Type.Unknown({ description: 'A whole number.' })),
}

/** A whole record. What it must be is checked where it is read. */
export const DeveloperBody = Type.Object({ email: Type.String(), ...members })

/** Parts of a record. */
export const DeveloperPatch = Type.Object({ email: Type.Optional(Type.Unknown()), ...members })
