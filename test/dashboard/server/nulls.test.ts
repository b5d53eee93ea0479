import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { callOf } from '../../worlds/access-matrix/matrix-rows.ts'
import { startWorld } from '../../worlds/access-matrix/matrix-world.ts'
import { wholeCalls } from '../../worlds/access-matrix/whole-calls.ts'
import { spread } from '../../worlds/base/spread.ts'

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

test('null in any member of any body never makes the dashboard fail', async (t) => {
  const world = await startWorld()
  t.after(() => world.close())
  const calls = wholeCalls(world)
  const { routes } = world.dashboard
  for (const [call, member] of TAKEN) {
    const target = await calls.of(routes.find((route) => callOf(route) === call)!)
    const { status, text } = await calls.send(target, { ...target.base, [member]: null })
    assert.equal(status, 200, `${call} with null in ${member}: ${text}`)
  }
  const wrong: string[] = []
  let [tried, taken] = [0, 0]
  let turn = 0
  for await (const target of calls.all()) {
    const { route } = target
    const found = [...schemaMembers(JSON.parse(JSON.stringify(route.body)) as JsonObject), ...heldMembers(target.base)]
    const members = new Map(found.map((member) => [JSON.stringify(member), member]))
    const plain = await calls.send(target, target.base, { isRandom: true })
    for (const member of spread([...members.values()], turn++, EACH_RUN)) {
      const where = `${callOf(route)} with null in ${member.join('.')}`
      const name = String(member.findLast((step) => typeof step === 'string'))
      // The harness refuses what fails, also in the reads afterwards.
      const { status, text } = await calls
        .send(target, nulled(target.base, member), { isRandom: true })
        .catch((error: Error) => ({
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
