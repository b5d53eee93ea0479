import { CLASS, SP, VALUE } from './chars.ts'
import { FIELD, FIELD_NAMES, type Fields } from './fields.ts'
import {
  INCOMPLETE,
  isChunked,
  lineEnd,
  REFUSED,
  readConnection,
  readLength,
  SAYS_CLOSE,
  SAYS_KEEP_ALIVE,
  scanFields,
} from './scan.ts'

/** Bounds of an answer head; upstreams are trusted with more than clients. */
export const MAX_ANSWER_HEAD_BYTES = 65_536
export const MAX_ANSWER_FIELDS = 500

const ANSWER_BOUNDS = { maxFields: MAX_ANSWER_FIELDS, allowUnderscores: true }

/** Fields of an answer that never pass (RFC 9110 section 7.6.1), and Content-Length, which the wire rewrites. */
const HOP: Uint8Array = hops()

function hops(): Uint8Array {
  const table = new Uint8Array(FIELD_NAMES.length)
  const names = ['connection', 'contentLength', 'transferEncoding', 'upgrade', 'te', 'trailer', 'keepAlive'] as const
  for (const name of names) table[FIELD[name]] = 1
  for (const name of ['proxyConnection', 'proxyAuthenticate'] as const) table[FIELD[name]] = 1
  return table
}

const ONE = 49

/** `AnswerHead.length` of a chunked body, and of one that ends with the connection. */
export const CHUNKED = -1
export const UNTIL_CLOSE = -2

/** The framing in the head of an upstream's response. Reused. */
export class AnswerHead {
  status = 0
  /** Content-Length, or CHUNKED, or UNTIL_CLOSE; not yet looked at in the light of method and status. */
  length = 0
  /** True when the upstream will take another request on this connection. */
  keepAlive = false
  /** Seconds that the upstream keeps an idle connection, as Keep-Alive hints; -1 without a hint. */
  keepSeconds = -1

  /**
   * Reads one answer head from the start of `bytes`, as far as `text` was made of them, into `fields` (RFC 9112 sections 4 to 6). Answers the number of its bytes,
   * INCOMPLETE, or REFUSED when it is malformed: the strictness that clients meet holds for upstreams too.
   */
  parse(bytes: Uint8Array, text: string, fields: Fields): number {
    fields.clear(text)
    const line = this.readStatusLine(bytes, text)
    if (line <= 0) return line
    const end = scanFields(fields, bytes, line, HOP, ANSWER_BOUNDS)
    if (end === INCOMPLETE && text.length >= MAX_ANSWER_HEAD_BYTES) return REFUSED
    if (end <= 0) return end
    return this.readMeaning(fields, bytes) ? end : REFUSED
  }

  private readStatusLine(bytes: Uint8Array, text: string): number {
    const { length } = text
    if (!isVersion(text)) return REFUSED
    if (length < 13) return INCOMPLETE
    const status = readLength(bytes, 9, 12)
    if (status < 100 || status > 999 || bytes[12] !== SP) return REFUSED
    this.status = status
    this.keepAlive = bytes[7] === ONE
    let i = 13
    while (i < length && (CLASS[bytes[i]!]! & VALUE) !== 0) i++
    const end = lineEnd(bytes, i, length)
    return end === INCOMPLETE && length >= MAX_ANSWER_HEAD_BYTES ? REFUSED : end
  }

  private readMeaning(fields: Fields, bytes: Uint8Array): boolean {
    const { spans, count, text } = fields
    const http11 = this.keepAlive
    let says = 0
    let chunked = false
    this.length = UNTIL_CLOSE
    this.keepSeconds = -1
    for (let at = 0, end = count * 5; at < end; at += 5) {
      const number = spans[at + 4]!
      if (number >= 0) continue
      switch (~number) {
        case FIELD.contentLength:
          if (this.length !== UNTIL_CLOSE || chunked) return false
          this.length = readLength(bytes, spans[at + 2]!, spans[at + 3]!)
          if (this.length < 0) return false
          break
        case FIELD.transferEncoding:
          if (chunked || this.length !== UNTIL_CLOSE || !http11) return false
          if (!isChunked(text, spans[at + 2]!, spans[at + 3]!)) return false
          chunked = true
          break
        case FIELD.connection: {
          const said = readConnection(fields, text.slice(spans[at + 2]!, spans[at + 3]!))
          if (said < 0) return false
          says |= said
          break
        }
        case FIELD.keepAlive:
          this.keepSeconds = readTimeout(text.slice(spans[at + 2]!, spans[at + 3]!))
          break
      }
    }
    if (chunked) this.length = CHUNKED
    this.keepAlive = http11 ? (says & SAYS_CLOSE) === 0 : (says & (SAYS_KEEP_ALIVE | SAYS_CLOSE)) === SAYS_KEEP_ALIVE
    return true
  }
}

/** True when the text begins with a version that we speak, or may still do so. */
function isVersion(text: string): boolean {
  if (text.startsWith('HTTP/1.1 ') || text.startsWith('HTTP/1.0 ')) return true
  return text.length < 9 && ('HTTP/1.1 '.startsWith(text) || 'HTTP/1.0 '.startsWith(text))
}

/** Seconds of `timeout=N` in a Keep-Alive value, -1 without one. */
function readTimeout(value: string): number {
  const found = /(?:^|[,\s])timeout=(\d{1,6})/i.exec(value)
  return found === null ? -1 : Number(found[1])
}
