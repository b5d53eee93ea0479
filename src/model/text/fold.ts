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
