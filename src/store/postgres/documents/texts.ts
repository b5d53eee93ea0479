import { createHash } from 'node:crypto'

// PostgreSQL keeps no U+0000 in a text, and an entry of an index may have 2,700 bytes at most.

const ESCAPED = /[\0\u0001]/g
const ESCAPES = /\u0001[\u0002\u0003]/g
/** Of a value in an index, in UTF-8; the other columns need the rest. */
const FILED_BYTES = 1_500
const HEAD_CHARACTERS = 400

/** A text as PostgreSQL can hold it: U+0000 and U+0001 become two characters each, and the order of texts stays. */
export function toCell(text: string): string {
  return text.replace(ESCAPED, (character) => (character === '\0' ? '\u0001\u0002' : '\u0001\u0003'))
}

/** The inverse of `toCell`. */
export function fromCell(cell: string): string {
  return cell.replace(ESCAPES, (pair) => (pair === '\u0001\u0002' ? '\0' : '\u0001'))
}

/** The index form of a value: a long one is its beginning and a hash of all, so that two are equal when their values are. */
export function indexedValue(value: string): string {
  const cell = toCell(value)
  if (cell.length <= HEAD_CHARACTERS || Buffer.byteLength(cell) <= FILED_BYTES) return cell
  const hash = createHash('sha256').update(cell).digest('hex')
  return `${cell.slice(0, HEAD_CHARACTERS).toWellFormed()}\u0001${hash}`
}
