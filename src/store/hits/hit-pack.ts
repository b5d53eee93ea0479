import { fault } from '../../errors/fault.ts'
import { DIMENSIONS, type HitDimensions } from '../../model/analytics/dimensions.ts'
import { BUCKETS, type Hit, type Latency, MINUTES_PER_HOUR } from '../../model/analytics/hit.ts'

/** Separates the dimensions of a row and the rows; never occurs inside one. */
const SEPARATOR = '\0'
/** hour, status, count, success, error, lastAt, then sum, min, max and buckets of both latencies. */
const HEAD_NUMBERS = 6
export const LATENCY_NUMBERS = 3 + BUCKETS
export const ROW_NUMBERS = HEAD_NUMBERS + 2 * LATENCY_NUMBERS

export const NO_MINUTE = 255

/**
 * Rows of hits as one text and one array of numbers. Cloning objects between threads costs several microseconds a row on
 * the thread that serves traffic; this costs under one.
 */
export interface HitPack {
  readonly rows: number
  readonly dimensions: string
  /** The minute of the hour of each row, `NO_MINUTE` where it is of no single one. */
  readonly minutes: Uint8Array<ArrayBuffer>
  readonly numbers: Float64Array<ArrayBuffer>
}

/** Packs rows. @throws Fault `internal` when a number of a row is not one, or a histogram has another size */
export function packHits(rows: readonly Hit[]): HitPack {
  const texts: string[] = new Array(rows.length * DIMENSIONS.length)
  const numbers = new Float64Array(rows.length * ROW_NUMBERS)
  const minutes = new Uint8Array(rows.length)
  let text = 0
  let at = 0
  for (const [i, row] of rows.entries()) {
    for (const value of dimensionTexts(row)) texts[text++] = value
    minutes[i] = minuteOf(row)
    numbers[at] = row.hour
    numbers[at + 1] = row.status
    numbers[at + 2] = row.count
    numbers[at + 3] = row.success
    numbers[at + 4] = row.error
    numbers[at + 5] = Math.floor(row.lastAt)
    packLatency(numbers, at + HEAD_NUMBERS, row.total)
    packLatency(numbers, at + HEAD_NUMBERS + LATENCY_NUMBERS, row.upstream)
    checkNumbers(numbers, at)
    at += ROW_NUMBERS
  }
  return { rows: rows.length, dimensions: texts.join(SEPARATOR), minutes, numbers }
}

/** The dimensions as they are stored, in the order of `DIMENSIONS`. */
export function dimensionTexts(of: HitDimensions): string[] {
  return DIMENSIONS.map((name) => clean(of[name]))
}

/** The dimensions of all rows in order, one after the other. */
export function unpackDimensions(pack: HitPack): string[] {
  return pack.rows === 0 ? [] : pack.dimensions.split(SEPARATOR)
}

function minuteOf({ minute = NO_MINUTE }: Hit): number {
  const isGood = minute === NO_MINUTE || (Number.isInteger(minute) && minute >= 0 && minute < MINUTES_PER_HOUR)
  if (!isGood) throw fault('internal', `a row of hits has ${minute} as its minute`)
  return minute
}

function packLatency(numbers: Float64Array, at: number, latency: Latency): void {
  if (latency.buckets.length !== BUCKETS) throw fault('internal', 'a latency histogram of another size')
  numbers[at] = latency.sumMs
  numbers[at + 1] = latency.minMs
  numbers[at + 2] = latency.maxMs
  for (let i = 0; i < BUCKETS; i++) numbers[at + 3 + i] = latency.buckets[i]!
}

/** Whole numbers where the columns take only these; NaN would be bound as NULL in silence. */
function checkNumbers(numbers: Float64Array, at: number): void {
  for (let i = 0; i < ROW_NUMBERS; i++) {
    const value = numbers[at + i]!
    const inLatency = (i - HEAD_NUMBERS) % LATENCY_NUMBERS
    const fractional = i >= HEAD_NUMBERS && inLatency < 3
    if (fractional ? !(value >= 0 && value < Number.POSITIVE_INFINITY) : !(Number.isSafeInteger(value) && value >= 0)) {
      throw fault('internal', `a row of hits has ${value} as its number ${i}`)
    }
  }
}

function clean(text: string): string {
  return text.includes(SEPARATOR) ? text.replaceAll(SEPARATOR, '') : text
}
