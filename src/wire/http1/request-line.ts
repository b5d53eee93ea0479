import { isUtf8 } from 'node:buffer'
import type { Fault } from '../../errors/fault.ts'
import { BARE, CLASS, CR, LF, PCHAR, PERCENT, QUERY, QUESTION, SLASH, SP, TOKEN } from './chars.ts'
import type { WireExchange } from './exchange.ts'
import { BARE_IN_PATH, escapedBytes, needsNormalising, readPath } from './path.ts'
import { REFUSAL } from './refusals.ts'
import { INCOMPLETE, noteRefused, REFUSED, verdict } from './scan.ts'
import { hostLength, isEscape, withoutEmptyPort } from './target.ts'

/** Longest method; the longest registered one has 17 characters. */
const MAX_METHOD = 32
/** Longest request target (RFC 9112 section 3 asks for at least 8000 bytes of request line). */
const MAX_TARGET_BYTES = 8192

/** Bytes that clients leave bare in queries, and that rules read as if they were escapes: UTF-8, and a `%` that begins none. */
const NEEDS_ESCAPE = /[^\0-\x7f]|%(?![0-9A-Fa-f]{2})/g

/**
 * Scans the request line from `at` (RFC 9112 section 3) and sets `method`, `path`, `sentPath`, `query`, `sentQuery`, `hasQuery`, `http11`, and `authority`
 * when the target is in absolute form. Answers the offset behind the line, INCOMPLETE, or REFUSED as soon as a byte proves a fault.
 */
export function scanRequestLine(x: WireExchange, bytes: Uint8Array, text: string, at: number): number {
  const methodEnd = scanMethod(bytes, text, at)
  if (methodEnd <= 0) return methodEnd
  const targetEnd = scanTarget(x, bytes, text, at, methodEnd)
  if (targetEnd <= 0) return targetEnd
  x.method = methodText(text, at, methodEnd)
  return scanVersion(x, text, targetEnd + 1)
}

const HEAD_METHOD = /^(?:\r\n)?HEAD /

/** True for the bytes of a request, or of the beginning of one, whose answer has no content (RFC 9110 section 9.3.2), also where its line is refused. */
export function asksForHead(bytes: Buffer | undefined): boolean {
  return bytes !== undefined && HEAD_METHOD.test(bytes.toString('latin1', 0, 7))
}

/** The path as its client wrote it, for signatures: as `sentPath`, but with the bytes that are forwarded as escapes. */
export function writtenPath(x: WireExchange): string {
  const { text } = x.request
  const from = text.indexOf(' ') + 1
  const target = text.slice(from, text.indexOf(' ', from)).replace(/^[a-z]+:\/\/[^/?]*/i, '')
  const mark = target.indexOf('?')
  const path = mark === -1 ? target : target.slice(0, mark)
  if (path.search(BARE_IN_PATH) === -1) return x.sentPath
  const forms = readPath(path)
  return forms instanceof Error ? x.sentPath : forms.sent
}

/** The offset of the space behind the method. */
function scanMethod(bytes: Uint8Array, text: string, at: number): number {
  let i = at
  while (i < text.length && (CLASS[bytes[i]!]! & TOKEN) !== 0) i++
  if (i - at > MAX_METHOD) return noteRefused(REFUSAL.methodTooLong)
  if (i === text.length) return INCOMPLETE
  const code = text.charCodeAt(i)
  if (code === SP && i > at) return checkMethod(text, at, i)
  return noteRefused(code === LF || code === CR ? REFUSAL.requestLine : REFUSAL.method)
}

/** The methods of the IANA registry, but for CONNECT. */
const REGISTERED = new Set(
  `ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT COPY DELETE GET HEAD LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL
   MKREDIRECTREF MKWORKSPACE MOVE OPTIONS ORDERPATCH PATCH POST PRI PROPFIND PROPPATCH PUT QUERY REBIND REPORT SEARCH TRACE
   UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL`.split(/\s+/),
)

/**
 * Answers `end`, unless it is CONNECT, PRI, which no request may use (RFC 9113 section 11.6), or a registered method in another letter case:
 * methods are case-sensitive (RFC 9110 section 9.1), and an upstream that is not would take `get` past every rule for GET.
 */
function checkMethod(text: string, start: number, end: number): number {
  if (text.startsWith('GET ', start) || text.startsWith('POST ', start)) return end
  const method = text.slice(start, end)
  const upper = method.toUpperCase()
  if (upper === 'CONNECT') return noteRefused(REFUSAL.connect)
  if (upper === 'PRI') return noteRefused(REFUSAL.pri)
  return upper !== method && REGISTERED.has(upper) ? noteRefused(REFUSAL.methodCase) : end
}

/** Answers the Fault that refuses a request line with this method; undefined when the wire takes it. */
export function methodFault(method: string): Fault | undefined {
  const line = `${method} `
  const end = scanMethod(Buffer.from(line), line, 0)
  if (end === REFUSED) return verdict.fault
  return end === method.length ? undefined : REFUSAL.method
}

/** The method as a string that needs no copy for the usual ones. */
function methodText(text: string, start: number, end: number): string {
  if (end - start === 3) return text.startsWith('GET', start) ? 'GET' : text.slice(start, end)
  if (end - start === 4) return text.startsWith('POST', start) ? 'POST' : text.slice(start, end)
  return text.slice(start, end)
}

/** The offset of the space behind the target. */
function scanTarget(x: WireExchange, bytes: Uint8Array, text: string, lineStart: number, methodEnd: number): number {
  const start = methodEnd + 1
  if (start >= text.length) return INCOMPLETE
  const first = text.charCodeAt(start)
  if (first === SLASH) return scanOrigin(x, bytes, text, start, start)
  if (first === 42) return scanAsterisk(x, text, lineStart, start)
  return scanAbsolute(x, bytes, text, lineStart, start)
}

/** `*`, for OPTIONS only (RFC 9112 section 3.2.4). */
function scanAsterisk(x: WireExchange, text: string, lineStart: number, start: number): number {
  if (!text.startsWith('OPTIONS ', lineStart)) return noteRefused(REFUSAL.target)
  if (start + 1 >= text.length) return INCOMPLETE
  if (text.charCodeAt(start + 1) !== SP) return noteRefused(REFUSAL.target)
  return setAsterisk(x, start + 1)
}

function setAsterisk(x: WireExchange, end: number): number {
  x.path = '*'
  x.sentPath = '*'
  setQuery(x, '')
  x.hasQuery = false
  return end
}

/** `/path?query`; `targetStart` is where the whole target began. */
function scanOrigin(x: WireExchange, bytes: Uint8Array, text: string, start: number, targetStart: number): number {
  const length = text.length
  let i = start
  let code = 0
  let plain = true
  let bare = false
  for (; i < length; i++) {
    code = bytes[i]!
    if ((CLASS[code]! & PCHAR) !== 0) continue
    if (BARE[code] === 1) {
      bare = true
      continue
    }
    if (code !== SLASH && code !== PERCENT) break
    if (needsNormalising(code, bytes[i + 1]!)) plain = false
    if (code === SLASH) continue
    if (i + 2 >= length) return incompleteTarget(i, targetStart)
    if (!isEscape(bytes[i + 1]!, bytes[i + 2]!)) return noteRefused(REFUSAL.targetEscape)
  }
  if (i === length) return incompleteTarget(i, targetStart)
  const pathEnd = i
  x.hasQuery = code === QUESTION
  const end = x.hasQuery ? scanQuery(bytes, text, i + 1, targetStart) : i
  if (end <= 0) return end
  if (end - targetStart > MAX_TARGET_BYTES) return noteRefused(REFUSAL.targetTooLong)
  if (bytes[end]! !== SP) return noteRefused(badTarget(bytes[end]!))
  if (!setQuery(x, x.hasQuery ? text.slice(pathEnd + 1, end) : '')) return noteRefused(REFUSAL.queryUtf8)
  const path = bare ? escapedBytes(text.slice(start, pathEnd), BARE_IN_PATH) : text.slice(start, pathEnd)
  if (plain && !bare) {
    x.path = path
    x.sentPath = path
    return end
  }
  const forms = readPath(path)
  if (forms instanceof Error) return noteRefused(forms)
  x.path = forms.path
  x.sentPath = forms.sent
  return end
}

function scanQuery(bytes: Uint8Array, text: string, start: number, targetStart: number): number {
  let i = start
  for (; i < text.length; i++) {
    const code = bytes[i]!
    if ((CLASS[code]! & QUERY) !== 0) continue
    if (code <= 127 && code !== PERCENT) break
  }
  return i === text.length ? incompleteTarget(i, targetStart) : i
}

/** Sets both forms of the query; false for one that holds bytes which are not UTF-8. */
function setQuery(x: WireExchange, sent: string): boolean {
  x.sentQuery = sent
  x.query = sent
  // Most requests have none, and a search costs 60 ns in an empty text too.
  if (sent === '' || sent.search(NEEDS_ESCAPE) === -1) return true
  x.query = escapedBytes(sent, NEEDS_ESCAPE)
  return isUtf8(Buffer.from(sent, 'latin1'))
}

function incompleteTarget(at: number, targetStart: number): number {
  return at - targetStart > MAX_TARGET_BYTES ? noteRefused(REFUSAL.targetTooLong) : INCOMPLETE
}

function badTarget(code: number) {
  return code === CR || code === LF ? REFUSAL.requestLine : REFUSAL.target
}

/** `http://host[:port]/path?query` (RFC 9112 section 3.2.2). Sets `authority`, which Host must then name too. */
function scanAbsolute(x: WireExchange, bytes: Uint8Array, text: string, lineStart: number, start: number): number {
  const space = text.indexOf(' ', start)
  const end = space < 0 ? text.length : space
  if (end - start > MAX_TARGET_BYTES) return noteRefused(REFUSAL.targetTooLong)
  const scheme = schemeLength(text.slice(start, Math.min(end, start + 8)).toLowerCase())
  if (scheme < 0 || (scheme === 0 && space >= 0)) return noteRefused(REFUSAL.target)
  if (scheme === 0) return INCOMPLETE
  const from = start + scheme
  const to = authorityEnd(text, from, end)
  if (to < 0) return noteRefused(REFUSAL.target)
  if (space < 0) return incompleteAbsolute(x, bytes, text, to, end, start)
  const authority = text.slice(from, to)
  if (hostLength(authority) < 0) return noteRefused(REFUSAL.target)
  x.authority = withoutEmptyPort(authority)
  if (to < end && text.charCodeAt(to) === SLASH) return scanOrigin(x, bytes, text, to, start)
  // The last proxy asks for the server itself (RFC 9112 section 3.2.4).
  if (to === end && text.startsWith('OPTIONS ', lineStart)) return setAsterisk(x, end)
  return scanPathless(x, bytes, text, to, end, start)
}

/** A target whose end has not come: refused when what came of path and query is wrong already. */
function incompleteAbsolute(
  x: WireExchange,
  bytes: Uint8Array,
  text: string,
  to: number,
  end: number,
  start: number,
): number {
  if (to === end) return INCOMPLETE
  if (text.charCodeAt(to) === SLASH) return scanOrigin(x, bytes, text, to, start)
  return scanQuery(bytes, text, to + 1, start) === INCOMPLETE ? INCOMPLETE : noteRefused(REFUSAL.target)
}

/** `http://host` and `http://host?query`: an empty path is `/` (RFC 9110 section 4.2.3). */
function scanPathless(
  x: WireExchange,
  bytes: Uint8Array,
  text: string,
  to: number,
  end: number,
  targetStart: number,
): number {
  x.hasQuery = to < end
  if (x.hasQuery) {
    const queryEnd = scanQuery(bytes, text, to + 1, targetStart)
    if (queryEnd <= 0) return queryEnd
    if (queryEnd !== end) return noteRefused(REFUSAL.target)
  }
  if (!setQuery(x, x.hasQuery ? text.slice(to + 1, end) : '')) return noteRefused(REFUSAL.queryUtf8)
  x.path = '/'
  x.sentPath = '/'
  return end
}

/** 7 for `http://`, 8 for `https://`, 0 when it may still become one of them, -1 when it cannot. */
function schemeLength(lower: string): number {
  if (lower.startsWith('http://')) return 7
  if (lower === 'https://') return 8
  return 'http://'.startsWith(lower) || 'https://'.startsWith(lower) ? 0 : -1
}

/** The offset of the `/` or `?` behind the authority, or `end`; -1 at a byte that no host[:port] has. */
function authorityEnd(text: string, start: number, end: number): number {
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i)
    if (code === SLASH || code === QUESTION) return i
    if ((CLASS[code]! & QUERY) === 0 || code === 64) return -1
  }
  return end
}

const HTTP_1 = 'HTTP/1.'

/** `HTTP/1.0` or `HTTP/1.1` and CRLF; other versions are refused with 505, anything else with 400, at the first wrong byte. */
function scanVersion(x: WireExchange, text: string, at: number): number {
  if (text.startsWith('HTTP/1.1\r\n', at)) {
    x.http11 = true
    return at + 10
  }
  if (text.startsWith('HTTP/1.0\r\n', at)) {
    x.http11 = false
    return at + 10
  }
  return refuseVersion(text.slice(at, at + 10))
}

function refuseVersion(rest: string): number {
  const seen = Math.min(rest.length, 5)
  if (rest.slice(0, seen) !== HTTP_1.slice(0, seen)) return noteRefused(REFUSAL.requestLine)
  if (rest.length > 5 && !isDigit(rest, 5)) return noteRefused(REFUSAL.requestLine)
  if (rest.length > 6 && rest[6] !== '.') return noteRefused(REFUSAL.requestLine)
  if (rest.length > 7 && !isDigit(rest, 7)) return noteRefused(REFUSAL.requestLine)
  if (rest.length < 8) return INCOMPLETE
  if (rest[5] !== '1' || (rest[7] !== '0' && rest[7] !== '1')) return noteRefused(REFUSAL.version)
  if (rest.length > 8 && rest[8] !== '\r') return noteRefused(rest[8] === '\n' ? REFUSAL.lineEnd : REFUSAL.requestLine)
  return rest.length > 9 ? noteRefused(REFUSAL.lineEnd) : INCOMPLETE
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 48 && code <= 57
}
