import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { actOf, membersChanged } from '../../../console/src/parts/history/history-sentence.ts'
import { changesOfFields, placesChanged, withoutTyped } from '../../../console/src/parts/review/changes-in-words.ts'
import { diffOf } from '../../../src/dashboard/audit/diff.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'

const name = fc.stringMatching(/^[a-z~/]{1,3}$/)
const { document } = fc.letrec<{ document: JsonObject; value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.nat(3),
    fc.constantFrom('a', 'b', ''),
    fc.boolean(),
    fc.array(fc.nat(2)),
    tie('document'),
  ),
  document: fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<JsonObject>,
}))

/** A copy with the value of another document at this place, or without it where that has none. */
function taken(into: JsonObject, from: JsonObject, [first, ...rest]: readonly string[]): JsonObject {
  const copy = { ...into }
  if (rest.length > 0) copy[first!] = taken(into[first!] as JsonObject, from[first!] as JsonObject, rest)
  else if (Object.hasOwn(from, first!)) copy[first!] = from[first!]!
  else delete copy[first!]
  return copy
}

test('the places where two documents differ, taken from the other, make one of the other', () => {
  fc.assert(
    fc.property(document, document, (before, after) => {
      const places = placesChanged(before, after, Number.POSITIVE_INFINITY)
      assert.deepEqual(
        places.reduce((made, place) => taken(made, after, place), before),
        after,
      )
      for (const place of places) assert.notDeepEqual(taken(before, after, place), before)
    }),
  )
})

test('the history names the members that the difference of an entry is about', async () => {
  await fc.assert(
    fc.asyncProperty(document, document, async (before, after) => {
      const diff = await diffOf([{ kind: 'policy', id: 'x', before, after }])
      const places = placesChanged(before, after, Number.POSITIVE_INFINITY)
      const names = new Set(places.map((place) => place.join('.')))
      const said = membersChanged({ diff: `@ other y\n- /z: 1\n${diff}` }, 'policy')
      assert.deepEqual(new Set(said.map((member) => member.name)), names)
    }),
  )
})

test('an action is named by its verb, and one that the console does not know by itself', () => {
  assert.deepEqual(['policy.create', 'certificate.add', 'undo', 'key.rehash', 'x.constructor'].map(actOf), [
    ...['create', 'create', 'undo', 'other', 'other'],
  ])
})

const FIELDS = [
  { name: 'name', label: 'Name', kind: 'text' },
  { name: 'active', label: 'Active', kind: 'switch' },
  { name: 'secret', label: 'Secret', kind: 'password' },
  { name: 'rights', label: 'Rights', kind: 'part' },
]

test('each changed field is said once, and a secret never with its value', () => {
  const values = fc.record({ name: fc.string(), active: fc.boolean(), secret: fc.uuid(), rights: fc.string() })
  fc.assert(
    fc.property(values, values, (before, after) => {
      const said = changesOfFields(FIELDS, before, after)
      const changed = FIELDS.filter(({ name }) => before[name as 'name'] !== after[name as 'name'])
      assert.deepEqual(
        said.map(({ label }) => label),
        changed.map(({ label }) => label),
      )
      assert.ok(!JSON.stringify(said).includes(after.secret))
      const document = { a: [{ b: after.secret }], [after.name]: after.secret, plain: 'x' }
      assert.ok(!JSON.stringify(withoutTyped(document, [after.secret])).includes(after.secret))
    }),
  )
})
