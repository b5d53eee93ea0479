import { type Fault, prebuilt } from '../../../errors/fault.ts'
import type { Exchange, Reply } from '../../server/exchange.ts'

const NOT_ALLOWED = prebuilt('method_not_allowed')
const ALLOW = 'Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n'
const OPTIONS_ANSWER: Reply = { status: 204, fields: ALLOW, body: undefined }

const LETTER_O = 79
const LETTER_T = 84

/** True for OPTIONS and TRACE, the methods that `Max-Forwards` is for: by their first letter for nearly all others. */
export function mayBeLimited({ method }: Exchange): boolean {
  const first = method.charCodeAt(0)
  return (first === LETTER_O && method === 'OPTIONS') || (first === LETTER_T && method === 'TRACE')
}

/**
 * Refuses TRACE unless the API of the request allows it: the answer repeats what was sent, credentials too. Answers OPTIONS and TRACE
 * whose `Max-Forwards` is used up, and counts it down for the others (RFC 9110 section 7.6.2).
 */
export function limitForwards(x: Exchange): Fault | Reply | undefined {
  if (x.method === 'TRACE' && !x.chain!.api.allowTrace) return refuseTrace(x)
  const value = x.request.single('max-forwards')
  if (value === undefined || !/^\d+$/.test(value)) return undefined
  // Greater ones become the greatest that is counted, as the section says.
  const left = Math.min(Number(value), Number.MAX_SAFE_INTEGER)
  if (left === 0) return x.method === 'TRACE' ? traceAnswer(x) : OPTIONS_ANSWER
  x.request.drop('max-forwards')
  x.requestExtra += `Max-Forwards: ${left - 1}\r\n`
  return undefined
}

/** The refusal of TRACE at an API that does not allow it. */
export function refuseTrace(x: Exchange): Fault {
  x.answerExtra += ALLOW
  return NOT_ALLOWED
}

/** `OPTIONS *` asks for the server itself (RFC 9110 section 9.3.7), where no API is at the root. */
export function answersForServer(x: Exchange): Reply | undefined {
  return x.path === '*' ? OPTIONS_ANSWER : undefined
}

/** The request as it came (RFC 9110 section 9.3.8), without fields that may hold credentials. */
function traceAnswer(x: Exchange): Reply {
  const target = `${x.sentPath}${x.hasQuery ? '?' : ''}`
  const body = `TRACE ${target} HTTP/1.1\r\nHost: ${x.authority}\r\nMax-Forwards: 0\r\n\r\n`
  return { status: 200, fields: 'Content-Type: message/http\r\n', body }
}
