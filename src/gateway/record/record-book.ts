import { setTimeout } from 'node:timers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { GeoLocation } from '../../model/analytics/geography.ts'
import type { Log } from '../../model/logs/log.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { DroppedRecords, RecordInput, Records } from '../../store/ports/records.ts'
import type { Exchange } from '../server/exchange.ts'
import { formatRecord } from './format-record.ts'
import { type PendingRecord, pendingRecord } from './pending-record.ts'
import type { RecordPlan } from './record-plan.ts'
import { RecordSampler } from './record-sampler.ts'
import type { Sample } from './sample.ts'

export interface RecordSettings {
  readonly records_kept: number
  readonly records_days: number
  readonly records_per_second: number
  readonly detailed_max_bytes: number
}

export interface RecordBookParts {
  readonly records: Pick<Records, 'append' | 'purgeRecords'>
  readonly settings: RecordSettings
  readonly clock: Clock
  readonly log: Log
  /** Where an address is; undefined = nobody knows. */
  readonly placeOf?: (address: string) => GeoLocation | undefined
  /** Wait between two flushes; 0 = only when asked. */
  readonly flushMs?: number
}

const FLUSH_MS = 500
/** So many are worded and handed to the store at once: about two milliseconds here, and less of the writer. */
const BATCH_ROWS = 100
/** The same for bytes of heads and bodies. */
const BATCH_BYTES = 262_144
/** Most records that wait for a slow store. */
const MOST_WAITING = 20_000
const MOST_WAITING_BYTES = 33_554_432
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/**
 * Records single requests, as many as the settings allow. A request that is recorded is copied, some microseconds; wording and
 * storing happen later, in small batches. One that is not costs next to nothing, and is counted.
 */
export class RecordBook {
  readonly #parts: RecordBookParts
  readonly #sampler: RecordSampler
  /** Has as much room again: what was refused must be found when everything is. */
  readonly #refusals: RecordSampler
  /** Decides of which requests the steps are timed, which is before it is known whether they are recorded. */
  readonly timing: RecordSampler
  readonly #flushMs: number
  #pending: PendingRecord[] = []
  #pendingBytes = 0
  /** Plans with requests that were dropped since the last flush. */
  #short: RecordPlan[] = []
  /** Dropped records that are still to be reported, by minute, organisation and API. */
  #drops = new Map<string, DroppedRecords>()
  #running: Promise<void> | undefined
  #purging: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false
  #storeFailed = false
  /** Records that came since records were forgotten last. */
  #sincePurge = Number.POSITIVE_INFINITY
  #purgedAt = 0

  /** Requests that the store has taken since the start. */
  stored = 0
  /** Requests that are not: too many came, or the store did not take them. */
  dropped = 0

  constructor(parts: RecordBookParts) {
    this.#parts = parts
    const perSecond = parts.settings.records_per_second
    this.#sampler = new RecordSampler(perSecond)
    this.#refusals = new RecordSampler(perSecond)
    this.timing = new RecordSampler(perSecond)
    this.#flushMs = parts.flushMs ?? FLUSH_MS
    this.#arm()
  }

  /** Most bytes of a body that are kept. */
  get detailBytes(): number {
    return this.#parts.settings.detailed_max_bytes
  }

  /** Requests that are recorded and not stored yet. */
  get waiting(): number {
    return this.#pending.length
  }

  /** Whether a request may be recorded; `now` in milliseconds of performance.now(). To be asked once for each. */
  admit(now: number): boolean {
    return this.#sampler.admit(now)
  }

  /** Takes note of a finished request, counted by `sample`. Copies what it keeps. */
  take(x: Exchange, plan: RecordPlan, sample: Sample, now: number): void {
    const sampled = x.recording === '' ? this.#sampler.admit(now) : x.recording === 'admitted'
    const admitted = sampled || (x.fault !== undefined && this.#refusals.admit(now))
    if (!admitted || this.#pending.length >= MOST_WAITING || this.#pendingBytes >= MOST_WAITING_BYTES) {
      if (plan.dropped++ === 0) this.#short.push(plan)
      return
    }
    const pending = pendingRecord(x, plan, sample)
    this.#pendingBytes += bytesOf(pending)
    this.#pending.push(pending)
  }

  /** Hands everything to the store that was taken before the call. What the store does not take is lost, and counted. Never throws. */
  async flush(): Promise<void> {
    while (this.#running !== undefined) await this.#running
    this.#running = this.#flush()
    try {
      await this.#running
    } finally {
      this.#running = undefined
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.flush()
  }

  #arm(): void {
    if (this.#flushMs === 0 || this.#closed) return
    this.#timer = setTimeout(() => void this.flush().then(() => this.#arm()), this.#flushMs)
    this.#timer.unref()
  }

  async #flush(): Promise<void> {
    const pending = this.#pending
    this.#pending = []
    this.#pendingBytes = 0
    this.#gatherDrops()
    for (let at = 0; at < pending.length; ) {
      if (at > 0) await nextTurn()
      const batch: RecordInput[] = []
      const from = at
      let bytes = 0
      while (at < pending.length && batch.length < BATCH_ROWS && bytes < BATCH_BYTES) {
        const one = pending[at++]!
        bytes += bytesOf(one)
        batch.push(formatRecord(one, this.#placeOf))
      }
      if (await this.#store(batch)) this.#sincePurge += batch.length
      else for (const one of pending.slice(from, at)) this.#drop(one.plan, one.at, 1)
    }
    if (this.#drops.size > 0 && pending.length === 0) await this.#store([])
    this.#purging ??= this.#purge().finally(() => {
      this.#purging = undefined
    })
  }

  readonly #placeOf = (address: string) => this.#parts.placeOf?.(address)

  #gatherDrops(): void {
    const now = this.#parts.clock.wall()
    const short = this.#short
    this.#short = []
    for (const plan of short) {
      this.#drop(plan, now, plan.dropped)
      plan.dropped = 0
    }
  }

  #drop({ orgId, apiId }: RecordPlan, at: number, count: number): void {
    const minute = Math.floor(at / MINUTE_MS)
    const name = JSON.stringify([minute, orgId, apiId])
    const before = this.#drops.get(name)?.count ?? 0
    this.#drops.set(name, { at: minute * MINUTE_MS, orgId, apiId, count: before + count })
    this.dropped += count
    if (this.#drops.size > MOST_WAITING) this.#drops.delete(this.#drops.keys().next().value!)
  }

  async #store(batch: readonly RecordInput[]): Promise<boolean> {
    const drops = [...this.#drops.values()].slice(0, BATCH_ROWS)
    try {
      await this.#parts.records.append(batch, drops)
    } catch (error) {
      if (!this.#storeFailed)
        this.#parts.log.error({ err: error }, 'cannot store request records; requests are still counted')
      this.#storeFailed = true
      return false
    }
    for (const { at, orgId, apiId, count } of drops)
      this.#reported(JSON.stringify([at / MINUTE_MS, orgId, apiId]), count)
    this.stored += batch.length
    if (this.#storeFailed) this.#parts.log.info({}, 'storing request records again')
    this.#storeFailed = false
    return true
  }

  /** More may have been dropped while the store was busy. */
  #reported(name: string, count: number): void {
    const left = this.#drops.get(name)
    if (left === undefined || left.count <= count) this.#drops.delete(name)
    else this.#drops.set(name, { ...left, count: left.count - count })
  }

  /** Forgets old records: when one in a hundred is new, and once a minute for the sake of their age. */
  async #purge(): Promise<void> {
    const { records, settings, clock } = this.#parts
    const due = this.#sincePurge >= settings.records_kept / 100 || performance.now() - this.#purgedAt >= MINUTE_MS
    if (!due) return
    this.#sincePurge = 0
    this.#purgedAt = performance.now()
    const before = Math.max(0, clock.wall() - settings.records_days * DAY_MS)
    // The write reports a full or unavailable store; the next flush retries.
    await records.purgeRecords({ before, keep: settings.records_kept }).catch(() => 0)
  }
}

/** Bytes of what may be large in a record. */
function bytesOf({ detail, errorBody }: PendingRecord): number {
  return (detail?.bytes ?? 0) + errorBody.length
}
