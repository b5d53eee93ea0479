import type { Fault } from '../../errors/fault.ts'
import type { Instant, Limit } from '../../model/limits/limit.ts'
import { type RateAlgorithmName, rateAlgorithm } from '../../model/limits/rate-algorithms.ts'
import { SLIDING_WINDOW } from '../../model/limits/window.ts'
import type { DurationHistogram } from '../../model/metrics/metric-registry.ts'
import { type Clock, type Millis, type MonoMillis, systemClock } from '../../model/time/clock.ts'
import { PeriodicJob } from '../../runtime/periodic-job.ts'
import type { Counters } from '../ports/ports.ts'
import { RedisConnection, type RedisOptions } from './connection.ts'
import type { Count } from './count.ts'
import { type CountKeys, Counts, counterNames, scanOwned, scanQuotas, writeLimitState } from './counts.ts'
import { DegradedCounters } from './degraded-counters.ts'
import { LeaseHolders, leaseAheadOf } from './lease-ahead.ts'
import { PermitBatcher } from './permit-batcher.ts'
import { RATE_SCRIPTS } from './rate-scripts.ts'
import { type CountScripts, countScripts } from './scripts.ts'

/** Interval of checks while Redis is away. */
const RETURN_EVERY_MS = 20
/** Of what was leased when Redis went away, nothing is used later than so: a Redis that has lost all does not know of it. */
const WITHOUT_REDIS_MS = 450
const SWEEP_EVERY_MS = 1_000
const CLOSE_MS = 500

export interface RedisCountersOptions extends RedisOptions {
  readonly clock?: Clock
  /** True: Redis counts by the wall time of `clock`, instead of its own. For tests with a fake clock. */
  readonly ownTime?: boolean
  /** The prefix of all keys. Its braces keep them on one node of a Redis cluster, as one script needs them. */
  readonly prefix?: string
  /** By which rates are counted: sliding windows by default. */
  readonly rates?: RateAlgorithmName
}

/**
 * Counters of a cluster in Redis or Valkey. A count that is used rarely is asked for call by call; of a busy one the node leases
 * permits ahead for 20 ms to 24 s and answers at once. A lease lasts 45 ms from when it was asked for, and longer where the window is
 * long or little of the limit is used (`leaseAheadOf`); Redis counts the use of a rate for its window and 50 ms, and as much longer: so
 * all nodes together never exceed it by time of use. While counts cannot be had `take` and `peek` fail with `store_away`,
 * `store_full`, `store_read_only` or `store_refused`.
 */
export class RedisCounters implements Counters {
  private readonly clock: Clock
  private readonly ownTime: boolean
  private readonly prefix: string
  private readonly keys: CountKeys
  private readonly scripts: CountScripts
  private readonly connection: RedisConnection
  private readonly counts: Counts
  private readonly batcher: PermitBatcher
  private readonly alone: DegradedCounters
  private readonly holders: LeaseHolders
  private readonly sweeper: PeriodicJob
  /** The counts of a call, in the order of its limits; entries after them belong to earlier calls. */
  private readonly met: Count[] = []

  /** Connects in the background. @throws Fault `setting_invalid` when the URL is none */
  constructor({
    clock = systemClock,
    ownTime = false,
    prefix = 'gatehouse:{counts}:',
    rates = SLIDING_WINDOW.name,
    ...redis
  }: RedisCountersOptions) {
    this.clock = clock
    this.ownTime = ownTime
    this.prefix = prefix
    const rateScript = RATE_SCRIPTS[rates]
    this.keys = { prefix, rateKey: rateScript.key }
    this.scripts = countScripts(rateScript)
    const onChange = (trouble: Fault | undefined) => {
      if (trouble !== undefined) this.counts.shorten(this.clock.mono() + WITHOUT_REDIS_MS)
      redis.onChange?.(trouble)
    }
    this.connection = new RedisConnection({ ...redis, onChange }, `${prefix}trial`)
    this.holders = new LeaseHolders(
      () => this.clock.mono(),
      (count) => this.expire(count),
    )
    this.counts = new Counts(this.keys, rateAlgorithm(rates), clock)
    this.alone = new DegradedCounters(this.counts)
    this.batcher = new PermitBatcher({
      ...{ connection: this.connection, counts: this.counts, clock, prefix, ownTime, take: this.scripts.take },
      onLease: (count, untilMs) => this.holders.add(count, untilMs),
      onAnswer: () => this.alone.ended(),
    })
    const sweep = () => this.counts.sweep(this.clock.mono())
    this.sweeper = new PeriodicJob({ everyMs: SWEEP_EVERY_MS, run: sweep, onError() {} })
  }

  /** Times of the calls to Redis that were answered. */
  get durations(): DurationHistogram {
    return this.connection.durations
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
    const { met } = this
    let busy = true
    let refused = -1
    for (let i = 0; i < limits.length; i++) {
      const limit = limits[i]!
      const count = this.counts.of(limit, now)
      met[i] = count
      count.expire(now)
      count.windowMs = limit.windowMs
      count.aheadMs = leaseAheadOf(limit, count)
      if (!count.arrive(now, limit.max)) busy = false
      if (refused < 0 && count.isRefused(limit.max, now)) refused = i
    }
    if (refused < 0 && busy) this.fetchAhead(limits, met, now)
    if (refused < 0 && !(busy && this.useHeld(limits, met, now))) return this.ask(limits, now)
    writeLimitState(limits, met, refused, now)
    return refused
  }

  async peek(limits: readonly Limit[], _now: Instant): Promise<number> {
    const { fault } = this.connection
    if (fault !== undefined) throw fault
    const counts = this.countsOf(limits)
    const refused = await this.batcher.peek(limits, counts)
    const now = this.clock.mono()
    for (const count of counts) count.expire(now)
    writeLimitState(limits, counts, refused, now)
    return refused
  }

  /**
   * The permits of this node while `take` fails: of a rate, its use in the previous window, or a twentieth of the
   * limit where that is more; of a quota, what was left at the last response of Redis. It is reported to Redis when it is back.
   */
  takeAlone(limits: readonly Limit[], _now: Instant): number {
    const refused = this.alone.take(limits, this.clock.mono())
    if (refused < 0) for (const count of this.countsOf(limits)) if (count.owes) this.lookLater(count)
    return refused
  }

  async resetQuota(id: string, used = 0, endsInMs = 0): Promise<void> {
    const permits = Math.max(0, Math.floor(used))
    const key = counterNames(this.keys, id).quota
    const lastsMs = permits === 0 ? 0 : Math.max(0, Math.ceil(endsInMs))
    const args = [this.time(), String(permits), String(lastsMs)]
    const [generation, ends] = (await this.connection.run(this.scripts.reset, [key], args)) as [number, number]
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
    if (!from.includes('|')) for (const id of await scanOwned(this.connection, this.keys, from)) ids.add(id)
    for (const id of ids) {
      const source = counterNames(this.keys, id)
      const target = counterNames(this.keys, to + id.slice(from.length))
      await this.connection.run(
        this.scripts.carry,
        [source.rate, source.quota, target.rate, target.quota],
        [this.time()],
      )
    }
  }

  /** All quota counts with used permits. Looks at every key that Redis has. @throws Fault `store_away` */
  quotas(): AsyncIterable<{ readonly id: string; readonly used: number; readonly endsAt: Millis }> {
    return scanQuotas(this.connection, this.prefix)
  }

  /** Returns unused permits, and closes the connection. */
  async close(): Promise<void> {
    const swept = this.sweeper.close()
    for (const count of this.holders.takeAll()) {
      count.release()
      if (count.owes) this.batcher.giveBack(count)
    }
    if (this.connection.fault === undefined) await this.batcher.quiet(CLOSE_MS)
    this.batcher.close()
    this.connection.close()
    await swept
  }

  private ask(limits: readonly Limit[], now: MonoMillis): Promise<number> {
    const { fault } = this.connection
    return fault === undefined ? this.batcher.take(limits, this.countsOf(limits), now) : Promise.reject(fault)
  }

  /** True when every limit had a permit at hand, of which one is now used. */
  private useHeld(limits: readonly Limit[], met: readonly Count[], now: MonoMillis): boolean {
    for (let i = 0; i < limits.length; i++) if (met[i]!.held === 0) return false
    for (let i = 0; i < limits.length; i++) {
      const count = met[i]!
      // A count that is named twice is taken from once.
      if (met.indexOf(count) < i) continue
      count.useHeld()
      this.counts.noteUse(count, limits[i]!, now)
    }
    return true
  }

  /** Only where no limit must be requested separately: permits of the others would expire. */
  private fetchAhead(limits: readonly Limit[], met: readonly Count[], now: MonoMillis): void {
    if (this.connection.fault !== undefined) return
    for (let i = 0; i < limits.length; i++) {
      const limit = limits[i]!
      const count = met[i]!
      count.arriveLocally()
      const permits = count.wanted(limit.max, now)
      if (permits > 0) this.batcher.fetch(limit, count, permits)
    }
  }

  /** Drops leases that have ended, and returns their unused permits to Redis. */
  private expire(count: Count): void {
    count.expire(this.clock.mono())
    if (!count.owes) return
    if (this.connection.fault === undefined) this.batcher.giveBack(count)
    else this.lookLater(count)
  }

  private lookLater(count: Count): void {
    this.holders.add(count, this.clock.mono() + RETURN_EVERY_MS)
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

/** Quota counts of a cluster for a transfer. A window that is over begins again. */
export function redisQuotas(counters: Pick<RedisCounters, 'quotas' | 'resetQuota'>, clock: Clock = systemClock) {
  return {
    read: () => counters.quotas(),
    async write(id: string, used: number, endsAt: number): Promise<void> {
      const endsInMs = endsAt - clock.wall()
      if (endsAt === 0) await counters.resetQuota(id, used)
      else if (endsInMs > 0) await counters.resetQuota(id, used, endsInMs)
    },
  }
}
