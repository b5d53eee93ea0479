import { intern } from '../text/intern.ts'
import type { Millis, MonoMillis } from '../time/clock.ts'

/**
 * Whose a limit is, which is also its name in `RateLimit-Policy`: `tool` is the rate of an MCP tool, `endpoint` that of a key at one
 * endpoint, `client` what the client of a token narrows its user's limits to.
 */
export type LimitOwner = 'organisation' | 'api' | 'operation' | 'tool' | 'key' | 'endpoint' | 'client'

/**
 * One limit as a request meets it: so many permits in so long a time, counted under `id`.
 * Two limits with one `id` share their count. Lives on a compiled grant, so that a request allocates nothing.
 */
export interface Limit {
  // That comes first which each request reads: with thousands of keys in use each line of memory is waited for.
  readonly kind: 'rate' | 'quota'
  /** Belongs to the counters adapter: where it keeps this count. -1 until first used. */
  slot: number
  /** Belongs to the counters adapter: tells a slot that was given to another count meanwhile. */
  generation: number
  /** Permits per window, at least 1. A limit that is not enforced is not made. */
  readonly max: number
  /** Rate: any window of this length holds at most `max`. Quota: length of a window from its first call, 0 = never renews. */
  readonly windowMs: number
  /** Written by `Counters.take`: permits left after this call. */
  remaining: number
  /** Written by `Counters.take`: milliseconds until a permit comes back (rate) or the window ends (quota), 0 = unknown. */
  resetMs: number
  /** Its text in responses that have no other limit of its kind, up to `remaining`; made once. */
  readonly lead: string
  /** The parameters in `RateLimit-Policy` of a rate beside others; of a quota ''. */
  readonly parameters: string
  readonly owner: LimitOwner
  /** Who counts together: `<key hash or client or grant>|<scope>`, `api|<api_id>`, `org|<org_id>` and so on. */
  readonly id: string
}

/** Makes a limit of fixed shape. `max` is rounded down, to at least 1; `windowMs` is rounded up. */
export function makeLimit(
  kind: Limit['kind'],
  id: string,
  max: number,
  windowMs: number,
  owner: LimitOwner = 'key',
): Limit {
  const permits = Math.max(1, Math.floor(max))
  const lengthMs = Math.max(0, Math.ceil(windowMs))
  const isQuota = kind === 'quota'
  const parameters = isQuota ? '' : `;q=${permits};w=${Math.max(1, Math.ceil(lengthMs / 1000))}`
  const lead = isQuota
    ? `X-RateLimit-Limit: ${permits}\r\nX-RateLimit-Remaining: `
    : `RateLimit-Policy: "${owner}"${parameters}\r\nRateLimit: "${owner}";r=`
  return {
    kind,
    slot: -1,
    generation: 0,
    max: permits,
    windowMs: lengthMs,
    remaining: permits,
    resetMs: 0,
    lead: intern(lead),
    parameters: intern(parameters),
    owner,
    id,
  }
}

/**
 * The limit for `rate` calls per `perS` seconds, as sessions, policies and APIs state it; undefined when either is 0 or
 * less, which means unlimited. A rate below 1 becomes one call in the longer time that it asks for.
 */
export function rateLimit(id: string, rate: number, perS: number, owner?: LimitOwner): Limit | undefined {
  if (!(rate > 0 && perS > 0)) return undefined
  if (rate < 1) return makeLimit('rate', id, 1, (perS / rate) * 1000, owner)
  return makeLimit('rate', id, rate, perS * 1000, owner)
}

/**
 * The limit for a quota of `max` calls per `renewalS` seconds from the first call; undefined when `max` is 0 or less, which
 * means that none is enforced. `renewalS` of 0 or less never renews.
 */
export function quotaLimit(id: string, max: number, renewalS: number, owner?: LimitOwner): Limit | undefined {
  if (!(max > 0)) return undefined
  return makeLimit('quota', id, max, renewalS > 0 ? renewalS * 1000 : 0, owner)
}

/** The instant of one request on both clocks, read once. */
export interface Instant {
  readonly wall: Millis
  readonly mono: MonoMillis
}

/** Descriptions of the members that keys, policies and access rights have for limits, for readers of the API. */
export const LIMIT_TEXTS = {
  rate: 'Rate limit: requests in each `per`. 0: not set. -1: unlimited.',
  per: 'Seconds to which `rate` refers.',
  throttle_interval:
    'Seconds after which a request over the rate limit is tried again, instead of being refused at once. 0 or -1: refused at once.',
  throttle_retry_limit: 'Attempts of `throttle_interval` before the request is refused.',
  max_query_depth: 'Depth limit of GraphQL queries. Stored and merged, not enforced.',
  quota_max: 'Quota: requests in each `quota_renewal_rate`. 0: not set. -1: unlimited.',
  quota_renewal_rate: 'Seconds after which the quota renews, counted from its first request. 0: it never renews.',
} as const
