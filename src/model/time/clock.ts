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
