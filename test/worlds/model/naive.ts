/** The plainest limiter there is: a log of every admitted use. The real one is checked against it. */
export class Log {
  readonly times: number[] = []

  /** Uses that count at `now` in a window of `windowMs`. Times are whole milliseconds, so a use counts through `windowMs` of age. */
  used(windowMs: number, now: number): number {
    let count = 0
    for (let i = this.times.length - 1; i >= 0 && this.times[i]! >= now - windowMs; i--) count++
    return count
  }

  /** Milliseconds until the next use comes back, or until one is admitted when none is. */
  nextMs(max: number, windowMs: number, now: number): number {
    const used = this.used(windowMs, now)
    if (used === 0) return 0
    const oldest = this.times.length - used
    return this.times[oldest + Math.max(0, used - max)]! + windowMs + 1 - now
  }
}

/** The most uses that any window of `windowMs` holds, at any offset. `times` in order. */
export function fullestWindow(times: readonly number[], windowMs: number): number {
  let most = 0
  let first = 0
  for (let last = 0; last < times.length; last++) {
    while (times[last]! - times[first]! > windowMs) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}

/** Random numbers that repeat for a seed (mulberry32): from 0 to below 1. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
