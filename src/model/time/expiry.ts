import type { Policy, Session } from '../sessions/session.ts'
import { LATEST_SECONDS, MOST_SECONDS } from './calendar.ts'
import type { Millis } from './clock.ts'

/** The time `seconds` after another, both in milliseconds; periods that were stored before there was a bound end with it. */
function after(start: Millis, seconds: number): Millis {
  return start + Math.min(seconds, MOST_SECONDS) * 1000
}

/** True once the session's life is over. `expires` of 0, -1 or absent never ends. */
export function isExpired(session: Session, now: Millis): boolean {
  const expires = session.expires ?? 0
  return expires > 0 && expires * 1000 <= now
}

/**
 * The `expires` (Unix seconds) that policies give a key when it is created: that of the last policy with a `key_expires_in`
 * above 0; undefined when none has one.
 */
export function expiresByPolicies(policies: readonly (Policy | undefined)[], now: Millis): number | undefined {
  const last = policies.findLast((policy) => (policy?.key_expires_in ?? 0) > 0)
  if (last === undefined) return undefined
  return Math.floor(now / 1000) + Math.min(last.key_expires_in ?? 0, MOST_SECONDS)
}

/**
 * When a new key ends, in Unix seconds: at its `expires` or as its policies say, whichever is earlier; undefined = never.
 */
export function expiryOfNew(
  expires: number | undefined,
  policies: readonly (Policy | undefined)[],
  now: Millis,
): number | undefined {
  const own = expires !== undefined && expires > 0 ? expires : undefined
  const theirs = expiresByPolicies(policies, now)
  return own === undefined || theirs === undefined ? (own ?? theirs) : Math.min(own, theirs)
}

export interface EvictionRules {
  /** Setting for the whole installation, above 0 overrides everything. Seconds. */
  readonly forcedLifetimeS: number
  /** `session_lifetime` of the APIs among the session's rights. Seconds. */
  readonly apiLifetimesS: readonly number[]
  /** Lifetimes of APIs never end a session before its `expires`. */
  readonly respectExpires: boolean
}

/**
 * When the store may forget a session; 0 = never. The first that applies: the forced lifetime; what the session says about the time
 * after its expiry (`delete` after the grace period, or `retain`); its own `session_lifetime`; the longest of its APIs'.
 */
export function evictAt(session: Session, now: Millis, rules: EvictionRules): Millis {
  const expires = Math.min(Math.max(0, session.expires ?? 0), LATEST_SECONDS)
  if (rules.forcedLifetimeS > 0) return after(now, rules.forcedLifetimeS)
  if (session.post_expiry_action === 'retain') return 0
  if (session.post_expiry_action === 'delete' && expires > 0) {
    return after(expires * 1000, Math.max(0, session.post_expiry_grace_period ?? 0))
  }
  if ((session.session_lifetime ?? 0) > 0) return after(now, session.session_lifetime ?? 0)
  const longestS = Math.max(0, ...rules.apiLifetimesS)
  if (longestS === 0) return 0
  const end = after(now, longestS)
  return rules.respectExpires ? Math.max(end, expires * 1000) : end
}
