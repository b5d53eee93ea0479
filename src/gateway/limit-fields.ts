import type { Millis } from '../model/clock.ts'
import type { Limit } from '../model/limit.ts'

/**
 * What a client is told of its limits, as `Name: value\r\n` lines: `X-RateLimit-*` for the quota (reset in Unix seconds), and the
 * `RateLimit-Policy` and `RateLimit` fields (draft-ietf-httpapi-ratelimit-headers) for each rate, seconds in both.
 */
export function limitFields(limits: readonly Limit[], wall: Millis): string {
  let policies = ''
  let states = ''
  let quota = ''
  for (let i = 0; i < limits.length; i++) {
    const limit = limits[i]!
    if (limit.kind === 'quota') {
      const reset = limit.resetMs === 0 ? 0 : Math.ceil((wall + limit.resetMs) / 1000)
      quota = `${limit.stated}X-RateLimit-Remaining: ${limit.remaining}\r\nX-RateLimit-Reset: ${reset}\r\n`
    } else if (policies === '') {
      policies = limit.stated
      states = stateOf(limit)
    } else {
      policies += `, ${limit.stated}`
      states += `, ${stateOf(limit)}`
    }
  }
  if (policies === '') return quota
  return `${quota}RateLimit-Policy: ${policies}\r\nRateLimit: ${states}\r\n`
}

function stateOf(limit: Limit): string {
  return `"${limit.name}";r=${limit.remaining};t=${secondsOf(limit.resetMs)}`
}

/** Whole seconds to wait. A window ends strictly after its last millisecond, which nobody needs to be told of. */
export function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil((ms - 1) / 1000))
}
