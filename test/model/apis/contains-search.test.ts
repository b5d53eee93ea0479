import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PreparedSchemas } from '../../../src/model/apis/check/prepared-schemas.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'

const HOLDERS: Readonly<Record<string, (references: JsonObject[]) => JsonObject>> = {
  ...{ anyOf: (anyOf) => ({ anyOf }), allOf: (allOf) => ({ allOf }), oneOf: (oneOf) => ({ oneOf }) },
  dependentSchemas: (all) => ({ dependentSchemas: Object.fromEntries(all.entries()) }),
}

/** Layers of schemas, each of which leads to all of the next layer; the last ones are `leaf`. */
function layered(layers: number, width: number, hold: (references: JsonObject[]) => JsonObject, leaf: JsonObject) {
  const schemas: JsonObject = {}
  let references = 0
  for (let layer = 0; layer < layers; layer++)
    for (let index = 0; index < width; index++) {
      const isLast = layer === layers - 1
      const next = Array.from({ length: width }, (_, i) => ({ $ref: `#/components/schemas/L${layer + 1}N${i}` }))
      schemas[`L${layer}N${index}`] = isLast ? leaf : { unevaluatedItems: false, ...hold(next) }
      references += isLast ? 0 : width
    }
  const document = { openapi: '3.1.0', components: { schemas } }
  return { document, names: Object.keys(schemas), references }
}

for (const [name, hold] of Object.entries(HOLDERS))
  for (const leaf of [{ type: 'array' }, { type: 'array', contains: {} }] as const)
    test(`each reference is followed once in search of "contains": ${name}, ${'contains' in leaf}`, () => {
      const [layers, width] = [6, 8]
      const { document, names, references } = layered(layers, width, hold, leaf)
      let made = 0
      const prepared = new PreparedSchemas(document, () => `n${made++}`)
      const places = new Set<string>()
      for (const each of names)
        for (const { at } of prepared.at(['components', 'schemas', each]).unchecked)
          if (at.at(-1) === 'unevaluatedItems') places.add(at.join('/'))
      assert.equal(places.size, 'contains' in leaf ? (layers - 1) * width : 0)
      // A reference is a schema of its own, and leads to another: two ways and two schemas.
      assert.ok(prepared.contains.steps > 0)
      assert.ok(prepared.contains.steps <= 4 * (references + names.length), `${prepared.contains.steps}`)
    })

test('a long chain of references to "contains" is followed to its end', () => {
  const length = 15_000
  const schemas = Object.fromEntries(
    Array.from({ length }, (_, i) => [
      `S${i}`,
      i === length - 1
        ? { contains: {} }
        : { ...(i === 0 && { unevaluatedItems: false }), anyOf: [{ $ref: `#/components/schemas/S${i + 1}` }] },
    ]),
  ) as JsonObject
  let made = 0
  const prepared = new PreparedSchemas({ openapi: '3.1.0', components: { schemas } }, () => `n${made++}`)
  assert.equal(prepared.at(['components', 'schemas', 'S0']).unchecked.length, 1)
})
