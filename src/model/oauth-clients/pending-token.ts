import { hashKey } from '../secrets/secret.ts'
import { hexOf } from '../text/hex.ts'
import type { Millis } from '../time/clock.ts'

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
