import type { BodyTypeCheck, FieldShape } from '../../../model/apis/definition/operation.ts'
import { isFormType } from '../../../model/network/media-types.ts'
import { searchParams } from '../../../model/network/search-params.ts'
import { readTrafficJson } from '../../server/json-flaw.ts'

/** A body as the value that its schema speaks of, or why it is none; `unread` for media types that are not checked. */
export type BodyValue = { readonly value: unknown } | { readonly reason: string } | 'unread'

const DECODER = new TextDecoder('utf-8', { fatal: true })
const NO_JSON = 'must be JSON in UTF-8'

/** Reads a body by its Content-Type: JSON, forms (HTML section 4.10.22) and text. */
export async function bodyValue(
  bytes: Uint8Array,
  contentType: string,
  { whole, fields }: BodyTypeCheck,
): Promise<BodyValue> {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  if (isFormType(type)) return await formValue(bytes, contentType, fields)
  if (type.startsWith('text/')) return textValue(bytes, whole)
  return /[/+]json$/.test(type) ? jsonValue(bytes) : 'unread'
}

/** Reads a body as JSON without members that are named twice. */
export function jsonValue(bytes: Uint8Array): { readonly value: unknown } | { readonly reason: string } {
  try {
    const read = readTrafficJson(DECODER.decode(bytes))
    return 'value' in read ? { value: read.value } : { reason: read.reason ?? NO_JSON }
  } catch {
    return { reason: NO_JSON }
  }
}

function textValue(bytes: Uint8Array, whole: FieldShape): BodyValue {
  try {
    return { value: fieldValue([DECODER.decode(bytes)], whole) }
  } catch {
    return { reason: 'must be text in UTF-8' }
  }
}

async function formValue(bytes: Uint8Array, contentType: string, fields: BodyTypeCheck['fields']): Promise<BodyValue> {
  const found = new Map<string, string[]>()
  try {
    for (const [name, value] of await pairsOf(bytes, contentType)) {
      const known = found.get(name)
      if (known === undefined) found.set(name, [value])
      else known.push(value)
    }
  } catch {
    return { reason: 'must be a form as its Content-Type says' }
  }
  const values: [string, unknown][] = []
  for (const [name, sent] of found) {
    const field = fields.get(name) ?? TEXT
    // The upstream may take another one of them.
    if (sent.length > 1 && field.shape !== 'list') return { reason: `holds ${JSON.stringify(name)} more than once` }
    values.push([name, fieldValue(sent, field)])
  }
  return { value: Object.fromEntries(values) }
}

const TEXT: FieldShape = { shape: 'text', items: 'text' }

async function pairsOf(bytes: Uint8Array, contentType: string): Promise<[string, string][]> {
  if (!/^\s*multipart\//i.test(contentType)) return [...searchParams(DECODER.decode(bytes))]
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData()
  const pairs: [string, string][] = []
  for (const [name, value] of form) {
    pairs.push([name, typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer()).toString('latin1')])
  }
  return pairs
}

function fieldValue(sent: readonly string[], { shape, items }: FieldShape): unknown {
  return shape === 'list' ? sent.map((text) => shapedValue(text, items)) : shapedValue(sent[0]!, shape)
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** A value that is no number, flag or object stays a text, which the schema then refuses. */
export function shapedValue(text: string, shape: FieldShape['shape']): unknown {
  if (shape === 'number' && NUMBER.test(text)) return Number(text)
  if (shape === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  if (shape !== 'object') return text
  const read = jsonValue(Buffer.from(text))
  return 'value' in read ? read.value : text
}
