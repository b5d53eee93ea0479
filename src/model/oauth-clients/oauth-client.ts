import type { JsonObject } from '../json/json.ts'

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
