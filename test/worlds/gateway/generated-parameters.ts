import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import type { TestGateway } from '../base/harness.ts'
import { oasApi } from './admin-fixtures.ts'
import { TEXT_SCALARS } from './generated-bodies.ts'
import { judgeOf } from './generated-schemas.ts'

type Scalar = string | number | boolean | null
type Members = Readonly<Record<string, Scalar>>

/** A parameter, and values to be sent in its style. */
export interface GeneratedParameter {
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  /** One of OpenAPI, `json` for `content`, `nested` for objects with lists and objects in `deepObject`. */
  readonly style: string
  readonly explode: boolean
  readonly schema: JsonObject
  readonly required: boolean
  /** True = an empty text passes. */
  readonly mayBeEmpty: boolean
  /** Where the document describes it. */
  readonly said: 'operation' | 'path' | 'components'
  readonly values: readonly Json[]
}

const STYLES: readonly (readonly [GeneratedParameter['in'], string])[] = [
  ...(['simple', 'label', 'matrix', 'json'] as const).map((style) => ['path', style] as const),
  ...(['form', 'spaceDelimited', 'pipeDelimited', 'deepObject', 'json', 'nested', 'reserved'] as const).map(
    (style) => ['query', style] as const,
  ),
  ...([
    ['header', 'simple'],
    ['header', 'json'],
    ['cookie', 'form'],
  ] as const),
]

const SCALARS: readonly (readonly [JsonObject, fc.Arbitrary<Scalar>])[] = [
  ...TEXT_SCALARS,
  [{ anyOf: [{ type: 'integer', maximum: 5 }, { type: 'null' }] }, fc.constantFrom(3, 8, null)],
  [{ allOf: [{ $ref: '#/components/schemas/Small' }, { minimum: 2 }] }, fc.integer({ min: 0, max: 6 })],
  [{ type: ['integer', 'boolean'] }, fc.constantFrom(1, false)],
]
const scalar = fc.constantFrom(...SCALARS)

const parameter: fc.Arbitrary<GeneratedParameter> = fc
  .tuple(fc.constantFrom(...STYLES), fc.boolean(), fc.constantFrom('scalar', 'list', 'object'), scalar, scalar)
  .filter(([[place, style], explode, shape]) => {
    if (style === 'nested' || style === 'deepObject') return shape === 'object' && explode
    if (style === 'spaceDelimited' || style === 'pipeDelimited') return shape !== 'scalar' && !explode
    if (style === 'reserved') return shape === 'scalar'
    // Cookies of one name are no list.
    return !(place === 'cookie' && shape === 'list' && explode)
  })
  .chain(([[place, style], explode, shape, [one, oneValue], [other, otherValue]]) => {
    const pair = { type: 'object', properties: { r: one, g: other }, required: ['r'] }
    const pairs = fc.record({ r: oneValue, g: otherValue }, { requiredKeys: ['g'], noNullPrototype: true })
    const list = { type: 'array', items: one, minItems: 1, maxItems: 3 }
    const lists = fc.array(oneValue, { minLength: 1, maxLength: 4 })
    const byShape: Readonly<Record<string, readonly [JsonObject, fc.Arbitrary<Json>]>> = {
      scalar: [one, oneValue],
      list: [list, lists],
      object: [pair, pairs as fc.Arbitrary<Json>],
    }
    const [schema, values] =
      style === 'nested'
        ? ([
            { type: 'object', properties: { l: list, o: pair } },
            fc.record({ l: lists, o: pairs }, { noNullPrototype: true }) as fc.Arbitrary<Json>,
          ] as const)
        : style === 'reserved'
          ? ([{ type: 'string', maxLength: 5 }, fc.constantFrom<Json>('a:b/c', 'a?b', "(a)@b,c;'d", '$*!')] as const)
          : byShape[shape]!
    return fc.record({
      ...{
        in: fc.constant(place),
        style: fc.constant(style),
        explode: fc.constant(explode),
        schema: fc.constant(schema),
      },
      required: place === 'path' ? fc.constant(true) : fc.boolean(),
      mayBeEmpty: fc
        .constant(place === 'query' && style === 'form' && shape === 'scalar')
        .chain((may) => (may ? fc.boolean() : fc.constant(false))),
      said: fc.constantFrom('operation' as const, 'path' as const, 'components' as const),
      values: fc
        .array(values, { minLength: 3, maxLength: 6 })
        // Fields have characters of ASCII.
        .map((all) => (place === 'header' || place === 'cookie' ? all.filter(isAscii) : all)),
    })
  })

const isAscii = (value: Json) => /^[\0-\x7f]*$/.test(JSON.stringify(value))

/** Parameters of every style, with scalars, lists and objects of every kind of union. */
export const generatedParameters = fc.array(parameter, { minLength: 4, maxLength: 10 })

const COMPONENTS = { Small: { type: 'integer', maximum: 4 } }
const NAME = 'p'

function describedParameter({
  in: place,
  style,
  explode,
  schema,
  required,
  mayBeEmpty,
}: GeneratedParameter): JsonObject {
  const base = { name: NAME, in: place, required, ...(mayBeEmpty && { allowEmptyValue: true }) }
  if (style === 'json') return { ...base, content: { 'application/json': { schema } } }
  if (style === 'nested') return { ...base, style: 'deepObject', explode, schema }
  if (style === 'reserved') return { ...base, style: 'form', explode, schema, allowReserved: true }
  return { ...base, style, explode, schema }
}

/** Publishes parameters, and sends their values in their styles: what an independent validator says of a value the gateway says. */
export async function checkParameters(
  gate: TestGateway,
  parameters: readonly GeneratedParameter[],
  verdicts: { fits: number; refused: number },
): Promise<void> {
  const base = oasApi('P', '/p/', { id: 'p' })
  const named: JsonObject = {}
  const paths = parameters.map((each, index) => {
    const own = describedParameter(each)
    if (each.said === 'components') named[`p${index}`] = own
    const listed = each.said === 'components' ? { $ref: `#/components/parameters/p${index}` } : own
    const operation = { operationId: `o${index}`, responses: {} }
    // The operation's own description of a parameter goes before that of its path.
    const wrong = { name: NAME, in: each.in, required: true, schema: { type: 'integer', maximum: -100 } }
    const item =
      each.said === 'path'
        ? { parameters: [listed], get: operation }
        : { parameters: [wrong], get: { ...operation, parameters: [listed] } }
    return [each.in === 'path' ? `/${index}/{${NAME}}` : `/${index}/x`, item] as const
  })
  const operations = Object.fromEntries(parameters.map((_each, i) => [`o${i}`, { validateRequest: { enabled: true } }]))
  const saved = await gate.svc('POST', '/svc/apis/oas', {
    ...{ ...base, openapi: '3.1.0', paths: Object.fromEntries(paths) as unknown as Json },
    components: { schemas: COMPONENTS, parameters: named },
    'x-svc-api-gateway': { ...(base['x-svc-api-gateway'] as JsonObject), middleware: { operations } },
  })
  assert.deepEqual(saved.json, { key: 'p', status: 'ok', action: 'added' })
  try {
    for (const [index, each] of parameters.entries()) {
      const send = async (text: string, says: boolean, value?: Json) => {
        const at = each.in === 'path' ? text : each.in === 'query' ? `x?${text}` : 'x'
        const headers =
          text === '' ? {} : each.in === 'header' ? { [NAME]: text } : each.in === 'cookie' ? { cookie: text } : {}
        const answer = await gate.call(`/p/${index}/${at}`, { headers })
        const shown = JSON.stringify({ ...each, values: undefined, value, text, faults: answer.text })
        assert.equal(answer.status, says ? 502 : 422, shown)
        verdicts[says ? 'fits' : 'refused']++
      }
      if (each.in !== 'path') await send('', !each.required)
      if (each.mayBeEmpty) await send(`${NAME}=`, true)
      const judge = judgeOf(each.schema, COMPONENTS)
      for (const value of each.values) {
        const says = judge(value)
        if (says === undefined) continue
        // Points are between items too: `.3.0.5` is 3 and 0.5, or 3.0 and 5.
        const isAmbiguous = each.style === 'label' && JSON.stringify(each.schema).includes('"number"')
        if (!(isAmbiguous && Array.isArray(value))) await send(spelledValue(each, value), says, value)
      }
    }
  } finally {
    await gate.svc('DELETE', '/svc/apis/p')
  }
}

/** The text of a value in a style, by the table of OpenAPI 3.1.1 (section "Style Examples"). */
function spelledValue({ in: place, style, explode }: GeneratedParameter, value: Json): string {
  const encoded = (each: Json) => {
    const text = typeof each === 'string' ? each : String(each)
    return place === 'path' || place === 'query' ? encodeURIComponent(text) : text
  }
  if (style === 'json') {
    const text = encoded(JSON.stringify(value))
    return place === 'query' ? `${NAME}=${text}` : text
  }
  if (style === 'reserved') return `${NAME}=${value}`
  if (style === 'nested') {
    const { l = [], o = {} } = value as { l?: Scalar[]; o?: Members }
    const pairs = Object.entries(o).map(([name, inner]) => `${NAME}[o][${name}]=${encoded(inner)}`)
    return [...l.map((item) => `${NAME}[l][]=${encoded(item)}`), ...pairs].join('&')
  }
  const isList = Array.isArray(value)
  const members = typeof value === 'object' && value !== null && !isList ? Object.entries(value as Members) : undefined
  const items = (isList ? value : []).map(encoded)
  const flat = members === undefined ? items : members.flatMap(([name, inner]) => [name, encoded(inner)])
  const pairs = (members ?? []).map(([name, inner]) => `${name}=${encoded(inner)}`)
  const isScalar = !isList && members === undefined
  if (style === 'deepObject') return members!.map(([name, inner]) => `${NAME}[${name}]=${encoded(inner)}`).join('&')
  if (style === 'spaceDelimited') return `${NAME}=${flat.join('%20')}`
  if (style === 'pipeDelimited') return `${NAME}=${flat.join('%7C')}`
  if (style === 'form') {
    const separator = place === 'cookie' ? '; ' : '&'
    if (isScalar) return `${NAME}=${encoded(value)}`
    if (!explode) return `${NAME}=${flat.join(',')}`
    return members === undefined ? items.map((item) => `${NAME}=${item}`).join(separator) : pairs.join(separator)
  }
  if (style === 'matrix') {
    if (isScalar) return `;${NAME}=${encoded(value)}`
    if (!explode) return `;${NAME}=${flat.join(',')}`
    return (members === undefined ? items.map((item) => `${NAME}=${item}`) : pairs).map((part) => `;${part}`).join('')
  }
  const separator = style === 'label' && explode ? '.' : ','
  const parts = members !== undefined && explode ? pairs : isScalar ? [encoded(value)] : flat
  return (style === 'label' ? '.' : '') + parts.join(separator)
}
