import type { Fault } from '../../errors/fault.ts'
import { fault, toFault } from '../../errors/fault.ts'
import { refusalFields, renderFault, statusOf } from '../../errors/render.ts'
import { inWord, OWN_WORD } from '../../model/apis/definition/vendor-words.ts'
import type { Json } from '../../model/json/json.ts'
import type { Exchange } from '../server/exchange.ts'
import type { AnswerStyle } from '../server/respond.ts'

/** The response of a call of the administration API. */
export interface AdminAnswer {
  readonly status: number
  readonly body: string | Uint8Array
  /** Additional `Name: value\r\n` lines; a Content-Type among them replaces JSON. */
  readonly fields: string
  /** Basis of the `ETag`, where the body changes by itself. */
  readonly version?: string
}

const JSON_TYPE = 'Content-Type: application/json\r\n'

/** An answer in JSON. `fields` are more `Name: value\r\n` lines. */
export function json(value: Json, status = 200, fields = ''): AdminAnswer {
  return { status, body: JSON.stringify(value), fields: JSON_TYPE + fields }
}

/** An answer whose JSON text was put together by the caller. */
export function jsonText(body: string, fields = ''): AdminAnswer {
  return { status: 200, body, fields: JSON_TYPE + fields }
}

/** `{"status":"ok","message":...}` */
export function done(message = ''): AdminAnswer {
  return json({ status: 'ok', message })
}

/** `{"key":...,"status":"ok","action":...}`, and what else belongs to the change. */
export function changed(
  key: string,
  action: 'added' | 'modified' | 'updated' | 'deleted',
  more: { [name: string]: Json } = {},
): AdminAnswer {
  return json({ key, status: 'ok', action, ...more })
}

/** Sends an answer; nobody gets it where the client has left. */
export function sendAnswer(x: Exchange, answer: AdminAnswer): void {
  x.reply(answer.status, answer.fields + usual(x), answer.body)
}

/** Refuses in the words of management calls. `fields` are more lines, such as Allow; `word` is the one that the path has for ours. */
export function sendAdminFault(x: Exchange, refusal: Fault, style: AnswerStyle, fields = '', word = OWN_WORD): void {
  x.fault = refusal
  x.reply(
    statusOf(refusal, style.legacyStatuses),
    JSON_TYPE + fields + refusalFields(refusal) + usual(x),
    inWord(renderFault(refusal, 'management'), word),
  )
}

/** Checks text that becomes part of a field value. @throws Fault `query_invalid` for anything but visible ASCII */
export function fieldText(text: string): string {
  if (!/^[\x21-\x7e]*$/.test(text)) throw fault('query_invalid', 'a name holds characters that a header cannot carry')
  return text
}

function usual(x: Exchange): string {
  return `Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n${x.requestIdLine}`
}

/** For `catch`: undefined for an object that is not there. @throws the same for any other fault */
export function absent(error: unknown): undefined {
  if (toFault(error).code !== 'not_found') throw error
}
