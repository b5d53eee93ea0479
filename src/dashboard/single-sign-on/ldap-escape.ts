/** A text escaped as a value within a filter (RFC 4515 section 3). */
export function escapeFilterValue(text: string): string {
  return text.replace(/[\x00()*\\]/g, hex)
}

/** A text escaped as a value within a distinguished name (RFC 4514 section 2.4). */
export function escapeNameValue(text: string): string {
  return text.replace(/[\x00"+,;<=>\\]/g, hex).replace(/^[ #]|[ ]$/g, hex)
}

const hex = (char: string) => `\\${char.charCodeAt(0).toString(16).padStart(2, '0')}`
