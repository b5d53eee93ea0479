import { isIP } from 'node:net'
import { fault } from '../../../errors/fault.ts'
import { visitorOf } from '../../../model/network/visitor.ts'
import { AttemptLimiter } from '../../../runtime/attempt-limiter.ts'
import type { Call } from '../../routes/call.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { visitorBy } from '../../sign-in/attempts.ts'
import { type Attempt, LoginThrottle, type Throttled } from '../../sign-in/guess-brake.ts'

interface Throttles {
  readonly passwords: LoginThrottle
  readonly signUps: AttemptLimiter
}

const throttles = new WeakMap<object, Throttles>()

/** Those of one dashboard; apart from those of dashboard users, so that a portal under attack locks no administrator out. */
function throttlesOf({ store: { feed }, clock, config }: DashboardParts): Throttles {
  const known = throttles.get(feed)
  if (known !== undefined) return known
  const { security } = config.dashboard
  const windowMs = security.login_failure_expiration * 1000
  const { login_failure_username_limit: pair, login_failure_ip_limit: address } = security
  const made = {
    passwords: new LoginThrottle(clock, { pair, address, windowMs }),
    signUps: new AttemptLimiter(clock, { limit: security.signup_ip_limit, windowMs }),
  }
  throttles.set(feed, made)
  return made
}

/** Who wants a password checked: the browser that was typed into, or a portal, which may tell the address of its visitor. */
export type PortalCaller = 'browser' | 'portal' | { readonly visitor: string }

type Caller = Pick<Call, 'clientAddress' | 'peerAddress'>

/** Begins a check of a password under a name: `LoginThrottle`. @throws Fault `body_invalid` (400) where the visitor has no IP address */
export function beginPortalAttempt(
  parts: DashboardParts,
  name: string,
  by: PortalCaller,
  call: Caller,
): Attempt | Throttled {
  const { passwords } = throttlesOf(parts)
  if (by === 'portal' || by === 'browser')
    return passwords.begin({ name, address: visitorBy(parts, call), crowd: by === 'portal' })
  if (isIP(by.visitor) === 0) throw fault('body_invalid', 'user_address: is not an IP address')
  return passwords.begin({ name, address: visitorOf(by.visitor) })
}

/** Counts a sign-up, successful or not. Returns how many milliseconds to wait instead; 0 = proceed. */
export function beginSignUp(parts: DashboardParts, call: Caller): number {
  return throttlesOf(parts).signUps.tryBegin(visitorBy(parts, call))
}
