import { type Fault, prebuilt } from '../../errors/fault.ts'
import type { WireExchange } from '../exchange.ts'
import { readHead } from '../head.ts'
import { REFUSAL } from '../refusals.ts'
import type { HeadBounds } from '../scan.ts'

const malformed = (detail: string) => prebuilt('request_malformed', detail)

const PSEUDO = malformed('pseudo-header field missing, or not one of a request')
const PATH = malformed('malformed :path')
const SCHEME = malformed(':scheme is neither http nor https')
const AUTHORITY = malformed('Host differs from :authority')
const AUTHORIZATION_TWICE = malformed('Authorization given twice')
const SPLIT = malformed('malformed field')

/**
 * Reads the fields of a stream (RFC 9113 section 8.3) into an exchange: written as a head of HTTP/1.1, and read by its very rules, so that
 * what is refused there is refused here. `ended` = there is no body. Answers the Fault that refuses it, undefined when it is valid.
 */
export function readRequest(
  x: WireExchange,
  rawHeaders: readonly string[],
  ended: boolean,
  bounds: HeadBounds,
): Fault | undefined {
  const request = collect(rawHeaders)
  if (!isText(request)) return request
  const { method, path, scheme, authority, host, fields } = request
  if (method === 'CONNECT') return REFUSAL.connect
  if (method === '' || path === '' || scheme === '') return PSEUDO
  if (scheme !== 'http' && scheme !== 'https') return SCHEME
  if (path.charCodeAt(0) !== 47 && path !== '*') return PATH
  if (authority !== '' && host !== undefined && authority.toLowerCase() !== host.toLowerCase()) return AUTHORITY
  const site = authority === '' ? host : authority
  const hostLine = site === undefined ? '' : `Host: ${site}\r\n`
  const framing = ended || request.hasLength ? '' : 'Transfer-Encoding: chunked\r\n'
  const cookie = request.cookie === '' ? '' : `cookie: ${request.cookie}\r\n`
  const lines = request.count + (hostLine === '' ? 0 : 1) + (framing === '' ? 0 : 1) + (cookie === '' ? 0 : 1)
  const text = `${method} ${path} HTTP/1.1\r\n${hostLine}${framing}${fields}${cookie}\r\n`
  const refused = readHead(x, text, { maxHeadBytes: bounds.maxHeadBytes, maxFields: bounds.maxFields + 2 })
  if (refused !== undefined) return refused
  // A line end within a value would have become a field of its own.
  return x.request.count === lines ? undefined : SPLIT
}

interface RequestText {
  method: string
  path: string
  scheme: string
  authority: string
  host: string | undefined
  /** Lines of all other fields. */
  fields: string
  count: number
  /** Crumbs of cookies, put together again (RFC 9113 section 8.2.3). */
  cookie: string
  hasLength: boolean
}

function isText(found: RequestText | Fault): found is RequestText {
  return !(found instanceof Error)
}

function collect(rawHeaders: readonly string[]): RequestText | Fault {
  const request: RequestText = {
    ...{ method: '', path: '', scheme: '', authority: '', host: undefined },
    ...{ fields: '', count: 0, cookie: '', hasLength: false },
  }
  let authorized = false
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    const value = rawHeaders[i + 1]!
    if (name.charCodeAt(0) === 58) {
      if (!takePseudo(request, name, value)) return PSEUDO
      continue
    }
    if (name === 'host') {
      if (request.host !== undefined) return REFUSAL.hostTwice
      request.host = value
      continue
    }
    if (name === 'cookie') {
      request.cookie += request.cookie === '' ? value : `; ${value}`
      continue
    }
    if (name === 'authorization') {
      if (authorized) return AUTHORIZATION_TWICE
      authorized = true
    }
    if (name === 'content-length') request.hasLength = true
    request.fields += `${name}: ${value}\r\n`
    request.count++
  }
  return request
}

function takePseudo(request: RequestText, name: string, value: string): boolean {
  if (name === ':method') request.method = value
  else if (name === ':path') request.path = value
  else if (name === ':scheme') request.scheme = value
  else if (name === ':authority') request.authority = value
  else return false
  return true
}
