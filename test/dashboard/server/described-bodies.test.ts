import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { Route } from '../../../src/dashboard/routes/route.ts'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { callOf } from '../../worlds/access-matrix/matrix-rows.ts'
import { startWorld } from '../../worlds/access-matrix/matrix-world.ts'
import { type WholeCall, wholeCalls } from '../../worlds/access-matrix/whole-calls.ts'
import { spread } from '../../worlds/base/spread.ts'
import { resolvedDocument } from '../../worlds/dashboard/openapi-document.ts'

/** Outside long runs one member in so many is tried. */
const EACH_RUN = 8
const DEEP = process.env.GATEHOUSE_DEEP === '1'

/** Refusals that say of a value that it is not of the form which the description gives. */
const OF_FORM =
  /must be (?:an? (?:text|string|number|boolean|object|array|list|whole|integer)|string|number|boolean|integer|object|array|null|one of|true or false|equal to)|must have|must match/i

/** Texts that are more than any text, by the names of members. */
const TEXTS: readonly (readonly [members: RegExp, value: string])[] = [
  [/^(?:email|email_address|EmailAddress|Email)$/, 'somebody@example.test'],
  [/^(?:date_created|created_at|last_login_date)$/, '2023-01-01T00:00:00Z'],
  [/(?:redirect_uri|redirect_to|portal_url|jwks_uri|target_path|ReturnURL)/, 'https://app.example/callback'],
  [/^documentation$/, 'dGV4dA=='],
]

/** Members whose refusals are no matter of their own form, with the reason. */
const BEYOND_FORM: readonly (readonly [member: RegExp, reason: string])[] = [
  [/^POST \/admin\/organisations\/import id$/, 'an id of the wire'],
  [/ (?:policy_id|client_secret|secret|Type|value_type)$/, 'has to fit another member'],
  [/ (?:partitions|policies|redirect_uris?)$/, 'has to fit other members'],
  [/ (?:_id|id)$/, 'has to be the id in the path'],
  [/ access_rights(?:_array)?$/, 'names APIs that are there'],
  [/ (?:certificate|mtls_static_certificate_bindings)$/, 'names a certificate that is there'],
  [/ (?:key_hash|key|legacy_key|user_name|password_hash|quota_used)$/, 'belong to a key'],
  [
    / (?:api_definition|x-svc-api-gateway|openapi|paths|components|apis|session)$/,
    'definitions have schemas and tests of their own',
  ],
  [/ ProviderConfig$/, 'of the provider'],
]

/** Members that the server makes, or embeds in reads: what is sent for them counts nowhere. */
const MADE =
  / (?:id|_id|ID|OrgID|org_id|api_model|created_at|updated_at|last_updated|is_site|sort_by|oas|approved|portal_developer|catalogue_entry|catalogues|oauth_clients|client_secret|ownerless|user_permissions|Pages)$/

/** Values that a schema of the document describes. */
function described(schema: JsonObject, name: string, depth = 0): fc.Arbitrary<Json> {
  const options = optionsOf(schema)
  if (options !== undefined) return fc.oneof(...options.map((option) => described(option, name, depth + 1)))
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  const { minimum = 0, maximum = minimum + 1000 } = schema as { minimum?: number; maximum?: number }
  switch (schema.type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
    case 'number':
      return fc.integer({ min: minimum, max: Math.min(maximum, minimum + 1000) })
    case 'string': {
      const known = TEXTS.find(([members]) => members.test(name))?.[1]
      return known === undefined ? fc.stringMatching(/^[a-z]{8,12}$/) : fc.constant(known)
    }
    case 'array':
      return fc.array(described(isObject(schema.items) ? schema.items : {}, name, depth + 1), { maxLength: 2 })
    case 'object':
      return objectOf(schema, depth)
    default:
      return fc.constantFrom<Json>('text', 7, true)
  }
}

function objectOf(schema: JsonObject, depth: number): fc.Arbitrary<Json> {
  const required = new Set((schema.required ?? []) as string[])
  const members = Object.entries(isObject(schema.properties) ? schema.properties : {})
  const known = members.filter(([name]) => required.has(name) || depth < 2)
  const record = Object.fromEntries(known.map(([name, each]) => [name, described(each as JsonObject, name, depth + 1)]))
  const requiredKeys = known.map(([name]) => name).filter((name) => required.has(name))
  return fc.record(record, { requiredKeys }) as fc.Arbitrary<Json>
}

function optionsOf({ anyOf, 'x-svc-any-of': mixed }: JsonObject): JsonObject[] | undefined {
  const options = anyOf ?? mixed
  return Array.isArray(options) ? options.filter(isObject) : undefined
}

/** A value of a type that a schema does not have; undefined where it has all, or says none. */
function wrongFor(schema: JsonObject): Json | undefined {
  const types = new Set((optionsOf(schema) ?? [schema]).map(({ type }) => type))
  if (types.has(undefined)) return undefined
  if (!types.has('object')) return { wrong: true }
  return types.has('array') ? undefined : [[7]]
}

/** Texts that look like one of a format, and are none. */
const MALFORMED: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['yesterday', '2026-01-31', '2026-13-01T00:00:00Z', '1769817600'],
  email: ['nobody', 'two words@example.test', 'nobody@'],
  uri: ['app.example/callback', '/callback', 'https://'],
}

/** Values of a type that is described, whose texts are not of the described form. */
function malformedFor(schema: JsonObject): readonly Json[] {
  const options = optionsOf(schema)
  if (options !== undefined) return options.every(isFormed) ? options.flatMap(malformedFor) : []
  if (isObject(schema.items)) return malformedFor(schema.items).map((each) => [each])
  return MALFORMED[String(schema.format)] ?? []
}

const isFormed = ({ type, format }: JsonObject) => type === 'null' || MALFORMED[String(format)] !== undefined

/** Every call that succeeds with its whole body, with members of the body as the document describes them. */
async function describedCalls(t: TestContext) {
  const world = await startWorld()
  t.after(() => world.close())
  const calls = wholeCalls(world)
  const { json } = await world.call('GET', '/api/openapi.json')
  const { paths } = resolvedDocument(json as JsonObject) as Record<string, Record<string, Record<string, JsonObject>>>
  const shape = (path: string) => path.replace(/\{[^}]*\}/g, '{}')
  const bodies = new Map(
    Object.entries(paths!).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { requestBody }]) => [
        `${method.toUpperCase()} ${shape(path)}`,
        requestBody,
      ]),
    ),
  )
  const membersOf = (route: Route): [string, JsonObject][] => {
    const { content = {} } = (bodies.get(`${route.method} ${shape(route.path)}`) ?? {}) as JsonObject
    const schema = ((content as JsonObject)['application/json'] as JsonObject | undefined)?.schema
    return Object.entries(
      (isObject(schema) && isObject(schema.properties) ? schema.properties : {}) as Record<string, JsonObject>,
    )
  }
  const send = ({ base, ...call }: WholeCall, name: string, value: Json) =>
    calls.send({ base, ...call }, { ...base, [name]: value }, { read: false, isRandom: true })
  async function* all(
    some = (members: [string, JsonObject][], turn: number) => spread(members, turn, EACH_RUN),
  ): AsyncGenerator<{ call: WholeCall; what: string; name: string; schema: JsonObject }> {
    let turn = 0
    for await (const call of calls.all()) {
      if (call.route.aliasOf !== undefined) continue
      const members = some(membersOf(call.route), turn++)
      if (members.length === 0) continue
      const plain = await calls.send(call, call.base, { read: false, isRandom: true })
      if (plain.status >= 300) continue
      for (const [name, schema] of members) yield { call, what: `${callOf(call.route)} ${name}`, name, schema }
    }
  }
  return { all, send }
}

test('a body as it is described is refused for no matter of form', async (t) => {
  const { all, send } = await describedCalls(t)
  const wrong: string[] = []
  let tried = 0
  for await (const { call, what, name, schema } of all()) {
    if (BEYOND_FORM.some(([members]) => members.test(what))) continue
    for (const value of fc.sample(described(schema, name), DEEP ? 5 : 1)) {
      const { status, text } = await send(call, name, value)
      tried++
      if (status >= 300 && OF_FORM.test(text))
        wrong.push(`${what} = ${JSON.stringify(value)}: ${status} ${text.slice(0, 200)}`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(tried > 60, String(tried))
})

test('a member of another type than the described one is refused by its name', async (t) => {
  const { all, send } = await describedCalls(t)
  const wrong: string[] = []
  let tried = 0
  for await (const { call, what, name, schema } of all()) {
    const value = wrongFor(schema)
    if (value === undefined || MADE.test(what)) continue
    const { status, text } = await send(call, name, value)
    tried++
    if (![400, 403, 422].includes(status) || !text.includes(name))
      wrong.push(`${what} = ${JSON.stringify(value)}: ${status} ${text.slice(0, 200)}`)
  }
  assert.deepEqual(wrong, [])
  assert.ok(tried > 40, String(tried))
})

test('a text of another form than the described one is refused by its name', async (t) => {
  const { all, send } = await describedCalls(t)
  const wrong: string[] = []
  const formats = new Set<string>()
  const formed = (members: [string, JsonObject][]) => members.filter(([, schema]) => malformedFor(schema).length > 0)
  for await (const { call, what, name, schema } of all(formed)) {
    for (const value of malformedFor(schema)) {
      const { status, text } = await send(call, name, value)
      formats.add(String(schema.format ?? 'in a list'))
      if (status !== 400 || !text.includes(name))
        wrong.push(`${what} = ${JSON.stringify(value)}: ${status} ${text.slice(0, 200)}`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.deepEqual([...formats].sort(), ['date-time', 'email', 'in a list', 'uri'])
})
