import type { JsonObject } from '../../model/json/json.ts'

// The body of each type of ticket. All contain the epoch of their client: once the client has another one, they are void.

/**
 * Present where the client had no policies when the user decided: then rules may apply alone. Rules that were meant to narrow policies
 * must not open more than these once the client has lost its last one.
 */
export type StandaloneRules = true

/** Resources that tokens may be issued for (RFC 8707); absent = the request named none. */
export type GrantedResources = readonly string[]

/** An authorization code (RFC 6749 section 4.1), found by the SHA-256 of its text. */
export interface CodeBody {
  readonly epoch: string
  /** As the authorization request gave it; '' when it gave none and the only registered one was taken. */
  readonly redirect_uri: string
  /** Where the browser was sent with it: must still be a redirect URI of the client at the exchange. */
  readonly sent_to?: string
  /** Since when the client had that address then: see `sinceOf`. */
  readonly since?: string
  /** PKCE challenge (S256); '' = none was sent. */
  readonly challenge: string
  readonly scope: string
  /** Thumbprint of the DPoP key that the request named (RFC 9449 section 10); '' = none. */
  readonly jkt: string
  readonly resources?: GrantedResources
  /** Session that the login page gave; undefined = the client's policies alone. */
  readonly key_rules?: JsonObject
  readonly stands_alone?: StandaloneRules
  /** The user who gave consent, if the login page named one; else ''. */
  readonly username: string
}

/** A refresh token, found by the SHA-256 of its text. */
export interface RefreshBody {
  readonly epoch: string
  readonly scope: string
  readonly resources?: GrantedResources
  /** Session that the first issue carried besides the client's policies. */
  readonly key_rules?: JsonObject
  readonly stands_alone?: StandaloneRules
  readonly username: string
  /** SHA-256 (hex) under which the user of a password grant is stored: re-read at each refresh; absent for other grants. */
  readonly user_hash?: string
  /** Which user of that name it was. */
  readonly user_generation?: string
  /** Binding of public clients (RFC 9449 section 5, RFC 8705 section 4); '' = none. */
  readonly jkt: string
  readonly x5t: string
  /** SHA-256 (hex) of the access token that came with it: its successor ends it. */
  readonly access_hash: string
  /** Sealed answer of its use, for `refreshReuseGraceSeconds`; written when it is used. */
  readonly sealed_answer?: string
}

/** A device code (RFC 8628). Its user code is a separate ticket of the same family, whose body is `{ device: <hash hex> }`. */
export interface DeviceBody {
  readonly epoch: string
  readonly scope: string
  readonly state: 'pending' | 'approved' | 'denied'
  /** Seconds between polls, longer after each poll that came too early. */
  readonly interval: number
  /** Unix milliseconds of the last poll; 0 = none. */
  readonly polled_at: number
  readonly jkt: string
  readonly resources?: GrantedResources
  readonly key_rules?: JsonObject
  readonly stands_alone?: StandaloneRules
  readonly username: string
}

/** A pushed authorization request (RFC 9126): its parameters as they were pushed; those that may be repeated are lists. */
export interface RequestBody {
  readonly epoch: string
  /** Who may use it: the browser at `authorize` (`pushed`), then the login page at `authorize-client` (`login`). */
  readonly stage: 'pushed' | 'login'
  /** Since when the client had its redirect URI when it was pushed: see `sinceOf`. */
  readonly since: string
  readonly params: JsonObject
}
