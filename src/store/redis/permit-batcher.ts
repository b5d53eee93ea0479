import { randomBytes } from 'node:crypto'
import { fault } from '../../errors/fault.ts'
import type { Limit } from '../../model/limits/limit.ts'
import type { Clock, Millis, MonoMillis } from '../../model/time/clock.ts'
import type { RedisConnection } from './connection.ts'
import type { Count } from './count.ts'
import { type Counts, writeLimitState } from './counts.ts'
import { type BatchTiming, PermitBatch, type PermitRequest, SLACK_MS } from './permit-batch.ts'
import type { Script } from './scripts.ts'

/** A call that waits for Redis. */
interface WaitingCall {
  readonly limits: readonly Limit[]
  readonly sinceMs: MonoMillis
  resolve(refused: number): void
  reject(error: unknown): void
}

/** Calls that meet the same limits and wait for the same answer. */
interface Group {
  readonly counts: readonly Count[]
  readonly waiters: WaitingCall[]
}

/** The calls that go with the next round, alike ones together. */
class WaitingCalls {
  private groups = new Map<string, Group>()

  get size(): number {
    return this.groups.size
  }

  add(waiter: WaitingCall, counts: readonly Count[]): void {
    let name = ''
    for (const [i, { max, windowMs }] of waiter.limits.entries())
      name += `${counts[i]!.slot} ${counts[i]!.kind} ${max} ${windowMs} `
    const group = this.groups.get(name)
    if (group === undefined) this.groups.set(name, { counts, waiters: [waiter] })
    else group.waiters.push(waiter)
  }

  /** Hands out at most `most` groups, the oldest first. */
  take(most: number): Group[] {
    const taken: Group[] = []
    for (const [name, group] of this.groups) {
      if (taken.length === most) break
      taken.push(group)
      this.groups.delete(name)
    }
    return taken
  }
}

/**
 * How long after its call was sent a permit may be used that was not asked for ahead: less than Redis counts it longer, so that
 * what is admitted at the last moment is on its way in time.
 */
const LEASE_MS = SLACK_MS - 5
/** A call waits for its permits no longer than this. */
const PATIENCE_MS = 1_000
/**
 * Rounds without an answer, and asks in each: what comes meanwhile waits here for the next one. Few, for the time of a lease runs
 * from when its round is sent: Redis takes some 30 µs for an ask, and is asked by other nodes as well.
 */
const AT_ONCE = 2
const ASKS_PER_ROUND = 250
/**
 * Permits that nobody waits for are gathered for so long, unless a round goes sooner: the longer, the longer its leases last, of which this
 * is a small part.
 */
const GATHER_MS = 2
const GATHER_PART = 250
const LONGEST_GATHER_MS = 20
/** A node that asks for nothing looks this often whether Redis has lost what it knew. */
const LOOK_MS = 250
const REPORTS_PER_ROUND = 250
const WAIT = /^wait (\d+)$/

/** The node as a batch sees it. */
export interface PermitBatcherParts {
  readonly connection: RedisConnection
  readonly counts: Counts
  readonly clock: Clock
  readonly prefix: string
  /** Takes permits: `CountScripts.take`. */
  readonly take: Script
  /** True: Redis counts by the wall time of `clock`. */
  readonly ownTime: boolean
  /** Called when a count holds permits that must be given back if they are not used by then. */
  readonly onLease: (count: Count, untilMs: MonoMillis) => void
  /** Called after each answer. */
  readonly onAnswer: () => void
}

/** Gathers what is asked of Redis in one turn of the event loop, and sends it together. */
export class PermitBatcher {
  private readonly parts: PermitBatcherParts
  private readonly waiting = new WaitingCalls()
  private others: PermitRequest[] = []
  private returning = new Set<Count>()
  /** Of the memory of Redis: it changes when Redis has lost what it knew. */
  private mark = ''
  /** The mark that is offered to Redis, with a number, so that none is offered twice. */
  private readonly markStart = randomBytes(12).toString('hex')
  private marks = 0
  private open = 0
  private scheduled = false
  private gathering: NodeJS.Timeout | undefined
  /** When `gathering` ends, at the latest. */
  private gatheredAtMs: MonoMillis = 0
  private onQuiet: (() => void) | undefined
  /** Quotas that Redis has lost and is to hear of before anybody is given permits. */
  private lost: Count[] = []
  /** Until then Redis hears from all nodes. */
  private waitUntilMs: MonoMillis = 0
  private sentMs: MonoMillis = 0
  private readonly look: NodeJS.Timeout

  constructor(parts: PermitBatcherParts) {
    this.parts = parts
    this.look = setInterval(() => this.lookAtMark(), LOOK_MS).unref()
  }

  /** Takes a permit from all limits or none: answers the place of the limit that refuses, or -1. @throws Fault as `Counters.take` */
  take(limits: readonly Limit[], counts: readonly Count[], now: MonoMillis): Promise<number> {
    return new Promise((resolve, reject) => {
      this.enqueue({ limits, sinceMs: now, resolve, reject }, counts)
      this.schedule()
    })
  }

  /** Brings what is known of the counts up to date; answers as `take`. */
  peek(limits: readonly Limit[], counts: readonly Count[]): Promise<number> {
    return new Promise((resolve, reject) => {
      const settle: PermitRequest['settle'] = (_passed, refuses) => resolve(refuses)
      this.others.push({ limits, counts, calls: 0, aheadMs: 0, settle, fail: reject })
      this.schedule()
    })
  }

  /** Asks for permits ahead, to be used so much longer than those of a call that waits. */
  fetch(limit: Limit, count: Count, permits: number): void {
    const { aheadMs } = count
    count.fetching = true
    const settle: PermitRequest['settle'] = (passed, _refuses, when) => {
      count.fetching = false
      if (when.now - when.sentMs >= LEASE_MS + aheadMs) count.giveBack(passed, when.givenAt + aheadMs)
      else if (passed > 0) this.lease(count, passed, aheadMs, when)
      else count.refuse(limit.max, when.now)
    }
    const fail = () => {
      count.fetching = false
    }
    this.others.push({ limits: [limit], counts: [count], calls: permits, aheadMs, settle, fail })
    this.gather(Math.min(LONGEST_GATHER_MS, Math.max(GATHER_MS, aheadMs / GATHER_PART)))
  }

  /** Tells Redis of permits that were not used after all. */
  giveBack(count: Count): void {
    this.returning.add(count)
    this.gather(LONGEST_GATHER_MS)
  }

  /** Looks no more. */
  close(): void {
    clearInterval(this.look)
  }

  /** Resolves when nothing is on its way any more, or after `withinMs`. */
  quiet(withinMs: number): Promise<void> {
    if (this.open === 0 && !this.scheduled && this.gathering === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.onQuiet = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  private enqueue(waiter: WaitingCall, counts: readonly Count[]): void {
    this.waiting.add(waiter, counts)
  }

  private lease(count: Count, permits: number, aheadMs: Millis, { sentMs, givenAt }: BatchTiming): void {
    // A window of a quota ends no sooner than this: Redis was asked later than the call was sent.
    const { ends } = count.known
    const endsMs = count.kind === 'quota' && ends > 0 ? sentMs + count.freeInMs : Number.POSITIVE_INFINITY
    const untilMs = Math.min(sentMs + LEASE_MS + aheadMs, endsMs)
    count.lease(permits, untilMs, givenAt + aheadMs)
    this.parts.onLease(count, untilMs)
  }

  private schedule(): void {
    if (this.scheduled) return
    this.scheduled = true
    setImmediate(() => this.send())
  }

  private gather(forMs = GATHER_MS): void {
    if (this.scheduled) return
    const atMs = this.parts.clock.mono() + forMs
    if (this.gathering !== undefined && this.gatheredAtMs <= atMs) return
    clearTimeout(this.gathering)
    this.gatheredAtMs = atMs
    this.gathering = setTimeout(() => this.schedule(), forMs)
  }

  private send(): void {
    this.scheduled = false
    clearTimeout(this.gathering)
    this.gathering = undefined
    if (this.open >= AT_ONCE) return
    if (this.lost.length > 0) this.sendRound([], new Set(this.lost.splice(0, REPORTS_PER_ROUND)))
    const waitMs = this.lost.length > 0 ? GATHER_MS : this.waitUntilMs - performance.now()
    if (waitMs > 0) {
      this.gather(waitMs)
      return
    }
    const asks = [
      ...this.waiting.take(ASKS_PER_ROUND).map((group) => this.askOf(group.waiters, group.counts)),
      ...this.others,
    ]
    const { returning } = this
    this.others = []
    this.returning = new Set()
    if (asks.length + returning.size === 0) {
      this.rest()
      return
    }
    this.sendRound(asks, returning)
    if (this.waiting.size > 0) this.schedule()
  }

  /** A round without requests tells what the node knows of the counts, and whether the mark is still the same. */
  private sendRound(asks: readonly PermitRequest[], returning: ReadonlySet<Count>): void {
    this.sentMs = performance.now()
    const { clock, counts, connection, prefix, take, ownTime } = this.parts
    const sentMs = clock.mono()
    const round = new PermitBatch(
      asks,
      returning,
      {
        prefix,
        mark: this.mark,
        newMark: `${this.markStart}-${++this.marks}`,
        nowMs: ownTime ? clock.wall() : undefined,
      },
      (count, windowMs, max) => counts.ownUses(count, max, windowMs),
    )
    round.sent()
    this.open++
    connection.run(take, round.keys, round.args).then(
      (reply) => this.answered(round, returning, sentMs, reply),
      (error: unknown) => this.failed(round, returning, error),
    )
  }

  private answered(round: PermitBatch, returning: ReadonlySet<Count>, sentMs: MonoMillis, reply: unknown): void {
    this.open--
    const now = this.parts.clock.mono()
    if (typeof reply === 'string') {
      round.unheard()
      const waitMs = WAIT.exec(reply)?.[1]
      if (waitMs === undefined) this.marked(reply)
      else this.waitUntilMs = performance.now() + Number(waitMs)
      this.others.unshift(...round.asks)
      for (const count of returning) if (count.owes) this.returning.add(count)
      this.schedule()
    } else {
      const numbers = reply as readonly number[]
      const when = { sentMs, now, givenAt: numbers[0]!, late: now - sentMs >= LEASE_MS }
      const results = round.read(numbers, sentMs)
      for (const [i, ask] of round.asks.entries()) {
        ask.settle(results[i]!.passed, results[i]!.refuses, when)
      }
      // Permits that came too late to be used.
      for (const { counts } of round.asks) for (const count of counts) if (count.owes) this.returning.add(count)
      this.parts.onAnswer()
    }
    this.goOn()
  }

  /** Redis has lost its data, or was never asked before: it needs our own uses. */
  private marked(mark: string): void {
    if (mark === this.mark) return
    this.parts.counts.forgetRates()
    if (this.mark !== '') this.lost = this.parts.counts.knownQuotas()
    this.mark = mark
  }

  private lookAtMark(): void {
    const isIdle = this.open === 0 && performance.now() - this.sentMs >= LOOK_MS
    if (isIdle && this.mark !== '' && this.parts.connection.fault === undefined) this.sendRound([], new Set())
  }

  private failed(round: PermitBatch, returning: ReadonlySet<Count>, error: unknown): void {
    this.open--
    round.unheard()
    // Redis has not heard of them.
    if (round.asks.length === 0) this.lost.push(...returning)
    for (const ask of round.asks) {
      ask.fail(error)
    }
    this.goOn()
  }

  private goOn(): void {
    if (this.waiting.size > 0) this.schedule()
    else if (this.others.length + this.returning.size === 0) this.rest()
    else if (this.gathering === undefined) this.gather()
  }

  private rest(): void {
    if (this.open === 0) this.onQuiet?.()
  }

  /** Calls that meet the same limits, as one ask. */
  private askOf(waiters: readonly WaitingCall[], counts: readonly Count[]): PermitRequest {
    const { limits } = waiters[0]!
    const once = (count: Count, i: number) => counts.indexOf(count) === i
    return {
      limits,
      counts,
      calls: waiters.length,
      aheadMs: 0,
      settle: (passed, refuses, { now, late, givenAt }) => {
        if (late) for (const count of counts.filter(once)) count.giveBack(passed, givenAt)
        if (refuses >= 0) counts[refuses]!.refuse(limits[refuses]!.max, now)
        for (const [i, waiter] of waiters.entries()) {
          if (i >= passed) this.answer(waiter, counts, refuses, now)
          else if (late) this.again(waiter, counts, now)
          else this.admit(waiter, counts, now)
        }
      },
      fail: (error) => {
        for (const waiter of waiters) waiter.reject(error)
      },
    }
  }

  private admit(waiter: WaitingCall, counts: readonly Count[], now: MonoMillis): void {
    for (const [i, limit] of waiter.limits.entries())
      if (counts.indexOf(counts[i]!) === i) this.parts.counts.noteUse(counts[i]!, limit, now)
    this.answer(waiter, counts, -1, now)
  }

  private answer(waiter: WaitingCall, counts: readonly Count[], refused: number, now: MonoMillis): void {
    writeLimitState(waiter.limits, counts, refused, now)
    waiter.resolve(refused)
  }

  /** The permits came too late to be used. */
  private again(waiter: WaitingCall, counts: readonly Count[], now: MonoMillis): void {
    if (now - waiter.sinceMs < PATIENCE_MS) this.enqueue(waiter, counts)
    else waiter.reject(fault('store_away', `Redis: answers take more than ${LEASE_MS} ms`))
  }
}
