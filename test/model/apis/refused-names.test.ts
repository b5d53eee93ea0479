import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFault } from '../../../src/errors/fault.ts'
import { copyTree } from '../../../src/model/apis/definition/tree.ts'
import { readNewApi } from '../../../src/model/apis/read/read.ts'
import type { Schema } from '../../../src/model/apis/schema/schema.ts'
import { CLASSIC_SCHEMA } from '../../../src/model/apis/schema/schema-classic.ts'
import { EXTENSION_SCHEMA } from '../../../src/model/apis/schema/schema-oas.ts'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../../worlds/base/definitions.ts'

const EXTENSION = 'x-svc-api-gateway'

function namesIn(schema: Schema, names = new Set<string>()): Set<string> {
  for (const [name, below] of Object.entries((schema.properties ?? {}) as JsonObject)) {
    names.add(name)
    if (isObject(below)) namesIn(below, names)
  }
  for (const below of [schema.items, schema.additionalProperties])
    if (below !== undefined && isObject(below)) namesIn(below, names)
  return names
}

const OAS_NAMES = namesIn(EXTENSION_SCHEMA)
/** Names that only classic definitions have, and that are no words of prose. */
const CLASSIC_NAMES = [...namesIn(CLASSIC_SCHEMA)].filter((name) => name.includes('_') && !OAS_NAMES.has(name))
/** Members of event handlers, which the schema leaves free. */
const FREE_NAMES = ['target_path', 'header_map', 'handler_meta', 'handler_name', 'event_timeout']
const SAYS_CLASSIC = new RegExp(`(?<![\\w.])(?:${[...CLASSIC_NAMES, ...FREE_NAMES].join('|')})(?!\\w)`)

/** Values of the right type that some members refuse; those of another type are refused by the schemas, which have the format's own names. */
const WRONG: Readonly<Record<string, readonly Json[]>> = {
  string: ['', 'nonsense value', 'ftp://10.0.0.1/', '('],
  ...{ integer: [-1, 1e9, 0], number: [-1, 1e9, 0.5], boolean: [true], array: [[]], object: [{}] },
}

interface Member {
  readonly path: readonly string[]
  readonly types: readonly string[]
}

/** Every member of a section, with list entries as the first one and free names as `a`. */
function* membersOf(schema: Schema, at: readonly string[] = []): Generator<Member> {
  if (at.length > 8) return
  for (const [name, below] of Object.entries((schema.properties ?? {}) as JsonObject)) {
    if (!isObject(below)) continue
    yield { path: [...at, name], types: [below.type ?? []].flat().map(String) }
    yield* membersOf(below, [...at, name])
  }
  if (schema.items !== undefined && isObject(schema.items)) yield* membersOf(schema.items, [...at, '0'])
  if (schema.additionalProperties !== undefined && isObject(schema.additionalProperties))
    yield* membersOf(schema.additionalProperties, [...at, 'a'])
}

/** Puts a value at a path whose sections are all switched on; entries of lists are made. */
function withValue(document: JsonObject, path: readonly string[], value: Json): JsonObject {
  let at: Json = document
  for (const [index, name] of path.entries()) {
    const isLast = index === path.length - 1
    const holder = at as JsonObject
    const next = holder[name]
    if (isLast) holder[name] = value
    else if (typeof next !== 'object' || next === null) holder[name] = path[index + 1] === '0' ? [] : { enabled: true }
    else if (!Array.isArray(next) && index > 1) (next as JsonObject).enabled ??= true
    at = holder[name]!
  }
  return document
}

/** A document for each kind of scheme, which is named as free names are here. */
const BASES = [
  { type: 'apiKey', in: 'header', name: 'x-key' },
  { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  { type: 'oauth2', flows: { authorizationCode: { authorizationUrl: '/a', tokenUrl: '/t', scopes: {} } } },
].map((scheme): JsonObject => {
  const document = defined({
    ...{ id: 'a', url: 'http://upstream.test/' },
    paths: { '/a': { get: { operationId: 'a', responses: { 200: { description: 'ok' } } } } },
    operations: { a: {} },
    server: {
      authentication: { enabled: true, securitySchemes: { a: { enabled: true } } },
      eventHandlers: [
        {
          enabled: true,
          type: 'webhook',
          trigger: 'AuthFailure',
          url: 'https://h.test/',
          headers: [{ name: 'x-a', value: 'b' }],
        },
      ],
    },
  })
  return { ...document, components: { securitySchemes: { a: scheme } }, security: [{ a: [] }] }
})

function refusalOf(definition: JsonObject): string {
  try {
    readNewApi({ api_id: 'a', org_id: '', name: 'a', format: 'oas', definition })
    return ''
  } catch (error) {
    return toFault(error).message
  }
}

test('a refusal of an OpenAPI definition names members as its author wrote them', () => {
  const wrong = new Set<string>()
  let refusals = 0
  for (const base of BASES) {
    assert.equal(refusalOf(base), '')
    for (const { path, types } of membersOf(EXTENSION_SCHEMA))
      for (const value of types.flatMap((type) => WRONG[type] ?? [])) {
        const refusal = refusalOf(withValue(copyTree(base), [EXTENSION, ...path], value))
        if (refusal !== '') refusals++
        // Words in quotes are values.
        const found = SAYS_CLASSIC.exec(refusal.replaceAll(/"[^"]*"/g, ''))
        if (found !== null) wrong.add(`${path.join('.')} = ${JSON.stringify(value)}, ${found[0]}: ${refusal}`)
      }
  }
  assert.ok(refusals > 300, `${refusals} refusals`)
  assert.deepEqual([...wrong], [])
})
