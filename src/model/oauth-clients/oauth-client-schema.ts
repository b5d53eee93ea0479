import type { JsonObject } from '../json/json.ts'
import { GRANTS } from './grants.ts'

const text = (description: string, example?: string): JsonObject => ({
  type: 'string',
  description,
  ...(example !== undefined && { example }),
})
const texts = (description: string, example: readonly string[]): JsonObject => ({
  type: 'array',
  items: { type: 'string' },
  description,
  example: [...example],
})
const open = (description: string): JsonObject => ({ type: 'object', additionalProperties: true, description })

/** Members that every answer about an OAuth client has. */
export const CLIENT_MEMBERS = {
  client_id: text('Client id. Absent in a new client: one is made.', 'bookkeeper'),
  secret: text('Client secret. Absent in a new client: one is made.', 'a-secret-that-you-would-let-us-choose'),
  redirect_uri: text(
    'The first of `redirect_uris`, or all where a separator is set (`dashboard.oauth_redirect_uri_separator`).',
  ),
  redirect_uris: texts(
    'Redirect URIs. They are compared letter by letter; of loopback addresses the port may differ.',
    ['https://app.example.com/callback'],
  ),
  policies: texts('Ids of policies that its tokens get.', ['ledger']),
  meta_data: open('Free members. Tokens get them.'),
  metadata: open('Older name of `meta_data`.'),
  description: text('Text for people.', 'Bookkeeping'),
  auth_method: {
    type: 'string',
    enum: ['any', 'client_secret_basic', 'client_secret_post', 'private_key_jwt', 'tls_client_auth', 'none'],
    description:
      'Client authentication at the token endpoint. `any`: the secret, in a header or in the form. `none`: a public client (browser or mobile app) without a secret, which must use PKCE.',
    example: 'any',
  },
  token_lifetime: {
    type: 'integer',
    description: 'Lifetime of its access tokens in seconds. 0: that of its policies, its API, or the gateway.',
    example: 0,
  },
} as const satisfies Readonly<Record<string, JsonObject>>

/** Further members that a client may have. */
export const CLIENT_OPTIONS = {
  policy_id: text('The first of `policies`.', 'ledger'),
  jwks: open('Public keys (JWKS) that verify its assertions, for `private_key_jwt`.'),
  jwks_uri: text('URL of these keys, in place of `jwks`.', 'https://app.example.com/jwks.json'),
  certificate: text('SHA-256 thumbprint of its certificate, for `tls_client_auth`.'),
  grant_types: {
    ...texts('Grants that it may use. Absent: those of the API.', ['client_credentials']),
    items: { type: 'string', enum: GRANTS.map(({ type }) => type) },
  },
  scope: text('Scopes that it may ask for, with spaces. Absent: those of the API.', 'read'),
  org_id: text('Id of the organisation.', ''),
} as const satisfies Readonly<Record<string, JsonObject>>

/** JSON Schema of an OAuth client as it is sent. */
export const CLIENT_SCHEMA: JsonObject = {
  title: 'OauthClient',
  type: 'object',
  properties: {
    ...CLIENT_MEMBERS,
    redirect_uri: text('One redirect URI; a list goes into `redirect_uris`.', 'https://app.example.com/callback'),
    ...CLIENT_OPTIONS,
    api_id: text('Id of the API that it is registered at. Absent: all OAuth APIs of its policies.', 'ledger'),
    client_secret: text('Other name of `secret`.'),
  },
  additionalProperties: true,
}
