import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import * as Schema from 'typebox/schema'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import type { TestGateway } from '../base/harness.ts'
import { oasApi } from './admin-fixtures.ts'

type Scalar = string | number | boolean | null
type Members = Readonly<Record<string, Scalar>>

/** A parameter, and values to be sent in its style. */
export interface GeneratedParameter {
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly style: string
  readonly explode: boolean
  readonly schema: JsonObject
  readonly values: readonly (Scalar | readonly Scalar[] | Members)[]
}

const STYLES: readonly (readonly [GeneratedParameter['in'], string])[] = [
  ...(['simple', 'label', 'matrix'] as const).map((style) => ['path', style] as const),
  ...(['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'] as const).map((style) => ['query', style] as const),
  ...([
    ['header', 'simple'],
    ['cookie', 'form'],
  ] as const),
]

const word = fc.constantFrom('a', 'ab', 'red', '7', 'true', 'null', 'x1')
const SCALARS: readonly (readonly [JsonObject, fc.Arbitrary<Scalar>])[] = [
  [{ type: 'integer', minimum: 2, maximum: 6 }, fc.integer({ min: 0, max: 8 })],
  [{ type: 'number', multipleOf: 0.5 }, fc.constantFrom(0, 0.5, 1.25, -2)],
  [{ type: 'boolean' }, fc.boolean()],
  [{ type: 'string', maxLength: 2 }, word],
  [{ type: 'string', enum: ['a', 'red'] }, word],
  [{ anyOf: [{ type: 'integer', maximum: 5 }, { type: 'null' }] }, fc.constantFrom(3, 8, null)],
  [{ oneOf: [{ type: 'boolean' }, { type: 'number', minimum: 3 }] }, fc.constantFrom(true, 2, 4)],
  [{ allOf: [{ $ref: '#/components/schemas/Small' }, { minimum: 2 }] }, fc.integer({ min: 0, max: 6 })],
  [{ type: ['integer', 'boolean'] }, fc.constantFrom(1, false)],
]
const scalar = fc.constantFrom(...SCALARS)
const NAMES = ['r', 'g', 'b']

const parameter: fc.Arbitrary<GeneratedParameter> = fc
  .tuple(fc.constantFrom(...STYLES), fc.boolean(), fc.constantFrom('scalar', 'list', 'object'), scalar, scalar)
  .filter(([[, style], explode, shape]) => {
    if (style === 'deepObject') return shape === 'object' && explode
    if (style === 'spaceDelimited' || style === 'pipeDelimited') return shape !== 'scalar' && !explode
    return true
  })
  // Cookies of one name are no list, and a list of items that may be null has no spelling for one of them.
  .filter(([[place], explode, shape]) => !(place === 'cookie' && shape === 'list' && explode))
  .chain(([[place, style], explode, shape, [one, oneValue], [other, otherValue]]) => {
    const schemas: Readonly<Record<string, JsonObject>> = {
      scalar: one,
      list: { type: 'array', items: one, minItems: 1, maxItems: 3 },
      object: { type: 'object', properties: { r: one, g: other }, required: ['r'] },
    }
    const values: Readonly<Record<string, fc.Arbitrary<GeneratedParameter['values'][number]>>> = {
      scalar: oneValue,
      list: fc.array(oneValue, { minLength: 1, maxLength: 4 }),
      object: fc
        .tuple(fc.subarray(NAMES.slice(0, 2), { minLength: 1 }), oneValue, otherValue)
        .map(([names, r, g]) => Object.fromEntries(names.map((name) => [name, name === 'r' ? r : g]))),
    }
    return fc.record({
      in: fc.constant(place),
      ...{ style: fc.constant(style), explode: fc.constant(explode), schema: fc.constant(schemas[shape]!) },
      values: fc.array(values[shape]!, { minLength: 3, maxLength: 6 }),
    })
  })

/** Parameters of every style, with scalars, lists and objects of every kind of union. */
export const generatedParameters = fc.array(parameter, { minLength: 4, maxLength: 10 })

const COMPONENTS = { Small: { type: 'integer', maximum: 4 } }
const NAME = 'p'

/** Publishes parameters, and sends their values in their styles: what two validators say of a value the gateway says. */
export async function checkParameters(
  gate: TestGateway,
  parameters: readonly GeneratedParameter[],
  verdicts: { fits: number; refused: number },
): Promise<void> {
  const base = oasApi('P', '/p/', { id: 'p' })
  const paths = parameters.map(({ values: _values, ...described }, index) => {
    const operation = {
      operationId: `o${index}`,
      responses: {},
      parameters: [{ name: NAME, required: true, ...described }],
    }
    return [described.in === 'path' ? `/${index}/{${NAME}}` : `/${index}/x`, { get: operation }] as const
  })
  const operations = Object.fromEntries(parameters.map((_each, i) => [`o${i}`, { validateRequest: { enabled: true } }]))
  const saved = await gate.svc('POST', '/svc/apis/oas', {
    ...{ ...base, openapi: '3.1.0', paths: Object.fromEntries(paths) as unknown as Json },
    components: { schemas: COMPONENTS },
    'x-svc-api-gateway': { ...(base['x-svc-api-gateway'] as JsonObject), middleware: { operations } },
  })
  assert.deepEqual(saved.json, { key: 'p', status: 'ok', action: 'added' })
  try {
    for (const [index, each] of parameters.entries())
      for (const value of each.values) {
        const whole = { allOf: [each.schema], components: { schemas: COMPONENTS } } as JsonObject
        const says = new Ajv2020({ strict: false }).validate(whole, value)
        if (says !== Schema.Check(whole, value)) continue
        // Points are between items too: `.3.0.5` is 3 and 0.5, or 3.0 and 5.
        const isAmbiguous = each.style === 'label' && JSON.stringify(each.schema).includes('"number"')
        if (isAmbiguous && Array.isArray(value)) continue
        const text = spelled(each, value)
        const at = each.in === 'path' ? text : each.in === 'query' ? `x?${text}` : 'x'
        const headers = each.in === 'header' ? { [NAME]: text } : each.in === 'cookie' ? { cookie: text } : {}
        const answer = await gate.call(`/p/${index}/${at}`, { headers })
        assert.equal(answer.status, says ? 502 : 422, JSON.stringify({ ...each, values: undefined, value, text }))
        verdicts[says ? 'fits' : 'refused']++
      }
  } finally {
    await gate.svc('DELETE', '/svc/apis/p')
  }
}

/** The text of a value in a style, by the table of OpenAPI 3.1.1 (section "Style Examples"). */
function spelled(
  { in: place, style, explode }: GeneratedParameter,
  value: GeneratedParameter['values'][number],
): string {
  const isList = Array.isArray(value)
  const members = typeof value === 'object' && value !== null && !isList ? Object.entries(value as Members) : undefined
  const items = (isList ? (value as readonly Scalar[]) : []).map(String)
  const flat = members === undefined ? items : members.flatMap(([name, inner]) => [name, String(inner)])
  const pairs = (members ?? []).map(([name, inner]) => `${name}=${inner}`)
  const isScalar = !isList && members === undefined
  if (style === 'deepObject') return members!.map(([name, inner]) => `${NAME}[${name}]=${inner}`).join('&')
  if (style === 'spaceDelimited') return `${NAME}=${flat.join('%20')}`
  if (style === 'pipeDelimited') return `${NAME}=${flat.join('%7C')}`
  if (style === 'form') {
    const separator = place === 'cookie' ? '; ' : '&'
    if (isScalar) return `${NAME}=${value}`
    if (!explode) return `${NAME}=${flat.join(',')}`
    return members === undefined ? items.map((item) => `${NAME}=${item}`).join(separator) : pairs.join(separator)
  }
  if (style === 'matrix') {
    if (isScalar) return `;${NAME}=${value}`
    if (!explode) return `;${NAME}=${flat.join(',')}`
    return (members === undefined ? items.map((item) => `${NAME}=${item}`) : pairs).map((part) => `;${part}`).join('')
  }
  const separator = style === 'label' && explode ? '.' : ','
  const parts = members !== undefined && explode ? pairs : isScalar ? [String(value)] : flat
  return (style === 'label' ? '.' : '') + parts.join(separator)
}
