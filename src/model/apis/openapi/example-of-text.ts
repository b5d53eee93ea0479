import type { JsonObject } from '../../json/json.ts'
import { SchemaPattern } from '../../patterns/schema-pattern.ts'

/** Texts of the formats of OpenAPI and JSON Schema. A `Map`: names come from outside. */
const BY_FORMAT = new Map<string, string>([
  ...([
    ['date', '2024-01-31'],
    ['date-time', '2024-01-31T12:00:00Z'],
    ['time', '12:00:00Z'],
  ] as const),
  ...([
    ['duration', 'P1D'],
    ['email', 'user@example.com'],
    ['idn-email', 'user@example.com'],
  ] as const),
  ...([
    ['hostname', 'www.example.com'],
    ['idn-hostname', 'www.example.com'],
    ['ipv4', '192.0.2.1'],
  ] as const),
  ...([
    ['ipv6', '2001:db8::1'],
    ['uri', 'https://www.example.com/'],
    ['url', 'https://www.example.com/'],
  ] as const),
  ...([
    ['iri', 'https://www.example.com/'],
    ['uri-reference', '/path'],
    ['iri-reference', '/path'],
  ] as const),
  ...([
    ['uri-template', '/items/{id}'],
    ['uuid', '123e4567-e89b-12d3-a456-426614174000'],
  ] as const),
  ...([
    ['json-pointer', '/a'],
    ['relative-json-pointer', '0/a'],
    ['regex', '^a$'],
    ['byte', 'c3RyaW5n'],
  ] as const),
])
const PLAIN = 'string'
/** Longest text that is made. */
const MOST_CHARACTERS = 10_000
const MOST_ROUNDS = 1000

/** A text that fits a format, a pattern and bounds of length, as far as one is found; `index` makes others of it. */
export function exampleText({ format, pattern, minLength, maxLength }: JsonObject, index = 0): string {
  const formatted = BY_FORMAT.get(String(format))
  if (formatted !== undefined) return formatted
  const matched = typeof pattern === 'string' ? textMatching(pattern, Number(minLength) || 0) : undefined
  if (matched !== undefined) return matched
  const text = index === 0 ? PLAIN : `${PLAIN}${index}`
  const least = typeof minLength === 'number' ? Math.min(minLength, MOST_CHARACTERS) : 0
  const most = typeof maxLength === 'number' ? maxLength : MOST_CHARACTERS
  const padded = text.length < least ? text.padEnd(least, PLAIN) : text
  return padded.slice(Math.max(0, padded.length - Math.max(most, 0))).slice(0, Math.max(most, 0))
}

/** A text that a pattern finds, of at least so many characters where it repeats; undefined where none is found. */
function textMatching(pattern: string, least: number): string | undefined {
  try {
    const checked = new SchemaPattern(pattern)
    for (const rounds of [0, 1, Math.min(least, MOST_ROUNDS)]) {
      const text = new Sample(pattern, rounds).whole()
      if (text.length >= least && text.length <= MOST_CHARACTERS && checked.test(text)) return text
    }
  } catch {
    // A pattern that is not checked either.
  }
  return undefined
}

/** Reads an expression and writes one text of what it takes: the first alternatives, repeated as often as asked and needed. */
class Sample {
  readonly #pattern: string
  readonly #rounds: number
  #at = 0
  #made = 0

  constructor(pattern: string, rounds: number) {
    this.#pattern = pattern
    this.#rounds = rounds
  }

  whole(): string {
    let first: string | undefined
    for (;;) {
      const text = this.#sequence()
      first ??= text
      if (this.#pattern[this.#at] !== '|') return first
      this.#at++
    }
  }

  #sequence(): string {
    let text = ''
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#pattern[this.#at]!)) {
      const part = this.#atom()
      text += part.repeat(this.#repeats())
      this.#made += text.length
      if (this.#made > MOST_CHARACTERS * MOST_ROUNDS) throw new Error('too long')
    }
    return text
  }

  #repeats(): number {
    const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.#pattern.slice(this.#at, this.#at + 30))
    if (found === null) return 1
    this.#at += found[0].length
    const [sign, least, comma, most] = found
    if (least === undefined)
      return sign.startsWith('+')
        ? Math.max(1, this.#rounds)
        : sign.startsWith('*')
          ? this.#rounds
          : Math.min(this.#rounds, 1)
    const highest = comma === '' ? Number(least) : most === '' ? MOST_ROUNDS : Number(most)
    return Math.min(Math.max(Number(least), this.#rounds), highest, MOST_CHARACTERS)
  }

  #atom(): string {
    const char = this.#pattern[this.#at++]!
    if (char === '^' || char === '$') return ''
    if (char === '.') return 'a'
    if (char === '[') return this.#class()
    if (char === '\\') return this.#escape()
    if (char !== '(') return char
    const opened = /^\?(?:<?[=!]|:|<[^>]*>)?/.exec(this.#pattern.slice(this.#at))?.[0] ?? ''
    this.#at += opened.length
    const inner = this.whole()
    this.#at++
    return /[=!]$/.test(opened) ? '' : inner
  }

  #escape(): string {
    const char = this.#pattern[this.#at++] ?? ''
    if ('pPu'.includes(char) && this.#pattern[this.#at] === '{') {
      this.#at = this.#pattern.indexOf('}', this.#at) + 1
      return char === 'P' ? '1' : 'a'
    }
    if (char === 'x' || char === 'u') {
      const digits = this.#pattern.slice(this.#at, this.#at + (char === 'x' ? 2 : 4))
      this.#at += digits.length
      return String.fromCharCode(Number.parseInt(digits, 16))
    }
    return (
      (
        {
          d: '1',
          D: 'a',
          w: 'a',
          W: '-',
          s: ' ',
          S: 'a',
          b: '',
          B: '',
          n: '\n',
          t: '\t',
          r: '\r',
          f: '\f',
          v: '\v',
        } as Record<string, string>
      )[char] ?? char
    )
  }

  #class(): string {
    const start = this.#at
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== ']')
      this.#at += this.#pattern[this.#at] === '\\' ? 2 : 1
    const body = this.#pattern.slice(start, this.#at++)
    const taken = new RegExp(`^[${body}]$`, 'u')
    return [...'aA1bB0zZ9-_ ./:@', ...body].find((char) => taken.test(char)) ?? 'a'
  }
}
