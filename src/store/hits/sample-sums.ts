import { fault } from '../../errors/fault.ts'
import { DIMENSIONS, type HitDimensions, NO_DIMENSIONS } from '../../model/analytics/dimensions.ts'
import {
  BUCKETS,
  bucketOf,
  type Hit,
  HOUR_MS,
  type Latency,
  MINUTE_MS,
  MINUTES_PER_HOUR,
  NO_MIN_MS,
} from '../../model/analytics/hit.ts'
import { type HitSamples, SAMPLE_WORDS, TIME_BITS } from '../../model/analytics/hit-samples.ts'
import type { HitDimension } from '../ports/ports.ts'
import { LATENCY_NUMBERS } from './hit-pack.ts'

/** All dimensions by which hits are summed within an hour. */
export const ALL_DIMENSIONS: readonly HitDimension[] = [...DIMENSIONS, 'status']

const TIME_MASK = (1 << TIME_BITS) - 1
const STATUS_BITS = 32 - TIME_BITS
/** Largest duration that is believed: a float of 32 bits can be infinite. A year. */
const LONGEST_MS = 31_536_000_000

// Numbers of one row: count, last time since its hour began, then sum, min and max of both latencies.
const NUMBERS = 8
const COUNT = 0
const LAST_AT = 1
const TOTAL = 2
const UPSTREAM = 5
const FIRST_ROWS = 1024

/** Where the samples of a set of dimensions, in an hour, are known to have been added up already. */
export interface Folded {
  /** Everything up to this hour and set of dimensions, both included. */
  readonly hour: number
  readonly dimension: number
}

/** @throws Fault `internal` when these are no samples */
export function checkSamples(samples: readonly HitSamples[]): void {
  for (const { hour, words } of samples) {
    if (!Number.isSafeInteger(hour) || hour < 0 || !(words instanceof Uint32Array)) throw noSamples()
    if (words.length % SAMPLE_WORDS !== 0) throw noSamples()
  }
}

function noSamples() {
  return fault('internal', 'samples of hits of another form')
}

/** Adds up samples by minute, set of dimensions and status. All numbers are in a few arrays that grow by doubling. */
export class SampleSums {
  /** Rows so far. */
  size = 0
  readonly #folded: Folded | undefined
  readonly #hours: number[] = []
  #dimensions = new Uint32Array(FIRST_ROWS)
  /** Status, and above it the index of the hour, times 60, with the minute in it. */
  #kinds = new Uint32Array(FIRST_ROWS)
  #numbers = new Float64Array(FIRST_ROWS * NUMBERS)
  #buckets = new Uint32Array(FIRST_ROWS * BUCKETS * 2)
  /** Open addressing: index of the row + 1, 0 = free. */
  #table = new Int32Array(FIRST_ROWS * 2)

  /** `folded`: samples that are left out. */
  constructor(folded?: Folded) {
    this.#folded = folded
  }

  add({ hour, words }: HitSamples): void {
    const floats = new Float32Array(words.buffer, words.byteOffset, words.length)
    const firstMinute = this.#hourIndex(hour) * MINUTES_PER_HOUR
    const skipTo = this.#skippedDimensions(hour)
    for (let at = 0; at < words.length; at += SAMPLE_WORDS) {
      const dimension = words[at]!
      if (dimension <= skipTo) continue
      const status = words[at + 1]! >>> TIME_BITS
      const sinceMs = words[at + 1]! & TIME_MASK
      const minute = firstMinute + Math.min(Math.floor(sinceMs / MINUTE_MS), MINUTES_PER_HOUR - 1)
      const row = this.#rowOf(dimension, ((minute << STATUS_BITS) | status) >>> 0)
      this.#count(row, sinceMs, floats[at + 2]!, floats[at + 3]!)
    }
  }

  /** All rows in the order of hour, dimensions, status and minute. */
  ordered(): Uint32Array {
    const order = new Uint32Array(this.size)
    for (let row = 0; row < this.size; row++) order[row] = row
    return order.sort(
      (a, b) =>
        this.hour(a) - this.hour(b) ||
        this.#dimensions[a]! - this.#dimensions[b]! ||
        this.status(a) - this.status(b) ||
        this.minute(a) - this.minute(b),
    )
  }

  hour(row: number): number {
    return this.#hours[Math.floor((this.#kinds[row]! >>> STATUS_BITS) / MINUTES_PER_HOUR)]!
  }

  /** The minute of the hour. */
  minute(row: number): number {
    return (this.#kinds[row]! >>> STATUS_BITS) % MINUTES_PER_HOUR
  }

  status(row: number): number {
    return this.#kinds[row]! & ((1 << STATUS_BITS) - 1)
  }

  dimension(row: number): number {
    return this.#dimensions[row]!
  }

  /** Writes the numbers of a row into `numbers` from `at` on, in the order of a `HitPack`. */
  write(row: number, numbers: Float64Array | number[], at: number): void {
    const n = this.#numbers
    const from = row * NUMBERS
    const status = this.status(row)
    const count = n[from + COUNT]!
    numbers[at] = this.hour(row)
    numbers[at + 1] = status
    numbers[at + 2] = count
    numbers[at + 3] = status >= 200 && status < 300 ? count : 0
    numbers[at + 4] = status >= 400 ? count : 0
    numbers[at + 5] = this.hour(row) * HOUR_MS + n[from + LAST_AT]!
    this.#writeLatency(row, TOTAL, 0, numbers, at + 6)
    this.#writeLatency(row, UPSTREAM, BUCKETS, numbers, at + 6 + LATENCY_NUMBERS)
  }

  /** A row as the sums of its requests. `of`: the dimensions of its number. */
  hit(row: number, of: HitDimensions): Hit {
    const n: number[] = []
    this.write(row, n, 0)
    const latency = (at: number): Latency => ({
      sumMs: n[at]!,
      minMs: n[at + 1]!,
      maxMs: n[at + 2]!,
      buckets: n.slice(at + 3, at + LATENCY_NUMBERS),
    })
    return {
      ...of,
      ...{
        hour: n[0]!,
        minute: this.minute(row),
        status: n[1]!,
        count: n[2]!,
        success: n[3]!,
        error: n[4]!,
        lastAt: n[5]!,
      },
      ...{ total: latency(6), upstream: latency(6 + LATENCY_NUMBERS) },
    }
  }

  #writeLatency(row: number, numbersAt: number, bucketsAt: number, into: Float64Array | number[], at: number): void {
    for (let i = 0; i < 3; i++) into[at + i] = this.#numbers[row * NUMBERS + numbersAt + i]!
    const from = row * BUCKETS * 2 + bucketsAt
    for (let i = 0; i < BUCKETS; i++) into[at + 3 + i] = this.#buckets[from + i]!
  }

  #skippedDimensions(hour: number): number {
    if (this.#folded === undefined || hour > this.#folded.hour) return -1
    return hour < this.#folded.hour ? Number.POSITIVE_INFINITY : this.#folded.dimension
  }

  #hourIndex(hour: number): number {
    const found = this.#hours.indexOf(hour)
    return found === -1 ? this.#hours.push(hour) - 1 : found
  }

  #rowOf(dimension: number, kind: number): number {
    const mask = this.#table.length - 1
    let at = hashOf(dimension, kind) & mask
    for (;;) {
      const row = this.#table[at]! - 1
      if (row < 0) return this.#addRow(dimension, kind)
      if (this.#dimensions[row] === dimension && this.#kinds[row] === kind) return row
      at = (at + 1) & mask
    }
  }

  #addRow(dimension: number, kind: number): number {
    if (this.size === this.#dimensions.length) this.#grow()
    const row = this.size++
    this.#dimensions[row] = dimension
    this.#kinds[row] = kind
    this.#numbers[row * NUMBERS + TOTAL + 1] = NO_MIN_MS
    this.#numbers[row * NUMBERS + UPSTREAM + 1] = NO_MIN_MS
    this.#enter(row)
    return row
  }

  #enter(row: number): void {
    const mask = this.#table.length - 1
    let at = hashOf(this.#dimensions[row]!, this.#kinds[row]!) & mask
    while (this.#table[at] !== 0) at = (at + 1) & mask
    this.#table[at] = row + 1
  }

  #grow(): void {
    const rows = this.size * 2
    this.#dimensions = grown(this.#dimensions, new Uint32Array(rows))
    this.#kinds = grown(this.#kinds, new Uint32Array(rows))
    this.#numbers = grown(this.#numbers, new Float64Array(rows * NUMBERS))
    this.#buckets = grown(this.#buckets, new Uint32Array(rows * BUCKETS * 2))
    this.#table = new Int32Array(rows * 2)
    for (let row = 0; row < this.size; row++) this.#enter(row)
  }

  #count(row: number, sinceMs: number, totalMs: number, upstreamMs: number): void {
    const n = this.#numbers
    const at = row * NUMBERS
    n[at + COUNT]!++
    if (sinceMs > n[at + LAST_AT]!) n[at + LAST_AT] = sinceMs
    const bucketsAt = row * BUCKETS * 2
    this.#measure(at + TOTAL, bucketsAt, totalMs >= 0 ? totalMs : 0)
    if (upstreamMs >= 0) this.#measure(at + UPSTREAM, bucketsAt + BUCKETS, upstreamMs)
  }

  #measure(at: number, bucketsAt: number, duration: number): void {
    const n = this.#numbers
    const ms = duration < LONGEST_MS ? duration : LONGEST_MS
    n[at]! += ms
    if (ms < n[at + 1]!) n[at + 1] = ms
    if (ms > n[at + 2]!) n[at + 2] = ms
    this.#buckets[bucketsAt + bucketOf(ms)]!++
  }
}

function grown<Numbers extends Uint32Array | Float64Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from)
  return to
}

/** Numbers of dimensions are dense: neighbours are spread so that they do not form one long run. */
function hashOf(dimension: number, kind: number): number {
  const mixed = Math.imul(dimension, 0x9e3779b1) ^ Math.imul(kind, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}

/** The dimensions of a row as it was read; those that were not read are ''. `names`: what each is called in it, in the order of `DIMENSIONS`. */
export function readDimensions(row: Readonly<Record<string, unknown>>, names: readonly string[]): HitDimensions {
  const read: Record<string, string> = { ...NO_DIMENSIONS }
  for (let i = 0; i < DIMENSIONS.length; i++) {
    const value = row[names[i]!]
    if (typeof value === 'string') read[DIMENSIONS[i]!] = value
  }
  return read as HitDimensions
}

/** Adds the counts of one row to another. */
export function addHit(sum: Hit, row: Hit): void {
  sum.count += row.count
  sum.success += row.success
  sum.error += row.error
  sum.lastAt = Math.max(sum.lastAt, row.lastAt)
  addLatency(sum.total, row.total)
  addLatency(sum.upstream, row.upstream)
}

function addLatency(sum: Latency, row: Latency): void {
  sum.sumMs += row.sumMs
  sum.minMs = Math.min(sum.minMs, row.minMs)
  sum.maxMs = Math.max(sum.maxMs, row.maxMs)
  for (let i = 0; i < sum.buckets.length; i++) sum.buckets[i]! += row.buckets[i]!
}
