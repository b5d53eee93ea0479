import { isIP } from 'node:net'
import { fault } from '../../../errors/fault.ts'
import { visitorOf } from '../../../model/network/visitor.ts'
import type { Attempt, Throttled } from '../../../runtime/login-throttle.ts'
import type { Call } from '../../routes/call.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { visitorBy } from '../../sign-in/attempts.ts'

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
  const { portalSignInThrottle: passwords } = parts
  if (by === 'portal' || by === 'browser')
    return passwords.begin({ name, address: visitorBy(parts, call), crowd: by === 'portal' })
  if (isIP(by.visitor) === 0) throw fault('body_invalid', 'user_address: is not an IP address')
  return passwords.begin({ name, address: visitorOf(by.visitor) })
}

/** Counts a sign-up, successful or not. Returns how many milliseconds to wait instead; 0 = proceed. */
export function beginSignUp(parts: DashboardParts, call: Caller): number {
  return parts.portalSignUpLimiter.tryBegin(visitorBy(parts, call))
}
