import { fault } from '../../errors/fault.ts'
import { compileNormalised, normalisedExpression, type PatternPiece } from './pattern.ts'
import { encodedPath } from './readable-path.ts'

const PIECE = /\\.|\[(?:\\.|[^\]\\])*\]|(?:%[0-9a-f]{2})+|[\s"<>`]|[^\0-\x7f]/gisu
const MEMBER = /\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\.|(?:%[0-9a-f]{2})+|./gisu
const BARE = /[A-Za-z0-9\-._~!$&'()*+,;=:@]/

/**
 * The pattern of a rewrite, for paths in normal form, whose groups are forwarded unchanged: an escape means its character
 * where paths contain it bare, escapes are in upper case, and characters that are never bare in paths are escapes.
 * @throws Fault `pattern_invalid` (400), which says what is wrong
 */
export function compileRewritePattern(pattern: string): RegExp {
  return compileNormalised(normalisedRewrite(pattern))
}

/** The same pattern in the subset that the linear engine takes. @throws Fault as `compileRewritePattern` */
export function normalisedRewrite(pattern: string): PatternPiece {
  const normal = pattern.replace(PIECE, (piece) => {
    if (piece.startsWith('\\')) return piece
    if (piece.startsWith('[')) return piece[1] === '^' ? complement(piece) : encodedClass(piece)
    if (piece.startsWith('%')) return piece.replace(/%../g, word)
    return `(?:${encodedPath(piece)})`
  })
  return normalisedExpression(normal, pattern.length)
}

function word(triplet: string): string {
  const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16))
  return BARE.test(character) ? character.replace(/[^A-Za-z0-9]/, '\\$&') : triplet.toUpperCase()
}

/** A class of what is none of its members. Those of several characters in a path cannot be left out one by one. */
function complement(piece: string): string {
  return piece.replace(/\\.|(?:%[0-9a-f]{2})+|[^\0-\x7f]/gisu, (member) => {
    if (member.startsWith('\\')) return member
    const own = member.startsWith('%') ? member.replace(/%../g, word) : '%'
    if (!own.includes('%')) return own
    throw fault('pattern_invalid', `${piece}: a path holds ${member} as several characters, which cannot be left out`)
  })
}

/** A class whose members a path may hold escaped: the others as a class, and their escapes. */
function encodedClass(piece: string): string {
  const members = piece.slice(1, -1).match(MEMBER) ?? []
  let bare = ''
  const escapes = new Set<string>()
  const add = (from: number, to: number) => {
    for (const sequence of sequencesOf(Math.max(from, 0x80), to)) escapes.add(sequence)
  }
  for (let i = 0; i < members.length; i++) {
    const member = members[i]!
    if (member.startsWith('%')) {
      for (const character of decoded(member)) {
        const own = encodeURIComponent(character)
        if (BARE.test(character)) bare += character.replace(/[^A-Za-z0-9]/, '\\$&')
        else escapes.add(own.startsWith('%') ? own : `%${hex(character.charCodeAt(0))}`)
      }
      continue
    }
    const isRange = members[i + 1] === '-' && members[i + 2] !== undefined
    const last = isRange ? members[i + 2]! : member
    const [from, to] = [codeOf(member), codeOf(last)]
    if (isRange) i += 2
    if (from === undefined || to === undefined || to < 0x80) {
      // A blank and the like, which paths hold escaped.
      if (!isRange && /^[\s"<>`]$/.test(member)) escapes.add(encodeURIComponent(member))
      else bare += isRange ? `${member}-${last}` : member
      continue
    }
    if (from > to) throw fault('pattern_invalid', `${piece}: range out of order`)
    if (from < 0x80) bare += `${member}-\\x7f`
    add(from, to)
  }
  if (escapes.size === 0) return `[${bare}]`
  return `(?:${[...(bare === '' ? [] : [`[${bare}]`]), ...escapes].join('|')})`
}

function decoded(escapes: string): string {
  try {
    return decodeURIComponent(escapes)
  } catch {
    throw fault('pattern_invalid', `[${escapes}]: not UTF-8`)
  }
}

/** The character of a member of a class; undefined for a set such as `\d`. */
function codeOf(member: string): number | undefined {
  if (/^\\[ux]./i.test(member) && member.length > 2) return Number.parseInt(member.slice(2), 16)
  if (member.startsWith('\\')) return /[A-Za-z0-9]/.test(member[1]!) ? undefined : member.charCodeAt(1)
  return member.codePointAt(0)
}

const SURROGATES = [0xd800, 0xdfff] as const

/** The UTF-8 escapes of all characters of a range, as expressions that together match these and no others. */
function sequencesOf(from: number, to: number): string[] {
  if (from > to) return []
  if (from <= SURROGATES[1] && to >= SURROGATES[0])
    return [...sequencesOf(from, SURROGATES[0] - 1), ...sequencesOf(SURROGATES[1] + 1, to)]
  const split = (at: number) => [...sequencesOf(from, at), ...sequencesOf(at + 1, to)]
  for (const most of [0x7ff, 0xffff]) if (from <= most && to > most) return split(most)
  for (const bits of [6, 12, 18]) {
    const tail = (1 << bits) - 1
    if ((from & ~tail) === (to & ~tail)) continue
    if ((from & tail) !== 0) return split(from | tail)
    if ((to & tail) !== tail) return split((to & ~tail) - 1)
  }
  const [first, last] = [from, to].map((code) => Buffer.from(String.fromCodePoint(code)))
  return [[...first!].map((byte, i) => byteBetween(byte, last![i]!)).join('')]
}

const DIGITS = '0123456789ABCDEF'
const hex = (byte: number) => byte.toString(16).padStart(2, '0').toUpperCase()

/** An escape of any byte between two. */
function byteBetween(from: number, to: number): string {
  if (from === to) return `%${hex(from)}`
  const digits = (low: number, high: number) => `[${DIGITS.slice(low, high + 1)}]`
  const [high, highest] = [from >> 4, to >> 4]
  if (high === highest) return `%${DIGITS[high]}${digits(from & 15, to & 15)}`
  const parts = [`${DIGITS[high]}${digits(from & 15, 15)}`, `${DIGITS[highest]}${digits(0, to & 15)}`]
  if (highest - high > 1) parts.push(`${digits(high + 1, highest - 1)}${digits(0, 15)}`)
  return `%(?:${parts.join('|')})`
}
