import { setFlagsFromString } from 'node:v8'
import { fault } from '../../errors/fault.ts'
import { character, characterClass, escapedCharacter, escapedInPath, escapedSet } from './pattern-characters.ts'
import { type Flags, type PatternDialect, type PatternPiece, Reader } from './pattern-reader.ts'
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
/** Behind a slash nothing is repeated: programs number placeholders (`/{1}/{2}`). */
const NUMBERED = /(?<=\/)\{\d[^{}/]*\}/y
const COUNTED = /\{(\d{1,9})(?:(,)(\d{0,9}))?\}/y
const FLAGS = /\?((?!-?[:)])[imsU]*(?:-[imsU]+)?)([:)])/y
const QUOTATION = /\\Q(.*?)(?:\\E|$)/sy
const NAMED_GROUP = /\?P?<[A-Za-z_]\w*>/y

const PATHS: PatternDialect = { templates: true, captures: false, folds: false, encoded: false, re2: true }
const FOLDED_PATHS: PatternDialect = { ...PATHS, folds: true }
const EXPRESSIONS: PatternDialect = { templates: false, captures: true, folds: false, encoded: false, re2: true }
const REWRITES: PatternDialect = { ...EXPRESSIONS, encoded: true }
const SCHEMAS: PatternDialect = { ...EXPRESSIONS, re2: false }
/** Most rounds of counted repetition that the linear engine accepts. */
const MAX_NATIVE_ROUNDS = 16

/**
 * Compiles a path pattern of `allowed_urls` and endpoint limits: an unanchored regular expression in which `{name}` is one path
 * segment, as is a `*` between slashes, a `/` followed by `*` any other tail, and an escape (`%20`) the character that it is for. It is compared with readable paths, with
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
  return text
    .replace(/\/\*(?=\/)/g, '/{_}')
    .replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => readablePath(escapes).replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
}

/**
 * Compiles a regular expression without template syntax, within the same bounds: braces and slashes have no special meaning, groups capture, and
 * lazy repetition stays lazy. A group that captures can be repeated at most 16 times by count.
 * @throws Fault `pattern_invalid` (400), which says what is wrong and where
 */
export function compileExpression(text: string): RegExp {
  return compileNormalised(normalisedExpression(text))
}

/** The same expression in the subset that the linear engine takes. @throws Fault as `compileExpression` */
export function normalisedExpression(text: string): PatternPiece {
  return normalised(text, EXPRESSIONS)
}

/** An expression for paths in normal form, which hold some characters as escapes alone. @throws Fault as `compileExpression` */
export function normalisedRewrite(text: string): PatternPiece {
  return normalised(text, REWRITES)
}

/** An expression in the syntax of ECMAScript, in which schemas have theirs. @throws Fault as `compileExpression` */
export function normalisedSchemaPattern(text: string): PatternPiece {
  return normalised(text, SCHEMAS)
}

function normalised(text: string, dialect: PatternDialect): PatternPiece {
  if (text.length > MAX_LENGTH) throw fault('pattern_invalid', `longer than ${MAX_LENGTH} characters`)
  return wholeOf(new Reader(text, dialect))
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
  while (!reader.ended) {
    const quoted = quotation(reader)
    if (quoted === undefined && (reader.next === '|' || reader.next === ')' || reader.ended)) break
    const part = quoted ?? repeated(reader, atom(reader, depth))
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

/** The text of `\Q...\E`, whose last character may be repeated; undefined where none begins. */
function quotation(reader: Reader): PatternPiece | undefined {
  const found = reader.dialect.re2 ? reader.match(QUOTATION) : null
  if (found === null) return undefined
  const inner = new Reader(found[1]!, reader.dialect)
  inner.flags = reader.flags
  let whole: PatternPiece = { text: '', size: 0, choices: 0, length: 0 }
  while (!inner.ended) {
    const part = character(inner, inner.take())
    const own = inner.ended ? repeated(reader, part) : part
    const length = whole.length === undefined || own.length === undefined ? undefined : whole.length + own.length
    const [size, choices] = [whole.size + own.size, whole.choices + own.choices]
    whole = { text: whole.text + own.text, size, choices, length }
  }
  return whole
}

/** One atom; `size` 0 marks a position between characters, which cannot be repeated. */
function atom(reader: Reader, depth: number): PatternPiece {
  const { templates, encoded } = reader.dialect
  if (templates && (reader.match(TEMPLATE) ?? reader.match(NUMBERED)) !== null)
    return { text: '[^/]+', size: 2, choices: 1 }
  const char = reader.take()
  if (char === '(') return group(reader, depth)
  if (char === '[') return characterClass(reader)
  if (char === '\\') return escapeSequence(reader)
  if (char === '^' || char === '$') return assertion(reader, char)
  if (char === '.') return dot(reader)
  if (templates && char === '/' && reader.next === '*') return tail(reader)
  if (char === '*' || char === '+' || char === '?') throw reader.fault('nothing to repeat')
  return (encoded && char === '%' ? escapedInPath(reader) : undefined) ?? character(reader, char)
}

function tail(reader: Reader): PatternPiece {
  while (reader.skip('*'));
  // Lazily the same is found: `?` makes no part optional here.
  reader.skip('?')
  return { text: '\\/[^]*', size: 3, choices: 1 }
}

/** `i`, `m`, `s` and `U`, behind a `-` off. */
function withFlags(flags: Flags, names: string): Flags {
  const [on = '', off = ''] = names.split('-')
  const changed = { ...flags }
  for (const name of on) changed[name as keyof Flags] = true
  for (const name of off) changed[name as keyof Flags] = false
  return changed
}

function group(reader: Reader, depth: number): PatternPiece {
  const { flags } = reader
  const set = reader.dialect.re2 ? reader.match(FLAGS) : null
  if (set !== null) reader.flags = withFlags(flags, set[1]!)
  // They hold up to the end of the group around them.
  if (set?.[2] === ')') return { text: '', size: 0, choices: 0, length: 0 }
  const plain = set !== null || reader.skip('?:')
  if (!plain && reader.match(NAMED_GROUP) === null && reader.next === '?') {
    throw reader.fault('lookaround and other special groups are not taken')
  }
  const inner = alternatives(reader, depth + 1)
  if (!reader.skip(')')) throw reader.fault('missing )')
  reader.flags = flags
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
  const char = reader.takeWhole()
  if (char === 'b' || char === 'B') return { text: `\\${char}`, size: 0, choices: 0, length: 0 }
  if (char === 'A') return { text: '^', size: 0, choices: 0, length: 0 }
  if (char === 'z') return { text: '$', size: 0, choices: 0, length: 0 }
  return escapedSet(reader, char) ?? character(reader, escapedCharacter(reader, char))
}

/** `^` and `$`, of every line with `(?m)`. A path is one line. */
function assertion({ flags, dialect }: Reader, char: string): PatternPiece {
  const text = flags.m && !dialect.templates && !dialect.encoded ? `(?m:${char})` : char
  return { text, size: 0, choices: 0, length: 0 }
}

function dot({ flags, dialect }: Reader): PatternPiece {
  // A path may hold any of the line ends of Unicode.
  const text = dialect.templates || flags.s ? '[^]' : dialect.re2 ? '[^\\n]' : '.'
  return { text, size: 1, choices: 0, length: 1 }
}

/** Reads what repeats the part, if anything does. */
function repeated(reader: Reader, part: PatternPiece): PatternPiece {
  const sign = reader.next
  if (sign === '{' && reader.dialect.templates && reader.text[reader.at - 1] === '/') return part
  const counted = sign === '{' ? reader.match(COUNTED) : null
  if (counted === null && sign !== '*' && sign !== '+' && sign !== '?') return part
  if (part.size === 0) throw reader.fault('nothing to repeat')
  if (counted === null) reader.take()
  const lazy = reader.skip('?') !== reader.flags.U && reader.dialect.captures ? '?' : ''
  if (('*+?'.includes(reader.next) && !reader.ended) || reader.match(COUNTED) !== null)
    throw reader.fault('repeated twice')
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
