import fc from 'fast-check'
import { copyTree, setMember } from '../../../src/model/apis/definition/tree.ts'
import type { ValueKind } from '../../../src/model/apis/definition/values.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'

const WORDS = ['a', 'b', 'x y', '', '/w', '/w/{id}', '/w/*', 'GET', 'é~/', '$1']

/** Values that pass each check of values.ts. */
const VALID: Readonly<Record<ValueKind, readonly string[]>> = {
  duration: ['10s', '1m', '1h', '500ms', '1h30m', '90s'],
  optionalDuration: ['', '10s'],
  expiry: ['', '-1', '2031-02-03 04:05', '2031-02-03T04:05:06Z', 'never'],
  address: ['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8'],
  domain: ['', 'api.example.org', 'A.example'],
  listenPath: ['/', '/a', '/a/', '/t/{tenant}/', '/n/{id:[0-9]+}'],
  url: ['http://up:8080/', 'https://up.example/base', 'http://[::1]:1/'],
  optionalHttpUrl: ['', 'https://login.example/start', 'HTTP://hook.example:8080/?a=b'],
  optionalUrl: ['', 'http://other/'],
  target: ['http://t1/', 'http://t2/', 't3:80'],
  fieldName: ['X-One', 'x-two', 'constructor'],
  optionalFieldName: ['', 'X-Key', 'Authorization'],
  fieldValue: ['', 'v', 'a b', '__proto__'],
  method: ['GET', 'POST', 'put', 'PURGE', ''],
  pattern: ['', '^v[0-9]+$'],
  endpoint: ['/e'],
  errorStatus: ['404', '4xx', '500'],
  jsonField: ['', 'error.code'],
  origin: ['*', 'https://a.example'],
}

const MAP_NAMES = ['a', 'Default', 'authToken', 'oauth', '__proto__']
const UNKNOWN_NAMES = ['zz', 'x-own', 'a/b', '~t', 'constructor', '__proto__', '0']

const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as Json)

function entriesToObject(entries: readonly (readonly [string, Json | undefined])[]): JsonObject {
  const made: JsonObject = {}
  for (const [name, value] of entries) if (value !== undefined) setMember(made, name, value)
  return made
}

/** A member that no schema knows, in some objects. */
const unknownMember = fc.oneof(
  { weight: 4, arbitrary: fc.constant([] as [string, Json][]) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...UNKNOWN_NAMES), json).map((entry) => [entry]) },
)

/** Values that mean something, by the member that holds them; others are those of the schema's kind. */
export interface Hints {
  readonly values?: Readonly<Record<string, readonly Json[]>>
  /** Names of the members of maps. */
  readonly names?: Readonly<Record<string, readonly string[]>>
}

/** JSON that fits one of our schemas, with members left out, nulls, and members that the schema does not know; `name`: the member that holds it. */
export function fitting(schema: JsonObject, hints: Hints = {}, name = ''): fc.Arbitrary<Json> {
  const types = [schema.type].flat()
  const arbitrary = ofType(schema, String(types[0]), hints, name)
  return types.includes('null')
    ? fc.oneof({ weight: 12, arbitrary }, { weight: 1, arbitrary: fc.constant(null) })
    : arbitrary
}

function ofType(schema: JsonObject, type: string, hints: Hints, name: string): fc.Arbitrary<Json> {
  const meant = own(hints.values, name)?.filter((value) => isOfType(value, type)) ?? []
  if (meant.length > 0) return fc.constantFrom(...meant)
  if (type === 'boolean') return fc.boolean()
  if (type === 'string') return texts(schema)
  if (type === 'integer') return fc.integer({ min: Number(schema.minimum), max: Math.min(Number(schema.maximum), 5) })
  if (type === 'number') return fc.constantFrom(0, 1, 2, 60, 0.5)
  if (type === 'array') return fc.array(fitting(schema.items as JsonObject, hints, name), { maxLength: 3 })
  if (type !== 'object') return json
  return schema.properties === undefined ? maps(schema, hints, name) : objects(schema, hints)
}

function texts(schema: JsonObject): fc.Arbitrary<Json> {
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  return fc.constantFrom(...(schema.is === undefined ? WORDS : VALID[schema.is as ValueKind]))
}

function isOfType(value: Json, type: string): boolean {
  if (type === 'integer' || type === 'number') return typeof value === 'number'
  return type !== 'array' && typeof value === type
}

function own<Value>(table: Readonly<Record<string, Value>> = {}, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

function maps(schema: JsonObject, hints: Hints, at: string): fc.Arbitrary<Json> {
  const names = schema.names as ValueKind | undefined
  const usual = names === undefined ? MAP_NAMES : VALID[names]
  const name = fc.constantFrom(...(own(hints.names, at) ?? usual))
  return fc
    .uniqueArray(fc.tuple(name, fitting(schema.additionalProperties as JsonObject, hints, at)), {
      selector: ([key]) => key,
      maxLength: 3,
    })
    .map(entriesToObject)
}

function objects(schema: JsonObject, hints: Hints): fc.Arbitrary<Json> {
  const required = schema.required as string[]
  const members = Object.entries(schema.properties as Record<string, JsonObject>).map(([name, each]) => {
    const value = fitting(each, hints, name)
    const kept: fc.Arbitrary<Json | undefined> = required.includes(name)
      ? value
      : fc.oneof({ weight: 1, arbitrary: value }, { weight: 2, arbitrary: fc.constant(undefined) })
    return fc.tuple(fc.constant(name), kept)
  })
  return fc.tuple(fc.tuple(...members), unknownMember).map(([known, extra]) => entriesToObject([...known, ...extra]))
}

const METHODS = ['get', 'post', 'patch']
const OPERATIONS = ['opA', 'opB', 'opC', 'opD']
const SCHEMES = ['key', 'oa', 'second']

const declaredScheme = fc.constantFrom<JsonObject>(
  { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
  { type: 'apiKey', in: 'query', name: 'k' },
  { type: 'apiKey', in: 'cookie', name: 'k', description: 'd' },
  { type: 'oauth2', flows: { clientCredentials: { tokenUrl: '/t', scopes: { read: 'r', write: '' } } } },
  {
    type: 'oauth2',
    flows: {
      password: { tokenUrl: '/t', scopes: { read: 'r' } },
      authorizationCode: { authorizationUrl: '/a', tokenUrl: '/t', scopes: { write: 'w', read: 'other' } },
    },
  },
  { type: 'http', scheme: 'bearer' },
  { type: 'http', scheme: 'basic' },
  { type: 'openIdConnect', openIdConnectUrl: 'https://x' },
)

/** The security of an operation itself. */
const security = fc.constantFrom<Json>(
  [],
  [{}],
  [{ oa: [] }],
  [{ key: ['read'] }],
  [{ oa: ['read'] }, { second: ['write'], key: [] }],
  [{ second: ['read', 'write'] }],
  [{ key: [], oa: ['write'] }],
)

/** An OpenAPI document around an extension: operations, schemes and requirements that mostly fit together. */
export function documentAround(extension: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> {
  const operation = fc.tuple(fc.constantFrom('/w', '/w/{id}', '/x/y'), fc.constantFrom(...METHODS))
  return fc
    .record({
      openapi: fc.constantFrom('3.0.3', '3.1.0'),
      info: fc.constantFrom<Json>({ title: 'T', version: '1' }, { title: 'T', version: '1.0.0', contact: {} }),
      operations: fc.uniqueArray(operation, { selector: (each) => each.join(' '), maxLength: 4 }),
      named: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
      securities: fc.array(fc.option(security, { nil: undefined }), { minLength: 4, maxLength: 4 }),
      scopes: fc.constantFrom<string[][]>([[]], [['read']], [['read'], ['read', 'write']]),
      schemes: fc.array(declaredScheme, { maxLength: 3 }),
      asked: fc.boolean(),
      extension,
      extra: unknownMember,
    })
    .map(({ openapi, info, operations, named, securities, scopes, schemes, asked, extension: held, extra }) => {
      const paths: JsonObject = {}
      const ids: string[] = []
      operations.forEach(([path, method], index) => {
        const item = (paths[path] ?? {}) as JsonObject
        paths[path] = item
        item[method] = {
          responses: {},
          ...(named[index] ? { operationId: OPERATIONS[index]! } : {}),
          ...(securities[index] === undefined ? {} : { security: copyTree(securities[index]!) }),
        }
        if (named[index]) ids.push(OPERATIONS[index]!)
      })
      const document: JsonObject = entriesToObject([['openapi', openapi], ['info', info], ['paths', paths], ...extra])
      const declared = Object.fromEntries(schemes.map((scheme, index) => [SCHEMES[index]!, scheme]))
      if (schemes.length > 0) document.components = { securitySchemes: declared }
      if (schemes.length > 0 && asked)
        document.security = scopes.map((each) =>
          Object.fromEntries(
            Object.keys(declared).map((name) => [name, declared[name]!.type === 'oauth2' ? [...each] : []]),
          ),
        )
      document['x-svc-api-gateway'] = renamed(held as JsonObject, ids, Object.keys(declared))
      return document
    })
}

/** Gives operations and schemes of the extension the names that the document has. */
function renamed(extension: JsonObject, ids: readonly string[], schemes: readonly string[]): JsonObject {
  const copy = JSON.parse(JSON.stringify(extension)) as JsonObject
  const rename = (holder: Json | undefined, member: string, names: readonly string[]): void => {
    if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) return
    const table = holder[member]
    if (typeof table !== 'object' || table === null || Array.isArray(table)) return
    const values = Object.values(table).slice(0, names.length)
    holder[member] = Object.fromEntries(values.map((value, index) => [names[index]!, value]))
  }
  rename(copy.middleware, 'operations', ids)
  rename((copy.server as JsonObject | undefined)?.authentication, 'securitySchemes', schemes)
  delete copy.classic
  return copy
}
