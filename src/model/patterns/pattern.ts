import { setFlagsFromString } from 'node:v8'
import { type Fault, fault } from '../../errors/fault.ts'
import { foldingLetters, foldLetters } from '../text/fold-letters.ts'
import { readablePath } from './readable-path.ts'

// V8 has a second engine that is linear in the input: the flag `l` asks for it, and it takes over from backtracking after
// 50,000 steps. It knows neither backreferences nor lookaround, nor counted repetition above 16: the first two are refused
// here, the last is written out.
setFlagsFromString('--enable-experimental-regexp-engine')
setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks')

const MAX_LENGTH = 1000
/** Characters, classes and repetitions after counted repetition is written out: what each character of a path can cost. */
const MAX_SIZE = 600
const MAX_DEPTH = 100
// The backtracking engine is 25 times faster on ordinary patterns (75 ns against 1.8 us), but compiling for it takes
// 2^n steps in the number of optional parts: `a?` three hundred times never ends.
export const MAX_BACKTRACKED_CHOICES = 6

const TEMPLATE = /\{[A-Za-z_][^{}/]*\}/y
const COUNTED = /\{(\d{1,9})(?:(,)(\d{0,9}))?\}/y
const NAMED_GROUP = /\?P?<[A-Za-z_]\w*>/y
const SYNTAX = /[\\^$.*+?()[\]{}|/-]/

/** The differences between the two kinds of patterns. */
interface Dialect {
  /** `{name}` is one path segment, and a `/` followed by `*` any tail. */
  readonly templates: boolean
  readonly captures: boolean
  /** It is compared with texts without regard to letter case (`foldLetters`). */
  readonly folds: boolean
}

const PATHS: Dialect = { templates: true, captures: false, folds: false }
const FOLDED_PATHS: Dialect = { templates: true, captures: false, folds: true }
const EXPRESSIONS: Dialect = { templates: false, captures: true, folds: false }
/** Most rounds of counted repetition that the linear engine accepts. */
const MAX_NATIVE_ROUNDS = 16

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

/**
 * Compiles a path pattern of `allowed_urls` and endpoint limits: an unanchored regular expression in which `{name}` is one path
 * segment, a `/` followed by `*` any tail, and an escape (`%20`) the character that it is for. It is compared with readable paths, with
 * `ignoreCase` with such that `foldLetters` has folded. Of regular expressions it takes what can be matched in linear time and nothing else: no
 * backreference, no lookaround, at most 1,000 characters, and at most 600 parts once counted repetition is written out.
 * Groups do not capture, lazy repetition counts as greedy: both make no difference to whether a path matches.
 * @throws Fault `pattern_invalid` (400), which says what is wrong and where
 */
export function compilePattern(text: string, ignoreCase = false): RegExp {
  return compileNormalised(normalisedPattern(text, ignoreCase))
}

/** The same pattern in the subset that the linear engine takes. @throws Fault as `compilePattern` */
export function normalisedPattern(text: string, ignoreCase = false): PatternPiece {
  if (text.length > MAX_LENGTH) throw fault('pattern_invalid', `longer than ${MAX_LENGTH} characters`)
  return wholeOf(new Reader(readablePattern(text), ignoreCase ? FOLDED_PATHS : PATHS))
}

function readablePattern(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) =>
    readablePath(escapes).replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'),
  )
}

/**
 * Compiles a regular expression without template syntax, within the same bounds: braces and slashes have no special meaning, groups capture, and
 * lazy repetition stays lazy. A group that captures can be repeated at most 16 times by count.
 * @throws Fault `pattern_invalid` (400), which says what is wrong and where
 */
export function compileExpression(text: string): RegExp {
  return compileNormalised(normalisedExpression(text))
}

/** The same expression in the subset that the linear engine takes; `length` is that of what its author wrote. @throws Fault as `compileExpression` */
export function normalisedExpression(text: string, length: number = text.length): PatternPiece {
  if (length > MAX_LENGTH) throw fault('pattern_invalid', `longer than ${MAX_LENGTH} characters`)
  return wholeOf(new Reader(text, EXPRESSIONS))
}

function wholeOf(reader: Reader): PatternPiece {
  const whole = alternatives(reader, 0)
  if (!reader.ended) throw reader.fault('unmatched )')
  return whole
}

/** The expression of a normalised pattern. @throws Fault `pattern_invalid` (400) */
export function compileNormalised({ text, choices }: PatternPiece): RegExp {
  try {
    return new RegExp(text, choices > MAX_BACKTRACKED_CHOICES ? 'l' : '')
  } catch (error) {
    throw fault('pattern_invalid', 'not a regular expression', error)
  }
}

/** Most parts that may read one character, from any start. */
export const widthOf = ({ width, size }: PatternPiece): number => width ?? size

class Reader {
  readonly text: string
  readonly dialect: Dialect
  at = 0

  constructor(text: string, dialect: Dialect) {
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

  skip(literal: string): boolean {
    if (!this.text.startsWith(literal, this.at)) return false
    this.at += literal.length
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

function alternatives(reader: Reader, depth: number): PatternPiece {
  if (depth > MAX_DEPTH) throw reader.fault('groups nested too deeply')
  let { text, size, choices, captures = false, length, anchored, width } = sequence(reader, depth)
  while (reader.skip('|')) {
    const other = sequence(reader, depth)
    if (other.length !== length) length = undefined
    width = width! + other.width!
    anchored &&= other.anchored
    text += `|${other.text}`
    size += other.size + 1
    choices += other.choices + 1
    captures ||= other.captures === true
  }
  return { text, size, choices, captures, length, anchored, width }
}

function sequence(reader: Reader, depth: number): PatternPiece {
  let text = ''
  let size = 0
  let choices = 0
  let captures = false
  let width = 0
  let length: number | undefined = 0
  let anchored = false
  while (!reader.ended && reader.next !== '|' && reader.next !== ')') {
    const part = repeated(reader, atom(reader, depth))
    if (text === '') anchored = part.text === '^' || part.anchored === true
    // Behind a part of any length, all that follows may look at one character.
    width = length === undefined ? width + part.size : Math.max(width, widthOf(part))
    length = length === undefined || part.length === undefined ? undefined : length + part.length
    text += part.text
    size += part.size
    choices += part.choices
    captures ||= part.captures === true
    if (size > MAX_SIZE) throw reader.fault('too large once repetition is written out')
  }
  return { text, size, choices, captures, width, length, anchored }
}

/** One atom; `size` 0 marks a position between characters, which cannot be repeated. */
function atom(reader: Reader, depth: number): PatternPiece {
  const { templates } = reader.dialect
  if (templates && reader.match(TEMPLATE) !== null) return { text: '[^/]+', size: 2, choices: 1 }
  const char = reader.take()
  if (char === '(') return group(reader, depth)
  if (char === '[') return characterClass(reader)
  if (char === '\\') return escapeSequence(reader)
  if (char === '^' || char === '$') return { text: char, size: 0, choices: 0, length: 0 }
  // A path may hold any of the line ends of Unicode.
  if (char === '.') return { text: templates ? '[^]' : '.', size: 1, choices: 0, length: 1 }
  if (templates && char === '/' && reader.next === '*') return tail(reader)
  if (char === '*' || char === '+' || char === '?') throw reader.fault('nothing to repeat')
  return word(reader, char)
}

function tail(reader: Reader): PatternPiece {
  while (reader.skip('*'));
  return { text: '\\/[^]*', size: 3, choices: 1 }
}

function literal(char: string): PatternPiece {
  return { text: SYNTAX.test(char) ? `\\${char}` : char, size: 1, choices: 0, length: 1 }
}

/** A literal character: folded where letter case is ignored, which can make several of it. */
function word(reader: Reader, char: string): PatternPiece {
  if (!reader.dialect.folds) return literal(char)
  const whole = char + (reader.match(/(?<=[\uD800-\uDBFF])[\uDC00-\uDFFF]/y)?.[0] ?? '')
  const folded = foldLetters(whole)
  if (folded.length === 1) return literal(folded)
  return { text: `(?:${escaped(folded)})`, size: folded.length, choices: 0 }
}

const escaped = (text: string) => Array.from({ length: text.length }, (_, i) => literal(text[i]!).text).join('')

function group(reader: Reader, depth: number): PatternPiece {
  const plain = reader.skip('?:')
  if (!plain && reader.match(NAMED_GROUP) === null && reader.next === '?') {
    throw reader.fault('lookaround and other special groups are not taken')
  }
  const inner = alternatives(reader, depth + 1)
  if (!reader.skip(')')) throw reader.fault('missing )')
  const captures = reader.dialect.captures && !plain
  return {
    text: `(${captures ? '' : '?:'}${inner.text})`,
    size: inner.size + 1,
    choices: inner.choices,
    captures: captures || inner.captures === true,
    width: widthOf(inner) + 1,
    length: inner.length,
    anchored: inner.anchored,
  }
}

function escapeSequence(reader: Reader): PatternPiece {
  const char = reader.take()
  if (char === 'b' || char === 'B') return { text: `\\${char}`, size: 0, choices: 0, length: 0 }
  if (char === 'A') return { text: '^', size: 0, choices: 0, length: 0 }
  if (char === 'z') return { text: '$', size: 0, choices: 0, length: 0 }
  if ('dDwWsS'.includes(char)) return { text: `\\${char}`, size: 1, choices: 0, length: 1 }
  return word(reader, escapedCharacter(reader, char))
}

/** The character of an escape. */
function escapedCharacter(reader: Reader, char: string): string {
  const control = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v' }[char]
  if (control !== undefined) return control
  if (char === 'x') return hexCharacter(reader, /[0-9A-Fa-f]{2}/y)
  if (char === 'u') return hexCharacter(reader, /[0-9A-Fa-f]{4}/y)
  if (/[0-9k]/.test(char)) throw reader.fault('backreferences are not taken')
  if (/[A-Za-z]/.test(char)) throw reader.fault(`\\${char} is not known`)
  return char
}

function hexCharacter(reader: Reader, digits: RegExp): string {
  const found = reader.match(digits)
  if (found === null) throw reader.fault('hexadecimal digits expected')
  return String.fromCharCode(Number.parseInt(found[0], 16))
}

function characterClass(reader: Reader): PatternPiece {
  const inverted = reader.skip('^')
  const { folds } = reader.dialect
  const words = new Set<string>()
  let text = ''
  while (!reader.skip(']')) {
    const from = classItem(reader)
    if (reader.next !== '-' || reader.text[reader.at + 1] === ']') {
      text += from.text
      if (folds && from.char !== undefined) addFolded(words, from.char, from.char)
      continue
    }
    reader.take()
    const to = classItem(reader)
    if (from.char === undefined || to.char === undefined || from.char > to.char)
      throw reader.fault('range out of order')
    text += `${from.text}-${to.text}`
    if (folds) addFolded(words, from.char, to.char)
  }
  if (text === '') throw reader.fault('empty class')
  for (const letter of words) if (letter.length === 1) text += literal(letter).text
  const long = inverted ? [] : [...words].filter((letters) => letters.length > 1)
  const own = `[${inverted ? '^' : ''}${text}]`
  if (long.length === 0) return { text: own, size: 1, choices: 0, length: 1 }
  return { text: `(?:${[own, ...long.map(escaped)].join('|')})`, size: 1 + long.join('').length, choices: long.length }
}

/** Adds the folded forms of a range. Members that fold to something else stay in the class: no folded text has them. */
function addFolded(words: Set<string>, from: string, to: string): void {
  for (const [letter, folded] of foldingLetters()) if (letter >= from && letter <= to) words.add(folded)
}

/** One member of a class; `char` is undefined for a set such as `\d`. */
function classItem(reader: Reader): { text: string; char: string | undefined } {
  if (reader.text.startsWith('[:', reader.at)) throw reader.fault('named classes are not taken')
  const char = reader.take()
  if (char !== '\\') return { text: literal(char).text, char }
  const name = reader.take()
  if ('dDwWsS'.includes(name)) return { text: `\\${name}`, char: undefined }
  const meant = escapedCharacter(reader, name)
  return { text: literal(meant).text, char: meant }
}

/** Reads what repeats the part, if anything does. */
function repeated(reader: Reader, part: PatternPiece): PatternPiece {
  const sign = reader.next
  const counted = sign === '{' ? reader.match(COUNTED) : null
  if (counted === null && sign !== '*' && sign !== '+' && sign !== '?') return part
  if (part.size === 0) throw reader.fault('nothing to repeat')
  if (counted === null) reader.take()
  const lazy = reader.skip('?') && reader.dialect.captures ? '?' : ''
  if ('*+?'.includes(reader.next) && !reader.ended) throw reader.fault('repeated twice')
  const { captures = false } = part
  if (counted === null)
    return { text: `(?:${part.text})${sign}${lazy}`, size: part.size + 1, choices: again(part, 1), captures }
  const least = Number(counted[1])
  const most = counted[2] === undefined ? least : counted[3] === '' ? undefined : Number(counted[3])
  if (most !== undefined && most < least) throw reader.fault('repetition out of order')
  if (captures) {
    if ((most ?? least) > MAX_NATIVE_ROUNDS) throw reader.fault('a group that captures is repeated too often')
    const rounds = most ?? least + 1
    const choices = most === least ? part.choices * least : again(part, rounds - least)
    const size = (part.size + 1) * rounds
    return {
      text: `(?:${part.text})${counted[0]}${lazy}`,
      size,
      choices,
      captures,
      ...roundsOf(part, size, least, most),
    }
  }
  return writtenOut(reader, part, least, most, lazy)
}

/** `x{2,4}` becomes `xx(?:x(?:x)?)?`; without an upper end `xx(?:x)*`. */
function writtenOut(
  reader: Reader,
  part: PatternPiece,
  least: number,
  most: number | undefined,
  lazy: string,
): PatternPiece {
  const copies = most ?? least + 1
  if ((part.size + 1) * copies > MAX_SIZE) throw reader.fault('too large once repetition is written out')
  const once = `(?:${part.text})`
  const optional = copies - least
  const size = (part.size + 1) * copies + 1
  const rest =
    most === undefined ? `${once}*${lazy}` : `${`(?:${once}`.repeat(optional)}${`)?${lazy}`.repeat(optional)}`
  return {
    text: `(?:${once.repeat(least)}${rest})`,
    size,
    choices: optional === 0 ? part.choices * least : again(part, optional),
    ...roundsOf(part, size, least, most),
  }
}

/** Rounds of a part that always takes as many characters look at different ones. */
function roundsOf(
  part: PatternPiece,
  size: number,
  least: number,
  most: number | undefined,
): Pick<PatternPiece, 'width' | 'length'> {
  if (part.length === undefined || most === undefined) return { width: size }
  return { width: widthOf(part) + 1, length: least === most ? part.length * least : undefined }
}

/** Alternatives of a repeated part that has as many alternatives. */
function again(part: PatternPiece, choices: number): number {
  return part.choices > 0 ? Number.POSITIVE_INFINITY : choices
}
