import { FIELD } from '../../wire/fields.ts'
import { type Exchange, SENT, type Step, type Target, type Targets } from '../exchange.ts'

/** Hands the request to the next target in turn. Always the last step. */
export function forward(targets: Targets, preserveHost: boolean): Step {
  return function forward(x) {
    x.requestHead = requestFields(x)
    if (x.dry) return SENT
    send(x, (x.operation?.targets ?? targets).next()!, preserveHost)
    return SENT
  }
}

/** Hands the request to this target; again, when the one before could not be reached. */
export function send(x: Exchange, target: Target, preserveHost: boolean): void {
  x.target = target
  x.attempts++
  const method = x.operation?.toMethod || x.method
  x.forward(target.upstream, method, requestHead(x, target, method, preserveHost))
}

/** Request line, Host and the fields that the exchange has for its upstream. */
export function requestHead(x: Exchange, target: Target, method: string, preserveHost: boolean): string {
  const path = target.basePath + x.forwardPath
  const host = preserveHost && x.authority !== '' ? x.authority : target.authority
  return `${method} ${path === '' ? '/' : path}${queryOf(x, target)} HTTP/1.1\r\nHost: ${host}\r\n${x.requestHead}`
}

function queryOf(x: Exchange, target: Target): string {
  if (target.query === '') return x.hasQuery && (x.forwardQuery !== '' || x.query === '') ? `?${x.forwardQuery}` : ''
  return x.forwardQuery === '' ? `?${target.query}` : `?${target.query}&${x.forwardQuery}`
}

/** All fields but Host: what is kept of the request's, the chain of addresses, what steps added. */
export function requestFields(x: Exchange): string {
  const told = x.request.known(FIELD.xForwardedFor)
  let forwarded = x.peerAddress
  if (told !== undefined) {
    // Only a trusted proxy may speak for those before it.
    if (x.peerTrusted) forwarded = `${x.request.all('x-forwarded-for').join(', ')}, ${x.peerAddress}`
    x.request.dropKnown(FIELD.xForwardedFor)
  }
  let fields = `X-Forwarded-For: ${forwarded}\r\n`
  if (!x.peerTrusted || x.request.known(FIELD.xForwardedProto) === undefined) {
    x.request.dropKnown(FIELD.xForwardedProto)
    fields += x.secure ? 'X-Forwarded-Proto: https\r\n' : 'X-Forwarded-Proto: http\r\n'
  }
  if (!x.peerTrusted || x.request.known(FIELD.xForwardedHost) === undefined) {
    x.request.dropKnown(FIELD.xForwardedHost)
    if (x.authority !== '') fields += `X-Forwarded-Host: ${x.authority}\r\n`
  }
  return x.request.kept() + fields + x.requestExtra
}
