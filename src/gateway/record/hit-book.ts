import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers'
import { Fault } from '../../errors/fault.ts'
import type { Hit, HitDimensions } from '../../model/hit.ts'
import type { Log } from '../../model/log.ts'
import type { Hits } from '../../store/ports.ts'
import { byKey, HitCell, type SlotSource } from './aggregate.ts'
import { type HitSlot, SlotPool } from './slots.ts'

export interface HitBookOptions {
  /** Wait between two flushes; 0 = only when asked. The default of 800 leaves the store 200 ms to be durable within a second. */
  readonly flushMs?: number
  /** Rows that are kept apart between two flushes; what comes after is counted by API only. */
  readonly maxRows?: number
  /** Rows handed to the store at once: small enough not to hold up a request, large enough for one transaction to be worth it. */
  readonly batchRows?: number
  readonly log?: Log
}

/**
 * Counts requests in memory and hands the sums to the store in small batches. A row leaves memory only when the store
 * has said that it is durable; a batch that failed is sent again as it was, before anything else.
 */
export class HitBook implements SlotSource {
  readonly #hits: Pick<Hits, 'add'>
  readonly #flushMs: number
  readonly #maxRows: number
  readonly #batchRows: number
  readonly #log: Log | undefined
  readonly #pool = new SlotPool()
  #dirty: HitCell[] = []
  #unsent: Hit[] = []
  #running: Promise<boolean> | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false
  #storeFailed = false
  readonly #byApi = new Map<string, HitCell>()
  readonly #rest: HitCell
  /** Names the batches of this book, so that one whose answer was lost is not counted twice. */
  readonly #source = randomBytes(12).toString('hex')
  #batch = 1

  /** Requests counted without their key, client and tags because `maxRows` rows were waiting. */
  overflowed = 0
  /** Batches that the store refused or could not take. Each is sent again. */
  failedFlushes = 0
  /** Rows that the store has made durable. */
  storedRows = 0
  /** Rows that the store refused for what they hold. A defect, counted so that it shows. */
  rejectedRows = 0

  constructor(hits: Pick<Hits, 'add'>, options: HitBookOptions = {}) {
    this.#hits = hits
    this.#flushMs = options.flushMs ?? 800
    this.#maxRows = options.maxRows ?? 100_000
    this.#batchRows = options.batchRows ?? 500
    this.#log = options.log
    this.#rest = new HitCell(this, { ...BARE, alias: OVERFLOW })
    this.#arm()
  }

  /** Makes the handle for requests with these dimensions. Keep it on whatever the requests have in common; it costs nothing while idle. */
  cell(dimensions: HitDimensions): HitCell {
    return new HitCell(this, dimensions)
  }

  /** Rows not yet durable. */
  get waiting(): number {
    return this.#pool.used + this.#unsent.length
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
    const made = new HitCell(this, { ...BARE, orgId, apiId, version, alias: OVERFLOW })
    this.#byApi.set(id, made)
    return made
  }

  async #flushDirty(): Promise<boolean> {
    const cells = byKey(this.#dirty)
    this.#dirty = []
    let next = 0
    while (next < cells.length || this.#unsent.length > 0) {
      if (this.#unsent.length === 0) next = this.#fill(cells, next)
      if (!(await this.#send())) {
        for (; next < cells.length; next++) this.#dirty.push(cells[next]!)
        return false
      }
    }
    // A second handle for the same row does no harm (the store adds them up), and APIs that are gone are let go of.
    this.#byApi.clear()
    return true
  }

  /** Turns the counts of the next cells into one batch of rows. Answers how far it came. */
  #fill(cells: readonly HitCell[], from: number): number {
    let at = from
    while (at < cells.length && this.#unsent.length < this.#batchRows) {
      const cell = cells[at++]!
      let slot = cell.first
      cell.first = undefined
      while (slot !== undefined) {
        const next: HitSlot | undefined = slot.next
        this.#unsent.push(slot.take())
        this.#pool.giveBack(slot)
        slot = next
      }
    }
    return at
  }

  async #send(): Promise<boolean> {
    try {
      await this.#hits.add(this.#unsent, { source: this.#source, number: this.#batch })
    } catch (error) {
      return isPassing(error) ? this.#failed(error) : this.#sendSingly()
    }
    this.#stored(this.#unsent.length)
    this.#unsent = []
    this.#batch++
    return true
  }

  /** The store refuses the batch itself: the row at fault must not hold up the others, now or for ever. */
  async #sendSingly(): Promise<boolean> {
    while (this.#unsent.length > 0) {
      const row = this.#unsent[this.#unsent.length - 1]!
      try {
        await this.#hits.add([row], { source: this.#source, number: this.#batch })
        this.#batch++
        this.#stored(1)
      } catch (error) {
        if (isPassing(error)) return this.#failed(error)
        this.rejectedRows++
        this.#log?.error(
          { err: error, api: row.apiId, count: row.count },
          'a row of hits was refused by the store and is lost',
        )
      }
      this.#unsent.pop()
    }
    return true
  }

  #stored(rows: number): void {
    this.storedRows += rows
    if (this.#storeFailed) this.#log?.info({}, 'hits are stored again')
    this.#storeFailed = false
  }

  #failed(error: unknown): false {
    this.failedFlushes++
    if (!this.#storeFailed) this.#log?.error({ err: error }, 'hits could not be stored; they are kept and sent again')
    this.#storeFailed = true
    return false
  }
}

/** True for failures of the store that have nothing to do with what it was given. */
function isPassing(error: unknown): boolean {
  return error instanceof Fault && (error.code === 'store_away' || error.code === 'store_full')
}

const OVERFLOW = 'overflow'
const BARE: HitDimensions = {
  orgId: '',
  apiId: '',
  version: '',
  keyHash: '',
  alias: '',
  clientId: '',
  tags: '',
  endpoint: '',
}

/** The slot of a cell for this status and hour, moved to the front. */
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
