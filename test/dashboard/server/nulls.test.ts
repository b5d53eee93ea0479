import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '../../../src/dashboard/routes/route.ts'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { EXPECTED, type Thing } from '../../worlds/access-matrix/expectations.ts'
import { callOf } from '../../worlds/access-matrix/matrix-rows.ts'
import { startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'
import { spread } from '../../worlds/base/spread.ts'
import { WHOLE_SESSION } from '../../worlds/model/whole-session.ts'

const SESSION = (() => {
  const { certificate: _bound, mtls_static_certificate_bindings: _too, basic_auth_data: _user, ...rest } = WHOLE_SESSION
  return { ...rest, expires: 0, apply_policies: [] } as JsonObject
})()
const { api_id: _own, ...RIGHT } = (WHOLE_SESSION.access_rights as Record<string, JsonObject>).orders!
/** Outside long runs one member in so many is tried. */
const EACH_RUN = 5

type Path = readonly (string | number)[]

/** The members that a schema names, at any depth: those below lists at the first entry. */
function schemaMembers(schema: JsonObject, at: Path = []): Path[] {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const choices = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => (Array.isArray(list) ? list : []))
  return [
    ...Object.entries(properties).flatMap(([name, each]) => [
      [...at, name],
      ...schemaMembers(each as JsonObject, [...at, name]),
    ]),
    ...choices.flatMap((choice) => schemaMembers(choice as JsonObject, at)),
    ...(isObject(schema.items) ? schemaMembers(schema.items, [...at, 0]) : []),
  ]
}

/** The members that an object has, at any depth. */
function heldMembers(value: Json, at: Path = []): Path[] {
  if (Array.isArray(value)) return value.slice(0, 1).flatMap((entry) => heldMembers(entry, [...at, 0]))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, each]) => [[...at, name], ...heldMembers(each, [...at, name])])
}

/** A copy with null at a path; what is missing on the way is made. */
function nulled(body: Json, path: Path): JsonObject {
  const copy = structuredClone(body) as JsonObject
  let at = copy as Record<string | number, Json>
  for (const [index, step] of path.slice(0, -1).entries()) {
    const next = at[step]
    if (typeof next !== 'object' || next === null) at[step] = typeof path[index + 1] === 'number' ? [{}] : {}
    at = at[step] as Record<string | number, Json>
  }
  at[path.at(-1)!] = null
  return copy
}

function pathIn(world: World, route: Route): string {
  const names: readonly Thing[] = EXPECTED.get(callOf(route))?.names ?? []
  let number = 0
  return route.path.replace(/\{[^}]*\}/g, () => encodeURIComponent(world.open[names[number++] ?? 'none']))
}

/** Members that make a call succeed, or get far, over those that a read shows: of new things other names. */
const OWN: Readonly<Record<string, JsonObject>> = {
  'POST /admin/users': { email_address: 'new@example.test', id: '' },
  'POST /api/users': { email_address: 'new@example.test', id: '' },
  'POST /admin/organisations': { owner_slug: 'new', id: '' },
  'POST /admin/organisations/{}/permissions': { key: 'new', label: 'New' },
  'POST /admin/org/keys': { org_id: 'new', rate: 1, per: 1, tags: [], meta_data: {} },
  'POST /api/bootstrap': { token: 't', organisation: 'o', email: 'a@example.test', password: 'a-Long-enough-1' },
  'PUT /api/apis/{}/webhooks': { hook_references: [{ event_name: 'QuotaExceeded', hook: { id: '', name: 'none' } }] },
  'POST /api/portal/policies': { name: 'New', id: 'new', _id: '' },
  'POST /api/portal/developers': { keys: {}, subscriptions: {}, oauth_clients: {} },
  'POST /api/portal/developers/verify_credentials': { username: 'a@example.test', password: 'a-Long-enough-1' },
  'POST /api/tib/profiles': { ID: 'new-profile' },
  'POST /api/apis/oauth/{}': { client_id: 'new', secret: 'secret-of-the-client' },
  'POST /api/apis/migrate': { mode: 'dryRun', apiIDs: [], abortOnFailure: false, overrideStaged: false },
  'POST /api/portal/documentation': { documentation: 'dGV4dA==' },
  'PUT /api/org/second-factor': { required: false },
  'POST /api/passkeys': { name: 'n', response: { id: 'i', response: {} } },
  'POST /api/password/reset': { token: 't', new_password: 'a-Long-enough-1' },
  'POST /portal/register': { email: 'a@example.test', password: 'a-Long-enough-1' },
  'POST /portal/password/reset': { token: 't', new_password: 'a-Long-enough-1' },
  'POST /api/session/verify': { passkey: { id: 'i', response: {} } },
  'POST /api/login/continue': { ticket: 't'.repeat(43), passkey: { id: 'i', response: {} } },
  'POST /api/login/passkey': { ticket: 't'.repeat(43), response: { id: 'i', response: {} } },
}
/** Calls whose example says less than what a read shows. */
const AS_READ: ReadonlySet<string> = new Set(['PUT /api/apis/{}', 'PUT /api/apis/oas/{}'])
const SESSIONS: ReadonlySet<string> = new Set([
  ...['POST /api/keys', 'POST /api/keys/preview', 'PUT /api/keys/{}', 'POST /api/keys/{}'],
  ...['PUT /api/apis/{}/keys/{}', 'POST /api/apis/keys/basic/{}'],
])

/** Refusals whose text the wire prescribes, or that name what the absent member leaves wanting. */
const OTHERWISE =
  /must name the header or parameter that holds the version|User\/Key object validation|at least one Access Rights|User object validation|Invalid OPA rules|extract search filter|at least one permission|give it again, the address has changed|every value must be a text|kind: must be one of/

/** Of calls that succeed: lists that may be null although they must be there, and members that may be left out. */
const TAKEN: readonly (readonly [call: string, member: string])[] = [
  ['PUT /api/apis/oas/{}/categories', 'categories'],
  ['PUT /api/apis/{}/webhooks', 'hook_references'],
  ['POST /api/apis/migrate', 'apiIDs'],
  ['POST /api/apis/migrate', 'abortOnFailure'],
  ['PUT /api/apis/{}/access', 'userIds'],
]

interface Target {
  readonly route: Route
  readonly base: JsonObject
  /** Reads what the call may have changed. */
  readonly readers: readonly (Route | undefined)[]
}

test('null in any member of any body never makes the dashboard fail', async (t) => {
  const world = await startWorld()
  t.after(() => world.close())
  const { routes } = world.dashboard
  const reads = new Map(routes.filter(({ method }) => method === 'GET').map((route) => [stripped(route.path), route]))
  const asOf = async (route: Route) => {
    if (route.access === 'installation') return 'installation'
    return route.access === 'public' ? undefined : world.actor('admin', EXPECTED.get(callOf(route))!)
  }
  const read = async (route: Route | undefined): Promise<Json> => {
    if (route === undefined || route.once) return null
    const { status, json } = await world.call('GET', pathIn(world, route), { as: await asOf(route) })
    return status === 200 ? (json as Json) : null
  }
  const targetOf = async (route: Route): Promise<Target> => {
    const [call, path] = [callOf(route), stripped(route.path)]
    const below = [...reads].find(
      ([each]) => each.startsWith(`${path}/{`) && !each.slice(path.length + 1).includes('/'),
    )?.[1]
    const [one, list] = [reads.get(path), reads.get(path.replace(/\/\{[^/]*\}$/, ''))]
    const session = { ...SESSION, access_rights: { [world.open.api]: RIGHT } }
    const shown = SESSIONS.has(call) ? session : await read(route.method === 'POST' ? (below ?? one) : one)
    const example = AS_READ.has(call) ? {} : EXPECTED.get(call)?.body
    const base = { ...(isObject(shown) ? shown : {}), ...(isObject(example) ? example : {}), ...OWN[call] }
    return { route, base, readers: [one, below, list] }
  }
  const send = async ({ route, readers }: Target, body: Json) => {
    const path = pathIn(world, route) + (EXPECTED.get(callOf(route))?.query ?? '')
    const answer = await world.call(route.method, path, { as: await asOf(route), body })
    if (answer.status < 300) await Promise.all(readers.map(read))
    await world.restore()
    return answer
  }
  for (const [call, member] of TAKEN) {
    const target = await targetOf(routes.find((route) => callOf(route) === call)!)
    const { status, text } = await send(target, { ...target.base, [member]: null })
    assert.equal(status, 200, `${call} with null in ${member}: ${text}`)
  }
  const wrong: string[] = []
  let [tried, taken] = [0, 0]
  for (const [turn, route] of routes.entries()) {
    if (route.body === undefined || route.bodyIs === 'form' || route.bodyIs === 'upload') continue
    const target = await targetOf(route)
    const found = [...schemaMembers(JSON.parse(JSON.stringify(route.body)) as JsonObject), ...heldMembers(target.base)]
    const members = new Map(found.map((member) => [JSON.stringify(member), member]))
    const plain = await send(target, target.base)
    for (const member of spread([...members.values()], turn, EACH_RUN)) {
      const where = `${callOf(route)} with null in ${member.join('.')}`
      const name = String(member.findLast((step) => typeof step === 'string'))
      // The harness refuses what fails, also in the reads afterwards.
      const { status, text } = await send(target, nulled(target.base, member)).catch((error: Error) => ({
        status: 500,
        text: error.message,
      }))
      tried++
      if (status < 300) taken++
      else if (
        status === 500 ||
        !((status === 400 && text.includes(name)) || text === plain.text || OTHERWISE.test(text))
      )
        wrong.push(`${where}: ${status} ${text.slice(0, 200)}`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(taken > tried / 2, `${taken} of ${tried}`)
})

function stripped(path: string): string {
  return path.replace(/\/$/, '')
}
