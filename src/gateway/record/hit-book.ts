import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers'
import { Fault } from '../../errors/fault.ts'
import { type HitDimensions, NO_DIMENSIONS } from '../../model/analytics/dimensions.ts'
import { type Hit, HOUR_MS } from '../../model/analytics/hit.ts'
import type { SampleBlock } from '../../model/analytics/hit-samples.ts'
import type { Log } from '../../model/logs/log.ts'
import type { Hits } from '../../store/ports/ports.ts'
import { byKey, HitCell, type SlotSource } from './aggregate.ts'
import { HitLog, type HitLogOptions, samplesOf } from './hit-log.ts'
import { type HitSlot, SlotPool } from './slots.ts'

export interface HitBookOptions {
  /** Wait between two flushes; 0 = only when asked. The default of 800 leaves the store 200 ms to be durable within a second. */
  readonly flushMs?: number
  /** Rows that are kept apart between two flushes; what comes after is counted by API only. */
  readonly maxRows?: number
  /** Rows handed to the store at once: small enough not to hold up a request, large enough for one transaction to be worth it. */
  readonly batchRows?: number
  /** Room of the log: requests that may wait as they are, 16 bytes each. What comes after is counted in rows. */
  readonly room?: Partial<HitLogOptions>
  readonly log?: Log
}

/** The store as the book uses it. */
export type HitSink = Pick<Hits, 'number' | 'append' | 'add'>

/** 4 MB, a quarter of a million requests: ten seconds of a busy node without a store. */
const LOG: HitLogOptions = { blockSamples: 8192, blocks: 32 }
const BLOCKS_PER_BATCH = 8
/** How long a number holds after rows of its dimensions were stored: the store forgets what is not used any more. */
const NUMBER_HOURS = 24
/** Cells that get their numbers in one call. */
const NUMBERED_AT_ONCE = 200

type Batch = { readonly rows: Hit[] } | { readonly blocks: readonly SampleBlock[] }

/**
 * Keeps requests in memory, as a log or as sums, and hands them to the store in batches. They leave memory only when the
 * store has said that they are durable; a batch that failed is sent again as it was, before anything else.
 */
export class HitBook implements SlotSource {
  readonly log: HitLog
  readonly #hits: HitSink
  readonly #flushMs: number
  readonly #maxRows: number
  readonly #batchRows: number
  readonly #messages: Log | undefined
  readonly #pool = new SlotPool()
  #dirty: HitCell[] = []
  /** Cells that are worth a number, and when their rows were counted. */
  #unnumbered: { readonly cell: HitCell; readonly lastAt: number }[] = []
  /** A batch that the store has not taken yet. */
  #unsent: Batch | undefined
  #running: Promise<boolean> | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false
  #storeFailed = false
  /** Everything counted before was durable then. */
  #storedAt = performance.now()
  readonly #byApi = new Map<string, HitCell>()
  readonly #rest: HitCell
  /** Names the batches of this book, so that one whose answer was lost is not counted twice. */
  readonly #source = randomBytes(12).toString('hex')
  #batch = 1

  /** Requests counted without their key, client and tags because `maxRows` rows were waiting. */
  overflowed = 0
  /** Batches that the store refused or could not take. Each is sent again. */
  failedFlushes = 0
  /** Rows that the store has made durable, and requests that were handed over one by one. */
  storedRows = 0
  /** The same that the store refused for what they hold. A defect, counted so that it shows. */
  rejectedRows = 0

  constructor(hits: HitSink, options: HitBookOptions = {}) {
    this.#hits = hits
    this.#flushMs = options.flushMs ?? 800
    this.#maxRows = options.maxRows ?? 100_000
    this.#batchRows = options.batchRows ?? 500
    this.#messages = options.log
    this.log = new HitLog({ ...LOG, ...options.room })
    this.#rest = new HitCell(this, { ...NO_DIMENSIONS, alias: OVERFLOW })
    this.#arm()
  }

  /** Creates the handle for requests with these dimensions. Keep it on what the requests share; it costs nothing while idle. */
  cell(dimensions: HitDimensions): HitCell {
    return new HitCell(this, dimensions)
  }

  /** Rows, and requests that are kept one by one, that are not durable yet. */
  get waiting(): number {
    const rows = this.#unsent !== undefined && 'rows' in this.#unsent ? this.#unsent.rows.length : 0
    return this.#pool.used + rows + this.log.waiting
  }

  /** Age of the oldest of them, at most, in milliseconds; 0 when all are durable. */
  get oldestMs(): number {
    return this.waiting === 0 ? 0 : performance.now() - this.#storedAt
  }

  slotFor(cell: HitCell, status: number, wallMs: number): HitSlot {
    const found = findSlot(cell, status, wallMs)
    if (found !== undefined) return found
    if (this.#pool.used < this.#maxRows) return this.#open(cell, status, wallMs)
    this.overflowed++
    return this.#overflow(cell.dimensions, status, wallMs)
  }

  /**
   * Hands everything counted before the call to the store. True when all of it is durable; false when the store failed,
   * then what is left stays in memory for the next flush. Never throws.
   */
  async flush(): Promise<boolean> {
    while (this.#running !== undefined) await this.#running
    this.#running = this.#flushDirty()
    try {
      return await this.#running
    } finally {
      this.#running = undefined
    }
  }

  /** Ends the timer and flushes, at most `attempts` times. True when nothing is left. */
  async close(attempts = 3): Promise<boolean> {
    this.#closed = true
    clearTimeout(this.#timer)
    for (let i = 0; i < attempts; i++) if (await this.flush()) return true
    return false
  }

  #arm(): void {
    if (this.#flushMs === 0 || this.#closed) return
    this.#timer = setTimeout(() => void this.flush().then(() => this.#arm()), this.#flushMs)
    this.#timer.unref()
  }

  #open(cell: HitCell, status: number, wallMs: number): HitSlot {
    if (cell.first === undefined) this.#dirty.push(cell)
    const slot = this.#pool.take()
    slot.begin(cell.dimensions, status, wallMs)
    slot.next = cell.first
    cell.first = slot
    return slot
  }

  /** Too many rows: one row for each API and status, and when even these are too many, one for each class of status. */
  #overflow(of: HitDimensions, status: number, wallMs: number): HitSlot {
    const spare = this.#pool.used < this.#maxRows + this.#maxRows / 4
    const cell = spare ? this.#overflowCell(of) : this.#rest
    const kind = spare ? status : Math.floor(status / 100) * 100
    return findSlot(cell, kind, wallMs) ?? this.#open(cell, kind, wallMs)
  }

  #overflowCell(of: HitDimensions): HitCell {
    const id = `${of.orgId}\n${of.apiId}\n${of.version}`
    const found = this.#byApi.get(id)
    if (found !== undefined) return found
    const { orgId, apiId, version } = of
    const made = new HitCell(this, { ...NO_DIMENSIONS, orgId, apiId, version, alias: OVERFLOW })
    this.#byApi.set(id, made)
    return made
  }

  async #flushDirty(): Promise<boolean> {
    const beganAt = performance.now()
    const cells = byKey(this.#dirty)
    this.#dirty = []
    let blocks = this.log.close()
    let next = 0
    for (;;) {
      if (this.#unsent === undefined && blocks > 0) {
        const taken = this.log.take(Math.min(blocks, BLOCKS_PER_BATCH))
        blocks -= taken.length
        this.#unsent = { blocks: taken }
      } else if (this.#unsent === undefined && next < cells.length) {
        const rows: Hit[] = []
        next = this.#fill(rows, cells, next)
        this.#unsent = { rows }
      }
      if (this.#unsent === undefined) break
      if (!(await this.#send(this.#unsent))) {
        for (; next < cells.length; next++) this.#dirty.push(cells[next]!)
        return false
      }
      this.#unsent = undefined
    }
    // A second handle for the same row is harmless (the store adds them up), and deleted APIs are dropped.
    this.#byApi.clear()
    this.#storedAt = beganAt
    await this.#number()
    return true
  }

  /** Turns the counts of the next cells into rows. Answers how far it came. */
  #fill(rows: Hit[], cells: readonly HitCell[], from: number): number {
    let at = from
    while (at < cells.length && rows.length < this.#batchRows) {
      const cell = cells[at++]!
      let slot = cell.first
      let lastAt = 0
      cell.first = undefined
      while (slot !== undefined) {
        const next: HitSlot | undefined = slot.next
        const row = slot.take()
        lastAt = Math.max(lastAt, row.lastAt)
        rows.push(row)
        this.#pool.giveBack(slot)
        slot = next
      }
      if (cell.known && lastAt >= cell.numberUntilHour * HOUR_MS) this.#unnumbered.push({ cell, lastAt })
      cell.known = true
    }
    return at
  }

  /** Asks for the numbers of cells. Those that get none are counted in rows, and asked for again. */
  async #number(): Promise<void> {
    const cells = this.#unnumbered
    this.#unnumbered = []
    try {
      for (let from = 0; from < cells.length; from += NUMBERED_AT_ONCE) {
        const some = cells.slice(from, from + NUMBERED_AT_ONCE)
        const numbers = await this.#hits.number(some.map(({ cell }) => cell.dimensions))
        for (const [i, { cell, lastAt }] of some.entries()) {
          if (numbers[i] === undefined) continue
          cell.number = numbers[i]
          cell.numberUntilHour = Math.floor(lastAt / HOUR_MS) + NUMBER_HOURS
        }
      }
    } catch (error) {
      this.#failed(error)
    }
  }

  async #send(batch: Batch): Promise<boolean> {
    const id = { source: this.#source, number: this.#batch }
    try {
      if ('rows' in batch) await this.#hits.add(batch.rows, id)
      else await this.#hits.append(samplesOf(batch.blocks), id)
    } catch (error) {
      if (isPassing(error)) return this.#failed(error)
      return 'rows' in batch ? this.#sendSingly(batch.rows) : this.#reject(batch.blocks, error)
    }
    this.#batch++
    if ('rows' in batch) this.#stored(batch.rows.length)
    else {
      this.#stored(countOf(batch.blocks))
      this.log.giveBack(batch.blocks)
    }
    return true
  }

  /** The store refuses the batch itself: the row at fault must not hold up the others, now or for ever. */
  async #sendSingly(rows: Hit[]): Promise<boolean> {
    while (rows.length > 0) {
      const row = rows[rows.length - 1]!
      try {
        await this.#hits.add([row], { source: this.#source, number: this.#batch })
        this.#batch++
        this.#stored(1)
      } catch (error) {
        if (isPassing(error)) return this.#failed(error)
        this.rejectedRows++
        this.#messages?.error(
          { err: error, api: row.apiId, count: row.count },
          'a row of hits was refused by the store and is lost',
        )
      }
      rows.pop()
    }
    return true
  }

  #reject(blocks: readonly SampleBlock[], error: unknown): true {
    const count = countOf(blocks)
    this.rejectedRows += count
    this.#messages?.error({ err: error, count }, 'store rejected hits, they are lost')
    this.log.giveBack(blocks)
    return true
  }

  #stored(rows: number): void {
    this.storedRows += rows
    if (this.#storeFailed) this.#messages?.info({}, 'storing hits again')
    this.#storeFailed = false
  }

  #failed(error: unknown): false {
    this.failedFlushes++
    if (!this.#storeFailed) this.#messages?.error({ err: error }, 'cannot store hits, retrying')
    this.#storeFailed = true
    return false
  }
}

function countOf(blocks: readonly SampleBlock[]): number {
  return blocks.reduce((sum, { count }) => sum + count, 0)
}

/** Failures of the store that have nothing to do with what it was given. */
const PASSING: ReadonlySet<string> = new Set(['store_away', 'store_full', 'store_damaged', 'store_frozen'])

function isPassing(error: unknown): boolean {
  return error instanceof Fault && PASSING.has(error.code)
}

const OVERFLOW = 'overflow'

/** The slot of a cell for this status and minute, moved to the front. */
function findSlot(cell: HitCell, status: number, wallMs: number): HitSlot | undefined {
  let before: HitSlot | undefined
  for (let slot = cell.first; slot !== undefined; slot = slot.next) {
    if (slot.status === status && wallMs >= slot.fromMs && wallMs < slot.toMs) {
      if (before !== undefined) {
        before.next = slot.next
        slot.next = cell.first
        cell.first = slot
      }
      return slot
    }
    before = slot
  }
  return undefined
}
