import { visitorOf } from '../../oauth/tries.ts'
import type { Call } from '../call.ts'
import type { DashboardParts } from '../parts.ts'
import { FailureThrottle } from '../session/throttle.ts'

interface Throttles {
  readonly names: FailureThrottle
  readonly browsers: FailureThrottle
  readonly portals: FailureThrottle
  readonly signUps: FailureThrottle
}

/** A portal checks the passwords of all its developers from one address. */
const BROWSERS_OF_A_PORTAL = 10

const throttles = new WeakMap<object, Throttles>()

/** Those of one dashboard; apart from those of dashboard users, so that a portal under attack locks no administrator out. */
function throttlesOf({ store: { feed }, clock, config }: DashboardParts): Throttles {
  const known = throttles.get(feed)
  if (known !== undefined) return known
  const { security } = config.dashboard
  const windowMs = security.login_failure_expiration * 1000
  const { login_failure_username_limit: byName, login_failure_ip_limit: byAddress } = security
  const made = {
    names: new FailureThrottle(clock, { limit: byName, windowMs }),
    browsers: new FailureThrottle(clock, { limit: byAddress, windowMs }),
    portals: new FailureThrottle(clock, { limit: byAddress * BROWSERS_OF_A_PORTAL, windowMs }),
    signUps: new FailureThrottle(clock, { limit: security.signup_ip_limit, windowMs }),
  }
  throttles.set(feed, made)
  return made
}

/** A check of a developer's password that has begun; it counts as failed until it says otherwise. */
export interface PortalTry {
  succeed(): void
  /** It says nothing about who tried. */
  giveBack(): void
}

type Caller = Pick<Call, 'clientAddress' | 'peerAddress'>

/**
 * Begins a check of a password under a name, from a browser or by a portal for one of its own visitors. Answers how long to wait
 * where too many have failed; that costs nothing.
 */
export function beginPortalTry(
  parts: DashboardParts,
  name: string,
  by: 'browser' | 'portal',
  call: Caller,
): PortalTry | { readonly waitMs: number } {
  const { names, browsers, portals } = throttlesOf(parts)
  const addresses = by === 'browser' ? browsers : portals
  const address = addressOf(parts, call)
  const waitMs = Math.max(names.waitMs(name), addresses.waitMs(address))
  if (waitMs > 0) return { waitMs }
  names.begin(name)
  addresses.begin(address)
  return {
    succeed() {
      names.succeed(name)
      addresses.giveBack(address)
    },
    giveBack() {
      names.giveBack(name)
      addresses.giveBack(address)
    },
  }
}

/** Counts a sign-up, whatever becomes of it. Answers how many milliseconds to wait instead; 0 = go on. */
export function beginSignUp(parts: DashboardParts, call: Caller): number {
  const { signUps } = throttlesOf(parts)
  const address = addressOf(parts, call)
  const waitMs = signUps.waitMs(address)
  if (waitMs === 0) signUps.begin(address)
  return waitMs
}

function addressOf({ config }: DashboardParts, { peerAddress, clientAddress }: Caller): string {
  return visitorOf(config.dashboard.security.login_disallow_forward_proxy ? peerAddress : clientAddress)
}
