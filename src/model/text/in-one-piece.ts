/** A copy of a text in one piece: one that was glued together keeps its parts, 32 bytes for each and more for what it alone needs of them. */
export function inOnePiece(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}
