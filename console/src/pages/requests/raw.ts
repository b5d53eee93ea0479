/** A recorded message, its head apart from its body. */
export interface RawMessage {
  readonly head: string
  readonly body: string
}

/** Reads a message that was recorded whole; undefined for none. JSON is set in lines; bytes that are no text are marked. */
export function readRaw(base64: string): RawMessage | undefined {
  if (base64 === '') return undefined
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  const text = new TextDecoder().decode(bytes)
  const end = text.search(/\r?\n\r?\n/)
  if (end < 0) return { head: text, body: '' }
  return { head: text.slice(0, end), body: inLines(text.slice(end).replace(/^\r?\n\r?\n/, '')) }
}

function inLines(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
