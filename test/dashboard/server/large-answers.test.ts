import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { jsonInTurns } from '../../../src/dashboard/routes/json-in-turns.ts'
import type { Json } from '../../../src/model/json/json.ts'
import { jsonPieces } from '../../../src/model/json/json-pieces.ts'
import { mapInTurns } from '../../../src/runtime/turns.ts'
import { turnsOf } from '../../worlds/base/turns.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

test('pieces of JSON text are together what JSON.stringify makes', () => {
  const long = fc.constantFrom('x'.repeat(100_000), 'ü\n"'.repeat(50_000), '\ud800')
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(fc.string(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null), long) as fc.Arbitrary<Json>,
      fc.array(tie('value'), { maxLength: 6 }),
      fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), tie('value'), { maxKeys: 6 }),
    ),
  }))
  fc.assert(
    fc.property(value, (found) => {
      const pieces = [...jsonPieces(found)]
      assert.equal(pieces.join(''), JSON.stringify(found))
      // A text is in one piece, and escapes make it longer.
      for (const piece of pieces) assert.ok(piece.length < 1_000_000, String(piece.length))
    }),
    { numRuns: 200 },
  )
  assert.equal([...jsonPieces({ a: undefined, b: [undefined] } as unknown as Json)].join(''), '{"b":[null]}')
})

test('a large value is written in turns that others go between', async () => {
  const value = Array.from({ length: 200_000 }, (_, index) => ({ index, text: 'some text', more: [1, 2, { a: null }] }))
  const { longestMs, totalMs } = await turnsOf(async () => {
    for await (const piece of jsonInTurns(value)) assert.notEqual(piece, '')
  })
  assert.ok(longestMs < totalMs / 2, `${longestMs} of ${totalMs} ms in one turn`)
})

test('rows that take long are worked on in turns, quick ones at once', async () => {
  assert.deepEqual(
    mapInTurns([1, 2, 3], (row) => row * 2),
    [2, 4, 6],
  )
  const busy = () => {
    const until = performance.now() + 20
    while (performance.now() < until);
    return turn
  }
  let turn = 0
  const counted = (async () => {
    for (let left = 50; left > 0; left--, turn++) await nextTurn()
  })()
  const turns = await Promise.all([1, 2].map(() => mapInTurns([1, 2, 3], busy)))
  await counted
  // Both begin at once: they are asked in one turn. After that no two rows share one, of whichever call.
  const later = turns.flatMap((each) => each.slice(1))
  assert.equal(new Set(later).size, later.length, later.join(' '))
})

test('a list that is sent as it is read has no ETag, for it would not change with the list', async (t) => {
  const { call, admin, close } = await startTestDashboard()
  t.after(close)
  const as = await admin()
  for (const path of ['/api/hooks', '/api/labels', '/api/portal/policies', '/api/users']) {
    const before = await call('GET', `${path}?p=-1`, { as })
    assert.equal(before.status, 200)
    const headers = { 'if-none-match': String(before.headers.etag ?? '"x"') }
    await call('POST', '/api/labels', { as, body: { name: `Label of ${path}`, values: [] } })
    const after = await call('GET', `${path}?p=-1`, { as, headers })
    assert.equal(after.status, 200, path)
    assert.equal(after.headers.etag, undefined, path)
  }
})
