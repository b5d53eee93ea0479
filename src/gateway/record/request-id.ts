import { randomBytes } from 'node:crypto'

const RANDOM_BYTES = 10
/** As many as one look-up gives. */
const TRIPLE_VALUES = 4096

/** Every three hex digits: a quarter of the counter is one look-up. */
const TRIPLES: readonly string[] = Array.from({ length: TRIPLE_VALUES }, (_, i) => i.toString(16).padStart(3, '0'))

/**
 * Makes a source of request ids in the form of a UUID (RFC 9562 section 5.4), which tools of callers expect: random digits that are chosen
 * once, and in its last group a counter of 48 bits. Ids of one source never repeat; ids of two meet with the probability of 74 random bits.
 */
export function requestIds(random: Uint8Array = randomBytes(RANDOM_BYTES)): () => string {
  const digits = Buffer.from(random).toString('hex')
  // Version 4, and a variant of 8 to b: two bits that no digit below has.
  const variant = (8 + (random[7]! & 3)).toString(16)
  const prefix = `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(12, 15)}-${variant}${digits.slice(17, 20)}-`
  let low = 0
  let high = 0
  let front = prefix + highDigits(0)
  return () => {
    const id = front + TRIPLES[low]
    if (++low < TRIPLE_VALUES) return id
    low = 0
    front = prefix + highDigits(++high)
    return id
  }
}

/** The next request id of this process. */
export const nextRequestId: () => string = requestIds()

function highDigits(high: number): string {
  return high.toString(16).padStart(9, '0').slice(-9)
}
