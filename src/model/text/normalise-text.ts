/** Marks in a row that no writing system needs (Unicode Standard Annex 15, Stream-Safe Text Format); the voiced marks of half-width kana become such. */
const ENDLESS_MARKS = /[\p{M}\uff9e\uff9f]{31}/u

/**
 * A text in a Unicode normal form. One with more than 30 combining marks in a row stays as it is: putting them in order takes time that
 * grows with the square of their number, minutes for what fits into a form field.
 */
export function normaliseText(text: string, form: 'NFC' | 'NFKC' | 'NFKD' = 'NFC'): string {
  return ENDLESS_MARKS.test(text) ? text : text.normalize(form)
}
