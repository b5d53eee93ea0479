import type { Millis, MonoMillis } from './clock.ts'

/**
 * One limit as a request meets it: so many permits in so long a time, counted under `id`.
 * Two limits with one `id` share their count. Lives on a compiled grant, so that a request allocates nothing.
 */
export interface Limit {
  readonly kind: 'rate' | 'quota'
  /** Who counts together: `<key hash or client or grant>|<scope>`, `api|<api_id>`, `org|<org_id>` and so on. */
  readonly id: string
  /** Permits per window, at least 1. A limit that is not enforced is not made. */
  readonly max: number
  /** Rate: any window of this length holds at most `max`. Quota: length of a window from its first call, 0 = never renews. */
  readonly windowMs: number
  /** Written by `Counters.take`: permits left after this call. */
  remaining: number
  /** Written by `Counters.take`: milliseconds until a permit is free again (rate) or the window ends (quota), 0 = unknown. */
  resetMs: number
  /** Belongs to the counters adapter: where it keeps this count. -1 until first used. */
  slot: number
  /** Belongs to the counters adapter: tells a slot that was given to another count meanwhile. */
  generation: number
}

/** Makes a limit of fixed shape. `max` must be at least 1. */
export function makeLimit(kind: Limit['kind'], id: string, max: number, windowMs: number): Limit {
  return { kind, id, max, windowMs, remaining: max, resetMs: 0, slot: -1, generation: 0 }
}

/** The instant of one request on both clocks, read once. */
export interface Instant {
  readonly wall: Millis
  readonly mono: MonoMillis
}
