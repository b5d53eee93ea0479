import { type Fault, fault } from '../../errors/fault.ts'

/** The differences between the kinds of patterns. */
export interface PatternDialect {
  /** `{name}` is one path segment, and a `/` followed by `*` any tail. */
  readonly templates: boolean
  readonly captures: boolean
  /** It is compared with texts without regard to letter case (`foldLetters`). */
  readonly folds: boolean
  /** It is compared with paths in normal form, which hold some characters as escapes alone. */
  readonly encoded: boolean
  /** The syntax and meaning of RE2; false = those of ECMAScript. */
  readonly re2: boolean
}

/** What `(?ims)` and the like set, up to the end of their group. */
export interface Flags {
  readonly i: boolean
  readonly m: boolean
  readonly s: boolean
  readonly U: boolean
}

export interface PatternPiece {
  /** The same meaning in the subset that the linear engine takes. */
  readonly text: string
  readonly size: number
  /** Alternatives and repetitions; Infinity when one repeats another. */
  readonly choices: number
  /** True when a group in it captures: it cannot be written twice. */
  readonly captures?: boolean
  /** Most parts that may look at one character of a text that is matched from its beginning; left out = all. */
  readonly width?: number | undefined
  /** Characters that it matches, where they are always as many. */
  readonly length?: number | undefined
  /** True when it matches only from the beginning of a text. */
  readonly anchored?: boolean | undefined
}

const SYNTAX = /[\\^$.*+?()[\]{}|/-]/

/** One character as an expression. */
export function literal(char: string): PatternPiece {
  return { text: SYNTAX.test(char) ? `\\${char}` : char, size: 1, choices: 0, length: 1 }
}

/** Characters one after another as an expression. */
export function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, i) => literal(text[i]!).text).join('')
}

/** The source of a pattern, and how far it was read. */
export class Reader {
  readonly text: string
  readonly dialect: PatternDialect
  flags: Flags = { i: false, m: false, s: false, U: false }
  at = 0

  constructor(text: string, dialect: PatternDialect) {
    this.text = text
    this.dialect = dialect
  }

  get ended(): boolean {
    return this.at >= this.text.length
  }

  get next(): string {
    return this.text[this.at] ?? ''
  }

  take(): string {
    if (this.ended) throw this.fault('ends too early')
    return this.text[this.at++]!
  }

  /** One character, of any plane. */
  takeWhole(): string {
    const char = this.take()
    return char + (this.match(/(?<=[\uD800-\uDBFF])[\uDC00-\uDFFF]/y)?.[0] ?? '')
  }

  skip(text: string): boolean {
    if (!this.text.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }

  /** Reads what a sticky expression finds here. */
  match(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.at
    const found = sticky.exec(this.text)
    if (found !== null) this.at += found[0].length
    return found
  }

  fault(why: string): Fault {
    return fault('pattern_invalid', `${why} at character ${this.at}`)
  }
}
