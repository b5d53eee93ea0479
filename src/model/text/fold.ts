import { encodedPath, readablePath } from '../patterns/readable-path.ts'

/** Marks in a row that no writing system needs (Unicode Standard Annex 15, Stream-Safe Text Format); the voiced marks of half-width kana become such. */
const ENDLESS_MARKS = /[\p{M}\uff9e\uff9f]{31}/u

const FINAL_SIGMA = /ς/g

/**
 * A text without regard to case and to how its characters were composed, for searching and sorting: `Straße`, `STRASSE` and
 * `strasse` fold to one text. Upper case first: some letters have a pair there only.
 */
export function foldCase(text: string): string {
  const lower = normaliseText(text, 'NFKC').toUpperCase().toLowerCase().replace(FINAL_SIGMA, 'σ')
  return normaliseText(lower)
}

/**
 * A text in a Unicode normal form. One with more than 30 combining marks in a row stays as it is: putting them in order takes time that
 * grows with the square of their number, minutes for what fits into a form field.
 */
export function normaliseText(text: string, form: 'NFC' | 'NFKC' | 'NFKD' = 'NFC'): string {
  return ENDLESS_MARKS.test(text) ? text : text.normalize(form)
}

const FOLDING = /[A-Z]+|[^\0-\x7f]/gu
const NON_ASCII = /[^\0-\x7f]/

/**
 * A text ignoring letter case. Each character is folded separately, regardless of its neighbours (Σ, σ and ς are one, ß and SS
 * are one), so that parts of a text fold to the parts of the folded text.
 */
export function foldLetters(text: string): string {
  return NON_ASCII.test(text) ? text.replace(FOLDING, folded) : text.toLowerCase()
}

function folded(letters: string): string {
  let lower = ''
  // Lower case of a whole text treats a sigma by its neighbours.
  for (const letter of letters.toLowerCase().toUpperCase()) lower += letter.toLowerCase()
  return lower
}

/** A path in normal form without regard to letter case, that of escaped letters included; in normal form again. */
export function foldPath(path: string): string {
  if (!path.includes('%')) return foldLetters(path)
  return encodedPath(foldLetters(readablePath(path)))
}

/** A folded text, and where in the text that was folded each of its characters comes from. */
export interface FoldedText {
  readonly text: string
  /** One entry more than `text` has characters: the length of the other text. */
  readonly origins: readonly number[]
}

/** Folds a text as `foldLetters` does. */
export function foldWithOrigins(text: string): FoldedText {
  const origins: number[] = []
  let whole = ''
  let at = 0
  for (const letter of text) {
    const own = foldLetters(letter)
    for (let i = 0; i < own.length; i++) origins.push(at)
    whole += own
    at += letter.length
  }
  return { text: whole, origins: [...origins, at] }
}

/** Module state: a cache of immutable values: a table of Unicode, made at its first use. */
let folding: ReadonlyMap<string, string> | undefined

/** The characters of the basic plane that fold to something else, in the order of their codes. */
export function foldingLetters(): ReadonlyMap<string, string> {
  if (folding !== undefined) return folding
  const found = new Map<string, string>()
  for (let code = 0; code <= 0xffff; code++) {
    const letter = String.fromCharCode(code)
    const own = foldLetters(letter)
    if (own !== letter) found.set(letter, own)
  }
  folding = found
  return found
}
