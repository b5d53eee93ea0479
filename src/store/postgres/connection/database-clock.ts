import type { Log } from '../../../model/logs/log.ts'
import { type Clock, type Millis, type MonoMillis, systemClock } from '../../../model/time/clock.ts'
import { PeriodicJob } from '../../../runtime/periodic-job.ts'
import type { StoreClock } from '../../ports/ports.ts'
import type { Db } from './db.ts'

/** Differences up to this are not warned of. */
const TOLERATED_MS = 2_000
const MEASURE_EVERY_MS = 60_000
/** A wall clock that was set is noticed so soon. */
const LOOK_EVERY_MS = 1_000
const JUMP_MS = 1_000
/** An answer that took longer tells the time of the database too roughly to replace what is known. */
const ROUGH_MS = 500

/**
 * The time of the database, measured by the monotonic clock of this node from its last measurement on: it does not follow a wall clock that is
 * wrong, or is set. Until the first measurement it is the clock of the system.
 */
export class DatabaseClock implements StoreClock {
  readonly #system: Clock
  /** The distance of the monotonic clock from the database's. */
  #base: number

  constructor(system: Clock = systemClock) {
    this.#system = system
    this.#base = system.wall() - system.mono()
  }

  wall(): Millis {
    return this.#base + this.#system.mono()
  }

  mono(): MonoMillis {
    return this.#system.mono()
  }

  get aheadMs(): Millis {
    return this.own() - this.wall()
  }

  /** The time of this node's own clock. */
  own(): Millis {
    return this.#system.wall()
  }

  /** The database said that it is `now`. */
  set(now: Millis): void {
    this.#base = Math.round(now) - this.#system.mono()
  }
}

/**
 * Compares the clock of this node with that of the database, every minute and when its wall clock was set, and warns of more than two
 * seconds. A `DatabaseClock` is put right by it.
 */
export class ClockWatch {
  readonly #db: Db
  readonly #clock: Clock
  readonly #log: Log
  /** The distance of the wall clock from the monotonic one when both were last read. */
  #difference: number
  #measuredAt = 0
  #job: PeriodicJob | undefined
  #warned = false

  constructor(db: Db, clock: Clock, log: Log) {
    this.#db = db
    this.#clock = clock
    this.#log = log
    this.#difference = Date.now() - performance.now()
  }

  /** Measures for the first time. @throws Fault `store_away` */
  async start(): Promise<void> {
    await this.#measure(Number.POSITIVE_INFINITY)
    // While the database is away what is known stays.
    this.#job = new PeriodicJob({ everyMs: LOOK_EVERY_MS, run: () => this.#look(), onError() {} })
  }

  /** Does not wait for a measurement under way: the database may be away. */
  close(): void {
    void this.#job?.close()
  }

  async #look(): Promise<void> {
    const difference = Date.now() - performance.now()
    const jumped = Math.abs(difference - this.#difference) > JUMP_MS
    this.#difference = difference
    if (!jumped && performance.now() - this.#measuredAt < MEASURE_EVERY_MS) return
    await this.#measure(ROUGH_MS)
  }

  async #measure(roughMs: number): Promise<void> {
    this.#measuredAt = performance.now()
    const startedAt = performance.now()
    const [row] = await this.#db.read<{ now: number }>(
      'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now',
    )
    const tookMs = performance.now() - startedAt
    if (tookMs > roughMs) return
    const now = row!.now + tookMs / 2
    const shared = this.#clock instanceof DatabaseClock ? this.#clock : undefined
    shared?.set(now)
    this.#tell((shared?.own() ?? this.#clock.wall()) - now, tookMs / 2)
  }

  /** `roughMs`: by how much the difference may be wrong. */
  #tell(aheadMs: number, roughMs: number): void {
    const isOff = Math.abs(aheadMs) > TOLERATED_MS + roughMs
    if (!isOff || this.#warned) {
      this.#warned = isOff
      return
    }
    this.#warned = true
    const apart = `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`
    this.#log.warn(
      { ahead_ms: Math.round(aheadMs) },
      `the clock of this node is ${apart} that of PostgreSQL: dates are judged by that of PostgreSQL; set this one right`,
    )
  }
}
