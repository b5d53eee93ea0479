import type { Directives } from './directives.ts'

const KEY = /[a-z*][a-z0-9_.*-]*/y
/** Bare items of RFC 9651 section 3.3, by their first character: Decimal or Integer, String, Token, Byte Sequence, Boolean, Date, Display String. */
const ITEM =
  /(-?\d{1,12}\.\d{1,3}|-?\d{1,15})(?![\d.])|"(?:[ !#-[\]-~]|\\["\\])*"|[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*|:[A-Za-z0-9+/]*=*:|\?[01]|@-?\d{1,15}|%"(?:[ !#$&-~]|%[0-9a-f]{2})*"/y
const SPACES = / */y
const BLANKS = /[ \t]*/y

/**
 * Reads the values of a targeted field, a Dictionary of structured fields (RFC 9213 section 2.1, RFC 9651 section 4.2.2). Undefined
 * where it is empty or malformed: such a field counts as absent. A value of seconds that is no Integer is kept as a text that is none.
 */
export function readTargeted(values: readonly string[]): Directives | undefined {
  const reader = new Reader(values.join(', ').replace(/^ +| +$/g, ''))
  const found = new Map<string, string>()
  while (!reader.ended) {
    const key = reader.take(KEY)
    const value = key === undefined ? undefined : reader.member()
    if (value === undefined) return undefined
    found.delete(key!)
    if (value !== '?0') found.set(key!, value === '?1' ? '' : value)
    reader.take(BLANKS)
    if (reader.ended) break
    if (reader.take(/,/y) === undefined) return undefined
    reader.take(BLANKS)
    if (reader.ended) return undefined
  }
  return found.size === 0 ? undefined : found
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get ended(): boolean {
    return this.#at === this.#text.length
  }

  take(what: RegExp): string | undefined {
    what.lastIndex = this.#at
    const found = what.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  /** What follows the key of a member, without its parameters; `?1` for a key alone, undefined when it is malformed. */
  member(): string | undefined {
    let value: string | undefined = '?1'
    if (this.take(/=/y) !== undefined) value = this.take(/\(/y) === undefined ? this.take(ITEM) : this.#innerList()
    return value !== undefined && this.#parameters() ? value : undefined
  }

  /** The rest of a list in parentheses, as a text that is no value of a directive. */
  #innerList(): string | undefined {
    for (;;) {
      const spaces = this.take(SPACES)
      if (this.take(/\)/y) !== undefined) return '()'
      if (spaces === '' && this.#text[this.#at - 1] !== '(') return undefined
      if (this.take(ITEM) === undefined || !this.#parameters()) return undefined
    }
  }

  #parameters(): boolean {
    while (this.take(/;/y) !== undefined) {
      this.take(SPACES)
      if (this.take(KEY) === undefined) return false
      if (this.take(/=/y) !== undefined && this.take(ITEM) === undefined) return false
    }
    return true
  }
}
