import { type Fault, waitFault } from '../../errors/fault.ts'
import { visitorOf } from '../../model/network/visitor.ts'
import type { Attempt, Throttled } from '../../runtime/login-throttle.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

/** Begins an attempt to sign in, under a name and from the address of a call: `LoginThrottle`. */
export function beginAttempt(
  parts: DashboardParts,
  name: string | undefined,
  call: Pick<Call, 'clientAddress' | 'peerAddress'>,
  { narrow = false }: { readonly narrow?: boolean } = {},
): Attempt | Throttled {
  return parts.signInThrottle.begin({ name, address: visitorBy(parts, call), narrow })
}

/** The visitor whom a call is counted by. */
export function visitorBy(
  { config }: Pick<DashboardParts, 'config'>,
  { peerAddress, clientAddress }: Pick<Call, 'clientAddress' | 'peerAddress'>,
): string {
  return visitorOf(config.dashboard.security.login_disallow_forward_proxy ? peerAddress : clientAddress)
}

/** The refusal that says how long to wait. */
export function throttled({ waitMs }: Throttled): Fault {
  return waitFault('sign_in_throttled', waitMs, `Too many failed attempts, try again in ${Math.ceil(waitMs / 1000)} s`)
}
