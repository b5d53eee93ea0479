import { randomBytes } from 'node:crypto'

// RFC 4648 §6 in lower case: no padding, safe in a header, a URL and a file name.
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
const PREFIX_LENGTH = 12
const PAIR_VALUES = 1024

/** Every pair of base32 digits: half of the counter is one look-up. */
const PAIRS: readonly string[] = Array.from({ length: PAIR_VALUES }, (_, i) => base32(i, 2))

/**
 * Makes a source of request ids of 20 characters: 60 random bits chosen once, then a counter of 40 bits.
 * Ids of one source never repeat; ids of two meet with the probability of their prefixes.
 */
export function requestIds(random: Uint8Array = randomBytes(PREFIX_LENGTH)): () => string {
  const prefix = Array.from(random, (byte) => ALPHABET[byte & 31]).join('')
  let high = 0
  let middle = 0
  let low = 0
  let front = prefix + base32(0, 4) + PAIRS[0]
  return () => {
    const id = front + PAIRS[low]
    if (++low < PAIR_VALUES) return id
    low = 0
    if (++middle === PAIR_VALUES) {
      middle = 0
      high = (high + 1) & 0xfffff
    }
    front = prefix + base32(high, 4) + PAIRS[middle]
    return id
  }
}

/** The next request id of this process. */
export const nextRequestId: () => string = requestIds()

function base32(value: number, digits: number): string {
  let text = ''
  for (let i = digits - 1; i >= 0; i--) text += ALPHABET[(value >>> (5 * i)) & 31]
  return text
}
