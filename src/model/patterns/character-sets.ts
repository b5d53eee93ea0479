/** Code points as ranges, in order and apart from each other. */
export type CharacterSet = readonly (readonly [from: number, to: number])[]

const LAST = 0x10ffff

/** The set of ranges in any order. */
export function setOf(ranges: Iterable<readonly [number, number]>): CharacterSet {
  const joined: [number, number][] = []
  for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
    const last = joined.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else joined.push([from, to])
  }
  return joined
}

/** All code points that are not in a set. */
export function complementOf(set: CharacterSet): CharacterSet {
  const others: [number, number][] = []
  let next = 0
  for (const [from, to] of set) {
    if (from > next) others.push([next, from - 1])
    next = to + 1
  }
  if (next <= LAST) others.push([next, LAST])
  return others
}

/** The members of a set from one code point to another. */
export function within(set: CharacterSet, from: number, to: number): CharacterSet {
  return set.flatMap(([a, b]): [number, number][] => (b < from || a > to ? [] : [[Math.max(a, from), Math.min(b, to)]]))
}

const range = (text: string): [number, number] => [text.codePointAt(0)!, text.codePointAt(text.length - 1)!]
const ranges = (text: string) => setOf(text.split(' ').map(range))

const DIGITS = ranges('09')
const WORD = ranges('09 AZ __ az')
/** `\s` of RE2, which leaves the vertical tab out. */
const SPACE: CharacterSet = [
  [9, 10],
  [12, 13],
  [32, 32],
]

/** The sets of `\d`, `\s` and `\w`, which hold ASCII alone. */
export const PERL_SETS: Readonly<Record<string, CharacterSet>> = { d: DIGITS, s: SPACE, w: WORD }

/** The sets of `[[:alpha:]]` and its like, which hold ASCII alone. */
export const NAMED_SETS: Readonly<Record<string, CharacterSet>> = {
  alnum: ranges('09 AZ az'),
  alpha: ranges('AZ az'),
  ascii: [[0, 127]],
  blank: [
    [9, 9],
    [32, 32],
  ],
  cntrl: [
    [0, 31],
    [127, 127],
  ],
  digit: DIGITS,
  graph: ranges('!~'),
  lower: ranges('az'),
  print: ranges(' ~'),
  punct: ranges('!/ :@ [` {~'),
  space: [
    [9, 13],
    [32, 32],
  ],
  upper: ranges('AZ'),
  word: WORD,
  xdigit: ranges('09 AF af'),
}

/** General categories that RE2 knows by one or two letters. */
const CATEGORY = /^(?:[CLMNPSZ]|C[cfo]|L[lmotu]|M[cen]|N[dlo]|P[cdefios]|S[ckmo]|Z[lps])$/
const SURROGATES: CharacterSet = [[0xd800, 0xdfff]]

/** Module state: a cache of immutable values: tables of Unicode, each made at its first use. */
const properties = new Map<string, CharacterSet>()

/** The set of `\p{name}`: a general category or a script; undefined for a name that is neither. Takes up to 0.1 s the first time. */
export function propertySet(name: string): CharacterSet | undefined {
  const known = properties.get(name)
  if (known !== undefined) return known
  if (name === 'Any') return [[0, LAST]]
  if (name === 'Cs') return SURROGATES
  const isNamed = CATEGORY.test(name) ? `\\p{${name}}` : /^[A-Z][A-Za-z_]+$/.test(name) ? `\\p{Script=${name}}` : ''
  let expression: RegExp
  try {
    if (isNamed === '') return undefined
    expression = new RegExp(isNamed, 'u')
  } catch {
    return undefined
  }
  const found: [number, number][] = []
  for (let code = 0; code <= LAST; code++) {
    if (!expression.test(String.fromCodePoint(code))) continue
    // RE2 counts unassigned code points to no category.
    const last = found.at(-1)
    if (last !== undefined && last[1] === code - 1) last[1] = code
    else found.push([code, code])
  }
  const set =
    name === 'C' ? setOf([...propertySet('Cc')!, ...propertySet('Cf')!, ...propertySet('Co')!, ...SURROGATES]) : found
  properties.set(name, set)
  return set
}

/** Module state: a cache of immutable values: characters that differ in letter case alone, each with all of them. */
let orbits: ReadonlyMap<number, readonly number[]> | undefined

/** Sets of fewer members are looked up one by one: looking at all letters takes 0.5 ms. */
const FEW = 256

/** A set with the characters that differ from its members in letter case alone (simple case folding of Unicode). */
export function withCases(set: CharacterSet): CharacterSet {
  orbits ??= allOrbits()
  const added: [number, number][] = []
  for (const [code, orbit] of set.reduce((sum, [from, to]) => sum + to - from + 1, 0) < FEW ? fewOf(set) : orbits)
    if (contains(set, code)) for (const other of orbit) if (!contains(set, other)) added.push([other, other])
  return added.length === 0 ? set : setOf([...set, ...added])
}

/** The members of a small set that have other cases. */
function* fewOf(set: CharacterSet): Iterable<readonly [number, readonly number[]]> {
  for (const [from, to] of set)
    for (let code = from; code <= to; code++) {
      const orbit = orbits!.get(code)
      if (orbit !== undefined) yield [code, orbit]
    }
}

function contains(set: CharacterSet, code: number): boolean {
  let [low, high] = [0, set.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const [from, to] = set[middle]!
    if (code < from) high = middle - 1
    else if (code > to) low = middle + 1
    else return true
  }
  return false
}

function allOrbits(): ReadonlyMap<number, readonly number[]> {
  const byKey = new Map<string, number[]>()
  for (const [from, to] of FOLDING_PLANES)
    for (let code = from; code <= to; code++) {
      const letter = String.fromCodePoint(code)
      const key = keyOf(letter)
      if (key === letter && letter.toUpperCase() === letter) continue
      const orbit = byKey.get(key)
      if (orbit === undefined) byKey.set(key, [code])
      else orbit.push(code)
    }
  const found = new Map<number, readonly number[]>()
  for (const [key, codes] of byKey) {
    const same = new RegExp(`^${key}$`, 'iu')
    const orbit = codes.filter((code) => same.test(String.fromCodePoint(code)))
    if (orbit.length > 1) for (const code of orbit) found.set(code, orbit)
  }
  return found
}

/** Scripts with letter case. */
const FOLDING_PLANES: CharacterSet = [
  [0x41, 0x24ff],
  [0x2c00, 0x2dff],
  [0xa640, 0xa7ff],
  [0xab30, 0xabbf],
  [0xfb00, 0xfb06],
  [0xff21, 0xff5a],
  [0x10400, 0x10fff],
  [0x11800, 0x118ff],
  [0x16e00, 0x16fff],
  [0x1e900, 0x1e9ff],
]

/** The lower case of the upper case, where both are one character. */
function keyOf(letter: string): string {
  const upper = letter.toUpperCase()
  const from = [...upper].length === 1 ? upper : letter
  const lower = from.toLowerCase()
  return [...lower].length === 1 ? lower : letter
}

const BARE = /[A-Za-z0-9\-._~!$&'()*+,;=:@]/
const SURROGATE_RANGE = [0xd800, 0xdfff] as const

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
  if (from <= SURROGATE_RANGE[1] && to >= SURROGATE_RANGE[0])
    return [...sequencesOf(from, SURROGATE_RANGE[0] - 1), ...sequencesOf(SURROGATE_RANGE[1] + 1, to)]
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

const HEX_DIGITS = '0123456789ABCDEF'
const hex = (byte: number) => byte.toString(16).padStart(2, '0').toUpperCase()

/** An escape of any byte between two. */
function byteBetween(from: number, to: number): string {
  if (from === to) return `%${hex(from)}`
  const digits = (low: number, high: number) => `[${HEX_DIGITS.slice(low, high + 1)}]`
  const [high, highest] = [from >> 4, to >> 4]
  if (high === highest) return `%${HEX_DIGITS[high]}${digits(from & 15, to & 15)}`
  const parts = [`${HEX_DIGITS[high]}${digits(from & 15, 15)}`, `${HEX_DIGITS[highest]}${digits(0, to & 15)}`]
  if (highest - high > 1) parts.push(`${digits(high + 1, highest - 1)}${digits(0, 15)}`)
  return `%(?:${parts.join('|')})`
}
