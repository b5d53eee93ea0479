import type { MonoMillis } from '../time/clock.ts'

export interface ThrottleRules {
  /** Failures before the first wait. */
  readonly free: number
  /** The first wait; each further failure doubles it. */
  readonly firstWaitMs: number
  readonly longestWaitMs: number
  /** A name without a try for this long is forgotten. */
  readonly forgetMs: number
  /** Names in memory at most; those not used longest go first. */
  readonly entries: number
}

const DAY_MS = 86_400_000

/**
 * The brake of a name from all addresses that it was not shown from before: after `free` failures each further try waits, at most half a
 * minute, so that strangers slow down the owner at most that long, and guess no more than 2,880 + `free` passwords a day. Failures count
 * for a day, or rests between bursts would allow more.
 */
export function perNameThrottle(free: number): ThrottleRules {
  return { free, firstWaitMs: 1000, longestWaitMs: 30_000, forgetMs: DAY_MS, entries: 100_000 }
}

interface Entry {
  failures: number
  /** No try before. */
  nextAt: MonoMillis
  lastAt: MonoMillis
}

/**
 * Delays attempts after failures, longer with each failure. A try counts as a failure from its beginning until it is known to have
 * succeeded, so that tries side by side do not slip through. Memory is bounded.
 */
export class Throttle {
  readonly #rules: ThrottleRules
  /** In order of last use. */
  readonly #entries = new Map<string, Entry>()

  constructor(rules: ThrottleRules) {
    this.#rules = rules
  }

  get size(): number {
    return this.#entries.size
  }

  /** Milliseconds until a try is allowed; 0 = now. Changes nothing. */
  waitMs(name: string, now: MonoMillis): number {
    return Math.max(0, (this.#find(name, now)?.nextAt ?? now) - now)
  }

  /** Notes that a try has begun. */
  begin(name: string, now: MonoMillis): void {
    const entry = this.#find(name, now) ?? { failures: 0, nextAt: now, lastAt: now }
    entry.failures++
    entry.lastAt = now
    const { free, firstWaitMs, longestWaitMs } = this.#rules
    const over = entry.failures - free
    if (over > 0) entry.nextAt = now + Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(40, over - 1))
    this.#keep(name, entry)
  }

  /** Takes a try back that has succeeded; with `all` every failure before it too. */
  succeed(name: string, { all }: { readonly all: boolean }): void {
    const entry = this.#entries.get(name)
    if (entry === undefined) return
    entry.failures = all ? 0 : Math.max(0, entry.failures - 1)
    if (entry.failures === 0) this.#entries.delete(name)
    else if (entry.failures <= this.#rules.free) entry.nextAt = entry.lastAt
  }

  #find(name: string, now: MonoMillis): Entry | undefined {
    const entry = this.#entries.get(name)
    if (entry === undefined || now - entry.lastAt < this.#rules.forgetMs) return entry
    this.#entries.delete(name)
    return undefined
  }

  #keep(name: string, entry: Entry): void {
    this.#entries.delete(name)
    this.#entries.set(name, entry)
    if (this.#entries.size > this.#rules.entries) this.#entries.delete(this.#entries.keys().next().value!)
  }
}
