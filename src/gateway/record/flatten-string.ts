/**
 * A copy with its own memory: a slice of a request head retains all of the head. Latin1, as heads are; at most
 * so many characters.
 */
export function flattenString(text: string, most: number = text.length): string {
  if (text === '') return ''
  return Buffer.from(text.length > most ? text.slice(0, most) : text, 'latin1').toString('latin1')
}
