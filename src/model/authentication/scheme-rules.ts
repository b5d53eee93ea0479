import type { KeyFamily } from './jwt-key.ts'

/** How a request proves who sends it. */
export const AUTH_METHODS = ['token', 'oauth', 'jwt', 'basic', 'hmac'] as const

export type AuthMethod = (typeof AUTH_METHODS)[number]

/** A part of a request that holds a credential, or belongs to one. */
export interface CredentialPlace {
  /** `headers`, `cookies`: all whose names begin so. */
  readonly in: 'header' | 'headers' | 'query' | 'cookie' | 'cookies'
  readonly name: string
  /** Equal where upstreams may take one for the other. */
  readonly key: string
}

/** One way to prove who calls: where the proof is read (in one of these places only), and what it is checked by. */
export interface SchemeRules {
  readonly method: AuthMethod
  /** Lower case name, undefined = not read there. */
  readonly header: string | undefined
  readonly query: string | undefined
  readonly cookie: string | undefined
  /** True = of a caller without a key, the certificate of the connection is the key (method `token`). */
  readonly certificate?: boolean
  /** Present at their methods. */
  readonly jwt?: JwtRules
  readonly basic?: BasicRules
  readonly hmac?: HmacRules
}

/** What a JSON Web Token must be, and what it means. Claims are named as they stand in the token, or by a path with dots. */
export interface JwtRules {
  /** Kind of the key; '' = whatever the key set holds, shared secrets excepted. */
  readonly family: KeyFamily | ''
  /** The key itself as the definition writes it; '' = keys come from addresses. */
  readonly key: string
  /** Addresses of key sets (RFC 7517 section 5), and how long one is taken for true. */
  readonly keySets: readonly { readonly url: string; readonly freshMs: number }[]
  /** Of these and the next two lists, the first claim that the token has counts, whatever it holds. */
  readonly identityClaims: readonly string[]
  /** '' = none. */
  readonly clientClaim: string
  readonly policyClaims: readonly string[]
  readonly scopeClaims: readonly string[]
  /** Scope to id of the policy that it brings. */
  readonly scopePolicies: ReadonlyMap<string, string>
  /** Of tokens that name none. */
  readonly defaultPolicies: readonly string[]
  /** How far clocks may differ, in milliseconds. */
  readonly skewMs: { readonly issuedAt: number; readonly expiresAt: number; readonly notBefore: number }
  /** Empty = any. */
  readonly issuers: readonly string[]
  readonly audiences: readonly string[]
  readonly subjects: readonly string[]
}

export interface BasicRules {
  /** How long a password that was right is not hashed again; 0 = it is hashed each time. */
  readonly cacheMs: number
}

export interface HmacRules {
  /** Names in lower case, as requests write them (`hmac-sha256`). */
  readonly algorithms: readonly string[]
  /** How far the date of a request may lie from now. */
  readonly skewMs: number
}
