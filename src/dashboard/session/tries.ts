import { type Fault, waitFault } from '../../errors/fault.ts'
import { visitorOf } from '../../oauth/tries.ts'
import type { Call } from '../call.ts'
import type { DashboardParts } from '../parts.ts'
import { FailureThrottle } from './throttle.ts'

interface Throttles {
  readonly names: FailureThrottle
  readonly addresses: FailureThrottle
}

const throttles = new WeakMap<object, Throttles>()

/** One pair for each dashboard of the process: its store is its own. */
function throttlesOf({ store: { feed }, clock, config }: DashboardParts): Throttles {
  const known = throttles.get(feed)
  if (known !== undefined) return known
  const { security } = config.dashboard
  const windowMs = security.login_failure_expiration * 1000
  const made = {
    names: new FailureThrottle(clock, { limit: security.login_failure_username_limit, windowMs }),
    addresses: new FailureThrottle(clock, { limit: security.login_failure_ip_limit, windowMs }),
  }
  throttles.set(feed, made)
  return made
}

/** A try that has begun. */
export interface Try {
  /** It went well: of the name all failures are forgotten, of the address this try alone. */
  succeed(): void
  /** It says nothing about who tried: a store that is away, too many passwords at once. */
  giveBack(): void
}

/** How long to wait where too many tries have failed. */
export interface Wait {
  readonly waitMs: number
}

/**
 * Begins a try to prove who somebody is: under a name (an email address, or what else is guessed at; undefined for what nobody can
 * guess, so that nobody is kept out by it) and from an address. It counts as failed until it says otherwise. Answers how long to wait where either has failed too often; that costs nothing.
 */
export function beginTry(
  parts: DashboardParts,
  name: string | undefined,
  call: Pick<Call, 'clientAddress' | 'peerAddress'>,
): Try | Wait {
  const { names, addresses } = throttlesOf(parts)
  const direct = parts.config.dashboard.security.login_disallow_forward_proxy
  const address = visitorOf(direct ? call.peerAddress : call.clientAddress)
  const waitMs = Math.max(name === undefined ? 0 : names.waitMs(name), addresses.waitMs(address))
  if (waitMs > 0) return { waitMs }
  if (name !== undefined) names.begin(name)
  addresses.begin(address)
  return {
    succeed() {
      if (name !== undefined) names.succeed(name)
      addresses.giveBack(address)
    },
    giveBack() {
      if (name !== undefined) names.giveBack(name)
      addresses.giveBack(address)
    },
  }
}

/** True when there is a time to wait. */
export function mustWait(begun: Try | Wait): begun is Wait {
  return 'waitMs' in begun
}

/** The refusal that says how long to wait. */
export function throttled({ waitMs }: Wait): Fault {
  return waitFault('sign_in_throttled', waitMs, `Too many failed tries, try again in ${Math.ceil(waitMs / 1000)} s`)
}
