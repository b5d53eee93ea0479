import { randomBytes } from 'node:crypto'
import { flattenString } from './flatten-string.ts'

const RANDOM_BYTES = 10
/** As many as one look-up gives. */
const TRIPLE_VALUES = 4096

const NAME = 'X-Request-Id: '
const LINE_END = '\r\n'

/** Every three hex digits, a quarter of the counter, with the end of the line: so that a line is one look-up and two texts. */
const TRIPLES: readonly string[] = Array.from(
  { length: TRIPLE_VALUES },
  (_, i) => i.toString(16).padStart(3, '0') + LINE_END,
)

/**
 * Makes a source of request ids as field lines, in the form of a UUID (RFC 9562 section 5.4), which tools of callers expect: random digits
 * that are chosen once, and in its last group a counter of 48 bits. Ids of one source never repeat; ids of two meet with the probability of
 * 74 random bits.
 */
export function requestIdLines(random: Uint8Array = randomBytes(RANDOM_BYTES)): () => string {
  const digits = Buffer.from(random).toString('hex')
  // Version 4, and a variant of 8 to b: two bits that no digit below has.
  const variant = (8 + (random[7]! & 3)).toString(16)
  const prefix = `${NAME}${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(12, 15)}-${variant}${digits.slice(17, 20)}-`
  let low = 0
  let high = 0
  let front = flattenString(prefix + highDigits(0))
  return () => {
    const line = front + TRIPLES[low]
    if (++low < TRIPLE_VALUES) return line
    low = 0
    front = flattenString(prefix + highDigits(++high))
    return line
  }
}

/** The next request id of this process, as a field line. */
export const nextRequestIdLine: () => string = requestIdLines()

/** The field line of an id. */
export function lineOfRequestId(id: string): string {
  return NAME + id + LINE_END
}

/** The id in a field line that was made here. */
export function requestIdOf(line: string): string {
  return line.slice(NAME.length, -LINE_END.length)
}

function highDigits(high: number): string {
  return high.toString(16).padStart(9, '0').slice(-9)
}
