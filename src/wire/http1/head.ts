import type { Fault } from '../../errors/fault.ts'
import { CR, LF } from './chars.ts'
import type { WireExchange } from './exchange.ts'
import { FIELD, FIELD_NAMES } from './fields.ts'
import { REFUSAL } from './refusals.ts'
import { scanRequestLine } from './request-line.ts'
import {
  type HeadBounds,
  INCOMPLETE,
  isChunked,
  noteRefused,
  readConnection,
  readLength,
  SAYS_CLOSE,
  SAYS_KEEP_ALIVE,
  SAYS_UPGRADE,
  scanFields,
  verdict,
} from './scan.ts'
import { hostLength, sameAuthority, withoutEmptyPort } from './target.ts'

/** Fields that never pass: hop-by-hop ones (RFC 9110 section 7.6.1) and those that the wire or the gateway rewrites. */
const HOP: Uint8Array = hops()

function hops(): Uint8Array {
  const table = new Uint8Array(FIELD_NAMES.length)
  const names = ['host', 'connection', 'contentLength', 'transferEncoding', 'expect', 'upgrade', 'te'] as const
  for (const name of names) table[FIELD[name]] = 1
  // CGI hands `Proxy` on as the variable HTTP_PROXY, which programs take for their own outgoing proxy ("httpoxy").
  const proxies = ['proxy', 'proxyConnection', 'proxyAuthorization'] as const
  for (const name of ['trailer', 'keepAlive', ...proxies] as const) table[FIELD[name]] = 1
  return table
}

const DEFAULT_BOUNDS: HeadBounds = { maxHeadBytes: 16_384, maxFields: 100, allowUnderscores: false }

/**
 * Reads a whole request head (request line, fields, empty line; latin1) into an exchange that has no connection,
 * by the very rules of traffic. Answers the Fault that traffic would be refused with, undefined when it is valid.
 */
export function readHead(x: WireExchange, headText: string, bounds: HeadBounds = DEFAULT_BOUNDS): Fault | undefined {
  const bytes = Buffer.from(headText, 'latin1')
  if (bytes.toString('latin1') !== headText) return REFUSAL.notLatin1
  const end = parseRequestHead(bytes, headText, x, bounds)
  if (end > 0) return end === headText.length ? undefined : REFUSAL.behindHead
  return end === INCOMPLETE ? REFUSAL.requestLine : verdict.fault
}

/**
 * Reads one request head from the start of `bytes`, as far as `text` was made of them, into `x` (RFC 9112 sections 2 to 7). Answers the number of bytes of the head;
 * 0 when more are needed; -1 when it is refused, with the reason in `verdict.fault`. Nothing is repaired:
 * one CRLF before the request line is all that is forgiven (section 2.2).
 */
export function parseRequestHead(bytes: Uint8Array, text: string, x: WireExchange, bounds: HeadBounds): number {
  const start = skipEmptyLine(text)
  if (start < 0) return start
  if (start >= text.length) return INCOMPLETE
  x.authority = ''
  x.request.clear(text)
  const line = scanRequestLine(x, bytes, text, start)
  if (line <= 0) return tooLarge(line, text, bounds)
  const end = scanFields(x.request, bytes, line, HOP, bounds)
  if (end <= 0) return tooLarge(end, text, bounds)
  if (end > bounds.maxHeadBytes) return noteRefused(REFUSAL.headTooLarge)
  if (x.request.unusual > 0) x.request.hideSpellings()
  const fault = readMeaning(x, bytes)
  return fault === undefined ? end : noteRefused(fault)
}

function skipEmptyLine(text: string): number {
  const first = text.charCodeAt(0)
  if (first === LF) return noteRefused(REFUSAL.lineEnd)
  if (first !== CR) return 0
  if (text.length === 1) return 1
  if (text.charCodeAt(1) !== LF) return noteRefused(REFUSAL.lineEnd)
  const next = text.charCodeAt(2)
  return next === CR || next === LF ? noteRefused(REFUSAL.emptyLines) : 2
}

function tooLarge(end: number, text: string, bounds: HeadBounds): number {
  return end === INCOMPLETE && text.length >= bounds.maxHeadBytes ? noteRefused(REFUSAL.headTooLarge) : end
}

/** Bits of `seen`: fields that are allowed only once. */
const SEEN_HOST = 1
const SEEN_LENGTH = 2
const SEEN_CODING = 4
const SEEN_UPGRADE = 8
const SEEN_AUTHORIZATION = 16

/** Reads the fields that frame and route the message; each once, in the order sent. */
function readMeaning(x: WireExchange, bytes: Uint8Array): Fault | undefined {
  x.bodyLength = 0
  x.hasLength = false
  x.upgrade = ''
  x.expectContinue = false
  const { request } = x
  const { spans, count, text } = request
  let seen = 0
  let says = 0
  let upgradeAt = -1
  for (let at = 0, end = count * 5; at < end; at += 5) {
    const number = spans[at + 4]!
    if (number >= 0) {
      if (number !== FIELD.authorization) continue
      if ((seen & SEEN_AUTHORIZATION) !== 0) return REFUSAL.authorizationTwice
      seen |= SEEN_AUTHORIZATION
      continue
    }
    switch (~number) {
      case FIELD.host: {
        if ((seen & SEEN_HOST) !== 0) return REFUSAL.hostTwice
        seen |= SEEN_HOST
        const fault = readHost(x, text.slice(spans[at + 2]!, spans[at + 3]!))
        if (fault !== undefined) return fault
        break
      }
      case FIELD.contentLength:
        if ((seen & SEEN_LENGTH) !== 0) return REFUSAL.lengthTwice
        seen |= SEEN_LENGTH
        x.bodyLength = readLength(bytes, spans[at + 2]!, spans[at + 3]!)
        if (x.bodyLength < 0) return REFUSAL.length
        x.hasLength = true
        break
      case FIELD.transferEncoding:
        if ((seen & SEEN_CODING) !== 0) return REFUSAL.coding
        seen |= SEEN_CODING
        if (!isChunked(text, spans[at + 2]!, spans[at + 3]!)) return REFUSAL.coding
        break
      case FIELD.connection: {
        const said = readConnection(request, text.slice(spans[at + 2]!, spans[at + 3]!), false)
        if (said < 0) return REFUSAL.connection
        says |= said
        break
      }
      case FIELD.expect: {
        const members = text.slice(spans[at + 2]!, spans[at + 3]!).toLowerCase()
        if (/(?:^|,)[ \t]*100-continue[ \t]*(?:,|$)/.test(members)) x.expectContinue = x.http11
        // An expectation that the upstream may not meet is its own to refuse (RFC 9110 section 10.1.1).
        if (members !== '100-continue') spans[at + 4] = FIELD.expect
        break
      }
      case FIELD.upgrade:
        if ((seen & SEEN_UPGRADE) !== 0) return REFUSAL.upgradeTwice
        seen |= SEEN_UPGRADE
        upgradeAt = at
        break
    }
  }
  const fault = checkFraming(x, seen)
  if (fault !== undefined) return fault
  x.keepAlive = x.http11 ? (says & SAYS_CLOSE) === 0 : (says & (SAYS_KEEP_ALIVE | SAYS_CLOSE)) === SAYS_KEEP_ALIVE
  if (upgradeAt >= 0 && (says & SAYS_UPGRADE) !== 0) {
    readUpgrade(x, text.slice(spans[upgradeAt + 2]!, spans[upgradeAt + 3]!))
  }
  return undefined
}

function checkFraming(x: WireExchange, seen: number): Fault | undefined {
  if ((seen & SEEN_CODING) !== 0) {
    if ((seen & SEEN_LENGTH) !== 0) return REFUSAL.framingTwice
    if (!x.http11) return REFUSAL.coding10
    x.bodyLength = -1
  }
  if ((seen & SEEN_HOST) !== 0) return undefined
  if (x.http11) return REFUSAL.hostMissing
  x.host = x.authority === '' ? '' : hostOf(x.authority)
  return undefined
}

/**
 * Host must be host[:port]. With a target in absolute form both must name one host and port (RFC 9112 section 3.2.2 lets a server trust the
 * target instead; two different hosts are how one server is made to see another site than the next, so we refuse).
 */
function readHost(x: WireExchange, value: string): Fault | undefined {
  const length = hostLength(value)
  if (length < 0) return REFUSAL.host
  if (x.authority !== '' && !sameAuthority(schemeOf(x.request.text), x.authority, value)) return REFUSAL.hostDiffers
  x.authority = withoutEmptyPort(value)
  x.host = lower(length === value.length ? value : value.slice(0, length))
  return undefined
}

/** The scheme of a request target in absolute form. */
function schemeOf(text: string): 'http' | 'https' {
  return /^\S+ https:/i.test(text) ? 'https' : 'http'
}

function hostOf(authority: string): string {
  return lower(authority.slice(0, hostLength(authority)))
}

/** Lower case without a new string when there is nothing to change. */
function lower(text: string): string {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 65 && code <= 90) return text.toLowerCase()
  }
  return text
}

/**
 * Upgrade counts only on a bodiless HTTP/1.1 request. `h2c`, `http/...` and `tls/...` are ignored, as a server may (RFC 9110
 * section 7.8): tunnelling them would let whole requests past every rule of the gateway.
 */
function readUpgrade(x: WireExchange, value: string): void {
  if (!x.http11 || x.bodyLength !== 0) return
  for (const part of value.toLowerCase().split(',')) {
    const name = part.trim()
    if (name === '' || name.startsWith('h2c') || name.startsWith('http/') || name.startsWith('tls/')) return
  }
  x.upgrade = value
}
