import { hash } from 'node:crypto'
import type { Clock, MonoMillis } from '../model/time/clock.ts'
import { ownPlace, type RecentTable, type RecentTables, type TablePlace } from './recent-tables.ts'

/** Within a window, which begins with the first failure, no more than `limit` failures; 0 = no bound. */
export interface WindowRules {
  readonly limit: number
  readonly windowMs: number
}

/** After `free` failures each further attempt waits, twice as long each time. */
export interface DelayRules {
  readonly free: number
  readonly firstWaitMs: number
  readonly longestWaitMs: number
  /** Failures under a name are forgotten when it is not tried for this long. */
  readonly forgetMs: number
}

/** `names` in memory at most, however long they are: those that were not tried for longest go first; absent = 100,000, some 15 MB. */
export type AttemptRules = (WindowRules | DelayRules) & { readonly names?: number }

interface Entry {
  failures: number
  /** No attempt before. */
  nextAt: MonoMillis
  /** When it is forgotten. */
  until: MonoMillis
}

const MOST_NAMES = 100_000
/** Those of `Entry`. */
const ENTRY_NUMBERS = 3
/** Longer ones are kept as their hash, which is longer than this itself: nobody can choose a name that is the hash of another. */
const LONGEST_NAME = 64
const DAY_MS = 86_400_000

/**
 * Rules for a name from all addresses that it was not shown from before: after `free` failures each further attempt waits, at most half a
 * minute, so that strangers slow down the owner at most that long, and guess no more than 2,880 + `free` passwords a day. Failures count
 * for a day, or rests between bursts would allow more.
 */
export function perNameRules(free: number): AttemptRules {
  return { free, firstWaitMs: 1000, longestWaitMs: 30_000, forgetMs: DAY_MS }
}

/**
 * Limits failed attempts per name, against guessing. An attempt counts as a failure from its beginning until it is known to have succeeded, so
 * that attempts side by side do not slip through.
 *
 * The counts are in memory, of this process alone; gateway threads share them. A restart forgets them: nobody outside can cause one, and what
 * it gives is one more limit's worth of guesses; several processes give each its own. A write to the store for each failure would let anybody
 * fill it.
 */
export class AttemptLimiter {
  readonly #clock: Clock
  readonly #rules: AttemptRules
  readonly #tables: RecentTables
  readonly #entries: RecentTable

  constructor(clock: Clock, rules: AttemptRules, { tables, name }: TablePlace = ownPlace()) {
    this.#clock = clock
    this.#rules = rules
    this.#tables = tables
    this.#entries = tables.table(name, rules.names ?? MOST_NAMES, ENTRY_NUMBERS)
  }

  /** Names in memory. */
  get size(): number {
    return this.#entries.size
  }

  /** Milliseconds until an attempt is allowed; 0 = now. Changes nothing. */
  waitMs(name: string): number {
    const now = this.#clock.mono()
    return Math.max(0, (this.#find(name, now)?.nextAt ?? 0) - now)
  }

  /** Notes that an attempt has begun; it counts as a failure until `succeed` or `giveBack`. */
  begin(name: string): void {
    const rules = this.#rules
    if ('limit' in rules && rules.limit === 0) return
    this.#tables.alone(() => {
      const now = this.#clock.mono()
      const entry = this.#find(name, now) ?? { failures: 0, nextAt: 0, until: now }
      if (!('limit' in rules)) entry.until = now + rules.forgetMs
      else if (entry.failures === 0) entry.until = now + rules.windowMs
      entry.failures++
      const waitMs = 'limit' in rules ? entry.until - now : delayOf(rules, entry.failures)
      if (entry.failures >= boundOf(rules)) entry.nextAt = now + waitMs
      this.#entries.put(keyOf(name), numbersOf(entry))
    })
  }

  /** Begins an attempt if one is allowed; answers the milliseconds to wait otherwise, 0 = it has begun. */
  tryBegin(name: string): number {
    return this.#tables.alone(() => {
      const waitMs = this.waitMs(name)
      if (waitMs === 0) this.begin(name)
      return waitMs
    })
  }

  /** Takes one attempt back: it was not the caller's failure. */
  giveBack(name: string): void {
    this.#tables.alone(() => {
      const entry = this.#find(name, this.#clock.mono())
      if (entry === undefined) return
      entry.failures--
      if (entry.failures < boundOf(this.#rules)) entry.nextAt = 0
      if (entry.failures <= 0) this.#entries.delete(keyOf(name))
      else this.#entries.change(keyOf(name), numbersOf(entry))
    })
  }

  /** Forgets all failures under a name. */
  succeed(name: string): void {
    this.#entries.delete(keyOf(name))
  }

  #find(name: string, now: MonoMillis): Entry | undefined {
    const key = keyOf(name)
    const [failures = 0, nextAt = 0, until = 0] = this.#entries.get(key) ?? []
    if (failures > 0 && now < until) return { failures, nextAt, until }
    if (failures > 0) this.#entries.delete(key)
    return undefined
  }
}

function numbersOf({ failures, nextAt, until }: Entry): readonly number[] {
  return [failures, nextAt, until]
}

function keyOf(name: string): string {
  return name.length <= LONGEST_NAME ? name : hash('sha512', name, 'base64')
}

/** Failures from which on an attempt waits. */
function boundOf(rules: AttemptRules): number {
  return 'limit' in rules ? rules.limit : rules.free + 1
}

function delayOf({ free, firstWaitMs, longestWaitMs }: DelayRules, failures: number): number {
  return Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(40, failures - free - 1))
}
