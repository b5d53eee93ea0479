import type { HitDimensions } from '../../model/analytics/dimensions.ts'
import { BUCKETS, bucketOf, type Hit, HOUR_MS, type Latency, MINUTE_MS, NO_MIN_MS } from '../../model/analytics/hit.ts'

const SLOTS_PER_CHUNK = 512

// The eight numbers of a slot: one cache line.
const NUMBERS = 8
const COUNT = 0
const LAST_AT = 1
const TOTAL = 2
const UPSTREAM = 5
const SUM = 0
const MIN = 1
const MAX = 2

/**
 * Counts of one row between two flushes. Its numbers are in arrays that many slots share, so that a hundred thousand
 * rows are a few big blocks of memory instead of millions of boxed numbers.
 */
export class HitSlot {
  dimensions: HitDimensions | undefined
  status = -1
  /** The minute that it counts, in wall-clock milliseconds. */
  fromMs = 0
  toMs = 0
  /** The next slot of the same cell. */
  next: HitSlot | undefined = undefined
  readonly #numbers: Float64Array
  readonly #at: number
  readonly #buckets: Uint32Array
  readonly #bucketsAt: number

  constructor(numbers: Float64Array, buckets: Uint32Array, index: number) {
    this.#numbers = numbers
    this.#at = index * NUMBERS
    this.#buckets = buckets
    this.#bucketsAt = index * BUCKETS * 2
  }

  /** Makes a free slot count this row. Its numbers are zero already. */
  begin(dimensions: HitDimensions, status: number, wallMs: number): void {
    this.dimensions = dimensions
    this.status = status
    this.fromMs = Math.floor(wallMs / MINUTE_MS) * MINUTE_MS
    this.toMs = this.fromMs + MINUTE_MS
    const at = this.#at
    this.#numbers[at + TOTAL + MIN] = NO_MIN_MS
    this.#numbers[at + UPSTREAM + MIN] = NO_MIN_MS
  }

  /** Counts one request. `upstreamMs` below 0 = it was not handed on. */
  add(totalMs: number, upstreamMs: number, wallMs: number): void {
    const n = this.#numbers
    const at = this.#at
    n[at + COUNT]!++
    if (wallMs > n[at + LAST_AT]!) n[at + LAST_AT] = wallMs
    measure(n, at + TOTAL, totalMs)
    this.#buckets[this.#bucketsAt + bucketOf(totalMs)]!++
    if (upstreamMs < 0) return
    measure(n, at + UPSTREAM, upstreamMs)
    this.#buckets[this.#bucketsAt + BUCKETS + bucketOf(upstreamMs)]!++
  }

  /** Returns the counts as a separate row, and resets them. */
  take(): Hit {
    const n = this.#numbers
    const at = this.#at
    const count = n[at + COUNT]!
    const status = this.status
    const hit: Hit = {
      ...this.dimensions!,
      hour: Math.floor(this.fromMs / HOUR_MS),
      minute: (this.fromMs % HOUR_MS) / MINUTE_MS,
      status,
      count,
      success: status >= 200 && status < 300 ? count : 0,
      error: status >= 400 ? count : 0,
      lastAt: n[at + LAST_AT]!,
      total: this.#latency(TOTAL, 0),
      upstream: this.#latency(UPSTREAM, BUCKETS),
    }
    n.fill(0, at, at + NUMBERS)
    this.#buckets.fill(0, this.#bucketsAt, this.#bucketsAt + BUCKETS * 2)
    this.dimensions = undefined
    this.status = -1
    this.next = undefined
    return hit
  }

  #latency(numbersAt: number, bucketsAt: number): Latency {
    const n = this.#numbers
    const at = this.#at + numbersAt
    const from = this.#bucketsAt + bucketsAt
    const buckets: number[] = []
    for (let i = 0; i < BUCKETS; i++) buckets.push(this.#buckets[from + i]!)
    return { sumMs: n[at + SUM]!, minMs: n[at + MIN]!, maxMs: n[at + MAX]!, buckets }
  }
}

function measure(n: Float64Array, at: number, ms: number): void {
  n[at + SUM]! += ms
  if (ms < n[at + MIN]!) n[at + MIN] = ms
  if (ms > n[at + MAX]!) n[at + MAX] = ms
}

/** Slots, made in chunks as they are needed, given out and taken back. */
export class SlotPool {
  readonly #free: HitSlot[] = []
  #used = 0

  /** Slots given out now. */
  get used(): number {
    return this.#used
  }

  take(): HitSlot {
    if (this.#free.length === 0) this.#grow()
    this.#used++
    return this.#free.pop()!
  }

  /** `slot` must have been emptied by its `take()`. */
  giveBack(slot: HitSlot): void {
    this.#used--
    this.#free.push(slot)
  }

  #grow(): void {
    const numbers = new Float64Array(SLOTS_PER_CHUNK * NUMBERS)
    const buckets = new Uint32Array(SLOTS_PER_CHUNK * BUCKETS * 2)
    for (let i = SLOTS_PER_CHUNK - 1; i >= 0; i--) this.#free.push(new HitSlot(numbers, buckets, i))
  }
}
