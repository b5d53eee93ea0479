import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HitCell } from '../../../src/gateway/record/aggregate.ts'
import { HitBook } from '../../../src/gateway/record/hit-book.ts'
import { HitLog, type HitLogOptions } from '../../../src/gateway/record/hit-log.ts'
import { dimensions, HOUR_MS, NOON, ScriptedHits } from '../../worlds/gateway/scripted-hits.ts'

/** A book with a cell whose dimensions have a number. */
async function numbered(store: ScriptedHits, room?: Partial<HitLogOptions>): Promise<{ book: HitBook; cell: HitCell }> {
  const book = new HitBook(store, { flushMs: 0, ...(room && { room }) })
  const cell = book.cell(dimensions('k'))
  for (let i = 0; i < 2; i++) {
    cell.add(200, 1, 1, NOON)
    assert.equal(await book.flush(), true)
  }
  assert.deepEqual(store.batches, [1, 1])
  return { book, cell }
}

test('a repeated cell gets a number, and later requests are handed over one by one', async () => {
  const store = new ScriptedHits()
  const { book, cell } = await numbered(store)
  for (let i = 0; i < 10; i++) cell.add(404, 2, -1, NOON + i)
  assert.equal(book.waiting, 10)
  assert.equal(await book.flush(), true)
  assert.deepEqual([store.samples, store.batches.length, store.sum, book.waiting], [10, 2, 12, 0])
  assert.equal(book.storedRows, 12)
})

test('failed hits wait as they are, and become rows when the log is full', async () => {
  const store = new ScriptedHits()
  const { book, cell } = await numbered(store, { blockSamples: 4, blocks: 2 })
  store.failing = true
  for (let i = 0; i < 100; i++) {
    cell.add(200, 1, 1, NOON)
    if (i % 3 === 0) assert.equal(await book.flush(), false)
  }
  assert.equal(book.overflowed, 0)
  assert.ok(book.waiting < 10, `${book.waiting} wait`)
  store.failing = false
  assert.equal(await book.flush(), true)
  assert.ok(store.samples > 0)
  assert.deepEqual([store.sum, book.waiting], [102, 0])
})

test('a store that has no numbers to give gets rows, and is asked again', async () => {
  const store = new ScriptedHits()
  const book = new HitBook(store, { flushMs: 0 })
  const cell = book.cell(dimensions('k'))
  store.numberless = true
  for (let i = 0; i < 3; i++) {
    cell.add(200, 1, 1, NOON)
    await book.flush()
  }
  assert.deepEqual([store.sum, store.samples], [3, 0])
  store.numberless = false
  for (let i = 0; i < 2; i++) {
    cell.add(200, 1, 1, NOON)
    await book.flush()
  }
  assert.deepEqual([store.sum, store.samples], [5, 1])
})

test('samples that the store refuses are lost alone, and a counter tells', async () => {
  const store = new ScriptedHits()
  const { book, cell } = await numbered(store)
  const other = book.cell(dimensions('other'))
  store.refused = 'k'
  cell.add(200, 1, 1, NOON)
  other.add(200, 1, 1, NOON)
  assert.equal(await book.flush(), true)
  assert.deepEqual([store.sum, book.rejectedRows, book.waiting], [3, 1, 0])
})

test('a log takes what belongs to one hour, refuses what goes back, and gives all its room back', () => {
  const log = new HitLog({ blockSamples: 3, blocks: 4 })
  const take = (wallMs: number, status = 200) => log.add(1, status, 1, 1, wallMs)
  assert.deepEqual(
    [take(NOON), take(NOON - 1), take(NOON + HOUR_MS), take(NOON + HOUR_MS - 1)],
    [true, false, true, false],
  )
  assert.deepEqual([take(NOON, 1024), take(NOON, -1), take(Number.NaN)], [false, false, false])
  for (let i = 0; i < 20; i++) take(NOON + HOUR_MS)
  assert.equal(log.waiting, 1 + 3 * 3)
  for (let round = 0; round < 3; round++) {
    log.close()
    const blocks = log.take(9)
    assert.equal(blocks.length, 4)
    log.giveBack(blocks)
    assert.equal(log.waiting, 0)
    for (let i = 0; i < 20; i++) take(NOON + round)
    assert.equal(log.waiting, 12)
  }
})
