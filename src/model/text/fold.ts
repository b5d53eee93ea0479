import { normaliseText } from './normalise-text.ts'

const FINAL_SIGMA = /ς/g

/**
 * A text without regard to case and to how its characters were composed, for searching and sorting: `Straße`, `STRASSE` and
 * `strasse` fold to one text. Upper case first: some letters have a pair there only.
 */
export function foldCase(text: string): string {
  const lower = normaliseText(text, 'NFKC').toUpperCase().toLowerCase().replace(FINAL_SIGMA, 'σ')
  return normaliseText(lower)
}
