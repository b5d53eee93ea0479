import type { Fault } from '../../errors/fault.ts'
import { type Clock, type MonoMillis, systemClock } from '../../model/clock.ts'
import type { Instant, Limit } from '../../model/limit.ts'
import type { Counters } from '../ports.ts'
import { Alone } from './alone.ts'
import { Connection, type RedisOptions } from './connection.ts'
import type { Count } from './count.ts'
import { Counts } from './counts.ts'
import { keysOf, scanOwned } from './keys.ts'
import { aheadOf } from './round.ts'
import { Rounds } from './rounds.ts'
import { CARRY, RESET } from './scripts.ts'

const EXPIRE_EVERY_MS = 20
const SWEEP_EVERY_MS = 1_000
const CLOSE_MS = 500

export interface RedisCountersOptions extends RedisOptions {
  readonly clock?: Clock
  /** True: Redis counts by the wall time of `clock`, instead of its own. For tests whose clock stands still. */
  readonly ownTime?: boolean
  /** What the names of all keys begin with. Its braces keep them on one node of a Redis cluster, as one script needs them. */
  readonly prefix?: string
}

/**
 * Counters of a cluster in Redis or Valkey. A count that is used rarely is asked for call by call; of a busy one the node leases
 * permits ahead for 20 to 200 ms and answers at once. A lease lasts 45 ms from when it was asked for, and up to 450 ms longer where
 * the window is long; Redis counts the use of a rate for its window and 50 ms, and as much longer: so all nodes together never
 * exceed it by time of use. While counts cannot be had `take` and `peek`
 * fail with `store_away`, `store_full`, `store_read_only` or `store_refused`.
 */
export class RedisCounters implements Counters {
  private readonly clock: Clock
  private readonly ownTime: boolean
  private readonly prefix: string
  private readonly connection: Connection
  private readonly counts: Counts
  private readonly rounds: Rounds
  private readonly alone: Alone
  /** Of which permits are held: what is not used is given back. */
  private readonly holders = new Set<Count>()
  private readonly sweeper: NodeJS.Timeout
  private expiry: NodeJS.Timeout | undefined

  /** Connects in the background. @throws Fault `setting_invalid` when the URL is none */
  constructor({
    clock = systemClock,
    ownTime = false,
    prefix = 'gatehouse:{counts}:',
    ...redis
  }: RedisCountersOptions) {
    this.clock = clock
    this.ownTime = ownTime
    this.prefix = prefix
    this.connection = new Connection(redis)
    this.counts = new Counts(prefix, clock)
    this.alone = new Alone(this.counts)
    this.rounds = new Rounds({
      ...{ connection: this.connection, counts: this.counts, clock, prefix, ownTime },
      onLease: (count) => this.hold(count),
      onAnswer: () => this.alone.ended(),
    })
    this.sweeper = setInterval(() => this.counts.sweep(this.clock.mono()), SWEEP_EVERY_MS)
    this.sweeper.unref()
  }

  /** Resolves when Redis answers. @throws Fault the reason when it does not within `withinMs` */
  async check(withinMs = 3_000): Promise<void> {
    await this.connection.settled(withinMs)
    await this.connection.command(['PING'])
  }

  /** Why Redis cannot be asked now; undefined when it can. */
  get trouble(): Fault | undefined {
    return this.connection.fault
  }

  /** See `Counters.take`: at once from leases and remembered refusals, else by one call of Redis. */
  take(limits: readonly Limit[], _now: Instant): number | Promise<number> {
    // Not the time when the request came: a lease may have ended since.
    const now = this.clock.mono()
    let busy = true
    let refused = -1
    for (let i = 0; i < limits.length; i++) {
      const limit = limits[i]!
      const count = this.counts.of(limit, now)
      count.expire(now)
      count.windowMs = limit.windowMs
      if (!count.arrive(now, limit.max, aheadOf(limit))) busy = false
      if (refused < 0 && count.isRefused(limit.max, now)) refused = i
    }
    if (refused < 0 && busy) this.fetchAhead(limits, now)
    if (refused < 0 && !(busy && this.useHeld(limits, now))) return this.ask(limits, now)
    this.counts.tell(limits, refused, now)
    return refused
  }

  async peek(limits: readonly Limit[], _now: Instant): Promise<number> {
    const { fault } = this.connection
    if (fault !== undefined) throw fault
    const counts = this.countsOf(limits)
    const refused = await this.rounds.look(limits, counts)
    const now = this.clock.mono()
    for (const count of counts) count.expire(now)
    this.counts.tell(limits, refused, now)
    return refused
  }

  /**
   * What this node may admit by itself while `take` fails: of a rate, what it used in the window before, or a twentieth of the
   * limit where that is more; of a quota, what was left when Redis was last heard. Redis is told of it when it is back.
   */
  takeAlone(limits: readonly Limit[], _now: Instant): number {
    const refused = this.alone.take(limits, this.clock.mono())
    if (refused < 0) for (const count of this.countsOf(limits)) if (count.owes) this.hold(count)
    return refused
  }

  async resetQuota(id: string, used = 0, endsInMs = 0): Promise<void> {
    const permits = Math.max(0, Math.floor(used))
    const key = keysOf(this.prefix, id).quota
    const lastsMs = permits === 0 ? 0 : Math.max(0, Math.ceil(endsInMs))
    const args = [this.time(), String(permits), String(lastsMs)]
    const [generation, ends] = (await this.connection.run(RESET, [key], args)) as [number, number]
    const count = this.counts.known('quota', id)
    count?.learn({ generation, version: 0, used: permits, ends })
  }

  /**
   * Adds the counts of `from` to those of `to`; `from` keeps its own. Both are either whole ids of limits, or the part before
   * the first `|`: then every count of that owner is carried, which looks at every key that Redis has.
   */
  async carry(from: string, to: string): Promise<void> {
    if (from === to) return
    const ids = new Set([from])
    if (!from.includes('|')) for (const id of await scanOwned(this.connection, this.prefix, from)) ids.add(id)
    for (const id of ids) {
      const source = keysOf(this.prefix, id)
      const target = keysOf(this.prefix, to + id.slice(from.length))
      await this.connection.run(CARRY, [source.rate, source.quota, target.rate, target.quota], [this.time()])
    }
  }

  /** Gives back what is held, and lets go of the connection. */
  async close(): Promise<void> {
    clearInterval(this.sweeper)
    clearInterval(this.expiry)
    for (const count of this.holders) {
      count.release()
      if (count.owes) this.rounds.giveBack(count)
    }
    if (this.connection.fault === undefined) await this.rounds.quiet(CLOSE_MS)
    this.connection.close()
  }

  private ask(limits: readonly Limit[], now: MonoMillis): Promise<number> {
    const { fault } = this.connection
    return fault === undefined ? this.rounds.take(limits, this.countsOf(limits), now) : Promise.reject(fault)
  }

  /** True when every limit had a permit at hand, of which one is now used. */
  private useHeld(limits: readonly Limit[], now: MonoMillis): boolean {
    for (let i = 0; i < limits.length; i++) if (this.counts.of(limits[i]!, now).held === 0) return false
    for (let i = 0; i < limits.length; i++) {
      const limit = limits[i]!
      const count = this.counts.of(limit, now)
      // A count that is named twice is taken from once.
      if (namedBefore(limits, i)) continue
      count.useHeld()
      this.counts.noteUse(count, limit, now)
    }
    return true
  }

  /** Only where no limit must be asked for one by one: permits of the others would lapse. */
  private fetchAhead(limits: readonly Limit[], now: MonoMillis): void {
    if (this.connection.fault !== undefined) return
    for (let i = 0; i < limits.length; i++) {
      const limit = limits[i]!
      const count = this.counts.of(limit, now)
      count.arriveLocally()
      const permits = count.wanted(limit.max, aheadOf(limit))
      if (permits > 0) this.rounds.fetch(limit, count, permits)
    }
  }

  private hold(count: Count): void {
    this.holders.add(count)
    if (this.expiry !== undefined) return
    this.expiry = setInterval(() => this.expire(), EXPIRE_EVERY_MS)
    this.expiry.unref()
  }

  private expire(): void {
    const now = this.clock.mono()
    const away = this.connection.fault !== undefined
    for (const count of this.holders) {
      count.expire(now)
      if (count.owes && !away) this.rounds.giveBack(count)
      if (!count.busy) this.holders.delete(count)
    }
    if (this.holders.size > 0) return
    clearInterval(this.expiry)
    this.expiry = undefined
  }

  private countsOf(limits: readonly Limit[]): Count[] {
    const now = this.clock.mono()
    return limits.map((limit) => {
      const count = this.counts.of(limit, now)
      count.lastMs = now
      return count
    })
  }

  private time(): string {
    return this.ownTime ? String(this.clock.wall()) : ''
  }
}

/** True when an earlier limit of the list has the same count. */
function namedBefore(limits: readonly Limit[], index: number): boolean {
  const { kind, slot } = limits[index]!
  for (let i = 0; i < index; i++) if (limits[i]!.slot === slot && limits[i]!.kind === kind) return true
  return false
}
