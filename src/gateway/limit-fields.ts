import type { Millis } from '../model/clock.ts'
import type { Limit } from '../model/limit.ts'

/**
 * What a client is told of its limits, as `Name: value\r\n` lines: `X-RateLimit-*` for the quota (reset in Unix seconds), and the
 * `RateLimit-Policy` and `RateLimit` fields (draft-ietf-httpapi-ratelimit-headers) for each rate, seconds in both.
 */
export function limitFields(limits: readonly Limit[], wall: Millis): string {
  let quota = ''
  let rate: Limit | undefined
  let rates = 0
  for (let i = 0; i < limits.length; i++) {
    const limit = limits[i]!
    if (limit.kind === 'quota') {
      const reset = limit.resetMs === 0 ? 0 : Math.ceil((wall + limit.resetMs) / 1000)
      quota = `${limit.stated}${limit.remaining}\r\nX-RateLimit-Reset: ${reset}\r\n`
    } else {
      rate = limit
      rates++
    }
  }
  if (rate === undefined) return quota
  if (rates > 1) return quota + severalRates(limits)
  const state = `${stateOf(rate)}\r\n`
  return quota + rate.statedAlone + state
}

function severalRates(limits: readonly Limit[]): string {
  const rates = limits.filter(({ kind }) => kind === 'rate')
  const policies = rates.map(({ stated }) => stated).join(', ')
  const states = rates.map((rate) => `"${rate.name}";r=${stateOf(rate)}`).join(', ')
  return `RateLimit-Policy: ${policies}\r\nRateLimit: ${states}\r\n`
}

function stateOf({ remaining, resetMs }: Limit): string {
  return `${remaining};t=${secondsOf(resetMs)}`
}

/** Whole seconds to wait. A window ends strictly after its last millisecond, which nobody needs to be told of. */
export function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil((ms - 1) / 1000))
}
