import type { Json, JsonObject } from '../../model/json/json.ts'
import { isLargeJson } from '../../model/json/json-pieces.ts'
import { searchParams } from '../../model/network/media-type.ts'
import { isSecretName, MASK, redactAnswer } from '../../model/secrets/redact.ts'
import { redactDocument, withoutSecrets } from '../../model/secrets/secret-places.ts'
import type { Answer } from '../routes/answer.ts'

/** The dumped part of a call. */
export interface DumpedCall {
  readonly method: string
  /** Path and query without secrets. */
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Uint8Array
  readonly answer: Answer
}

const LONGEST = 65_536
/** Larger ones would be read, searched for secrets and written for a text of which most is cut. */
const LARGEST_BYTES = 262_144

/** A request and its answer as texts without secrets, for detailed recording. */
export function dumpsOf({ method, url, headers, body, answer }: DumpedCall): JsonObject {
  const head = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${isSecretName(name) ? MASK : String(value)}`],
  )
  const type = String(headers['content-type'] ?? '')
  return {
    request_dump: cut([`${method} ${url} HTTP/1.1`, ...head, '', bodyText(body, type)].join('\r\n')),
    response_dump: cut([`HTTP/1.1 ${answer.status}`, '', answerText(answer)].join('\r\n')),
  }
}

/** JSON with any Content-Type, as the routes accept it; otherwise a form, if its type says so. */
function bodyText(body: Uint8Array, type: string): string {
  if (body.length === 0) return ''
  if (body.length > LARGEST_BYTES) return `[${body.length} bytes]`
  const text = new TextDecoder().decode(body)
  try {
    return JSON.stringify(redactDocument(JSON.parse(text) as Json))
  } catch {
    return /urlencoded/i.test(type) ? formText(text) : `[${body.length} bytes]`
  }
}

function formText(text: string): string {
  const pairs = [...searchParams(text)]
  return new URLSearchParams(pairs.map(([name, value]) => [name, isSecretName(name) ? MASK : value])).toString()
}

function answerText({ body, type }: Answer): string {
  if (typeof body === 'object' && body !== null && Symbol.asyncIterator in body) return '[sent as it was read]'
  if (body instanceof Uint8Array) return `[${body.length} bytes]`
  if (type === undefined && isLargeJson(body as Json)) return '[too large to be kept]'
  return type === undefined
    ? JSON.stringify(redactAnswer(withoutSecrets(body)))
    : `[${String(body).length} characters of ${type}]`
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text
}
