import type { BodyTypeCheck, FieldEncoding, ValueShape } from '../../../model/apis/definition/operation.ts'
import { setMember } from '../../../model/apis/definition/tree.ts'
import type { Json, JsonObject } from '../../../model/json/json.ts'
import { bareMediaType, isFormType, searchParams } from '../../../model/network/media-type.ts'
import { spellings } from './spelled-parameter.ts'
import { bracketed, jsonValue, memberShape, type Spelled, valuesOf } from './text-values.ts'

/** The values that a body can mean, one of which its schema must take, or why there is none; `unread` for media types that are not checked. */
export type BodyValues =
  | { readonly values: readonly unknown[]; readonly json?: true }
  | { readonly reason: string }
  | 'unread'

const DECODER = new TextDecoder('utf-8', { fatal: true })

/** Fields of a form: 100,000 in a megabyte, which anybody may send, stopped the gateway's thread for 0.3 s. */
const MOST_FIELDS = 10_000

/** Reads a body by its Content-Type: JSON, forms (HTML section 4.10.22) and text. */
export async function bodyValues(bytes: Uint8Array, contentType: string, check: BodyTypeCheck): Promise<BodyValues> {
  const { shape } = check
  const type = bareMediaType(contentType)
  if (isFormType(type)) return await formValues(bytes, contentType, check)
  if (type.startsWith('text/')) return textValues(bytes, shape)
  if (!/[/+]json$/.test(type)) return 'unread'
  const read = jsonValue(bytes)
  return 'value' in read ? { values: [read.value], json: true } : read
}

function textValues(bytes: Uint8Array, shape: ValueShape): BodyValues {
  try {
    return { values: valuesOf(DECODER.decode(bytes), shape) }
  } catch {
    return { reason: 'must be text in UTF-8' }
  }
}

async function formValues(bytes: Uint8Array, contentType: string, check: BodyTypeCheck): Promise<BodyValues> {
  const { shape, encodings, unread } = check
  if (countFields(bytes, contentType) > MOST_FIELDS) return { reason: `holds more than ${MOST_FIELDS} fields` }
  let pairs: readonly Pair[]
  try {
    pairs = await pairsOf(bytes, contentType)
  } catch {
    return { reason: 'must be a form as its Content-Type says' }
  }
  const found = grouped(pairs, ([name]) => name)
  const members = new Map<string, Spelled>()
  // `a[b]=1` and `a[]=1` are how many clients spell objects and lists.
  const nested = grouped(pairs, ([name]) => name.split('[', 1)[0]!)
  for (const [name, named] of nested) {
    const inner = memberShape(shape, name)
    if (found.has(name) || (inner?.items === undefined && inner?.members === undefined)) continue
    const spelled = bracketed(name, named, inner)
    if (spelled === undefined) continue
    members.set(name, spelled)
    for (const [key] of named) found.delete(key)
  }
  const json = new Map<string, unknown>()
  for (const [name, encoding] of encodings) {
    const inner = shape.members?.get(name)
    if (inner === undefined) continue
    const read = encodedField(name, inner, encoding, found)
    if (read === undefined) continue
    if ('reason' in read) return { reason: `holds ${JSON.stringify(name)}, which ${read.reason}` }
    if ('spelled' in read) members.set(name, read.spelled)
    else json.set(name, read.value)
  }
  for (const [name, same] of found) {
    const sent = same.map(([, value]) => value)
    const inner = memberShape(shape, name)
    // The upstream may take another one of them.
    if (sent.length > 1 && inner?.items === undefined && !unread.has(name))
      return { reason: `holds ${JSON.stringify(name)} more than once` }
    members.set(name, inner?.items === undefined || isJsonList(sent) ? sent[0]! : sent)
  }
  const values = valuesOf(members, shape)
  for (const [name, value] of json) for (const each of values) setMember(each as JsonObject, name, value as Json)
  return { values }
}

/** The value of a field whose spelling the description gives, whose pairs it takes out of those found; undefined without such pairs. */
function encodedField(
  name: string,
  shape: ValueShape,
  { style, explode }: FieldEncoding,
  found: Map<string, Pair[]>,
): { readonly spelled: Spelled } | { readonly value: unknown } | { readonly reason: string } | undefined {
  if (style === 'form' && explode && shape.members !== undefined) {
    const inner = new Map<string, Spelled>()
    for (const [member, of] of shape.members) {
      const texts = found.get(member)?.map(([, text]) => text)
      if (texts === undefined) continue
      if (texts.length > 1 && of.items === undefined) return { reason: `must have one ${JSON.stringify(member)}` }
      inner.set(member, of.items === undefined ? texts[0]! : texts)
      found.delete(member)
    }
    if (inner.size > 0) return { spelled: inner }
  }
  const texts = found.get(name)?.map(([, text]) => text)
  if (texts === undefined || (style !== 'json' && explode) || style === 'deepObject') return undefined
  found.delete(name)
  if (texts.length > 1) return { reason: 'must be given once' }
  if (style === 'json') return jsonValue(Buffer.from(texts[0]!))
  const spelled = spellings({ in: 'query', name, style, explode, shape }, texts)
  return Array.isArray(spelled) ? { spelled: spelled.at(-1) ?? texts[0]! } : (spelled as { readonly reason: string })
}

/** Fields at the most: without reading one. */
function countFields(bytes: Uint8Array, contentType: string): number {
  const isMultipart = /^\s*multipart\//i.test(contentType)
  const separator = isMultipart ? (/;\s*boundary="?([^";]+)/i.exec(contentType)?.[1] ?? '') : '&'
  if (separator === '') return 0
  const form = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let count = 1
  for (let at = form.indexOf(separator); at !== -1; at = form.indexOf(separator, at + separator.length)) count++
  return count
}

type Pair = readonly [name: string, value: string]

function grouped(pairs: readonly Pair[], keyOf: (pair: Pair) => string): Map<string, Pair[]> {
  const groups = new Map<string, Pair[]>()
  for (const pair of pairs) {
    const known = groups.get(keyOf(pair))
    if (known === undefined) groups.set(keyOf(pair), [pair])
    else known.push(pair)
  }
  return groups
}

const isJsonList = (sent: readonly string[]) => sent.length === 1 && /^\s*\[/.test(sent[0]!)

async function pairsOf(bytes: Uint8Array, contentType: string): Promise<[string, string][]> {
  if (!/^\s*multipart\//i.test(contentType)) return [...searchParams(DECODER.decode(bytes))]
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData()
  const pairs: [string, string][] = []
  for (const [name, value] of form) {
    pairs.push([name, typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer()).toString('latin1')])
  }
  return pairs
}
