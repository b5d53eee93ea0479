import type { Millis } from '../../model/time/clock.ts'
import type { Snapshot } from '../server/exchange.ts'
import type { LiveSession } from '../sessions/sessions.ts'

/** True for a token of our own authorization servers that is in force: stored, not expired, of a client that is registered where it was issued. */
export function isLiveToken(session: LiveSession | undefined, snapshot: Snapshot, wall: Millis): boolean {
  if (session === undefined || session.unusable || session.inactive) return false
  const { evictAt, expiresAt, token } = session
  if ((evictAt !== 0 && evictAt <= wall) || (expiresAt !== 0 && expiresAt <= wall)) return false
  return token !== undefined && session.isRegisteredAt(token.issuer, snapshot)
}
