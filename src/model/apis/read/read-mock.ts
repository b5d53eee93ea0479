import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { isWireField } from '../../network/wire-fields.ts'
import { refuseFlaws } from '../check/validate.ts'
import { flagOf, numberOf, objectOf, textOf } from '../definition/members.ts'
import type { MockAnswer, MockExample, MockRule } from '../definition/operation.ts'
import { member, type TreePath, toPointer } from '../definition/tree.ts'
import { VALUES } from '../definition/values.ts'
import { type DescribedOperation, describedAt, follow } from '../openapi/described.ts'
import type { ExampleMaker } from '../openapi/example-of-schema.ts'

const DEFAULT_STATUS = 200
/** Examples of one operation that are kept ready; a document with more is refused. */
const MAX_EXAMPLES = 500

/** Why a mock response cannot have a header; undefined when it can. */
export function answerHeaderFault(name: string, value: string): string | undefined {
  if (isWireField(name) || name.toLowerCase() === 'date') return 'must not be a header that the gateway writes itself'
  return VALUES.fieldName(name) ?? VALUES.fieldValue(value)
}

/**
 * Reads an entry of `mock_response`.
 * @throws Fault `definition_invalid` when examples are asked for and the document has none that can be an answer
 */
export function readMock(entry: JsonObject, described: DescribedOperation | undefined, name: string): MockRule {
  const from = objectOf(entry, 'from_oas_examples')
  if (!flagOf(from, 'enabled')) return { fixed: readAnswer(entry, 'body') }
  if (described === undefined) {
    refuseFlaws([{ at: ['paths', name], reason: 'is not described, but its examples are asked for' }])
  }
  return {
    fixed: undefined,
    examples: examplesOf(described!),
    status: numberOf(from, 'code'),
    mediaType: textOf(from, 'content_type').toLowerCase(),
    name: textOf(from, 'example_name'),
  }
}

/** Reads what a list of paths replies by itself (`method_actions`); undefined when it does not. */
export function readReply(entry: JsonObject, method: string): MockRule | undefined {
  const actions = objectOf(entry, 'method_actions')
  const name = Object.keys(actions).find((each) => each.toUpperCase() === method)
  const action = name === undefined ? {} : objectOf(actions, name)
  return textOf(action, 'action') === 'reply' ? { fixed: readAnswer(action, 'data'), listed: true } : undefined
}

function readAnswer(holder: JsonObject, body: string): MockAnswer {
  const headers = Object.entries(objectOf(holder, 'headers')).map(([name, value]) => [name, `${value ?? ''}`] as const)
  return { status: numberOf(holder, 'code') || DEFAULT_STATUS, headers, body: textOf(holder, body) }
}

/** Module state: a cache of immutable values: answers of a document by response and status, which operations that refer to them share. */
const answersOf = new WeakMap<ExampleMaker, Map<string, readonly MockExample[]>>()
/** The cost of an example besides its texts. */
const CHARACTERS_OF_EXAMPLE = 100

function examplesOf({ document, root, at, examples: maker }: DescribedOperation): MockExample[] {
  const examples: MockExample[] = []
  const known = answersOf.get(maker) ?? new Map<string, readonly MockExample[]>()
  answersOf.set(maker, known)
  const where = [...root, ...at, 'responses']
  const { object: responses, at: responsesAt } = describedAt(document, [...at, 'responses'])
  for (const code of Object.keys(responses).sort((one, other) => rankOf(one) - rankOf(other))) {
    const status = statusOf(code)
    if (status === undefined) continue
    const { object: response, at: responseAt } = describedAt(document, [...responsesAt, code])
    if (follow(document, [...responsesAt, code]).value === undefined) continue
    const key = `${code} ${toPointer(responseAt)}`
    const answers = known.get(key) ?? answersIn({ document, maker }, response, responseAt, { code, status })
    known.set(key, answers)
    if (examples.length + answers.length > MAX_EXAMPLES)
      refuseFlaws([{ at: where, reason: `must not hold more than ${MAX_EXAMPLES} examples` }])
    examples.push(...answers)
  }
  if (examples.length === 0) refuseFlaws([{ at: where, reason: 'must hold an answer, because examples are asked for' }])
  return examples
}

interface Source {
  readonly document: JsonObject
  readonly maker: ExampleMaker
}

function answersIn(
  source: Source,
  response: JsonObject,
  at: TreePath,
  about: Pick<MockExample, 'code' | 'status'>,
): MockExample[] {
  const { document, maker } = source
  const headers = headersOf(source, at)
  const cost = headers.reduce((sum, [name, value]) => sum + name.length + value.length, CHARACTERS_OF_EXAMPLE)
  const types = Object.keys(objectOf(response, 'content'))
  if (types.length === 0) return [{ ...about, headers, body: '', name: '', mediaType: '' }]
  const examples: MockExample[] = []
  for (const type of types) {
    const mediaType = (type.split(';')[0] ?? '').trim().toLowerCase()
    if (VALUES.fieldValue(type) !== undefined) continue
    const schema = member(describedAt(document, [...at, 'content', type]).object, 'schema')
    for (const [name, value] of valuesOf(document, maker, [...at, 'content', type])) {
      maker.charge(cost)
      const typed = [...headers, ['Content-Type', type] as const]
      const body = isXmlType(mediaType) && typeof value === 'object' ? maker.xmlOf(value, schema) : undefined
      examples.push({ ...about, headers: typed, body: body ?? bodyOf(value, mediaType, maker), name, mediaType })
    }
  }
  return examples
}

/** Order of the members of `responses`: a success first, then `default`, which is for all that has no other. */
function rankOf(code: string): number {
  if (/^2\d\d$/.test(code)) return Number(code)
  if (/^2XX$/i.test(code)) return 300
  return code === 'default' ? 301 : 1000
}

/** Status of a member of `responses`: `404`, `4XX`, or `default`. */
function statusOf(code: string): number | undefined {
  if (code === 'default') return DEFAULT_STATUS
  if (/^[2-5]XX$/i.test(code)) return Number(code[0]) * 100
  return /^[2-5]\d\d$/.test(code) ? Number(code) : undefined
}

/** Values of a media type: its named examples, else its only one, else one made from its schema. */
function valuesOf(document: JsonObject, maker: ExampleMaker, at: TreePath): [name: string, value: Json][] {
  const { object: media, at: mediaAt } = describedAt(document, at)
  const { object: named, at: namedAt } = describedAt(document, [...mediaAt, 'examples'])
  const values = Object.keys(named).flatMap((name): [string, Json][] => {
    const example = follow(document, [...namedAt, name]).value
    // The latter are of OpenAPI 3.2.
    const value = member(example, 'value') ?? member(example, 'dataValue') ?? member(example, 'serializedValue')
    return value === undefined ? [] : [[name, value]]
  })
  if (values.length > 0) return values
  const only = member(media, 'example')
  return [['', only ?? maker.ofSchema(member(media, 'schema'))]]
}

function headersOf({ document, maker }: Source, at: TreePath): [string, string][] {
  const { object: headers, at: headersAt } = describedAt(document, [...at, 'headers'])
  const made: [string, string][] = []
  for (const name of Object.keys(headers)) {
    // OpenAPI has the type of the content say this; of two spellings of one name only one is sent.
    if (name.toLowerCase() === 'content-type' || made.some(([other]) => other.toLowerCase() === name.toLowerCase()))
      continue
    const { object: header } = describedAt(document, [...headersAt, name])
    const value = member(header, 'example') ?? maker.ofSchema(member(header, 'schema'))
    const text = typeof value === 'string' ? value : maker.textOf(value)
    // The gateway frames its answers itself, whatever length the description has.
    if (answerHeaderFault(name, text) === undefined) made.push([name, text])
  }
  return made
}

/** True for the media types whose content is JSON (RFC 6839 section 3.1). */
export function isJsonType(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json')
}

function isXmlType(mediaType: string): boolean {
  return /^(?:application|text)\/xml$/.test(mediaType) || mediaType.endsWith('+xml')
}

/** Examples that do not fit in a document as themselves are written as texts. */
function bodyOf(value: Json, mediaType: string, maker: ExampleMaker): string {
  if (typeof value !== 'string') return maker.textOf(value)
  maker.charge(value.length)
  return isJsonType(mediaType) && !isJsonText(value) ? JSON.stringify(value) : value
}

function isJsonText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) || isObject(value as Json)
  } catch {
    return false
  }
}
