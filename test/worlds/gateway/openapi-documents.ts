import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import type { TestGateway } from '../base/harness.ts'
import { oasApi } from './admin-fixtures.ts'
import { type GeneratedBody, typedBody } from './generated-bodies.ts'
import {
  closedSchemas,
  componentsOf,
  generatedValues,
  judgeOf,
  type OpenApiVersion,
  schemasOf,
  VERSIONS,
} from './generated-schemas.ts'

/** A document, and bodies for each of its operations. */
export interface GeneratedDocument {
  readonly version: OpenApiVersion
  readonly components: Readonly<Record<string, JsonObject>>
  readonly operations: readonly GeneratedBody[]
}

/** A JSON body of any schema. */
function jsonBody(version: OpenApiVersion): fc.Arbitrary<GeneratedBody> {
  return fc
    .record({
      schema:
        version === '3.0.3'
          ? schemasOf(version)
          : fc.oneof({ weight: 5, arbitrary: schemasOf(version) }, { weight: 1, arbitrary: closedSchemas(version) }),
      values: fc.array(generatedValues, { minLength: 5, maxLength: 9 }),
      type: fc.constantFrom('application/json', 'application/json; charset=utf-8', 'application/vnd.a+json'),
    })
    .map(({ schema, values, type }) => ({
      ...{ schema, type, meant: schema, media: {} },
      sent: values.map((value) => ({ text: JSON.stringify(value), readings: [value] })),
    }))
}

/** Documents of every keyword and kind of body, with schemas that refer to each other and to themselves. */
export const generatedDocuments: fc.Arbitrary<GeneratedDocument> = fc.constantFrom(...VERSIONS).chain((version) => {
  const operation = fc.oneof({ weight: 3, arbitrary: jsonBody(version) }, { weight: 1, arbitrary: typedBody(version) })
  return fc.record({
    version: fc.constant(version),
    components: componentsOf(version),
    operations: fc.array(operation, { minLength: 4, maxLength: 8 }),
  })
})

/** How often an independent validator and the gateway said what of bodies. */
export interface Verdicts {
  fits: number
  refused: number
  /** The validator fails. */
  disputed: number
}

/** The one reason for which a part of these documents is not checked: then nothing is refused for it. */
const WITHOUT_EFFECT = /^has no effect.*: (?:"none" is no format|what fits is what "oneOf")/
const IN_CIRCLES = /leads to itself without an end|holds a part that is not checked|judges all items/

/** Publishes a document with checks, and sends every body to every operation: what the validator says of it the gateway says. */
export async function checkDocument(
  gate: TestGateway,
  { version, components, operations }: GeneratedDocument,
  verdicts: Verdicts,
  judges: typeof judgeOf = judgeOf,
): Promise<void> {
  const base = oasApi('G', '/g/', { id: 'g' })
  const paths = operations.map(({ type, schema, media }, index) => {
    const requestBody = { required: true, content: { [type]: { schema, ...media } } }
    return [`/${index}`, { post: { operationId: `o${index}`, requestBody, responses: {} } }] as const
  })
  const rules = Object.fromEntries(operations.map((_each, i) => [`o${i}`, { validateRequest: { enabled: true } }]))
  const saved = await gate.svc('POST', '/svc/apis/oas', {
    ...{ ...base, openapi: version, paths: Object.fromEntries(paths) as unknown as Json },
    components: { schemas: components },
    'x-svc-api-gateway': { ...(base['x-svc-api-gateway'] as JsonObject), middleware: { operations: rules } },
  })
  assert.equal(saved.status, 200, saved.text)
  const said = (saved.json as { warnings?: { message: string }[] }).warnings ?? []
  const warnings = said.filter(({ message }) => !WITHOUT_EFFECT.test(message))
  try {
    for (const { message } of warnings) assert.match(message, IN_CIRCLES)
    for (const [index, { type, schema, meant, sent }] of operations.entries()) {
      const judge = judges(meant, components)
      for (const { text, readings, headers = {} } of sent) {
        const judged = readings.map(judge)
        if (judged.includes(undefined)) {
          verdicts.disputed++
          continue
        }
        const says = judged.includes(true)
        if (!says && warnings.length > 0) continue
        const own = { 'content-type': type, ...headers }
        const answer = await gate.call(`/g/${index}`, { method: 'POST', headers: own, body: text })
        const shown = JSON.stringify({ version, type, schema, components, text, faults: answer.text })
        assert.equal(answer.status, says ? 502 : 422, shown)
        verdicts[says ? 'fits' : 'refused']++
      }
    }
  } finally {
    await gate.svc('DELETE', '/svc/apis/g')
  }
}
