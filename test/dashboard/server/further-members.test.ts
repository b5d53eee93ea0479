import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import { callOf } from '../../worlds/access-matrix/matrix-rows.ts'
import { startWorld } from '../../worlds/access-matrix/matrix-world.ts'
import { pathIn, wholeCalls } from '../../worlds/access-matrix/whole-calls.ts'
import { ContractCheck } from '../../worlds/base/contract-check.ts'
import { spread } from '../../worlds/base/spread.ts'

/** Outside long runs one object within a body in so many is tried. */
const EACH_RUN = 10
const NAME = 'zz_further_member'
type Path = readonly (string | number)[]

/** Where objects are in a value: of a list those of its first entry. */
function objectsIn(value: Json, at: Path = []): Path[] {
  if (Array.isArray(value)) return value.slice(0, 1).flatMap((entry) => objectsIn(entry, [...at, 0]))
  if (!isObject(value)) return []
  return [at, ...Object.entries(value).flatMap(([name, each]) => objectsIn(each, [...at, name]))]
}

function withFurther(body: JsonObject, path: Path): JsonObject {
  const copy = structuredClone(body)
  const at = path.reduce<Record<string | number, Json>>((object, step) => object[step] as Record<string, Json>, copy)
  at[NAME] = 'further'
  return copy
}

/** Sees what goes into the store, other than entries about the call. */
function seenStore(store: Store, onWrite: (text: string) => void): Store {
  const documents = new Proxy(store.documents, {
    get(target, member) {
      const value = Reflect.get(target, member)
      if (typeof value !== 'function') return value
      return (...sent: unknown[]) => {
        if (member === 'commit') onWrite(JSON.stringify(sent[0]))
        return Reflect.apply(value, target, sent)
      }
    },
  })
  return { ...store, documents, close: () => store.close() }
}

/** Calls that store nothing, or not what they are sent. */
const STORE_NOTHING = /^POST \/(?:license|api\/keys\/preview)$/
/** A bare definition may replace the object that holds one, and its members are kept. */
const BARE = /^(?:POST|PUT) \/api\/apis(?:\/\{\})?$/

test('members that no description has are stored exactly where the description says so', async (t) => {
  const clock = new FakeClock()
  let written = ''
  const store = seenStore(openMemoryStore({ clock }), (text) => {
    written += text
  })
  const world = await startWorld({ clock, store })
  t.after(() => world.close())
  const calls = wholeCalls(world)
  const contract = new ContractCheck('openapi.json')
  const wrong: string[] = []
  let [tried, taken, turn] = [0, 0, 0]
  for await (const call of calls.all()) {
    const { route, base } = call
    // Of a call in two spellings one.
    if (route.aliasOf !== undefined) continue
    const [whole, ...inner] = objectsIn(base)
    for (const place of [whole!, ...spread(inner, turn++, EACH_RUN)]) {
      const body = withFurther(base, place)
      written = ''
      const { status } = await calls.send(call, body, { read: false, isRandom: true })
      if (place.length === 0) tried++
      if (status >= 300) continue
      if (place.length === 0) taken++
      const isStored = written.includes(NAME)
      const isDescribed = !contract
        .sentFlaws(route.method, pathIn(world, route), JSON.stringify(body))
        .some((flaw) => flaw.includes(NAME))
      const name = callOf(route)
      if (isStored && !isDescribed) wrong.push(`${name}: ${place.join('.')} keeps what its schema does not say`)
      // Below, maps and what a read embeds are open without being kept.
      const isKept = place.length > 0 || isStored || STORE_NOTHING.test(name) || BARE.test(name)
      if (isDescribed && !isKept) wrong.push(`${name} drops what its schema says that it keeps`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(taken > tried / 2, `${taken} of ${tried}`)
})

test('a body that takes no further members is refused by the name of one', async (t) => {
  const world = await startWorld()
  t.after(() => world.close())
  const calls = wholeCalls(world)
  let tried = 0
  for (const route of world.dashboard.routes) {
    if ((route.body as JsonObject | undefined)?.additionalProperties !== false) continue
    tried++
    const call = await calls.of(route)
    const { status, text } = await calls.send(call, { ...call.base, overlap: 60 }, { isRandom: true })
    assert.equal(status, 400, `${callOf(route)}: ${text}`)
    assert.match(text, /overlap is not known here/, callOf(route))
  }
  assert.ok(tried > 5, String(tried))
})
