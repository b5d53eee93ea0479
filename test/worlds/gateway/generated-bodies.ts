import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import type { OpenApiVersion } from './generated-schemas.ts'

/** A body as it is sent, and the values that it can mean: one of them has to fit. */
interface SentBody {
  readonly text: string
  readonly readings: readonly Json[]
  readonly headers?: Readonly<Record<string, string>>
}

/** The body of an operation. */
export interface GeneratedBody {
  /** Its media type, as the document and the request name it. */
  readonly type: string
  readonly schema: JsonObject
  /** The schema of the values that are meant, where the document has another for them. */
  readonly meant: JsonObject
  /** Further members of the media type. */
  readonly media: JsonObject
  readonly sent: readonly SentBody[]
}

type Scalar = string | number | boolean | null

/** Schemas of a value that is a text in the request, with values whose text has one meaning for the schema. */
export const TEXT_SCALARS: readonly (readonly [JsonObject, fc.Arbitrary<Scalar>])[] = [
  [{ type: 'integer', minimum: 2, maximum: 6 }, fc.integer({ min: 0, max: 8 })],
  [{ type: 'number', multipleOf: 0.5 }, fc.constantFrom(0, 0.5, 1.25, -2)],
  [{ type: 'boolean' }, fc.boolean()],
  [{ type: 'string', maxLength: 2 }, fc.constantFrom('a', 'ab', 'red', '7', 'true', 'null', 'é')],
  [{ type: 'string', enum: ['a', 'red'] }, fc.constantFrom('a', 'ab', 'red', '7')],
  [{ type: 'string', pattern: '^\\p{L}+$', minLength: 1 }, fc.constantFrom('é', 'ab', '7', 'x1')],
  [{ type: 'string', format: 'date' }, fc.constantFrom('2024-02-29', '2023-02-29', 'a')],
  [{ enum: [1, true, 'a'] }, fc.constantFrom(1, true, 'a', 2, false, 'b')],
  [{ allOf: [{ type: 'integer' }, { minimum: 2 }] }, fc.integer({ min: 0, max: 6 })],
  [{ oneOf: [{ type: 'boolean' }, { type: 'number', minimum: 3 }] }, fc.constantFrom(true, 2, 4)],
]

/** A member of a form, with the parts that its value is sent as. */
interface Field {
  readonly schema: JsonObject
  readonly value: Json
  readonly pairs: readonly (readonly [name: string, text: string])[]
  readonly encoding?: JsonObject
}

function fieldOf(name: string, isMultipart: boolean): fc.Arbitrary<Field> {
  const scalar = fc.constantFrom(...TEXT_SCALARS)
  const one = scalar.chain(([schema, values]) =>
    values.map((value): Field => ({ schema, value, pairs: [[name, String(value)]] })),
  )
  const list = scalar.chain(([items, values]) =>
    fc
      .record({
        value: fc.array(values, { minLength: 1, maxLength: 3 }),
        as: fc.constantFrom('repeated', 'brackets', ...(isMultipart ? [] : (['commas', 'pipes'] as const))),
      })
      .map(({ value, as }): Field => {
        const schema = { type: 'array', items, minItems: 1, maxItems: 2 }
        const texts = value.map(String)
        if (as === 'repeated') return { schema, value, pairs: texts.map((text) => [name, text]) }
        if (as === 'brackets') return { schema, value, pairs: texts.map((text) => [`${name}[]`, text]) }
        const encoding = as === 'commas' ? { explode: false } : { style: 'pipeDelimited', explode: false }
        return { schema, value, pairs: [[name, texts.join(as === 'commas' ? ',' : '|')]], encoding }
      }),
  )
  const object = fc.tuple(scalar, scalar).chain(([[one, oneValue], [other, otherValue]]) =>
    fc
      .record({
        value: fc.record({ r: oneValue, g: otherValue }, { requiredKeys: ['g'], noNullPrototype: true }),
        as: fc.constantFrom('json', ...(isMultipart ? [] : (['deepObject', 'brackets'] as const))),
      })
      .map(({ value, as }): Field => {
        const schema = { type: 'object', properties: { r: one, g: other }, required: ['r'] }
        if (as === 'json') return { schema, value, pairs: [[name, JSON.stringify(value)]] }
        const pairs = Object.entries(value).map(([key, each]) => [`${name}[${key}]`, String(each)] as const)
        const encoding = { style: 'deepObject', explode: true }
        return { schema, value, pairs, ...(as === 'deepObject' && { encoding }) }
      }),
  )
  return fc.oneof(one, list, object)
}

const BOUNDARY = 'limit'

function formText(pairs: readonly (readonly [string, string])[], isMultipart: boolean): string {
  if (!isMultipart) return new URLSearchParams(pairs.map(([name, text]) => [name, text])).toString()
  const part = ([name, text]: readonly [string, string]) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`
  return `${pairs.map(part).join('')}--${BOUNDARY}--\r\n`
}

/** Forms of scalars, lists and objects, in every way that `encoding` spells them. */
function formBody(isMultipart: boolean): fc.Arbitrary<GeneratedBody> {
  return fc
    .record({ a: fieldOf('a', isMultipart), b: fieldOf('b', isMultipart), isStrict: fc.boolean() })
    .chain(({ a, b, isStrict }) => {
      const schema: JsonObject = {
        ...{ type: 'object', properties: { a: a.schema, b: b.schema }, required: ['a'] },
        ...(isStrict && { additionalProperties: false }),
      }
      const encoding = { ...(a.encoding && { a: a.encoding }), ...(b.encoding && { b: b.encoding }) }
      const further = { schema: {}, value: 'x', pairs: [['c', 'x']] } as const satisfies Field
      const sendings = fc.subarray([['a', a] as const, ['b', b] as const, ['c', further] as const], { minLength: 1 })
      return fc.array(sendings, { minLength: 2, maxLength: 4 }).map(
        (all): GeneratedBody => ({
          ...{ type: isMultipart ? 'multipart/form-data' : 'application/x-www-form-urlencoded', schema, meant: schema },
          media: Object.keys(encoding).length > 0 ? { encoding } : {},
          sent: all.map((fields) => ({
            text: formText(
              fields.flatMap(([, { pairs }]) => pairs),
              isMultipart,
            ),
            readings: [Object.fromEntries(fields.map(([name, { value }]) => [name, value]))],
            ...(isMultipart && { headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` } }),
          })),
        }),
      )
    })
}

/** A body of text. */
const textBody: fc.Arbitrary<GeneratedBody> = fc.constantFrom(...TEXT_SCALARS).chain(([schema, values]) =>
  fc.record({ type: fc.constantFrom('text/plain', 'text/csv'), all: fc.array(values, { minLength: 2 }) }).map(
    ({ type, all }): GeneratedBody => ({
      ...{ type, schema, meant: schema, media: {} },
      sent: all.map((value) => ({ text: String(value), readings: [value] })),
    }),
  ),
)

/** Ways to say that a member is read-only, as which requests need not have it. */
const READ_ONLY: readonly ((schema: JsonObject, version: OpenApiVersion) => JsonObject)[] = [
  (schema) => ({ ...schema, readOnly: true }),
  (schema) => ({ allOf: [{ ...schema, readOnly: true }] }),
  (schema) => ({ allOf: [schema], readOnly: true }),
  (schema) => ({ readOnly: true, anyOf: [schema] }),
]

/** Objects with read-only and write-only members, and what is required of them said in one place or another. */
const flaggedBody = (version: OpenApiVersion): fc.Arbitrary<GeneratedBody> =>
  fc
    .record({
      flag: fc.constantFrom(...READ_ONLY),
      apart: fc.constantFrom('same', 'before', 'behind', 'both'),
      required: fc.subarray(['id', 'name', 'secret'], { minLength: 1 }),
      values: fc.array(
        fc.record(
          {
            id: fc.constantFrom<Json>(1, 'x'),
            name: fc.constantFrom<Json>('n', 2),
            secret: fc.constantFrom<Json>('s', null),
          },
          { requiredKeys: [], noNullPrototype: true },
        ),
        { minLength: 3, maxLength: 6 },
      ),
    })
    .map(({ flag, apart, required, values }): GeneratedBody => {
      const id = { type: 'integer' }
      const properties = (first: JsonObject) => ({
        id: first,
        name: { type: 'string', readOnly: false },
        secret: { type: 'string', writeOnly: true },
      })
      const described = { type: 'object', properties: properties(flag(id, version)) }
      const demand = { required }
      const schemas: Readonly<Record<typeof apart, JsonObject>> = {
        same: { ...described, required },
        before: { allOf: [demand, described] },
        behind: { allOf: [described], required },
        both: { ...demand, allOf: [{ ...described, required: required.slice(0, 1) }] },
      }
      const meant = { type: 'object', properties: properties(id), required: required.filter((name) => name !== 'id') }
      return {
        ...{ type: 'application/json', schema: schemas[apart], meant, media: {} },
        sent: values.map((value) => ({ text: JSON.stringify(value), readings: [value as Json] })),
      }
    })

/** Bodies whose media type or flags say more than their schema: forms, texts, members that are read-only. */
export const typedBody = (version: OpenApiVersion): fc.Arbitrary<GeneratedBody> =>
  fc.oneof(formBody(false), formBody(true), textBody, flaggedBody(version))
