import { isObject, type JsonObject } from '../json/json.ts'
import { hashKey } from '../secrets/secret.ts'
import { hexOf } from '../text/hex.ts'
import type { Millis } from '../time/clock.ts'

/** The fields of a session of an access token besides those of every session, under `oauth_token`. */
export interface TokenFacts {
  /** The API whose authorization server issued it. */
  readonly api_id: string
  /** `epoch` of the client when it was issued: a client of another epoch did not issue it. */
  readonly epoch: string
  /**
   * The client's policies when it was issued, empty = none. The client's policies of today are what counts; these tell a token
   * whose rules could apply alone from one that has lost its last policy, and what its session names itself.
   */
  readonly policies: readonly string[]
  /** Granted scopes, separated by spaces; '' = none. */
  readonly scope: string
  /** Family of the grant; '' for client credentials. */
  readonly family: string
  /** Unix seconds. */
  readonly issued_at: number
  /** Who allowed it, where the grant tells; '' = the client itself. */
  readonly username: string
  /** User of a password grant: the token is good as long as this one is. */
  readonly user?: TokenUser
  /** Resources that it is restricted to (RFC 8707); the issuing API as its issuer. Absent = all that its rights reach. */
  readonly audience?: readonly string[]
  /** Key or certificate that it is bound to (RFC 9449 section 6, RFC 8705 section 3). */
  readonly cnf?: { readonly jkt?: string; readonly 'x5t#S256'?: string }
}

/** A user as tokens name it. */
export interface TokenUser {
  /** SHA-256 (hex) under which it is stored. */
  readonly hash: string
  /** Which of those that had the name one after the other. */
  readonly generation: string
}

/** Member of a session's body that holds the facts of a token. */
export const TOKEN_FACTS = 'oauth_token'

/** The facts of a session that is an access token; undefined for keys. */
export function tokenFactsOf(body: JsonObject): TokenFacts | undefined {
  const facts = body[TOKEN_FACTS]
  return isObject(facts) && typeof facts.epoch === 'string' ? (facts as unknown as TokenFacts) : undefined
}

/**
 * The ticket of a token that was issued while the store was away. Both storing and revoking the token first put this
 * one, and only one of them can: a token that was revoked where nobody knew it yet is not stored afterwards. `endsAt`: when the
 * token is forgotten.
 */
export function pendingTicket(tokenHash: Uint8Array, apiId: string, endsAt: Millis) {
  return {
    hash: hashKey(`owed:${hexOf(tokenHash)}`),
    row: { sort: 'proof', apiId, clientId: '', family: '', expiresAt: endsAt, keepUntil: endsAt, body: {} },
  } as const
}
