import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { listPieces, pageAnswer } from '../../../src/dashboard/routes/listed.ts'

/** An answer of a store at some distance. */
const DISTANCE_MS = 12

test('rows of a list wait together for a store that is far away', async () => {
  let waiting = 0
  let most = 0
  const shape = async (row: number) => {
    most = Math.max(most, ++waiting)
    await wait(DISTANCE_MS)
    waiting--
    return row
  }
  const rows = Array.from({ length: 400 }, (_, n) => n)
  const { body } = await pageAnswer(rows, 400, { offset: 0, limit: 400 }, { name: 'rows', shape })
  assert.deepEqual(body, { rows, pages: 1 })
  assert.ok(most >= 16, `${most}`)
  let turns = 0
  const counted = async (row: number) => {
    if (waiting === 0) turns++
    return shape(row)
  }
  const batches = async function* () {
    for (let start = 0; start < rows.length; start += 32) yield rows.slice(start, start + 32)
  }
  const pieces = await Array.fromAsync(listPieces(batches(), counted))
  assert.deepEqual(JSON.parse(pieces.join('')), rows)
  // One wait for each batch, and those of the first ones until their size is known.
  assert.ok(turns < 50, `${turns}`)
})

test('rows of a list that take long to shape are shaped one by one', async () => {
  let since = 0
  let most = 0
  const shape = async (row: number) => {
    if (since === 0) setImmediate(() => (since = 0))
    most = Math.max(most, ++since)
    for (const start = performance.now(); performance.now() - start < 10; );
    return row
  }
  const rows = Array.from({ length: 20 }, (_, n) => n)
  await pageAnswer(rows, 20, { offset: 0, limit: 20 }, { name: 'rows', shape })
  assert.equal(most, 1)
})
