import { randomBytes } from 'node:crypto'
import { type Fault, prebuilt } from '../../errors/fault.ts'
import { CONNECTION_SPECIFIC, type Field, isPseudo, KIND } from '../hpack/field.ts'
import type { WireExchange } from '../http1/exchange.ts'
import { parseRequestHead } from '../http1/head.ts'
import { REFUSAL } from '../http1/refusals.ts'
import { type HeadBounds, INCOMPLETE, verdict } from '../http1/scan.ts'
import { sameAuthority } from '../http1/target.ts'

/** Fields that frame, route or authenticate a message are no trailers (RFC 9110 section 6.5.1). */
const NOT_TRAILING: ReadonlySet<string> = new Set([
  ...CONNECTION_SPECIFIC,
  ...['host', 'content-length', 'expect', 'te', 'trailer', 'authorization', 'cookie', 'set-cookie', 'content-type'],
])

/** Fields of a request that count only where the gateway lets them through: who sent it, and names that upstreams confuse with others. */
const NOT_FROM_CLIENTS = /^(?:forwarded|x-forwarded-.*|x-real-ip|proxy|.*[!#$%&'*+.^_`|~].*)$/

const PATH = prebuilt('request_malformed', 'malformed :path')
const SCHEME = prebuilt('request_malformed', ':scheme is neither http nor https')
const AUTHORITY = prebuilt('request_malformed', 'Host differs from :authority')

/** Not a request at all (RFC 9113 section 8.1.1): its stream is reset, nothing is answered. */
const MALFORMED = Symbol('malformed')

/** Host, framing, and those of an upgrade. */
const ADDED_FIELDS = 5

/** Bytes of heads, for one at a time: what is read of them is cut out of their text. */
const scratch: { bytes: Buffer } = { bytes: Buffer.allocUnsafeSlow(16_384) }

/** True when a request is none. */
export function isMalformed(refused: Fault | typeof MALFORMED): refused is typeof MALFORMED {
  return refused === MALFORMED
}

/**
 * Reads the fields of a stream (RFC 9113 section 8.3) into an exchange: written as a head of HTTP/1.1, and read by its very rules, so that
 * what is refused there is refused here. `ended` = there is no body. Answers the Fault that refuses it, undefined when it is valid.
 */
export function readStreamRequest(
  x: WireExchange,
  fields: readonly Field[],
  ended: boolean,
  bounds: HeadBounds,
): Fault | typeof MALFORMED | undefined {
  const request = collect(fields)
  if (!isText(request)) return request
  const { method, path, scheme, authority, host } = request
  const tunnels = method === 'CONNECT' && request.protocol !== undefined
  if (method === 'CONNECT' && request.protocol !== 'websocket') return REFUSAL.connect
  if (method === '' || path === '' || scheme === '') return MALFORMED
  if (tunnels ? ended || request.length !== undefined : request.protocol !== undefined) return MALFORMED
  if (ended && request.length !== undefined && Number(request.length) > 0) return MALFORMED
  if (scheme !== 'http' && scheme !== 'https') return SCHEME
  if (path.charCodeAt(0) !== 47 && path !== '*') return PATH
  if (authority !== undefined && host !== undefined && !sameAuthority(scheme, authority, host)) return AUTHORITY
  const site = authority ?? host
  const hostLine = site === undefined ? '' : `Host: ${site}\r\n`
  const framing = ended || request.length !== undefined ? '' : 'Transfer-Encoding: chunked\r\n'
  const cookie = request.cookie === '' ? '' : `cookie: ${request.cookie}\r\n`
  if (tunnels)
    return parse(x, `GET ${path} HTTP/1.1\r\n${hostLine}${upgradeLines()}${request.lines}${cookie}\r\n`, bounds)
  return parse(x, `${method} ${path} HTTP/1.1\r\n${hostLine}${framing}${request.lines}${cookie}\r\n`, bounds)
}

/** The fields of a WebSocket over HTTP/1.1 that those over HTTP/2 do not have (RFC 8441 section 5). */
function upgradeLines(): string {
  return `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n`
}

function parse(
  x: WireExchange,
  head: string,
  { maxHeadBytes, maxFields, allowUnderscores }: HeadBounds,
): Fault | undefined {
  if (head.length > scratch.bytes.length) scratch.bytes = Buffer.allocUnsafeSlow(head.length)
  const { bytes } = scratch
  const size = bytes.write(head, 0, 'latin1')
  const end = parseRequestHead(bytes, head, x, { maxHeadBytes, maxFields: maxFields + ADDED_FIELDS, allowUnderscores })
  if (end === size) return undefined
  return end > 0 ? REFUSAL.behindHead : end === INCOMPLETE ? REFUSAL.requestLine : verdict.fault
}

interface RequestText {
  method: string
  path: string
  scheme: string
  authority: string | undefined
  /** Of an extended CONNECT (RFC 8441 section 4). */
  protocol: string | undefined
  host: string | undefined
  /** Value of Content-Length. */
  length: string | undefined
  /** Lines of all other fields. */
  lines: string
  /** Crumbs of cookies, put together again (RFC 9113 section 8.2.3). */
  cookie: string
}

function isText(found: RequestText | Fault | typeof MALFORMED): found is RequestText {
  return found !== MALFORMED && !(found instanceof Error)
}

function collect(fields: readonly Field[]): RequestText | Fault | typeof MALFORMED {
  const request: RequestText = {
    ...{ method: '', path: '', scheme: '', authority: undefined, protocol: undefined },
    ...{ host: undefined, length: undefined, lines: '', cookie: '' },
  }
  let regular = false
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]!
    const pseudo = isPseudo(field.kind)
    // They come first, each once (RFC 9113 section 8.3).
    if (pseudo && (regular || !takePseudo(request, field))) return MALFORMED
    if (pseudo) continue
    regular = true
    const refused = takeField(request, field)
    if (refused !== undefined) return refused
  }
  return request
}

function takePseudo(request: RequestText, { kind, value }: Field): boolean {
  switch (kind) {
    case KIND.method:
      if (request.method !== '') return false
      request.method = value
      return true
    case KIND.path:
      if (request.path !== '') return false
      request.path = value
      return true
    case KIND.scheme:
      if (request.scheme !== '') return false
      request.scheme = value
      return true
    case KIND.authority:
      if (request.authority !== undefined) return false
      request.authority = value
      return true
    case KIND.protocol:
      if (request.protocol !== undefined) return false
      request.protocol = value
      return true
    default:
      return false
  }
}

function takeField(request: RequestText, { kind, name, value, line }: Field): Fault | typeof MALFORMED | undefined {
  switch (kind) {
    case KIND.malformed:
      return MALFORMED
    case KIND.host:
      if (request.host !== undefined) return REFUSAL.hostTwice
      request.host = value
      return undefined
    case KIND.cookie:
      request.cookie += request.cookie === '' ? value : `; ${value}`
      return undefined
    case KIND.contentLength:
      request.length = value
  }
  if (request.protocol === undefined || name !== 'sec-websocket-key') request.lines += line
  return undefined
}

/** Trailers of a request, as `trailerLines`. */
export function requestTrailerLines(fields: readonly Field[]): string | undefined {
  return trailerLines(fields.filter(({ name }) => !NOT_FROM_CLIENTS.test(name)))
}

/** Trailers as `name: value\r\n` lines, without those that have no place there; undefined when they are malformed (RFC 9113 section 8.1). */
export function trailerLines(fields: readonly Field[]): string | undefined {
  let lines = ''
  for (const { kind, name, line } of fields) {
    if (kind === KIND.malformed || isPseudo(kind)) return undefined
    if (!NOT_TRAILING.has(name)) lines += line
  }
  return lines
}
