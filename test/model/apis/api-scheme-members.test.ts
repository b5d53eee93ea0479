import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { Fault } from '../../../src/errors/fault.ts'
import { getAt, putAt } from '../../../src/model/apis/definition/tree.ts'
import { readApi } from '../../../src/model/apis/read/read.ts'
import type { Schema } from '../../../src/model/apis/schema/schema.ts'
import { EXTENSION_SCHEMA } from '../../../src/model/apis/schema/schema-oas.ts'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { classic, oas } from '../../worlds/model/api-samples.ts'

const DECLARED: Readonly<Record<string, JsonObject>> = {
  key: { type: 'apiKey', in: 'header', name: 'Authorization' },
  oauth: { type: 'oauth2', flows: { authorizationCode: { authorizationUrl: '/a', tokenUrl: '/t', scopes: {} } } },
  issued: { type: 'oauth2', flows: {} },
  introspected: { type: 'oauth2', flows: {} },
  jwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  basic: { type: 'http', scheme: 'basic' },
  hmac: {},
}
/** The least that a scheme of the kind needs. */
const NEEDED: Readonly<Record<string, JsonObject>> = {
  jwt: { source: 'https://idp.example/jwks', defaultPolicies: ['base'] },
  oauth: { allowedAuthorizeTypes: ['code'] },
  issued: { providers: [{ jwt: { enabled: true, source: 'https://idp.example/jwks' } }] },
  introspected: {
    providers: [{ introspection: { enabled: true, url: 'https://idp.example/i', cache: { timeout: 5 } } }],
  },
}

/** Both, the second one's values where both have one; entries of lists by their places. */
function merged(first: Json | undefined, second: Json): Json {
  if (Array.isArray(first) && Array.isArray(second) && first.every((each) => typeof each === 'object'))
    return second.map((each, index) => merged(first[index], each))
  if (!isObject(first ?? null) || !isObject(second)) return second
  const both = { ...(first as JsonObject) }
  for (const [name, value] of Object.entries(second)) both[name] = merged(both[name], value)
  return both
}
/** Members that change nothing here, each with the reason. */
const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  skipKid: 'the key id of a token never says who calls',
  idpClientIdMappingDisabled: 'clients of other issuers are never taken for ours',
}

function document(kind: string, scheme: JsonObject): JsonObject {
  const held = merged({ enabled: true, ...structuredClone(NEEDED[kind]) }, scheme) as JsonObject
  const authentication = kind === 'hmac' ? { hmac: held } : { securitySchemes: { s: held } }
  const declared =
    kind === 'hmac' ? {} : { components: { securitySchemes: { s: DECLARED[kind]! } }, security: [{ s: [] }] }
  return oas({ document: declared, server: { authentication: { enabled: true, ...authentication } } })
}

/** The API as it is compiled; what it is refused with otherwise. */
function read(format: 'oas' | 'classic', definition: JsonObject): unknown {
  try {
    return readApi({ format, definition, api_id: 'a', org_id: 'o', name: 'n' })
  } catch (error) {
    assert.ok(error instanceof Fault)
    return error.message
  }
}

/** Values that a schema takes, none of them the usual one. */
function samplesOf(schema: Schema): Json[] {
  if (Array.isArray(schema.enum)) return schema.enum.filter((word) => word !== null && word !== '')
  switch ([schema.type].flat()[0]) {
    case 'boolean':
      return [true, false]
    case 'array':
      return samplesOf(schema.items as Schema).map((item) => [item])
    case 'object':
      return [objectWith(schema, schema.required as string[])]
    case 'string':
      return schema.is === 'duration'
        ? ['7s']
        : schema.is === undefined
          ? ['word', 'hmac-sha512']
          : ['https://x.example/', 'X-Other']
    default:
      return [7]
  }
}

function objectWith(schema: Schema, names: readonly string[]): JsonObject {
  const properties = schema.properties as Record<string, Schema>
  return Object.fromEntries(names.map((name) => [name, samplesOf(properties[name]!)[0]!]))
}

interface Member {
  readonly path: string[]
  readonly schema: Schema
  /** Further members: switches on the way, and members that an entry of a list needs. */
  readonly beside: JsonObject
}

function membersOf(schema: Schema, path: string[] = [], beside: JsonObject = {}): Member[] {
  return Object.entries(schema.properties as Record<string, Schema>).flatMap(([name, member]): Member[] => {
    const at = [...path, name]
    const inner = [member.type].flat()[0] === 'array' ? (member.items as Schema) : member
    const here = { path: at, schema: member, beside }
    if (inner.properties === undefined) return [here]
    const around = structuredClone(beside)
    const held = {
      ...('enabled' in (inner.properties as object) && { enabled: true }),
      ...objectWith(inner, inner.required as string[]),
    }
    putAt(around, at, inner === member ? held : [held])
    const below = membersOf(inner, inner === member ? at : [...at, '0'], around)
    return inner === member
      ? below
      : [here, ...below.filter((each) => !(inner.required as string[]).includes(each.path.at(-1)!))]
  })
}

function withMember(kind: string, { path, beside }: Member, value?: Json): JsonObject {
  const scheme = structuredClone(beside)
  const at = path.map((step) => (/^\d+$/.test(step) ? Number(step) : step))
  if (value !== undefined) {
    let holder = scheme as Record<string | number, Json>
    for (const step of at.slice(0, -1)) {
      holder[step] ??= {}
      holder = holder[step] as Record<string | number, Json>
    }
    holder[at.at(-1)!] = value
  }
  return document(kind, scheme)
}

const authentication = getAt(EXTENSION_SCHEMA, [
  'properties',
  'server',
  'properties',
  'authentication',
  'properties',
]) as JsonObject
const SCHEMES: Readonly<Record<string, Schema>> = {
  scheme: getAt(authentication, ['securitySchemes', 'additionalProperties']) as Schema,
  hmac: authentication.hmac as Schema,
}

describe('members of authentication', () => {
  for (const [name, schema] of Object.entries(SCHEMES))
    for (const member of membersOf(schema)) {
      const words = member.path.join('.')
      test(`${name}.${words} has an effect or is refused${words in WITHOUT_EFFECT ? ' (or neither, on purpose)' : ''}`, () => {
        const kinds = name === 'hmac' ? ['hmac'] : Object.keys(DECLARED).filter((kind) => kind !== 'hmac')
        const changes = kinds.some((kind) => {
          const without = read('oas', withMember(kind, member))
          return samplesOf(member.schema).some(
            (value) => !isDeepStrictEqual(read('oas', withMember(kind, member, value)), without),
          )
        })
        assert.equal(changes, !(words in WITHOUT_EFFECT))
      })
    }

  for (const kind of Object.keys(DECLARED))
    test(`a member that nobody knows is refused: ${kind}`, () => {
      for (const [more, place] of [
        [{ newClaims: ['a'] }, 'newClaims'],
        [{ header: { enabled: true, newName: 'x' } }, 'header.newName'],
        [{ scopes: { newClaims: ['a'] } }, 'scopes.newClaims'],
        [{ newCheck: { enabled: true } }, 'newCheck'],
      ] as const)
        if (kind !== 'hmac' || !place.startsWith('scopes'))
          assert.match(
            String(read('oas', document(kind, more as unknown as JsonObject))),
            new RegExp(`${place}: a member that nothing here knows`),
          )
      const silent = { newClaims: [], newCheck: { enabled: false, names: ['a'] }, newName: '', 'x-note': 'kept' }
      assert.deepEqual(read('oas', document(kind, silent)), read('oas', document(kind, {})))
      assert.equal(typeof read('oas', document(kind, {})), 'object', String(read('oas', document(kind, {}))))
    })

  test('a member of tokens that nobody knows is refused in classic definitions, unless it is empty', () => {
    const jwt = { enable_jwt: true, jwt_source: 'https://idp.example/jwks', jwt_default_policies: ['base'] }
    for (const more of [{ jwt_new_claims: ['a'] }, { scopes: { jwt: { new_claims: ['a'] } } }])
      assert.match(
        String(read('classic', classic({ ...jwt, ...more } as JsonObject))),
        /new_claims: a member that nothing here knows/,
      )
    assert.equal(
      typeof read('classic', classic({ ...jwt, jwt_new_claims: [], scopes: { jwt: {}, oidc: {} } })),
      'object',
    )
  })
})
