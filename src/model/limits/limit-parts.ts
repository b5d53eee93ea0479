import { toWords } from '../apis/definition/tree.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import type { EndpointLimit, LimitFields } from '../sessions/session.ts'
import { MOST_SECONDS } from '../time/calendar.ts'

/**
 * Where numbers came from, which decides who counts together: `scope` when it is fixed (`a.<api id>`, `p.<policy id>`), else
 * `policy`: the id of the policy that gave them, '' for the session itself.
 */
export interface LimitSource {
  readonly policy: string
  readonly scope?: string
}

/** A rate as a policy or session states it; negative in either number means unlimited. Both are not 0. */
export interface Rate extends LimitSource {
  readonly rate: number
  readonly per: number
}

/** A quota as stated; a negative `max` means unlimited. `renewalS` of 0 never renews. `max` is not 0. */
export interface Quota extends LimitSource {
  readonly max: number
  readonly renewalS: number
}

export interface ThrottleLimits {
  /** Seconds between tries; 0 = off. */
  readonly intervalS: number
  readonly retryLimit: number
}

/** The rate of a block, undefined when it states none (0 in either number, as absent fields are). */
export function rateOf(fields: LimitFields | null | undefined, origin: LimitSource): Rate | undefined {
  const rate = fields?.rate ?? 0
  const per = fields?.per ?? 0
  if (rate === 0 || per === 0) return undefined
  return { rate, per: Math.min(per, MOST_SECONDS), ...origin }
}

/** The quota of a block, undefined when it states none. */
export function quotaOf(fields: LimitFields | null | undefined, origin: LimitSource): Quota | undefined {
  const max = fields?.quota_max ?? 0
  if (max === 0) return undefined
  return { max, renewalS: Math.min(Math.max(0, fields?.quota_renewal_rate ?? 0), MOST_SECONDS), ...origin }
}

/** The throttle of a block; -1 and absent are 0. */
export function throttleOf(fields: LimitFields | null | undefined): ThrottleLimits {
  return {
    intervalS: Math.min(Math.max(0, fields?.throttle_interval ?? 0), MOST_SECONDS),
    retryLimit: Math.max(0, fields?.throttle_retry_limit ?? 0),
  }
}

/** The more generous of two rates: the one with the shorter time per call, as a pair; the first when they are equal. */
export function betterRate(a: Rate | undefined, b: Rate | undefined): Rate | undefined {
  if (a === undefined || b === undefined) return a ?? b
  if (unlimitedRate(a)) return a
  if (unlimitedRate(b)) return b
  return b.per * a.rate < a.per * b.rate ? b : a
}

/**
 * The more generous of two quotas, maximum and renewal together: the larger allowance per second, one that never renews
 * having none; on a tie the larger maximum; the first when all is equal.
 */
export function betterQuota(a: Quota | undefined, b: Quota | undefined): Quota | undefined {
  if (a === undefined || b === undefined) return a ?? b
  if (a.max < 0) return a
  if (b.max < 0) return b
  if (a.renewalS === 0 || b.renewalS === 0) {
    if (a.renewalS !== b.renewalS) return a.renewalS === 0 ? b : a
    return b.max > a.max ? b : a
  }
  const allowedA = a.max * b.renewalS
  const allowedB = b.max * a.renewalS
  if (allowedA !== allowedB) return allowedB > allowedA ? b : a
  return b.max > a.max ? b : a
}

/** The less generous of two rates; one that limits nothing loses. */
export function stricterRate<R extends Rate>(a: R | undefined, b: R | undefined): R | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return betterRate(a, b) === a ? b : a
}

/** The less generous of two quotas; one that limits nothing loses. */
export function stricterQuota<Q extends Quota>(a: Q | undefined, b: Q | undefined): Q | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return betterQuota(a, b) === a ? b : a
}

/** The larger of each number. */
export function betterThrottle(a: ThrottleLimits, b: ThrottleLimits): ThrottleLimits {
  return { intervalS: Math.max(a.intervalS, b.intervalS), retryLimit: Math.max(a.retryLimit, b.retryLimit) }
}

/** The deeper of two query depths; -1 is the deepest, 0 is none stated. */
export function betterDepth(a: number, b: number): number {
  return a < 0 || b < 0 ? -1 : Math.max(a, b)
}

/**
 * Unites limits of endpoints: for one path and method the shorter time per call wins, on a tie the larger rate; 0 or less is
 * unlimited and wins over all. With `strict` it is the other way round.
 */
export function uniteEndpoints(
  a: readonly EndpointLimit[],
  b: readonly EndpointLimit[],
  strict = false,
): readonly EndpointLimit[] {
  if (b.length === 0) return a
  const byPath = new Map<string, Map<string, { rate: number; per: number }>>()
  for (const { path, methods } of [...a, ...b]) {
    const byMethod = byPath.get(path) ?? new Map<string, { rate: number; per: number }>()
    byPath.set(path, byMethod)
    for (const { name, limit } of methods ?? []) {
      const known = byMethod.get(name)
      if (known === undefined || (strict ? looser(known, limit) : looser(limit, known))) byMethod.set(name, limit)
    }
  }
  return [...byPath].map(([path, byMethod]) => ({
    path,
    methods: [...byMethod].map(([name, limit]) => ({ name, limit })),
  }))
}

/** True when `a` allows more than `b`. */
function looser(a: { rate: number; per: number }, b: { rate: number; per: number }): boolean {
  if (b.rate <= 0 || b.per <= 0) return false
  if (a.rate <= 0 || a.per <= 0) return true
  const difference = a.per * b.rate - b.per * a.rate
  return difference === 0 ? a.rate > b.rate : difference < 0
}

/** True for a rate that limits nothing. */
function unlimitedRate({ rate, per }: { readonly rate: number; readonly per: number }): boolean {
  return rate < 0 || per < 0
}

/** Members that limit requests where they are above zero, with the name of each limit. */
const LIMITS = { rate: 'rate limit', quota_max: 'quota', max_query_depth: 'query depth limit' } as const

/**
 * Warnings of a key or policy that was replaced by one that leaves out limits: clients that do not know all members write so. -1 says that
 * there is no limit, and is not warned of.
 */
export function liftedLimits(before: JsonObject, after: JsonObject): { path: string; message: string }[] {
  const rights = (body: JsonObject) => (isObject(body.access_rights) ? body.access_rights : {})
  const [old, next] = [rights(before), rights(after)]
  return [
    ...liftedAt([], before, after),
    ...Object.keys(old).flatMap((apiId) =>
      Object.hasOwn(next, apiId)
        ? liftedAt(['access_rights', apiId, 'limit'], limitOf(old[apiId]), limitOf(next[apiId]))
        : [],
    ),
  ]
}

function liftedAt(place: readonly string[], before: JsonObject, after: JsonObject) {
  return Object.entries(LIMITS).flatMap(([member, name]) =>
    isAbove(before[member]) && (after[member] ?? 0) === 0
      ? [
          {
            path: toWords([...place, member]),
            message: `the ${name} of ${before[member]} is gone, as the body leaves it out; -1 says so without a warning`,
          },
        ]
      : [],
  )
}

const isAbove = (value: Json | undefined) => typeof value === 'number' && value > 0

function limitOf(right: Json | undefined): JsonObject {
  return isObject(right) && isObject(right.limit) ? right.limit : {}
}
