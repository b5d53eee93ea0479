import { type Fault, waitFault } from '../../errors/fault.ts'
import { visitorOf } from '../../model/network/visitor.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { type Attempt, LoginThrottle, type Throttled } from './guess-brake.ts'

const brakes = new WeakMap<object, LoginThrottle>()

/** One for each dashboard of the process: its store is its own. */
function brakeOf({ store: { feed }, clock, config }: DashboardParts): LoginThrottle {
  const known = brakes.get(feed)
  if (known !== undefined) return known
  const { security } = config.dashboard
  const made = new LoginThrottle(clock, {
    pair: security.login_failure_username_limit,
    address: security.login_failure_ip_limit,
    windowMs: security.login_failure_expiration * 1000,
  })
  brakes.set(feed, made)
  return made
}

/** Begins an attempt to sign in, under a name and from the address of a call: `LoginThrottle`. */
export function beginAttempt(
  parts: DashboardParts,
  name: string | undefined,
  call: Pick<Call, 'clientAddress' | 'peerAddress'>,
  { narrow = false }: { readonly narrow?: boolean } = {},
): Attempt | Throttled {
  return brakeOf(parts).begin({ name, address: visitorBy(parts, call), narrow })
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
