import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runOnEach } from '../../../console/src/parts/tables/bulk-run.ts'

const ROWS = Array.from({ length: 40 }, (_, at) => at + 1)
const BAD = new Set([1, 17, 18, 40])

function recorded() {
  const progress: number[] = []
  const stop = new AbortController()
  return { progress, stop, options: { signal: stop.signal, onProgress: (done: number) => progress.push(done) } }
}

test('rows that fail are named in their order, undo nothing, and the others are done', async () => {
  const { options, progress } = recorded()
  const tried: number[] = []
  const outcome = await runOnEach(
    ROWS,
    async (row) => {
      tried.push(row)
      // Later ones are over before earlier ones.
      for (let turn = row % 5; turn > 0; turn--) await undefined
      if (BAD.has(row)) throw new Error(`row ${row}`)
      return row * 2
    },
    options,
  )
  assert.deepEqual(
    tried.sort((a, b) => a - b),
    ROWS,
  )
  assert.deepEqual(
    outcome.answers,
    ROWS.filter((row) => !BAD.has(row)).map((row) => row * 2),
  )
  assert.deepEqual(
    outcome.failures.map(({ row, error }) => [row, (error as Error).message]),
    [...BAD].map((row) => [row, `row ${row}`]),
  )
  assert.deepEqual(outcome.left, [])
  assert.deepEqual(progress, ROWS)
})

test('a stop begins no further row, and tells which ones are left', async () => {
  const { options, stop } = recorded()
  const tried: number[] = []
  const outcome = await runOnEach(
    ROWS,
    async (row) => {
      tried.push(row)
      await undefined
      if (row === 9) stop.abort()
      return row
    },
    options,
  )
  assert.deepEqual(
    outcome.answers,
    tried.toSorted((a, b) => a - b),
  )
  assert.deepEqual([...outcome.answers, ...outcome.left], ROWS)
  assert.ok(outcome.left.length > 20)
})
