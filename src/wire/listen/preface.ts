/** The preface of an HTTP/2 client (RFC 9113 section 3.4). */
export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

/** True when the first bytes of a connection are the HTTP/2 preface (RFC 9113 section 3.4), or may still become it. */
export function isPreface(text: string): boolean {
  if (text.charCodeAt(0) !== 80 || text.charCodeAt(1) !== 82 || text.charCodeAt(2) !== 73) return false
  return text.length < PREFACE.length ? PREFACE.startsWith(text) : text.startsWith(PREFACE)
}

/** Length of the preface. */
export const PREFACE_BYTES = PREFACE.length

/** SETTINGS (empty), then GOAWAY with HTTP_1_1_REQUIRED (RFC 9113 sections 6.5, 6.8, 7): what an HTTP/2 client understands. */
export const REJECTION: Buffer = Buffer.from([
  0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 13,
])
