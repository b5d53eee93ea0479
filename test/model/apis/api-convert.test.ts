import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Fault } from '../../../src/errors/fault.ts'
import { unsupportedOasSchemes } from '../../../src/model/apis/check/check-parts.ts'
import { unsupportedFeaturesOf } from '../../../src/model/apis/check/unsupported.ts'
import { toClassic, toOas } from '../../../src/model/apis/convert/convert.ts'
import type { Api } from '../../../src/model/apis/definition/api.ts'
import { EXTENSION, extensionOf } from '../../../src/model/apis/definition/members.ts'
import { copyTree, removeAt } from '../../../src/model/apis/definition/tree.ts'
import { readApi } from '../../../src/model/apis/read/read.ts'
import { CLASSIC_SCHEMA } from '../../../src/model/apis/schema/schema-classic.ts'
import { EXTENSION_SCHEMA } from '../../../src/model/apis/schema/schema-oas.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { documentAround, fitting } from '../../worlds/model/api-arbitraries.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 6_000 : 600

/** Every definition has one: without it only those with other targets are served. */
const UPSTREAM = 'http://up:8080/'

const classics = fitting({ ...CLASSIC_SCHEMA, type: 'object' }).map((tree) => {
  const { oas: _, ...classic } = tree as JsonObject
  return { ...classic, proxy: { ...(classic.proxy as JsonObject), target_url: UPSTREAM } }
})
const documents = documentAround(
  fitting({ ...EXTENSION_SCHEMA, type: 'object' }).map((tree) => {
    const extension = tree as JsonObject
    return { ...extension, upstream: { ...(extension.upstream as JsonObject), url: UPSTREAM } }
  }),
)

test('classic to OpenAPI and back gives the definition again', () => {
  fc.assert(
    fc.property(classics, (classic) => {
      const { document, lost } = toOas(classic)
      assert.deepEqual(lost, [])
      const back = toClassic(document)
      assert.deepEqual(back.definition, classic)
      assert.deepEqual(back.lost, [])
    }),
    { numRuns: RUNS },
  )
})

test('OpenAPI to classic and back gives the document again', () => {
  fc.assert(
    fc.property(documents, (document) => {
      const { definition, lost } = toClassic(document)
      assert.deepEqual(lost, [])
      const back = toOas(definition)
      assert.deepEqual(back.document, document)
      assert.deepEqual(back.lost, [])
    }),
    { numRuns: RUNS },
  )
})

test('a conversion does not change what it converts', () => {
  fc.assert(
    fc.property(classics, documents, (classic, document) => {
      const before = [copyTree(classic), copyTree(document)]
      toOas(classic)
      toClassic(document)
      assert.deepEqual([classic, document], before)
    }),
    { numRuns: RUNS / 10 },
  )
})

/** Takes away what this gateway does not serve, so that most definitions can be read. */
function servable(definition: JsonObject, format: 'classic' | 'oas'): JsonObject {
  const copy = copyTree(definition)
  const wishes = () => {
    if (format === 'classic') return unsupportedFeaturesOf(copy, 'classic')
    const extension = extensionOf(copy)!
    return [...unsupportedFeaturesOf(extension, 'oas', [EXTENSION]), ...unsupportedOasSchemes(copy, extension)]
  }
  for (const { at } of wishes()) removeAt(copy, at)
  return copy
}

/** Two compiled checks are never the same function. */
function withoutFunctions<T>(value: T): T {
  if (typeof value === 'function') return 'a function' as T
  if (Array.isArray(value)) return value.map(withoutFunctions) as T
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) === Map.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutFunctions(each)])) as T
}

type Outcome = { api: Api } | { refused: string }

function outcome(format: 'classic' | 'oas', definition: JsonObject): Outcome {
  try {
    const api = readApi({ api_id: 'i', org_id: 'o', name: 'n', format, definition })
    return { api: withoutFunctions({ ...api, format: 'classic' }) }
  } catch (error) {
    assert.ok(error instanceof Fault, String(error))
    return { refused: error.message }
  }
}

test('both forms of a classic definition are served the same', () => {
  let served = 0
  fc.assert(
    fc.property(classics, (generated) => {
      const classic = servable(generated, 'classic')
      const own = outcome('classic', classic)
      const other = outcome('oas', toOas(classic).document)
      if ('api' in own) {
        served++
        assert.deepEqual(other, own)
      } else assert.ok('refused' in other, `only the classic form is refused: ${own.refused}`)
    }),
    { numRuns: RUNS },
  )
  assert.ok(served > RUNS / 4, `only ${served} of ${RUNS} were served`)
})

test('both forms of an OpenAPI document are served the same', () => {
  let served = 0
  fc.assert(
    fc.property(documents, (generated) => {
      const document = servable(generated, 'oas')
      const own = outcome('oas', document)
      if ('refused' in own) return
      served++
      assert.deepEqual(outcome('classic', toClassic(document).definition), own)
    }),
    { numRuns: RUNS },
  )
  assert.ok(served > RUNS / 8, `only ${served} of ${RUNS} were served`)
})
