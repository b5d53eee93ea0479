import { type Fault, prebuilt } from '../../errors/fault.ts'
import { CLASS, CR, LF, SP, VALUE } from './chars.ts'
import { FIELD, FIELD_NAMES, type Fields } from './fields.ts'
import { REFUSAL } from './refusals.ts'
import {
  INCOMPLETE,
  isChunked,
  lineEnd,
  noteRefused,
  REFUSED,
  readConnection,
  readLength,
  SAYS_CLOSE,
  SAYS_KEEP_ALIVE,
  scanFields,
  trimBlanks,
  verdict,
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
/** How every answer begins that is one. */
const STATUS_LINE = /^HTTP\/1\.[01] \d{3}[ \r\n]/
const MALFORMED = prebuilt('upstream_malformed', 'malformed status line')

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
  /** The reason why the last `parse` answered REFUSED, with the name of the field. */
  fault: Fault = MALFORMED
  /** Seconds that the upstream keeps an idle connection, as Keep-Alive hints; -1 without a hint. */
  keepSeconds = -1

  /**
   * Reads one answer head from the start of `bytes`, as far as `text` was made of them, into `fields` (RFC 9112 sections 4 to 6). Answers the number of its bytes,
   * INCOMPLETE, or REFUSED when it is malformed, with the reason in `fault`.
   */
  parse(bytes: Uint8Array, text: string, fields: Fields): number {
    fields.clear(text)
    const line = this.readStatusLine(bytes, text)
    if (line === REFUSED) return this.refuse('malformed status line')
    if (line <= 0) return line
    const end = scanFields(fields, bytes, line, HOP, ANSWER_BOUNDS)
    if (end === INCOMPLETE && text.length >= MAX_ANSWER_HEAD_BYTES) return this.refuse('head too large')
    if (end === REFUSED) return this.refuse(`${verdict.fault.message}${behind(fields, line)}`)
    if (end <= 0) return end
    const flaw = this.readMeaning(fields, bytes)
    return flaw === '' ? end : this.refuse(flaw)
  }

  /**
   * As `parse`, but repairs line ends without CR and folded fields (RFC 9112 sections 2.2 and 5.2): clients get a head that the gateway has
   * written. The connection is not used again.
   */
  parseRepaired(bytes: Uint8Array, text: string, fields: Fields): number {
    const strict = this.parse(bytes, text, fields)
    if (strict !== REFUSED || (verdict.fault !== REFUSAL.lineEnd && verdict.fault !== REFUSAL.folded)) return strict
    // Nothing may be folded into the status line.
    if (!STATUS_LINE.test(text) || /^[^\n]*\n[ \t]/.test(text)) return REFUSED
    const end = /\r?\n\r?\n/.exec(text)
    if (end === null) return text.length >= MAX_ANSWER_HEAD_BYTES ? REFUSED : INCOMPLETE
    const size = end.index + end[0].length
    const repaired = text
      .slice(0, size)
      .replaceAll(/\r?\n/g, '\r\n')
      .replaceAll(/\r\n[ \t]+/g, ' ')
    if (this.parse(Buffer.from(repaired, 'latin1'), repaired, fields) !== repaired.length) return REFUSED
    this.keepAlive = false
    return size
  }

  private refuse(flaw: string): typeof REFUSED {
    this.fault = prebuilt('upstream_malformed', `answer head: ${flaw}`)
    return REFUSED
  }

  private readStatusLine(bytes: Uint8Array, text: string): number {
    const { length } = text
    if (!isVersion(text)) return REFUSED
    if (length < 13) return INCOMPLETE
    const status = readLength(bytes, 9, 12)
    // Without a reason many leave the space before it out, too.
    if (status < 100 || status > 999 || (bytes[12] !== SP && bytes[12] !== CR && bytes[12] !== LF)) {
      return noteRefused(MALFORMED)
    }
    this.status = status
    this.keepAlive = bytes[7] === ONE
    let i = 12
    while (i < length && (CLASS[bytes[i]!]! & VALUE) !== 0) i++
    const end = lineEnd(bytes, i, length)
    return end === INCOMPLETE && length >= MAX_ANSWER_HEAD_BYTES ? REFUSED : end
  }

  /** Answers what is wrong; '' when nothing is. */
  private readMeaning(fields: Fields, bytes: Uint8Array): string {
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
          // The same length twice says nothing else than once (RFC 9110 section 8.6).
          {
            const length = lengthOf(bytes, text, spans[at + 2]!, spans[at + 3]!)
            if (length < 0) return 'malformed Content-Length'
            if (this.length !== UNTIL_CLOSE && this.length !== length)
              return 'Content-Length given twice, with different values'
            this.length = length
          }
          break
        case FIELD.transferEncoding:
          if (chunked) return 'Transfer-Encoding given twice'
          if (!http11) return 'Transfer-Encoding in HTTP/1.0'
          if (!isChunked(text, spans[at + 2]!, spans[at + 3]!) && !isChunkedAlone(text, spans[at + 2]!))
            return 'Transfer-Encoding other than chunked'
          chunked = true
          break
        case FIELD.connection: {
          const said = readConnection(fields, text.slice(spans[at + 2]!, spans[at + 3]!), true)
          if (said < 0) return 'Connection is malformed'
          says |= said
          break
        }
        case FIELD.keepAlive:
          this.keepSeconds = readTimeout(text.slice(spans[at + 2]!, spans[at + 3]!))
          break
      }
    }
    // Chunks win over a length (RFC 9112 section 6.3); a connection that brought both is not used again.
    const both = chunked && this.length !== UNTIL_CLOSE
    if (chunked) this.length = CHUNKED
    const keeps = http11 ? (says & SAYS_CLOSE) === 0 : (says & (SAYS_KEEP_ALIVE | SAYS_CLOSE)) === SAYS_KEEP_ALIVE
    this.keepAlive = keeps && !both
    return ''
  }
}

/** True when the text begins with a version that we speak, or may still do so. */
function isVersion(text: string): boolean {
  if (text.startsWith('HTTP/1.1 ') || text.startsWith('HTTP/1.0 ')) return true
  return text.length < 9 && ('HTTP/1.1 '.startsWith(text) || 'HTTP/1.0 '.startsWith(text))
}

/** True for a list of this one coding; blanks and empty members say nothing (RFC 9110 sections 5.6.1.2 and 5.6.3). */
function isChunkedAlone(text: string, start: number): boolean {
  const members = text.slice(start, text.indexOf('\r', start)).split(',')
  const codings = members.map((member) => trimBlanks(member, 0, member.length).toLowerCase()).filter(Boolean)
  return codings.length === 1 && codings[0] === 'chunked'
}

/** Value of a Content-Length, perhaps a list that repeats it; -1 otherwise. */
function lengthOf(bytes: Uint8Array, text: string, start: number, end: number): number {
  const length = readLength(bytes, start, end)
  if (length >= 0) return length
  const [first = '', ...others] = text
    .slice(start, end)
    .split(',')
    .map((each) => trimBlanks(each, 0, each.length))
  if (others.length === 0 || others.some((other) => other !== first)) return -1
  return readLength(Buffer.from(first, 'latin1'), 0, first.length)
}

/** Names the field whose line was refused: the one behind those that were read. */
function behind({ count, spans, text }: Fields, headFrom: number): string {
  const line = count === 0 ? headFrom : text.indexOf('\n', spans[(count - 1) * 5 + 3]!) + 1
  const name = /^[!#$%&'*+.^_`|~\w-]{1,64}/.exec(text.slice(line, line + 64))?.[0]
  return name === undefined ? '' : ` (${name})`
}

/** Seconds of `timeout=N` in a Keep-Alive value, -1 without one. */
function readTimeout(value: string): number {
  const found = /(?:^|[,\s])timeout=(\d{1,6})/i.exec(value)
  return found === null ? -1 : Number(found[1])
}
