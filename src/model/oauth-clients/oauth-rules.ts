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

const LONGEST = 2048
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/i
const NAME = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** Why a text identifies no resource (RFC 8707 section 2): an absolute URI without fragment. undefined = it is one. Credentials are refused too. */
export function resourceFlaw(uri: string): string | undefined {
  if (uri.length > LONGEST) return 'is too long'
  if (uri.includes('#')) return 'has a fragment'
  if (!ABSOLUTE.test(uri) || !URL.canParse(uri)) return 'is not an absolute URI'
  const { username, password } = new URL(uri)
  return username === '' && password === '' ? undefined : 'has credentials'
}

/** Why a text is no name of an audience; undefined = it is one. */
export function audienceFlaw(name: string): string | undefined {
  return name.length <= LONGEST && NAME.test(name) ? undefined : 'is not well-formed'
}

/** One spelling for all that mean the same resource: of HTTP addresses the letter case of the host, default ports, dots and last slashes differ. */
export function normalResource(uri: string): string {
  if (!/^https?:/i.test(uri) || !URL.canParse(uri)) return uri
  const { origin, pathname, search } = new URL(uri)
  return origin + pathname.replace(/(?<!\/)\/+$/, '') + search
}

/** True for a resource, and for what is below its address. Both in the spelling of `normalResource`. */
export function isWithinResource(uri: string, resource: string): boolean {
  if (!uri.startsWith(resource)) return false
  const next = uri[resource.length]
  return next === undefined || next === '/' || next === '?'
}

/** Module state: a cache of immutable values: lists of resources by the spelling of `normalResource`. */
const listed = new WeakMap<readonly string[], ReadonlyMap<string, string>>()

/** The first of a list that means a resource, as the list spells it; undefined when none does. A list is read once, however long it is. */
export function listedResource(list: readonly string[], uri: string): string | undefined {
  let known = listed.get(list)
  if (known === undefined) {
    known = new Map(list.map((each): [string, string] => [normalResource(each), each]).reverse())
    listed.set(list, known)
  }
  return known.get(normalResource(uri))
}
