import { FIELD, FIELD_NAMES } from '../../../wire/http1/fields.ts'
import { flattenString } from '../../record/flatten-string.ts'
import { type Exchange, SENT, type Step } from '../../server/exchange.ts'
import type { Target, Targets } from '../../upstream/target.ts'

/** Hands the request to the next target in turn. Always the last step. */
export function forward(targets: Targets, preserveHost: boolean): Step {
  return function forward(x) {
    x.requestHead = requestFields(x)
    if (x.dry) return SENT
    sendToTarget(x, (x.operation?.targets ?? targets).next()!, preserveHost)
    return SENT
  }
}

/** Hands the request to this target; again, when the one before could not be reached. */
export function sendToTarget(x: Exchange, target: Target, preserveHost: boolean): void {
  x.target = target
  x.attempts++
  const method = x.operation?.toMethod || x.method
  x.forward(target.upstream, method, requestHead(x, target, method, preserveHost))
}

/** Request line, Host and the fields that the exchange has for its upstream. */
export function requestHead(x: Exchange, target: Target, method: string, preserveHost: boolean): string {
  const start = `${method} ${targetPath(x, target)}${queryOf(x, target)}`
  if (preserveHost && x.authority !== '') return `${start} HTTP/1.1\r\nHost: ${x.authority}\r\n${x.requestHead}`
  return start + target.lineEnd + x.requestHead
}

/** The path that a target is asked for. Who resolves one that begins with two slashes would take what follows for a host. */
export function targetPath(x: Exchange, { basePath, emptyPath }: Target): string {
  if (x.forwardPath === '' || x.forwardPath === '/') return emptyPath
  const path = basePath + x.forwardPath
  // Looks at a part: to look at the whole would make V8 glue it together twice.
  return (basePath === '' ? path : basePath).startsWith('//') ? path.replace(/^\/+/, '/') : path
}

function queryOf(x: Exchange, target: Target): string {
  if (target.query === '')
    return x.hasQuery && (x.forwardQuery !== '' || x.sentQuery === '') ? `?${x.forwardQuery}` : ''
  return x.forwardQuery === '' ? `?${target.query}` : `?${target.query}&${x.forwardQuery}`
}

/** All fields but Host: what is kept of the request's, the chain of addresses, what steps added. */
export function requestFields(x: Exchange): string {
  const lines = x.peerTrusted ? addedLines(x) : ownLines(x)
  return x.request.kept() + lines + x.requestExtra
}

/** Forwarding headers for a client behind no trusted proxy. Rebuilt only where the authority has changed. */
function ownLines(x: Exchange): string {
  const { clientLines: cached, authority } = x
  if (cached.lines === '' || cached.authority !== authority) {
    cached.authority = flattenString(authority)
    cached.lines = flattenString(forLine(x.peerAddress) + protoLine(x) + hostLine(x))
  }
  return cached.lines
}

/**
 * The forwarding headers of a trusted proxy. A proxy that does not write X-Real-IP or Forwarded itself hands on the
 * client's: they are sent with what the gateway has determined, and so always agree with X-Forwarded-*.
 */
function addedLines(x: Exchange): string {
  const { request } = x
  const addresses = [...x.forwardedChain, x.peerAddress]
  const real = request.keeps(FIELD.xRealIp) ? `X-Real-IP: ${x.clientAddress}\r\n` : ''
  const forwarded = request.keeps(FIELD.forwarded) ? forwardedLine(x, addresses) : ''
  request.dropKnown(FIELD.xForwardedFor)
  request.dropKnown(FIELD.xRealIp)
  request.dropKnown(FIELD.forwarded)
  return (
    forLine(addresses.join(', ')) +
    real +
    forwarded +
    (request.has(FIELD.xForwardedProto) ? '' : protoLine(x)) +
    (request.has(FIELD.xForwardedHost) ? '' : hostLine(x))
  )
}

const PROTO = /^[a-z][a-z0-9+.-]*$/i
const HOST = /^[\w.:[\]-]+$/

/** `Forwarded` (RFC 7239 section 4) of what `X-Forwarded-*` say: who asked, with scheme and host, then each proxy. */
function forwardedLine(x: Exchange, [client, ...proxies]: readonly string[]): string {
  const proto = forwardedValue(x, FIELD.xForwardedProto, x.secure ? 'https' : 'http')
  const host = forwardedValue(x, FIELD.xForwardedHost, x.authority)
  const asked = [nodeOf(client!)]
  if (PROTO.test(proto)) asked.push(`proto=${proto}`)
  if (HOST.test(host)) asked.push(`host="${host}"`)
  return `Forwarded: ${[asked.join(';'), ...proxies.map(nodeOf)].join(', ')}\r\n`
}

/** The value of a forwarded field; `own` where the gateway writes it, '' where an edit of the API does or it has several values. */
function forwardedValue({ request }: Exchange, field: number, own: string): string {
  if (!request.has(field)) return own
  return request.keeps(field) ? (request.single(FIELD_NAMES[field]!) ?? '') : ''
}

const nodeOf = (address: string) => (address.includes(':') ? `for="[${address}]"` : `for=${address}`)

const forLine = (addresses: string) => `X-Forwarded-For: ${addresses}\r\n`
const protoLine = (x: Exchange) => (x.secure ? 'X-Forwarded-Proto: https\r\n' : 'X-Forwarded-Proto: http\r\n')
const hostLine = (x: Exchange) => (x.authority === '' ? '' : `X-Forwarded-Host: ${x.authority}\r\n`)
