import type { Limit } from '../../model/limits/limit.ts'
import type { Millis } from '../../model/time/clock.ts'

/** A limit under the name by which this answer tells it: no two rates of one answer have the same. */
export interface NamedLimit {
  readonly name: string
  readonly limit: Limit
}

/**
 * The limit of a kind that is shown to a client, where there is room for one: the one that refused, else of the caller's own the one
 * with the fewest permits left, else the same of other owners. `refused` is its index in the list; -1 = none.
 */
export function reportedLimit(limits: readonly Limit[], kind: Limit['kind'], refused: number): Limit | undefined {
  if (refused !== -1 && limits[refused]!.kind === kind) return limits[refused]
  let shown: Limit | undefined
  for (let i = 0; i < limits.length; i++) {
    const limit = limits[i]!
    if (limit.kind === kind && (shown === undefined || goesBefore(limit, shown))) shown = limit
  }
  return shown
}

function goesBefore(a: Limit, b: Limit): boolean {
  const isOwn = isOfCaller(a)
  return isOwn === isOfCaller(b) ? a.remaining < b.remaining : isOwn
}

function isOfCaller({ owner }: Limit): boolean {
  return owner === 'key' || owner === 'endpoint' || owner === 'client'
}

/** The rates that are shown to a client, by their owners; a second one of an owner gets a number (`endpoint-2`). */
export function namedRates(limits: readonly Limit[]): readonly NamedLimit[] {
  const seen = new Map<string, number>()
  return limits
    .filter(({ kind }) => kind === 'rate')
    .map((limit) => {
      const count = (seen.get(limit.owner) ?? 0) + 1
      seen.set(limit.owner, count)
      return { name: count === 1 ? limit.owner : `${limit.owner}-${count}`, limit }
    })
}

/**
 * The limits for a client, as `Name: value\r\n` lines: `X-RateLimit-*` for the quota (reset in Unix seconds), and the
 * `RateLimit-Policy` and `RateLimit` fields (draft-ietf-httpapi-ratelimit-headers) for each rate, seconds in both.
 */
export function limitFields(limits: readonly Limit[], wall: Millis, refused: number): string {
  let rate: Limit | undefined
  let rates = 0
  let quotas = 0
  for (let i = 0; i < limits.length; i++) {
    const limit = limits[i]!
    if (limit.kind === 'quota') {
      quotas++
    } else {
      rate = limit
      rates++
    }
  }
  const quota = quotas === 0 ? '' : quotaFields(reportedLimit(limits, 'quota', refused)!, wall)
  if (rate === undefined) return quota
  if (rates > 1) return quota + severalRates(limits)
  const state = `${stateOf(rate)}\r\n`
  return quota + rate.lead + state
}

function quotaFields(limit: Limit, wall: Millis): string {
  return `${limit.lead}${limit.remaining}\r\nX-RateLimit-Reset: ${resetAt(limit, wall)}\r\n`
}

/** Unix seconds at which the window of a quota ends; 0 = never, or it has not begun. */
export function resetAt({ resetMs }: Limit, wall: Millis): number {
  return resetMs === 0 ? 0 : Math.ceil((wall + resetMs) / 1000)
}

function severalRates(limits: readonly Limit[]): string {
  const rates = namedRates(limits)
  const policies = rates.map(({ name, limit }) => `"${name}"${limit.parameters}`).join(', ')
  const states = rates.map(({ name, limit }) => `"${name}";r=${stateOf(limit)}`).join(', ')
  return `RateLimit-Policy: ${policies}\r\nRateLimit: ${states}\r\n`
}

function stateOf({ remaining, resetMs }: Limit): string {
  return `${remaining};t=${wholeSeconds(resetMs)}`
}

/** Whole seconds to wait. A window ends strictly after its last millisecond, which clients need not know. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil((ms - 1) / 1000))
}
