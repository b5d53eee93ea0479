import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Route } from '../../../src/dashboard/routes/route.ts'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { EXPECTED } from '../../worlds/access-matrix/expectations.ts'
import { callOf } from '../../worlds/access-matrix/matrix-rows.ts'
import { startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'
import { WHOLE_SESSION } from '../../worlds/model/whole-session.ts'

const ZEROS: Readonly<Record<string, Json>> = {
  string: '',
  boolean: false,
  integer: 0,
  number: 0,
  array: [],
  object: {},
}

/** The members that a schema names with zero values, as a program in Go fills them in that knows all members. */
function zerosOf(schema: JsonObject): JsonObject {
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {})
  // A program that a generator made knows the members that the API document describes, beside those that are checked.
  const choices = [schema.anyOf, schema.allOf, [schema.described ?? null]].flatMap((list) =>
    Array.isArray(list) ? list.filter(isObject) : [],
  )
  const own = properties.flatMap(([name, each]): [string, Json][] => {
    const zero = isObject(each) ? ZEROS[String(each.type)] : undefined
    return [[name, zero ?? null]]
  })
  return Object.assign({}, ...choices.map(zerosOf), Object.fromEntries(own))
}

const zeroOf = (value: Json): Json => {
  if (Array.isArray(value)) return []
  return isObject(value) ? {} : (ZEROS[typeof value] ?? null)
}
const { not_of_ours: _unknown, date_created: _date, access_rights: _rights, ...MEMBERS } = WHOLE_SESSION
const SESSION_ZEROS: JsonObject = Object.fromEntries(
  Object.entries(MEMBERS).map(([name, value]) => [name, zeroOf(value)]),
)

/** Calls that take something else than their reads show: which policies a developer's key has. */
const OF_OTHER_FORM: ReadonlySet<string> = new Set([
  'PUT /api/portal/developers/{}/keys/{}',
  'PUT /portal/developers/{}/keys/{}',
])

/** Members that nothing here has, as it was sent: `grant_types` is none of them, as an empty list would allow no grant. */
const isKeptZero = (name: string, value: Json, before: JsonObject) =>
  before[name] === undefined && name !== 'grant_types' && isDeepStrictEqual(value, zeroOf(value))

function withoutDates(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutDates)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([name]) => name !== 'last_updated')
  return Object.fromEntries(kept.map(([name, each]) => [name, withoutDates(each)]))
}

function pathIn(world: World, route: Route): string {
  const names = EXPECTED.get(callOf(route))?.names ?? []
  let number = 0
  return route.path.replace(/\{[^}]*\}/g, () => encodeURIComponent(world.open[names[number++] ?? 'none']))
}

test('what is read and sent back with zero values changes nothing', async (t) => {
  const world = await startWorld()
  t.after(() => world.close())
  const { routes } = world.dashboard
  const find = (method: string, path: string) => routes.find((route) => route.method === method && route.path === path)
  const wrong: string[] = []
  let tried = 0
  for (const route of routes) {
    const read = route.method === 'PUT' ? find('GET', route.path) : undefined
    const expected = EXPECTED.get(callOf(route))
    if (read === undefined || route.body === undefined || expected === undefined || route.access === 'public') continue
    const as = route.access === 'installation' ? ('installation' as const) : await world.actor('admin', expected)
    const path = pathIn(world, route)
    const get = async () => (await world.call('GET', path, { as })).json as JsonObject
    // An object that nobody has written yet has no id.
    if ((await get()).id === '') await world.call('PUT', path, { as, body: await get() })
    const before = await get()
    if (!isObject(before) || before.Status === 'Error' || OF_OTHER_FORM.has(callOf(route))) continue
    const schema = (each: unknown) => zerosOf(JSON.parse(JSON.stringify(each ?? {})) as JsonObject)
    const isKey = isObject(before.data) && before.key_hash !== undefined
    const shown = isKey ? { ...SESSION_ZEROS, ...(before.data as JsonObject) } : before
    const body = isKey ? shown : { ...schema(read.answers[200]), ...schema(route.body), ...shown }
    const { status, text } = await world.call('PUT', path, { as, body })
    const now = await get()
    const after = Object.fromEntries(Object.entries(now).filter(([name, value]) => !isKeptZero(name, value, before)))
    tried++
    if (status !== 200 || !isDeepStrictEqual(withoutDates(after), withoutDates(before)))
      wrong.push(`${callOf(route)} ${status} ${text} ${JSON.stringify(after)} was ${JSON.stringify(before)}`)
    await world.restore()
  }
  assert.deepEqual(wrong, [])
  assert.ok(tried > 25, String(tried))
})
