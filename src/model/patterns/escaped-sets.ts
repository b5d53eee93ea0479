import type { CharacterSet } from './character-sets.ts'

const BARE = /[A-Za-z0-9\-._~!$&'()*+,;=:@]/
const SURROGATES = [0xd800, 0xdfff] as const

/** True for a character that paths in normal form hold as it is. */
export function isBare(character: string): boolean {
  return BARE.test(character)
}

/** Expressions that together match the escapes which paths hold for the members of a set: no bare ones, and neither `/`, `?`, `#` nor `%`. */
export function escapesOf(set: CharacterSet): string[] {
  const escapes: string[] = []
  for (const [from, to] of set) {
    for (let code = from; code <= Math.min(to, 0x7f); code++) {
      const character = String.fromCharCode(code)
      if (!isBare(character) && !'/?#%'.includes(character)) escapes.push(`%${hex(code)}`)
    }
    escapes.push(...sequencesOf(Math.max(from, 0x80), to))
  }
  return escapes
}

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
