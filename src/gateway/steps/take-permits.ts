import { type Fault, prebuilt } from '../../errors/fault.ts'
import type { Clock } from '../../model/clock.ts'
import type { Grant } from '../../model/grant.ts'
import type { Limit } from '../../model/limit.ts'
import type { Counters } from '../../store/ports.ts'
import type { Exchange, OrgLimits, Outcome, Step } from '../exchange.ts'

const API_RATE = prebuilt('api_rate_exceeded')
const RATE = prebuilt('rate_exceeded')
const QUOTA = prebuilt('quota_exceeded')
const ORG_QUOTA = prebuilt('org_quota_exceeded')
const ORG_INACTIVE = prebuilt('org_inactive')

const NO_LIMITS: readonly Limit[] = []

/** Requests that may wait at once for their key's rate (`throttle_interval`); more are refused as without it. */
const MAX_THROTTLED = 1000
let throttled = 0

/**
 * Takes one permit of every limit that the request meets, or none of any: the organisation's, the operation's, the API's,
 * the key's, and last the quota. Checked in this order, in one step, so that a refused call costs nothing anywhere.
 * A key with `throttle_interval` and `throttle_retry_limit` waits and tries again before it is refused for its rate.
 */
export function takePermits(counters: Counters, clock: Clock, sendRetryAfter: boolean): Step {
  const attempt = (x: Exchange, org: OrgLimits | undefined, limits: readonly Limit[]) => {
    const refused = x.dry ? counters.peek(limits, x) : counters.take(limits, x)
    if (typeof refused === 'number') return conclude(x, limits, refused, org)
    return refused.then((late) => conclude(x, limits, late, org))
  }

  const refuse = (x: Exchange, fault: Fault | undefined): Outcome => {
    if (fault !== undefined && sendRetryAfter) {
      x.answerExtra += `Retry-After: ${seconds(x.retryAfterMs)}\r\n`
    }
    return fault
  }

  const throttle = async (
    x: Exchange,
    org: OrgLimits | undefined,
    limits: readonly Limit[],
    grant: Grant,
  ): Promise<Outcome> => {
    throttled++
    try {
      let fault: Fault | undefined = RATE
      for (let i = 0; i < grant.throttleRetryLimit && fault === RATE && !x.aborted; i++) {
        await new Promise((resolve) => setTimeout(resolve, grant.throttleIntervalMs))
        // Whoever left meanwhile must not be counted.
        if (x.aborted) break
        x.wall = clock.wall()
        x.mono = clock.mono()
        fault = await attempt(x, org, limits)
      }
      return refuse(x, fault)
    } finally {
      throttled--
    }
  }

  return function takePermits(x) {
    const grant = x.plan?.grant
    const org = organisationOf(x)
    if (org?.inactive) return ORG_INACTIVE
    const limits = limitsOf(x, grant, org)
    if (limits.length === 0) return undefined
    const end = (fault: Fault | undefined): Outcome | Promise<Outcome> => {
      if (fault !== RATE || grant === undefined || x.dry) return refuse(x, fault)
      const waits = grant.throttleIntervalMs > 0 && grant.throttleRetryLimit > 0 && throttled < MAX_THROTTLED
      return waits ? throttle(x, org, limits, grant) : refuse(x, fault)
    }
    const fault = attempt(x, org, limits)
    return fault instanceof Promise ? fault.then(end) : end(fault)
  }
}

/** What is set for the organisation of the request's API, if anything. */
export function organisationOf(x: Exchange): OrgLimits | undefined {
  const { orgs } = x.snapshot!
  return orgs.size === 0 ? undefined : orgs.get(x.chain!.api.orgId)
}

/** The limits of a request, in the order in which they are checked. Allocates only for organisations and operations with limits. */
export function limitsOf(x: Exchange, grant: Grant | undefined, org: OrgLimits | undefined): readonly Limit[] {
  const chain = x.chain!
  const own = grant === undefined ? chain.openLimits : grant.limitsFor(x.method, x.rest === '' ? '/' : x.rest)
  const operation = x.operation?.rate
  if (org === undefined && operation === undefined) return own
  return [...(org?.limits ?? NO_LIMITS), ...(operation === undefined ? NO_LIMITS : [operation]), ...own]
}

/** Notes what the client is told of its limits; answers the fault of the limit that refused. */
function conclude(
  x: Exchange,
  limits: readonly Limit[],
  refused: number,
  org: OrgLimits | undefined,
): Fault | undefined {
  x.limitFields = limitFields(limits, x)
  if (refused === -1) return undefined
  x.retryAfterMs = limits[refused]!.resetMs
  return faultOf(limits[refused]!, org)
}

function faultOf(limit: Limit, org: OrgLimits | undefined): Fault {
  if (org?.limits.includes(limit)) return ORG_QUOTA
  if (limit.kind === 'quota') return QUOTA
  return limit.id.startsWith('api|') ? API_RATE : RATE
}

/**
 * What a client is told of its limits: `X-RateLimit-*` for the quota (reset in Unix seconds), and the `RateLimit-Policy` and
 * `RateLimit` fields (draft-ietf-httpapi-ratelimit-headers) for each rate, seconds in both.
 */
function limitFields(limits: readonly Limit[], x: Exchange): string {
  let policies = ''
  let states = ''
  let quota = ''
  for (const limit of limits) {
    if (limit.kind === 'quota') {
      const reset = limit.resetMs === 0 ? 0 : Math.ceil((x.wall + limit.resetMs) / 1000)
      quota = `X-RateLimit-Limit: ${limit.max}\r\nX-RateLimit-Remaining: ${limit.remaining}\r\nX-RateLimit-Reset: ${reset}\r\n`
      continue
    }
    const name = limit.id.startsWith('api|') ? 'api' : 'key'
    const comma = policies === '' ? '' : ', '
    policies += `${comma}"${name}";q=${limit.max};w=${Math.max(1, Math.ceil(limit.windowMs / 1000))}`
    states += `${comma}"${name}";r=${limit.remaining};t=${seconds(limit.resetMs)}`
  }
  if (policies === '') return quota
  return `${quota}RateLimit-Policy: ${policies}\r\nRateLimit: ${states}\r\n`
}

/** Whole seconds to wait. A window ends strictly after its last millisecond, which nobody needs to be told of. */
function seconds(ms: number): number {
  return Math.max(1, Math.ceil((ms - 1) / 1000))
}
