import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { PointedCopy } from '../../../src/model/apis/definition/tree.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { sealedStore } from '../../../src/store/sealed/sealed-store.ts'

const name = fc.constantFrom('a', 'b/c', '~', '~1', '', '0', '1', '__proto__', 'constructor')
const tree = fc.object({
  key: name,
  maxDepth: 4,
  values: [fc.constantFrom('x', '', 1, null)],
  withNullPrototype: false,
})
const pointer = fc.array(name, { minLength: 1, maxLength: 5 })

/** Puts a value where RFC 6901 says, into a copy of everything. */
function putPlainly(root: Json, names: readonly string[], value: Json): Json {
  const [first, ...rest] = names
  if (first === undefined) return value
  if (typeof root !== 'object' || root === null) return root
  const isThere = Array.isArray(root)
    ? /^(0|[1-9]\d*)$/.test(first) && Number(first) < root.length
    : Object.hasOwn(root, first)
  if (!isThere && (rest.length > 0 || Array.isArray(root))) return root
  if (Array.isArray(root)) return root.map((item, at) => (at === Number(first) ? putPlainly(item, rest, value) : item))
  const members = Object.entries(root).map(([own, item]) => [own, own === first ? putPlainly(item, rest, value) : item])
  return Object.fromEntries(isThere ? members : [...members, [first, value]]) as JsonObject
}

test('a copy with other values in some places differs from its original there alone', () => {
  fc.assert(
    fc.property(
      tree,
      fc.array(fc.tuple(pointer, fc.constantFrom('new', 'other')), { maxLength: 5 }),
      (given, edits) => {
        const original = given as JsonObject
        const text = JSON.stringify(original)
        const copy = new PointedCopy(original)
        let expected: Json = JSON.parse(text)
        for (const [names, value] of edits) {
          const escaped = names.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
          copy.put(escaped, value)
          expected = putPlainly(expected, names, value)
        }
        assert.equal(JSON.stringify(copy.top), JSON.stringify(expected))
        assert.equal(JSON.stringify(original), text)
      },
    ),
  )
})

test('a large document is read in a turn of its own, a small one at once', async (t) => {
  const store = sealedStore(openMemoryStore(), randomBytes(32))
  t.after(() => store.close())
  const headers = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `X-${i}`, value: `secret ${i}` }))
  const body = (count: number): JsonObject => ({
    ...{ api_id: `api${count}`, org_id: 'o' },
    definition: { middleware: { operations: { a: { transformRequestHeaders: { add: headers(count) } } } } },
  })
  const put = (id: string, count: number) =>
    store.documents.commit([{ op: 'put', kind: 'api', id: id.repeat(24) as never, body: body(count) }], undefined)
  await put('1', 3)
  await put('2', 30_000)
  assert.ok(!(store.documents.get('api', '1'.repeat(24) as never) instanceof Promise))
  const found = store.documents.get('api', '2'.repeat(24) as never)
  assert.ok(found instanceof Promise)
  assert.deepEqual((await found)?.body.definition, body(30_000).definition)
})
