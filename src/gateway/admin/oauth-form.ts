import { fault } from '../../errors/fault.ts'
import { startsObject } from '../../model/json/json.ts'
import { searchParams } from '../../model/network/search-params.ts'
import { parseObject } from './body.ts'
import type { AdminRequest } from './request.ts'

const FORM_BYTES = 64 * 1024

/**
 * The fields of a form, or of a JSON object of strings: decided by the first non-blank byte, with any Content-Type.
 * @throws Fault `body_malformed` (400) for a field that is given twice, also once in the query, or anything that is neither
 */
export async function formOf(request: AdminRequest): Promise<ReadonlyMap<string, string>> {
  const bytes = await request.bytes(FORM_BYTES)
  const entries = startsObject(bytes) ? textsIn(parseObject(bytes)) : [...searchParams(decoded(bytes))]
  const fields = new Map<string, string>()
  for (const [name, value] of entries) {
    if (fields.has(name)) throw fault('body_malformed', `${name}: is repeated`)
    if (request.query.has(name)) throw fault('body_malformed', `${name}: is given in the query and in the body`)
    fields.set(name, value)
  }
  return fields
}

function textsIn(object: object): [string, string][] {
  return Object.entries(object).map(([name, value]) => {
    if (typeof value !== 'string') throw fault('body_malformed', `${name}: must be a string`)
    return [name, value]
  })
}

function decoded(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('latin1')
  try {
    // URLSearchParams mends what is broken in silence.
    decodeURIComponent(text.replaceAll('+', ' '))
  } catch (cause) {
    throw fault('body_malformed', 'the form is not percent-encoded UTF-8', cause)
  }
  if (/[^\x20-\x7e]/.test(text)) throw fault('body_malformed', 'the form holds bytes that must be percent-encoded')
  return text
}
