import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFault } from '../../../src/errors/fault.ts'
import { definitionWarnings } from '../../../src/model/apis/check/definition-warnings.ts'
import { toClassic, toOas } from '../../../src/model/apis/convert/convert.ts'
import type { ApiDocument } from '../../../src/model/apis/definition/api.ts'
import { fillIds } from '../../../src/model/apis/definition/fill-ids.ts'
import { readNewApi } from '../../../src/model/apis/read/read.ts'
import type { Schema } from '../../../src/model/apis/schema/schema.ts'
import { CLASSIC_SCHEMA } from '../../../src/model/apis/schema/schema-classic.ts'
import { EXTENSION_SCHEMA } from '../../../src/model/apis/schema/schema-oas.ts'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { spread } from '../../worlds/base/spread.ts'
import { authToken, classic, oas, oauth } from '../../worlds/model/api-samples.ts'

type Step = string | number
interface Member {
  readonly path: readonly Step[]
  readonly schema: Schema
}

const EXTENSION = 'x-svc-api-gateway'

/** All members of a schema; maps have one entry, lists too. */
function membersOf(schema: Schema, nameOf: (path: readonly Step[]) => string, path: readonly Step[] = []): Member[] {
  const { properties, additionalProperties, items } = schema
  const own = Object.entries(isObject(properties) ? properties : {}).flatMap(([name, each]) => [
    { path: [...path, name], schema: each as Schema },
    ...membersOf(each as Schema, nameOf, [...path, name]),
  ])
  const mapped = isObject(additionalProperties) ? membersOf(additionalProperties, nameOf, [...path, nameOf(path)]) : []
  const listed = isObject(items) ? membersOf(items, nameOf, [...path, 0]) : []
  return [...own, ...mapped, ...listed]
}

/** A copy with a value at a path, and with what must be on the way. `undefined` = the same without the member. */
function withMember(base: JsonObject, { path }: Member, root: Schema, value: Json | undefined): JsonObject {
  const copy = structuredClone(base)
  let at = copy as Record<Step, Json>
  let schema = root
  for (const [index, step] of path.entries()) {
    const below = schemaAt(schema, step)
    if (index === path.length - 1) {
      if (value === undefined) delete at[step]
      else at[step] = value
      break
    }
    if (typeof at[step] !== 'object' || at[step] === null)
      at[step] = typeof path[index + 1] === 'number' ? [] : filled(below)
    at = at[step] as Record<Step, Json>
    schema = below
  }
  return copy
}

function schemaAt(schema: Schema, step: Step): Schema {
  if (typeof step === 'number') return schema.items as Schema
  const own = (schema.properties as Record<string, Schema> | undefined)?.[step]
  return own ?? (schema.additionalProperties as Schema)
}

/** An object with what its schema requires. */
function filled(schema: Schema): JsonObject {
  const names = Array.isArray(schema.required) ? (schema.required as string[]) : []
  return Object.fromEntries(names.map((name) => [name, SAMPLES[name] ?? 'x']))
}
const SAMPLES: JsonObject = { path: '/a', value: '/a/', url: 'http://up:1/', name: 'x-a', weight: 1 }

function typeOf(schema: Schema): string {
  return Array.isArray(schema.type) ? String(schema.type[0]) : String(schema.type)
}

const ZEROS: Readonly<Record<string, Json>> = {
  string: '',
  boolean: false,
  integer: 0,
  number: 0,
  array: [],
  object: {},
}

/** The zero value as a program in Go writes it: objects of OpenAPI definitions are pointers there. */
function zeroOf(format: ApiDocument['format'], schema: Schema): Json {
  if (schema.is === 'duration') return '0s'
  const type = typeOf(schema)
  return format === 'oas' && type === 'object' ? null : (ZEROS[type] ?? null)
}

/** The whole object with a zero value in each member that it lacks. */
function withZeros(format: ApiDocument['format'], schema: Schema, value: Json | undefined): Json {
  if (value === undefined || value === null) {
    const zero = zeroOf(format, schema)
    return isObject(zero) && isObject(schema.properties) ? withZeros(format, schema, {}) : zero
  }
  if (Array.isArray(value))
    return isObject(schema.items) ? value.map((each) => withZeros(format, schema.items as Schema, each)) : value
  if (!isObject(value)) return value
  const filledIn = { ...value }
  for (const [name, each] of Object.entries(isObject(schema.properties) ? schema.properties : {}))
    if (!OTHERWISE.has(name)) filledIn[name] = withZeros(format, each as Schema, filledIn[name])
  if (isObject(schema.additionalProperties))
    for (const [name, each] of Object.entries(value))
      filledIn[name] = withZeros(format, schema.additionalProperties as Schema, each)
  return filledIn
}

/** Members whose absence is none of their zero value: conversions write them. */
const OTHERWISE: ReadonlySet<string> = new Set(['oas', 'classic'])

/** The outcome of a definition: the API that is served, its conversion to the other format, and what is warned of. */
function outcomeOf(format: ApiDocument['format'], definition: JsonObject): { text: string; refused: boolean } {
  try {
    const ids = { orgId: 'o' }
    const named = format === 'classic' ? { ...definition, api_id: 'a', id: 'f'.repeat(24) } : definition
    const document = { ...fillIds(format, named, ids), api_id: 'a', format }
    const api = readNewApi(document)
    const converted =
      format === 'classic' ? toOas(document.definition).document : toClassic(document.definition).definition
    const again = readNewApi({ ...document, format: format === 'classic' ? 'oas' : 'classic', definition: converted })
    definitionWarnings(document)
    return { text: JSON.stringify([api, { ...again, format }]), refused: false }
  } catch (error) {
    const found = toFault(error)
    assert.ok(['definition_invalid', 'definition_unsupported'].includes(found.code), `${found.code} ${found.stack}`)
    return { text: found.message, refused: true }
  }
}

const FORMATS = {
  classic: {
    bases: [
      classic({ use_keyless: true }),
      classic({ use_standard_auth: true }),
      classic({ use_oauth2: true, oauth_meta: { allowed_access_types: ['client_credentials'] } }),
    ],
    schema: CLASSIC_SCHEMA,
    at: [] as string[],
    nameOf: (path: readonly Step[]) => (path.at(-1) === 'versions' && path.at(-2) === 'version_data' ? 'Default' : 'x'),
  },
  oas: {
    bases: [oas({ document: { paths: { '/a': { get: { operationId: 'x', responses: {} } } } } }), authToken(), oauth()],
    schema: { properties: { [EXTENSION]: EXTENSION_SCHEMA } } as Schema,
    at: [EXTENSION],
    nameOf: (path: readonly Step[]) => (path.at(-1) === 'securitySchemes' ? 'key' : 'x'),
  },
}

for (const format of ['classic', 'oas'] as const) {
  const { bases, schema, nameOf } = FORMATS[format]
  const members = membersOf(schema, nameOf)

  for (const kind of ['null', 'a zero value'] as const)
    test(`${format}: ${kind} in a member means what its absence means`, () => {
      const wrong: string[] = []
      let served = 0
      for (const [turn, base] of bases.entries())
        for (const member of spread(members, turn, bases.length)) {
          if (kind !== 'null' && member.path.some((step) => OTHERWISE.has(String(step)))) continue
          const value = kind === 'null' ? null : zeroOf(format, member.schema)
          const without = outcomeOf(format, withMember(base, member, schema, undefined))
          const sent = outcomeOf(format, withMember(base, member, schema, value))
          if (without.refused) continue
          served++
          if (sent.text !== without.text) wrong.push(`${member.path.join('.')}: ${sent.text.slice(0, 300)}`)
        }
      assert.deepEqual(wrong, [])
      assert.ok(served > members.length / 3, String(served))
    })

  test(`${format}: a definition with zero values in all members that it lacks is served as before`, () => {
    for (const base of bases) {
      const { text, refused } = outcomeOf(format, base)
      assert.equal(refused, false, text)
      assert.equal(outcomeOf(format, withZeros(format, schema, base) as JsonObject).text, text)
    }
  })
}
