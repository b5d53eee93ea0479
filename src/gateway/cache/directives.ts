const KEY = /[a-z*][a-z0-9_.*-]*/y

/** Bare items of RFC 9651 section 3.3, by their first character: Decimal or Integer, String, Token, Byte Sequence, Boolean, Date, Display String. */
const ITEM =
  /(-?\d{1,12}\.\d{1,3}|-?\d{1,15})(?![\d.])|"(?:[ !#-[\]-~]|\\["\\])*"|[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*|:[A-Za-z0-9+/]*=*:|\?[01]|@-?\d{1,15}|%"(?:[ !#$&-~]|%[0-9a-f]{2})*"/y

const SPACES = / */y

const BLANKS = /[ \t]*/y

/** The directives of a Cache-Control field by name in lower case; '' for one without a value. The first of a name counts. */
export type Directives = ReadonlyMap<string, string>

/** Longest time that is distinguished, in seconds (RFC 9111 section 1.2.2). */
const MAX_SECONDS = 2_147_483_648

const DIRECTIVE = /([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/g

/** Reads the values of all Cache-Control fields of a message (RFC 9111 section 5.2). What is malformed is passed over. */
export function readDirectives(values: readonly string[]): Directives {
  const found = new Map<string, string>()
  for (const value of values) {
    for (const [, name, quoted, plain] of value.matchAll(DIRECTIVE)) {
      const key = name!.toLowerCase()
      if (!found.has(key)) found.set(key, quoted ?? plain ?? '')
    }
  }
  return found
}

/** Seconds that a directive names; undefined when it is not there, 0 when they are malformed: such an answer counts as stale (section 4.2.1). */
export function directiveSeconds(directives: Directives, name: string): number | undefined {
  const value = directives.get(name)
  return value === undefined ? undefined : (deltaSeconds(value) ?? 0)
}

/** A number of seconds as fields write it; undefined when it is none. */
export function deltaSeconds(text: string): number | undefined {
  return /^\d+$/.test(text) ? Math.min(Number(text), MAX_SECONDS) : undefined
}

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
