import type { Limit } from '../../model/limits/limit.ts'
import type { RateAlgorithm, RateTable } from '../../model/limits/rate-algorithm.ts'
import type { Clock, MonoMillis } from '../../model/time/clock.ts'
import type { RedisConnection } from './connection.ts'
import { Count } from './count.ts'

const SCAN_KEYS = '1000'
const AT_ONCE = 1000

/** The beginning of the names of all counts, and that of rates, by the algorithm that counts them: see `RateScript`. */
export interface CountKeys {
  readonly prefix: string
  readonly rateKey: string
}

/** The names under which the counts of an id are kept. */
export function counterNames({ prefix, rateKey }: CountKeys, id: string): { rate: string; quota: string } {
  return { rate: `${prefix}${rateKey}:${id}`, quota: `${prefix}quota:${id}` }
}

/** The ids of all counts of an owner (`owner|...`). Looks at every key that Redis has, a thousand at a time. */
export async function scanOwned(connection: RedisConnection, names: CountKeys, owner: string): Promise<Set<string>> {
  const ids = new Set<string>()
  const { rate, quota } = counterNames(names, '')
  for (const start of [rate, quota]) {
    const pattern = `${literal(`${start}${owner}`)}|*`
    for await (const keys of scanKeys(connection, pattern)) for (const key of keys) ids.add(key.slice(start.length))
  }
  return ids
}

/** A quota as Redis holds it. */
interface StoredQuota {
  readonly id: string
  readonly used: number
  /** By Redis's clock, Unix milliseconds; 0 = never, or not known before the next call. */
  readonly endsAt: number
}

/** All quotas of which permits are used. Looks at every key that Redis has, a thousand at a time. */
export async function* scanQuotas(connection: RedisConnection, prefix: string): AsyncGenerator<StoredQuota> {
  const start = `${prefix}quota:`
  const found = new Set<string>()
  for await (const keys of scanKeys(connection, `${literal(start)}*`)) for (const key of keys) found.add(key)
  const names = [...found]
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE)
    const texts = (await connection.command(['MGET', ...some])) as (string | null)[]
    for (const [i, key] of some.entries()) {
      // Generation, version, used permits and end: see `readQuota` of the scripts.
      const [, used = 0, ends = 0] = /^\d+ \d+ (\d+) (-?\d+)$/.exec(texts[i] ?? '')?.map(Number) ?? []
      if (used > 0) yield { id: key.slice(start.length), used, endsAt: Math.max(0, ends) }
    }
  }
}

async function* scanKeys(connection: RedisConnection, pattern: string): AsyncGenerator<string[]> {
  let cursor = '0'
  do {
    const reply = await connection.command(['SCAN', cursor, 'MATCH', pattern, 'COUNT', SCAN_KEYS])
    const [next, keys] = reply as [string, string[]]
    yield keys
    cursor = String(next)
  } while (cursor !== '0')
}

/** Text as a pattern that matches only itself. */
function literal(text: string): string {
  return text.replace(/[\\*?[\]^]/g, '\\$&')
}

/** The state of a quota is kept so long after its last use: it may have to restore a Redis that has lost it. */
const QUOTA_KEPT_MS = 60_000
/** Up to so many counts it is kept until the window of the quota ends. */
const MOST_KEPT = 100_000
/** Longer than a call may be on its way. */
const RATE_KEPT_MS = 5_000
const SWEPT_LEAST = 2_000
/** All of them within so many sweeps. */
const SWEEPS = 16

/** Module state: numbers that are unique over all instances, so that a slot of one is never used in another. */
let generations = 0

/** The counts that this node meets, and its own uses of rates. */
export class Counts {
  private readonly keys: CountKeys
  private readonly clock: Clock
  private readonly byName = new Map<string, Count>()
  private readonly bySlot: (Count | undefined)[] = []
  private readonly free: number[] = []
  private readonly windows: RateTable
  private cursor = 0

  constructor(keys: CountKeys, algorithm: RateAlgorithm, clock: Clock) {
    this.keys = keys
    this.windows = algorithm.table()
    this.clock = clock
  }

  /** The count of a limit, which remembers where it is. */
  of(limit: Limit, now: MonoMillis): Count {
    const remembered = limit.slot >= 0 ? this.bySlot[limit.slot] : undefined
    if (remembered !== undefined && remembered.generation === limit.generation) return remembered
    const count = this.known(limit.kind, limit.id) ?? this.claim(limit, now)
    limit.slot = count.slot
    limit.generation = count.generation
    return count
  }

  /** The count of an id, where this node has met it. */
  known(kind: Limit['kind'], id: string): Count | undefined {
    return this.byName.get(kind + id)
  }

  /** Notes that this node used a permit of a rate. */
  noteUse(count: Count, { max, windowMs }: Limit, now: MonoMillis): void {
    if (count.window >= 0 && this.windows.room(count.window, max, windowMs, now) > 0)
      this.windows.use(count.window, max, windowMs)
  }

  /** How often this node used a rate within its window. */
  ownUses(count: Count, max: number, windowMs: number): number {
    if (count.window < 0) return 0
    return Math.max(0, max - this.windows.room(count.window, max, windowMs, this.clock.mono()))
  }

  /** Checks some of the counts and drops those that were not used for long. For a timer of the owner. */
  sweep(now: MonoMillis): void {
    const budget = Math.max(SWEPT_LEAST, Math.ceil(this.bySlot.length / SWEEPS))
    for (let left = Math.min(budget, this.bySlot.length); left > 0; left--) {
      if (this.cursor >= this.bySlot.length) this.cursor = 0
      const count = this.bySlot[this.cursor++]
      if (count === undefined || count.busy) continue
      if (now - count.lastMs > count.keptMs && !this.isKept(count, now)) this.release(count)
      else if (count.window >= 0) this.windows.trim(count.window)
    }
  }

  /** Ends all leases by then at the latest. */
  shorten(untilMs: MonoMillis): void {
    for (const count of this.byName.values()) if (count.held > 0) count.shorten(untilMs)
  }

  /** Redis has lost what it knew of rates: what this node holds of them was never given. */
  forgetRates(): void {
    for (const count of this.byName.values()) if (count.kind === 'rate') count.forget()
  }

  /** The quotas of which something is known, for a Redis that has lost it. */
  knownQuotas(): Count[] {
    return [...this.byName.values()].filter(({ kind, known }) => kind === 'quota' && known.generation > 0)
  }

  private isKept({ kind, known, freeAtMs }: Count, now: MonoMillis): boolean {
    if (kind !== 'quota' || this.size > MOST_KEPT) return false
    return known.used > 0 && (known.ends === 0 || freeAtMs > now)
  }

  get size(): number {
    return this.byName.size
  }

  private claim(limit: Limit, now: MonoMillis): Count {
    const isRate = limit.kind === 'rate'
    const keys = counterNames(this.keys, limit.id)
    const count = new Count(
      limit,
      {
        key: isRate ? keys.rate : keys.quota,
        slot: this.free.pop() ?? this.bySlot.length,
        generation: ++generations,
        window: isRate ? this.windows.claim() : -1,
        keptMs: isRate ? limit.windowMs + RATE_KEPT_MS : QUOTA_KEPT_MS,
      },
      now,
    )
    this.byName.set(limit.kind + limit.id, count)
    this.bySlot[count.slot] = count
    return count
  }

  private release(count: Count): void {
    this.byName.delete(count.kind + count.id)
    this.bySlot[count.slot] = undefined
    this.free.push(count.slot)
    if (count.window >= 0) this.windows.release(count.window)
  }
}

/** Writes the limits of a response, of which `counts` are the counts. `refused`: the index of the limit that refused, or -1. */
export function writeLimitState(
  limits: readonly Limit[],
  counts: readonly Count[],
  refused: number,
  now: MonoMillis,
): void {
  for (let i = 0; i < limits.length; i++) {
    const limit = limits[i]!
    const count = counts[i]!
    limit.remaining = i === refused ? 0 : Math.max(0, limit.max - count.used + count.held)
    limit.resetMs = count.freeAtMs === 0 ? 0 : Math.max(1, count.freeAtMs - now)
  }
}
