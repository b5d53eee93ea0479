import type { Fault } from '../../errors/fault.ts'
import { CLASS, COLON, CR, LF, NAME, SP, TAB, TOKEN, UNDERSCORE, VALUE } from './chars.ts'
import type { Fields } from './fields.ts'
import { FIELD, fieldNumber, numberOfName } from './fields.ts'
import { REFUSAL } from './refusals.ts'

/** Bounds of one head. */
export interface HeadBounds {
  readonly maxHeadBytes: number
  readonly maxFields: number
  /** False = fields with an underscore in their name are hidden. True hides those that `Fields.hideSpellings` says. */
  readonly allowUnderscores: boolean
}

/** Answers of the scanners: more bytes are needed, or what came is refused and says why elsewhere. */
export const INCOMPLETE = 0
export const REFUSED = -1

/** The fault of the last scan that answered REFUSED. Module state: the caller of a scan reads it at once, before anything else runs. */
export const verdict: { fault: Fault } = { fault: REFUSAL.requestLine }

/** Notes why a scan ends. */
export function noteRefused(fault: Fault): typeof REFUSED {
  verdict.fault = fault
  return REFUSED
}

/**
 * Scans field lines from `at` to the empty line that ends the head, each byte once (RFC 9112 section 5). Answers the offset
 * behind the head; INCOMPLETE when the bytes end first; REFUSED as soon as a byte proves a fault. Names and values are only
 * noted, with the FIELD number; `hop` says which numbers are left out of `kept()`. A field with an underscore in its name is hidden
 * unless `bounds` allow it: CGI, WSGI and Rack map `X_Role` and `X-Role` to one variable, so that it could replace a field that the
 * gateway sets, removes or checks.
 *
 * `bytes` are those that `fields.text` was made of: an element of an array is read in half the time of a character of a string
 * (1 ns against 2, Node 26.10), and strings are wanted only to be cut.
 */
export function scanFields(
  fields: Fields,
  bytes: Uint8Array,
  at: number,
  hop: Uint8Array,
  { maxFields, allowUnderscores }: Omit<HeadBounds, 'maxHeadBytes'>,
): number {
  const length = fields.text.length
  let i = at
  while (i < length) {
    let code = bytes[i]!
    if (code === CR) return endOfHead(fields, bytes, i)
    const nameStart = i
    let hidden = false
    while (NAME[code] === 1) {
      i++
      if (i === length) return INCOMPLETE
      code = bytes[i]!
    }
    if (code !== COLON && (CLASS[code]! & TOKEN) !== 0) {
      const from = i
      i = tokenEnd(bytes, i, length)
      if (i === length) return INCOMPLETE
      code = bytes[i]!
      hidden = !allowUnderscores && holdsUnderscore(bytes, from, i)
      if (!hidden) fields.unusual++
    }
    if (code !== COLON || i === nameStart) return noteRefused(badName(code, i === nameStart))
    if (fields.count >= maxFields) return noteRefused(REFUSAL.tooManyFields)
    const nameEnd = i
    i++
    while (i < length && isBlank(bytes[i]!)) i++
    const valueStart = i
    while (i < length && (CLASS[bytes[i]!]! & VALUE) !== 0) i++
    const end = lineEnd(bytes, i, length)
    if (end <= 0) return end
    let valueEnd = i
    while (valueEnd > valueStart && isBlank(bytes[valueEnd - 1]!)) valueEnd--
    if (hidden) fields.hide(nameStart, valueStart, valueEnd)
    else {
      const number = fieldNumber(bytes, nameStart, nameEnd)
      fields.add(nameStart, nameEnd, valueStart, valueEnd, hop[number] === 1 ? ~number : number)
    }
    i = end
  }
  return INCOMPLETE
}

function holdsUnderscore(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] === UNDERSCORE) return true
  return false
}

function tokenEnd(bytes: Uint8Array, at: number, length: number): number {
  let i = at
  while (i < length && (CLASS[bytes[i]!]! & TOKEN) !== 0) i++
  return i
}

function endOfHead(fields: Fields, bytes: Uint8Array, at: number): number {
  const end = lineEnd(bytes, at, fields.text.length)
  if (end > 0) fields.end = at
  return end
}

/** The offset behind the CRLF at `at`, INCOMPLETE when the `length` bytes end within it, REFUSED for anything else. */
export function lineEnd(bytes: Uint8Array, at: number, length: number): number {
  if (at >= length) return INCOMPLETE
  if (bytes[at] !== CR) return noteRefused(bytes[at] === LF ? REFUSAL.lineEnd : REFUSAL.fieldValue)
  if (at + 1 >= length) return INCOMPLETE
  return bytes[at + 1] === LF ? at + 2 : noteRefused(REFUSAL.lineEnd)
}

/**
 * True when the value from `start` to `end` is `chunked` and nothing else. A tab behind it is allowed white space (RFC 9110 §5.6.3),
 * but parsers are known that then see another coding, and so other borders between messages: no honest sender writes one.
 */
export function isChunked(text: string, start: number, end: number): boolean {
  return tabFree(text, end) && text.slice(start, end).toLowerCase() === 'chunked'
}

/** True when only spaces follow until the end of the line. */
function tabFree(text: string, at: number): boolean {
  let i = at
  while (text.charCodeAt(i) === SP) i++
  return text.charCodeAt(i) === CR
}

/** True for a space or a tab. */
export function isBlank(code: number): boolean {
  return code === SP || code === TAB
}

function badName(code: number, first: boolean): Fault {
  if (code === LF) return REFUSAL.lineEnd
  if (!isBlank(code)) return REFUSAL.fieldName
  return first ? REFUSAL.folded : REFUSAL.fieldSpace
}

/** The options of Connection (RFC 9110 section 7.6.1), as bits. */
export const SAYS_CLOSE = 1
export const SAYS_KEEP_ALIVE = 2
export const SAYS_UPGRADE = 4

/** Fields that Connection may name besides those that are nobody's business: all others known here are end-to-end. */
const NAMEABLE: ReadonlySet<number> = new Set([
  FIELD.other,
  FIELD.te,
  FIELD.trailer,
  FIELD.keepAlive,
  FIELD.proxyConnection,
  FIELD.proxy,
  FIELD.xRequestId,
  FIELD.upgrade,
  FIELD.proxyAuthorization,
  FIELD.proxyAuthenticate,
])

/**
 * Reads one Connection value: answers its SAYS bits, drops the fields that it names. REFUSED for something other than a list
 * of tokens, or in a request when it names a field that frames the message or speaks for the client (Host, Content-Length,
 * Authorization ...): stripping those on a stranger's word would change what the request means. Answers may name any
 * (RFC 9110 section 7.6.1), as Akamai does `Transfer-Encoding`: those that frame are never passed on anyway.
 */
export function readConnection(fields: Fields, value: string, ofAnswer: boolean): number {
  if (value === 'keep-alive') return SAYS_KEEP_ALIVE
  if (value === 'close') return SAYS_CLOSE
  let says = 0
  const lower = value.toLowerCase()
  let from = 0
  while (from <= lower.length) {
    const comma = lower.indexOf(',', from)
    const to = comma < 0 ? lower.length : comma
    const option = readOption(fields, trimBlanks(lower, from, to), ofAnswer)
    if (option < 0) return REFUSED
    says |= option
    from = to + 1
  }
  return says
}

/** The text from `start` to `end` without spaces and tabs around it; `trim` would also take the no-break space that latin1 has. */
export function trimBlanks(text: string, start: number, end: number): string {
  let from = start
  let to = end
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

function readOption(fields: Fields, option: string, ofAnswer: boolean): number {
  if (option === '') return 0
  for (let i = 0; i < option.length; i++) if ((CLASS[option.charCodeAt(i)]! & TOKEN) === 0) return REFUSED
  if (option === 'close') return SAYS_CLOSE
  if (option === 'keep-alive') return SAYS_KEEP_ALIVE
  if (option === 'upgrade') return SAYS_UPGRADE
  if (!ofAnswer && !NAMEABLE.has(numberOfName(option))) return REFUSED
  fields.dropSpan(option, 0, option.length)
  return 0
}

/** Value of a Content-Length: digits only, exactly representable; -1 otherwise. */
export function readLength(bytes: Uint8Array, start: number, end: number): number {
  if (end === start || end - start > 16) return -1
  let length = 0
  for (let i = start; i < end; i++) {
    const digit = bytes[i]! - 48
    if (digit < 0 || digit > 9) return -1
    length = length * 10 + digit
  }
  return Number.isSafeInteger(length) ? length : -1
}
