const KEPT = 1000
/** Module state: a cache of immutable values: the texts themselves. */
const copies = new Map<string, string>()

/**
 * The same text, as others have it: what thousands of keys of one policy or organisation say is then one text in memory, which every
 * request finds in the processor's cache. For texts of which there are few.
 */
export function intern(text: string): string {
  const known = copies.get(text)
  if (known !== undefined) return known
  if (copies.size >= KEPT) copies.clear()
  copies.set(text, text)
  return text
}

/** A copy of a text in one piece: one that was glued together keeps its parts, 32 bytes for each and more for what it alone needs of them. */
export function inOnePiece(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}
