import { performance } from 'node:perf_hooks'

declare const unit: unique symbol
/** Milliseconds since the Unix epoch (wall clock). */
export type Millis = number & { readonly [unit]?: 'wall' }
/** Milliseconds of a clock that never jumps; its zero means nothing. */
export type MonoMillis = number & { readonly [unit]?: 'mono' }

/** The two clocks of the product. Limits use `mono`; dates and expiries use `wall`. Tests hand in their own. */
export interface Clock {
  wall(): Millis
  /** Whole milliseconds, never going back. */
  mono(): MonoMillis
}

export const systemClock: Clock = {
  wall: () => Date.now(),
  mono: () => Math.floor(performance.now()),
}

const ORIGIN_TRIES = 16

/**
 * Where the monotonic clock of this thread is zero, in milliseconds of the system's clock that all threads have: each begins its own when
 * it is started.
 */
export function monoOrigin(): number {
  let latest = Number.NEGATIVE_INFINITY
  // A pause between the two readings makes it earlier.
  for (let i = 0; i < ORIGIN_TRIES; i++) {
    const [seconds, nanos] = process.hrtime()
    latest = Math.max(latest, seconds * 1000 + nanos / 1e6 - performance.now())
  }
  return latest
}

/** The clocks of this thread, the monotonic one as on the thread with this origin. */
export function clockSince(origin: number): Clock {
  const ahead = monoOrigin() - origin
  return { wall: () => Date.now(), mono: () => Math.floor(performance.now() + ahead) }
}

/** A clock that moves only on request: the test double for time. */
export class FakeClock implements Clock {
  wallMs: Millis
  monoMs: MonoMillis

  constructor(wallMs: Millis = 1_700_000_000_000, monoMs: MonoMillis = 1_000_000) {
    this.wallMs = wallMs
    this.monoMs = monoMs
  }

  wall(): Millis {
    return this.wallMs
  }

  mono(): MonoMillis {
    return this.monoMs
  }

  advance(ms: number): void {
    this.wallMs += ms
    this.monoMs += ms
  }
}

const MOST_SUBJECTS = 1000

/** Lets one message through per subject and interval. */
export class OncePerInterval {
  readonly #intervalMs: number
  readonly #last = new Map<string, number>()

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** True when nothing was logged about the subject for the interval. `now` in milliseconds. */
  isDue(subject: string, now: number): boolean {
    const last = this.#last.get(subject)
    if (last !== undefined && now - last < this.#intervalMs) return false
    this.#last.delete(subject)
    this.#last.set(subject, now)
    if (this.#last.size > MOST_SUBJECTS) for (const oldest of this.#last.keys()) if (this.#last.delete(oldest)) break
    return true
  }
}
