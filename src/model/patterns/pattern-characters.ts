import { foldingLetters, foldLetters } from '../text/fold.ts'
import {
  type CharacterSet,
  complementOf,
  escapesOf,
  isBare,
  NAMED_SETS,
  PERL_SETS,
  propertySet,
  setOf,
  withCases,
  within,
} from './character-sets.ts'
import { escaped, literal, type PatternPiece, type Reader } from './pattern-reader.ts'
import { encodedPath } from './readable-path.ts'

const LAST = 0x10ffff
/** One part of a class costs the linear engine as much as so many ranges of a class. */
const RANGES_OF_PART = 16
/** Blanks of `\s` in ECMAScript beside those of RE2. */
const OTHER_BLANKS: CharacterSet = setOf(
  [0x0b, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff]
    .map((code) => [code, code] as const)
    .concat([[0x2000, 0x200a]]),
)

/** A literal character: several of it where letter case is ignored. */
export function character(reader: Reader, char: string): PatternPiece {
  const { dialect, flags } = reader
  const whole = char + (reader.match(/(?<=[\uD800-\uDBFF])[\uDC00-\uDFFF]/y)?.[0] ?? '')
  if (dialect.folds) {
    const folded = foldLetters(whole)
    return folded.length === 1 ? literal(folded) : grouped(folded)
  }
  const code = whole.codePointAt(0)!
  if (flags.i) {
    const all = withCases([[code, code]])
    // A path holds other characters as escapes, which are no letters.
    const cases = dialect.encoded && code < 0x80 ? within(all, 0, 0x7f) : all
    if (cases.length > 1 || cases[0]![0] !== cases[0]![1]) return setPiece(reader, cases)
  }
  if (dialect.encoded && /[\s"<>`]|[^\0-\x7f]/.test(whole)) return grouped(encodedPath(whole))
  return whole.length === 1 ? literal(whole) : grouped(whole)
}

function grouped(text: string): PatternPiece {
  return { text: `(?:${escaped(text)})`, size: text.length, choices: 0, length: text.length }
}

/** The characters that an escape of a path (`%20`) is for; undefined when none is here. The `%` was read. */
export function escapedInPath(reader: Reader): PatternPiece | undefined {
  const found = reader.match(/(?<=%)(?:[0-7][0-9a-f]|[89a-f][0-9a-f](?:%[89ab][0-9a-f])*)/iy)
  if (found === null) return undefined
  const text = decoded(`%${found[0]}`)
  const isOne = text !== undefined && [...text].length === 1
  if (isOne && (isBare(text) || text.charCodeAt(0) >= 0x80)) return character(reader, text)
  return grouped(`%${found[0].toUpperCase()}`)
}

function decoded(escapes: string): string | undefined {
  try {
    return decodeURIComponent(escapes)
  } catch {
    return undefined
  }
}

/** The characters of an escape that is a set, as `\d`; undefined for other escapes. The backslash and `char` were read. */
export function escapedSet(reader: Reader, char: string): PatternPiece | undefined {
  const set = namedSet(reader, char)
  if (set === undefined) return undefined
  if (
    !reader.flags.i &&
    (char === 'd' || char === 'D' || char === 'w' || char === 'W' || !reader.dialect.re2) &&
    /[dDwWsS]/.test(char)
  )
    return { text: `\\${char}`, size: 1, choices: 0, length: 1 }
  if (reader.dialect.encoded && /[DWS]/.test(char)) return plainClass(within(complementOf(set), 0, 0x7f), true)
  return setPiece(reader, set)
}

const cased = (reader: Reader, set: CharacterSet) => (reader.flags.i ? withCases(set) : set)

/** The set of `\d`, `\W`, `\pL`, `\P{Greek}` and the like. */
function namedSet(reader: Reader, char: string): CharacterSet | undefined {
  if (char === 'p' || char === 'P') {
    const found = reader.match(/\{(\^?)(\w+)\}|([A-Z])/y)
    const set = found === null ? undefined : propertySet(found[2] ?? found[3]!)
    if (set === undefined) throw reader.fault('not the name of a category or script of Unicode')
    const all = cased(reader, set)
    return (char === 'P') !== (found![1] === '^') ? complementOf(all) : all
  }
  const perl = PERL_SETS[char.toLowerCase()]
  if (perl === undefined) return undefined
  const own = char.toLowerCase() === 's' && !reader.dialect.re2 ? setOf([...perl, ...OTHER_BLANKS]) : perl
  const all = cased(reader, own)
  return char === char.toLowerCase() ? all : complementOf(all)
}

/** The character of an escape, of any plane. */
export function escapedCharacter(reader: Reader, char: string): string {
  const control = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v', a: reader.dialect.re2 ? '\x07' : undefined }[char]
  if (control !== undefined) return control
  if (char === 'x')
    return hexCharacter(reader, reader.dialect.re2 ? /([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\}/y : /([0-9A-Fa-f]{2})/y)
  if (char === 'u') return hexCharacter(reader, /([0-9A-Fa-f]{4})/y)
  const octal = reader.dialect.re2 ? reader.match(char === '0' ? /[0-7]{0,2}/y : /(?<=[1-7])[0-7]{1,2}/y) : null
  if (octal !== null && /[0-7]/.test(char)) return String.fromCharCode(Number.parseInt(char + octal[0], 8))
  if (/[0-9k]/.test(char)) throw reader.fault('backreferences are not taken')
  if (/[A-Za-z]/.test(char)) throw reader.fault(`\\${char} is not known`)
  return char
}

function hexCharacter(reader: Reader, digits: RegExp): string {
  const found = reader.match(digits)
  const code = Number.parseInt(found?.[1] ?? found?.[2] ?? '', 16)
  if (found === null || code > 0x10ffff) throw reader.fault('hexadecimal digits expected')
  return String.fromCodePoint(code)
}

/** A class, whose opening bracket was read. */
export function characterClass(reader: Reader): PatternPiece {
  const inverted = reader.skip('^')
  const ranges: (readonly [number, number])[] = []
  const letters: (readonly [number, number])[] = []
  let isFirst = true
  const escapes: number[] = []
  let isOpen = false
  while (isFirst ? !(!reader.dialect.re2 && reader.skip(']')) : !reader.skip(']')) {
    isFirst = false
    const set = setInClass(reader)
    if (set !== undefined) {
      isOpen ||= set.at(-1)?.[1] === LAST
      ranges.push(...set)
      continue
    }
    const begins = reader.at
    const from = memberOf(reader)
    // A blank that is written as one is none of a path anyway.
    if (reader.text[begins] === '%' && reader.at > begins + 1) escapes.push(...from)
    let to = from
    if (reader.next === '-' && reader.text[reader.at + 1] !== ']' && from.length === 1) {
      reader.take()
      if (reader.match(/\\[dDwWsSpP]/y) !== null) throw reader.fault('range out of order')
      to = memberOf(reader)
    }
    for (const each of from.length === 1 ? [[from[0]!, to[0]!] as const] : from.map((code) => [code, code] as const)) {
      if (each[0] > each[1] || (to.length > 1 && from.length === 1)) throw reader.fault('range out of order')
      letters.push(each)
    }
  }
  if (ranges.length + letters.length === 0) throw reader.fault('empty class')
  const words = reader.dialect.folds ? foldedWords(letters) : []
  const folded = words
    .filter((word) => word.length === 1)
    .map((word) => [word.charCodeAt(0), word.charCodeAt(0)] as const)
  const set = setOf([...ranges, ...cased(reader, setOf(letters)), ...folded])
  if (reader.dialect.encoded && inverted) return complementInPath(reader, letters, escapes, set)
  // A complement takes the parts of escapes one by one.
  if (reader.dialect.encoded && isOpen) return plainClass(within(set, 0, 0x7f), false)
  const piece = setPiece(reader, set, inverted)
  const long = inverted ? [] : words.filter((word) => word.length > 1)
  if (long.length === 0) return piece
  const size = piece.size + long.join('').length
  return { text: `(?:${[piece.text, ...long.map(escaped)].join('|')})`, size, choices: long.length }
}

/** The folded forms of members. Members that fold to something else stay in the class: no folded text has them. */
function foldedWords(letters: readonly (readonly [number, number])[]): string[] {
  const words = new Set<string>()
  for (const [letter, folded] of foldingLetters()) {
    const code = letter.charCodeAt(0)
    if (letters.some(([from, to]) => code >= from && code <= to)) words.add(folded)
  }
  return [...words]
}

/** A set within a class. */
function setInClass(reader: Reader): CharacterSet | undefined {
  const named = reader.match(/\[:(\^?)(\w+):\]/y)
  if (named !== null || reader.text.startsWith('[:', reader.at)) {
    if (!reader.dialect.re2) throw reader.fault('named classes are not taken')
    const set = named === null ? undefined : NAMED_SETS[named[2]!]
    if (named !== null && set === undefined) throw reader.fault(`${named[0]} is not known`)
    if (set !== undefined) {
      const all = cased(reader, set)
      return named![1] === '^' ? complementOf(all) : all
    }
  }
  const char = reader.next === '\\' ? (reader.text[reader.at + 1] ?? '') : ''
  if (!/^[dDwWsSpP]$/.test(char)) return undefined
  reader.at += 2
  return namedSet(reader, char)
}

/** The code points of one member of a class: several for escapes of a path. */
function memberOf(reader: Reader): readonly number[] {
  const char = reader.takeWhole()
  if (char === '\\') return [escapedCharacter(reader, reader.takeWhole()).codePointAt(0)!]
  if (char === '%' && reader.dialect.encoded) {
    const found = reader.match(/(?<=%)[0-9a-f]{2}(?:%[0-9a-f]{2})*/iy)
    const text = found === null ? '%' : decoded(`%${found[0]}`)
    if (text === undefined) throw reader.fault(`[%${found![0]}]: not UTF-8,`)
    return [...text].map((each) => each.codePointAt(0)!)
  }
  return [char.codePointAt(0)!]
}

/** A class of what is none of its members. Those of several characters in a path cannot be left out one by one. */
function complementInPath(
  reader: Reader,
  letters: readonly (readonly [number, number])[],
  escapes: readonly number[],
  set: CharacterSet,
): PatternPiece {
  if (letters.some(([, to]) => to >= 0x80) || escapes.some((code) => !isBare(String.fromCodePoint(code))))
    throw reader.fault('a path holds a member of the class as several characters, which cannot be left out,')
  return plainClass(within(set, 0, 0x7f), true)
}

/** The expression for members of a set, or with `inverted` for all others. */
function setPiece(reader: Reader, set: CharacterSet, inverted = false): PatternPiece {
  if (reader.dialect.encoded) return inPath(set)
  const members = inverted ? complementOf(set) : set
  // All characters beyond U+FFFF, or none: as in dots, they are taken by halves.
  if (members.at(-1)?.[1] === LAST) {
    const excluded = complementOf(members)
    if (excluded.every(([, to]) => to <= 0xffff)) return plainClass(excluded, true)
  } else if (members.every(([, to]) => to <= 0xffff)) return plainClass(members, false)
  // Halves of characters beyond U+FFFF are no characters.
  const basic = [...within(members, 0, 0xd7ff), ...within(members, 0xe000, 0xffff)]
  return alternativesOf(basic, astralOf(within(members, 0x10000, 0x10ffff)))
}

/** The expression for members of a set in paths in normal form. */
function inPath(set: CharacterSet): PatternPiece {
  return alternativesOf(within(set, 0, 0x7f), escapesOf(set))
}

function alternativesOf(basic: CharacterSet, others: readonly string[]): PatternPiece {
  if (others.length === 0) return plainClass(basic, false)
  const own = basic.length === 0 ? [] : [plainClass(basic, false)]
  const size = own.reduce((sum, each) => sum + each.size, 0) + others.reduce((sum, each) => sum + partsOf(each), 0)
  return { text: `(?:${[...own.map(({ text }) => text), ...others].join('|')})`, size, choices: others.length }
}

/** The characters and classes of an alternative. */
function partsOf(text: string): number {
  return text.replace(/\[(?:\\.|[^\]\\])*\]/gs, 'x').replace(/[(?:|)]/g, '').length
}

function plainClass(set: CharacterSet, inverted: boolean): PatternPiece {
  const [first] = set
  if (first === undefined) return { text: inverted ? '[^]' : '[]', size: 1, choices: 0, length: 1 }
  if (!inverted && set.length === 1 && first[0] === first[1]) return literal(String.fromCharCode(first[0]))
  const text = set
    .map(([from, to]) => (from === to ? unit(from) : `${unit(from)}-${unit(Math.min(to, 0xffff))}`))
    .join('')
  const size = 1 + Math.floor(set.length / RANGES_OF_PART)
  return { text: `[${inverted ? '^' : ''}${text}]`, size, choices: 0, length: 1 }
}

const unit = (code: number) => literal(String.fromCharCode(code)).text

/** Characters beyond U+FFFF, which texts hold as two units. */
function astralOf(set: CharacterSet): string[] {
  const lows = new Map<number, [number, number][]>()
  const full: [number, number][] = []
  const add = (high: number, from: number, to: number) => {
    const known = lows.get(high)
    if (known === undefined) lows.set(high, [[from, to]])
    else known.push([from, to])
  }
  for (const [from, to] of set) {
    const [first, last] = [from, to].map((code) => 0xd800 + ((code - 0x10000) >> 10)) as [number, number]
    const [low, high] = [from, to].map((code) => 0xdc00 + ((code - 0x10000) & 0x3ff)) as [number, number]
    if (first === last) {
      add(first, low, high)
      continue
    }
    if (low !== 0xdc00) add(first, low, 0xdfff)
    if (high !== 0xdfff) add(last, 0xdc00, high)
    const [begin, end] = [low === 0xdc00 ? first : first + 1, high === 0xdfff ? last : last - 1]
    if (begin <= end) full.push([begin, end])
  }
  const pairs = [...lows].map(
    ([high, ranges]) => `${String.fromCharCode(high)}${plainClass(setOf(ranges), false).text}`,
  )
  return full.length === 0 ? pairs : [`${plainClass(setOf(full), false).text}[\udc00-\udfff]`, ...pairs]
}
