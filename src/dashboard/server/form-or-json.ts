import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { isObject, startsObject } from '../../model/json/json.ts'
import { readJson } from '../../model/json/json-body.ts'
import { searchParams } from '../../model/network/media-type.ts'
import type { Call } from '../routes/call.ts'
import { checkOnePlace } from './open-call.ts'

const MOST_BYTES = 65_536

/** Media types of a body that is read by `fieldsOf`. */
export const JSON_OR_FORM = ['application/json', 'application/x-www-form-urlencoded'] as const

/** The members of a revocation (RFC 7009 section 2.1). */
export const TOKEN_MEMBERS = {
  token: Type.String({ description: 'The token, or its hash.' }),
  token_type_hint: Type.String({ description: '`access_token` or `refresh_token`: where to look first.' }),
}

/** The proof of a client. */
export const SECRET_MEMBERS = {
  client_secret: Type.String({ description: 'Client secret of the client.' }),
}

/**
 * The fields of a form, or of a JSON object of texts: decided by the first non-blank byte, with any Content-Type. A value that is empty
 * or null counts as not sent. @throws Fault `body_malformed` (403) for a repeated field, or a body that is neither;
 * `body_invalid` (400) for a member that is no text, `query_invalid` (400) for one that is in the query as well
 */
export function fieldsOf(call: Pick<Call, 'bytes' | 'queryAll'>): ReadonlyMap<string, string> {
  const bytes = call.bytes()
  if (bytes.length > MOST_BYTES) throw fault('body_malformed', `the body is larger than ${MOST_BYTES} bytes`)
  const fields = new Map<string, string>()
  for (const [name, value] of startsObject(bytes) ? textsIn(bytes) : formIn(bytes)) {
    if (fields.has(name)) throw fault('body_malformed', 'a field is repeated')
    fields.set(name, value)
  }
  checkOnePlace({ has: (name) => call.queryAll(name).length > 0 }, fields.keys())
  return new Map([...fields].filter(([, value]) => value !== ''))
}

function textsIn(bytes: Uint8Array): [string, string][] {
  const value = readJson(bytes)
  if (!isObject(value)) throw fault('body_malformed', 'the body is not a JSON object')
  return Object.entries(value).map(([name, text]) => {
    if (text !== null && typeof text !== 'string') throw fault('body_invalid', `${name}: must be a text`)
    return [name, text ?? '']
  })
}

function formIn(bytes: Uint8Array): Iterable<[string, string]> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  try {
    // URLSearchParams mends what is broken in silence.
    decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw fault('body_malformed', 'the form is not percent-encoded UTF-8')
  }
  if (/[^\x20-\x7e]/.test(text)) throw fault('body_malformed', 'the form holds bytes that must be percent-encoded')
  return searchParams(text)
}
