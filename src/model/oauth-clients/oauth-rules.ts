import type { GrantType } from './grants.ts'

/** How far a way of binding tokens to their holder is asked for. */
export type BindingRule = 'off' | 'allowed' | 'required'

/** The rules of one API's authorization server. Read from either format of definition by `readApi`. */
export interface OAuthRules {
  readonly grants: ReadonlySet<GrantType>
  /** Response types that `authorize` takes. Only `code` is served. */
  readonly responseTypes: ReadonlySet<string>
  /** Address of the login page; '' = none. */
  readonly loginRedirect: string
  /** Where tokens are announced; '' = nowhere. */
  readonly notifyUrl: string
  readonly notifySecret: string
  /** Scopes that the flows declare. */
  readonly scopes: ReadonlySet<string>
  /** Resources besides the API itself that tokens may be asked for (RFC 8707): addresses, or names of audiences. */
  readonly allowedResources: readonly string[]
  /** Anybody may register clients by which people sign in, without the initial access token (RFC 7591 section 3). */
  readonly openRegistration: boolean
  /** Clients may be named by the address of their metadata (draft-ietf-oauth-client-id-metadata-document). */
  readonly clientIdMetadata: boolean
  /** Policies of clients that register themselves, or are named so. */
  readonly registrationPolicies: readonly string[]
  readonly accessTokenFormat: 'opaque' | 'jwt'
  /** The `typ` of JWT access tokens: RFC 9068 says `at+jwt`, and some resource servers take `JWT` alone. */
  readonly accessTokenType: 'at+jwt' | 'JWT'
  readonly signingAlgorithm: 'ES256' | 'RS256'
  /** Lifetimes in seconds; 0 = the gateway's. */
  readonly accessTokenS: number
  readonly refreshTokenS: number
  readonly codeS: number
  /** Seconds in which a used refresh token is answered again with what it gave; 0 = never. */
  readonly refreshReuseGraceS: number
  /** PKCE from every client, not only from public ones. */
  readonly requirePkce: boolean
  /** `authorize` takes only requests that were pushed before (RFC 9126 section 5). */
  readonly requirePushedRequests: boolean
  /** Proof of possession by DPoP (RFC 9449). */
  readonly dpop: BindingRule
  /** Binding to the client's certificate (RFC 8705). */
  readonly mutualTls: BindingRule
}
