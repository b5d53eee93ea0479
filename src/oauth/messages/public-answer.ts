import type { JsonObject } from '../../model/json/json.ts'
import type { OAuthAnswer } from '../endpoints/parts.ts'

/** Answers what anybody may know and keep for some seconds: key sets and metadata. */
export function publicAnswer(value: JsonObject, freshS: number): OAuthAnswer {
  const fields =
    'Content-Type: application/json\r\n' +
    `Cache-Control: public, max-age=${freshS}\r\n` +
    'X-Content-Type-Options: nosniff\r\n'
  return { status: 200, fields, body: JSON.stringify(value) }
}
