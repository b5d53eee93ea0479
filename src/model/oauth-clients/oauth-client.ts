import type { JsonObject } from '../json/json.ts'
import { ALSO } from '../openapi/component-schemas.ts'
import { GRANTS } from './grants.ts'

/** How a client proves who it is at the token endpoint (RFC 7591 section 2); `any` = Basic or body, whichever comes. */
export type ClientAuthMethod =
  | 'any'
  | 'client_secret_basic'
  | 'client_secret_post'
  | 'private_key_jwt'
  | 'tls_client_auth'
  | 'none'

/** Members by which a client asks for more than its API requires of every client; absent = no. */
export const CLIENT_REQUIREMENTS = [
  'dpop_bound_access_tokens',
  'tls_client_certificate_bound_access_tokens',
  'require_pushed_authorization_requests',
] as const
export type ClientRequirement = (typeof CLIENT_REQUIREMENTS)[number]

/**
 * A registration of a client app as stored: the body of documents of kind `oauth_client`. Two APIs may each have a registration of one
 * client id: these share nothing but the id.
 */
export interface OAuthClient {
  readonly client_id: string
  /** Absent for the first registration of a client id; of further ones the API that it was made at. Never changes. */
  readonly registration_id?: string
  readonly org_id: string
  /** Sealed secrets, base64; the first is the current one. Empty for clients without one. Sealed under `oauth_client:<client_id>`. */
  readonly secrets: readonly {
    readonly sealed: string /** Unix milliseconds, 0 = for ever. */
    readonly until: number
  }[]
  /** Exact redirect URIs. */
  readonly redirect_uris: readonly string[]
  /**
   * Of redirect URIs that were added later, a text that no other addition has: what was asked for while the URI was registered before
   * does not come back with it.
   */
  readonly redirect_since?: Readonly<Record<string, string>>
  /** APIs that it is registered at one by one. */
  readonly api_ids: readonly string[]
  /** Registered at every OAuth API that this policy gives rights on; ''  = none. */
  readonly registered_by_policy: string
  readonly policies: readonly string[]
  readonly metadata: JsonObject
  readonly description: string
  readonly auth_method: ClientAuthMethod
  /** JSON Web Key Set for `private_key_jwt`: inline. */
  readonly jwks?: JsonObject
  /** The address of the key set instead (RFC 7591 section 2). */
  readonly jwks_uri?: string
  /** Subject of the certificate for `tls_client_auth`, or SHA-256 thumbprint (hex). */
  readonly certificate?: string
  /** Grants that it may use besides what the API allows; absent = all of them. */
  readonly grant_types?: readonly string[]
  /** Scopes that it may ask for; absent = all of the API. */
  readonly scope?: string
  /** True = it gets no token without a DPoP proof (RFC 9449 section 5.2). */
  readonly dpop_bound_access_tokens?: boolean
  /** True = it gets no token without a client certificate (RFC 8705 section 3.4). */
  readonly tls_client_certificate_bound_access_tokens?: boolean
  /** True = it begins an authorization by a pushed request only (RFC 9126 section 6). */
  readonly require_pushed_authorization_requests?: boolean
  /** Access token lifetime in seconds; 0 = of its policies, its API, the gateway. */
  readonly token_lifetime: number
  /** Tokens, codes and refresh tokens that carry another epoch are void: grows with "revoke all"; never used twice, not even by a client of the same id made later. */
  readonly epoch: string
  /** The same for single APIs that the registration lost or got again: see `epochAt`. */
  readonly api_epochs?: Readonly<Record<string, string>>
  /** ISO 8601. */
  readonly date_created: string
  readonly [unknown: string]: unknown
}

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
  redirect_uris: {
    ...texts('Redirect URIs. They are compared exactly; only the port of loopback addresses may differ.', [
      'https://app.example.com/callback',
    ]),
    items: { type: 'string', format: 'uri' },
  },
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
  jwks_uri: {
    ...text('URL of these keys, in place of `jwks`. Blank: none.', 'https://app.example.com/jwks.json'),
    ...{ format: 'uri', [ALSO]: [{ type: 'string', enum: [''] }] },
  },
  certificate: text('SHA-256 thumbprint of its certificate, for `tls_client_auth`.'),
  grant_types: {
    ...texts('Grants that it may use. Absent: those of the API.', ['client_credentials']),
    items: { type: 'string', enum: GRANTS.map(({ type }) => type) },
  },
  scope: text('Scopes that it may ask for, separated by spaces. Absent: those of the API.', 'read'),
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
