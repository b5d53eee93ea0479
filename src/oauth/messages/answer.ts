import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { OAuthAnswer } from '../endpoints/parts.ts'

/** On every response of every endpoint: it must not be stored, framed, sniffed, or leaked to the next site. */
const GUARDS =
  'Cache-Control: no-cache, no-store, must-revalidate\r\n' +
  'Pragma: no-cache\r\n' +
  'Expires: 0\r\n' +
  'X-Content-Type-Options: nosniff\r\n' +
  'X-XSS-Protection: 1; mode=block\r\n' +
  'X-Frame-Options: DENY\r\n' +
  "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n" +
  'Referrer-Policy: no-referrer\r\n' +
  'Strict-Transport-Security: max-age=63072000; includeSubDomains\r\n'

const JSON_FIELDS = `Content-Type: application/json\r\n${GUARDS}`

/** Allowed characters in a header value: no control character can begin another field. */
const VISIBLE = /^[\x21-\x7e]+$/

/** An answer with a JSON body. `fields` are further `Name: value\r\n` lines. */
export function jsonAnswer(status: number, value: unknown, fields = ''): OAuthAnswer {
  return textAnswer(status, JSON.stringify(value), fields)
}

/** An answer whose JSON body is already text. */
export function textAnswer(status: number, body: string, fields = ''): OAuthAnswer {
  return { status, fields: JSON_FIELDS + fields, body }
}

/** An answer without a body, such as 204 to a deletion. */
export function emptyAnswer(status: number, fields = ''): OAuthAnswer {
  return { status, fields: GUARDS + fields, body: '' }
}

/**
 * Sends a browser on: 307 keeps its method and body (to the login page), 303 turns it into a GET (to the client, so that what
 * was posted here never reaches it: RFC 9700 section 4.12). `location` is an absolute URL, escaped.
 * @throws Fault `internal` when it is not
 */
export function redirectAnswer(status: 303 | 307, location: string): OAuthAnswer {
  if (!VISIBLE.test(location)) throw fault('internal', 'a redirect to an address that is not escaped')
  return { status, fields: `Location: ${location}\r\n${GUARDS}`, body: '' }
}

/** Answers what anybody may know and keep for some seconds: key sets and metadata. */
export function publicAnswer(value: JsonObject, freshS: number): OAuthAnswer {
  const fields =
    'Content-Type: application/json\r\n' +
    `Cache-Control: public, max-age=${freshS}\r\n` +
    'X-Content-Type-Options: nosniff\r\n'
  return { status: 200, fields, body: JSON.stringify(value) }
}
