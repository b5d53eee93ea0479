import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { HitBook } from '../../../src/gateway/record/hit-book.ts'
import type { HitDimensions } from '../../../src/model/analytics/dimensions.ts'
import { bucketOf, type Hit, LATENCY_BOUNDS_MS, MINUTE_MS, NO_MIN_MS } from '../../../src/model/analytics/hit.ts'
import { dimensions, HOUR_MS, merged, NOON, rowId, ScriptedHits } from '../../worlds/gateway/scripted-hits.ts'

function single(d: HitDimensions, status: number, totalMs: number, upstreamMs: number, wallMs: number): Hit {
  const latency = (ms: number) => ({
    sumMs: ms < 0 ? 0 : ms,
    minMs: ms < 0 ? NO_MIN_MS : ms,
    maxMs: ms < 0 ? 0 : ms,
    buckets: [...LATENCY_BOUNDS_MS, Infinity].map((bound, i, all) =>
      ms >= 0 && ms <= bound && (i === 0 || ms > all[i - 1]!) ? 1 : 0,
    ),
  })
  return {
    ...d,
    hour: Math.floor(wallMs / HOUR_MS),
    minute: Math.floor(wallMs / MINUTE_MS) % 60,
    status,
    count: 1,
    success: status >= 200 && status < 300 ? 1 : 0,
    error: status >= 400 ? 1 : 0,
    lastAt: wallMs,
    total: latency(totalMs),
    upstream: latency(upstreamMs),
  }
}

const aRequest = fc.record({
  key: fc.integer({ min: 0, max: 3 }),
  tags: fc.constantFrom('', 'x', 'y'),
  status: fc.constantFrom(200, 204, 302, 404, 503),
  totalMs: fc.integer({ min: 0, max: 12_000 }),
  upstreamMs: fc.integer({ min: -1, max: 11_000 }),
  wallMs: fc.integer({ min: NOON - 5000, max: NOON + HOUR_MS + 5000 }),
})
const anEvent = fc.oneof(
  { weight: 10, arbitrary: aRequest },
  { weight: 1, arbitrary: fc.constantFrom('flush' as const, 'storeAway' as const, 'storeBack' as const) },
)

test('what the store holds equals a plain count, whatever fails and whenever it is flushed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anEvent, { maxLength: 120 }),
      fc.integer({ min: 1, max: 5 }),
      fc.record({ blockSamples: fc.integer({ min: 1, max: 4 }), blocks: fc.integer({ min: 0, max: 12 }) }),
      async (events, batchRows, room) => {
        const store = new ScriptedHits()
        const book = new HitBook(store, { flushMs: 0, batchRows, room })
        const cells = [0, 1, 2, 3].map((key) => book.cell(dimensions(`k${key}`)))
        const expected = new Map<string, Hit>()
        const flushes: Promise<boolean>[] = []
        for (const event of events) {
          if (event === 'flush') flushes.push(book.flush())
          else if (typeof event === 'string') store.failing = event === 'storeAway'
          else {
            const cell = cells[event.key]!.variant(event.tags, '')
            cell.add(event.status, event.totalMs, event.upstreamMs, event.wallMs)
            const one = single(cell.dimensions, event.status, event.totalMs, event.upstreamMs, event.wallMs)
            const id = rowId(one, one.hour * 60 + one.minute!, one.status)
            const old = expected.get(id)
            expected.set(id, old === undefined ? one : merged(old, one))
          }
          // Half of the time the flush gets on while requests come in, half of the time it does not.
          if (typeof event !== 'string' && event.totalMs % 2 === 0) await Promise.resolve()
        }
        await Promise.all(flushes)
        store.failing = false
        assert.equal(await book.flush(), true)
        assert.equal(book.waiting, 0)
        assert.deepEqual(sorted(store.rows), sorted(expected))
        assert.ok(store.batches.every((rows) => rows < batchRows + 10))
      },
    ),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 3000 : 200 },
  )
})

function sorted(rows: ReadonlyMap<string, Hit>): [string, Hit][] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1))
}

test('a batch that failed is sent again unchanged, and what came meanwhile waits its turn', async () => {
  const store = new ScriptedHits()
  const book = new HitBook(store, { flushMs: 0 })
  const cell = book.cell(dimensions('k'))
  cell.add(200, 1, 1, NOON)
  store.failing = true
  assert.equal(await book.flush(), false)
  cell.add(200, 1, 1, NOON + 1)
  assert.equal(await book.flush(), false)
  assert.equal(book.waiting, 2)
  assert.equal(book.failedFlushes, 2)
  store.failing = false
  assert.equal(await book.flush(), true)
  assert.deepEqual(store.batches, [1, 1])
  assert.equal(store.sum, 2)
})

test('a row that the store refuses is lost alone', async () => {
  const store = new ScriptedHits()
  const book = new HitBook(store, { flushMs: 0 })
  for (const key of ['k1', 'k2', 'k3']) book.cell(dimensions(key)).add(200, 1, 1, NOON)
  store.refused = 'k2'
  assert.equal(await book.flush(), true)
  assert.equal(store.sum, 2)
  assert.equal(book.rejectedRows, 1)
  assert.equal(book.waiting, 0)
})

test('a cell is good for every minute, also when the clock goes back', async () => {
  const store = new ScriptedHits()
  const book = new HitBook(store, { flushMs: 0 })
  const cell = book.cell(dimensions('k'))
  for (const wallMs of [NOON, NOON + HOUR_MS, NOON - 1, NOON + HOUR_MS - 1, NOON]) cell.add(200, 1, 1, wallMs)
  await book.flush()
  const counts = [...store.rows.values()].map((row) => [row.hour * HOUR_MS + row.minute! * MINUTE_MS - NOON, row.count])
  assert.deepEqual(
    counts.sort((a, b) => a[0]! - b[0]!),
    [
      [-MINUTE_MS, 1],
      [0, 2],
      [HOUR_MS - MINUTE_MS, 1],
      [HOUR_MS, 1],
    ],
  )
})

test('with the store away memory is bounded, sums by API stay exact, and a counter tells', async () => {
  const store = new ScriptedHits()
  const book = new HitBook(store, { flushMs: 0, maxRows: 100 })
  store.failing = true
  for (let i = 0; i < 5000; i++) {
    const cell = book.cell(dimensions(`k${i}`, { apiId: `a${i % 2}` }))
    cell.add(200 + (i % 3), 1, 1, NOON)
    if (i % 500 === 0) await book.flush()
  }
  assert.ok(book.waiting <= 125 + 10, `${book.waiting} rows wait`)
  assert.equal(book.overflowed, 5000 - 100 - 1) // the row in the failed batch left a slot free again
  store.failing = false
  assert.equal(await book.flush(), true)
  assert.equal(store.sum, 5000)
  const perApi = new Map<string, number>()
  for (const row of store.rows.values()) perApi.set(row.apiId, (perApi.get(row.apiId) ?? 0) + row.count)
  assert.deepEqual([perApi.get('a0'), perApi.get('a1')], [2500, 2500])
  const folded = [...store.rows.values()].filter((row) => row.alias === 'overflow')
  assert.equal(folded.length, 6)
  assert.ok(folded.every((row) => row.keyHash === ''))
})

test('an upstream that invents statuses cannot fill memory either', async () => {
  const store = new ScriptedHits()
  const book = new HitBook(store, { flushMs: 0, maxRows: 20 })
  for (let api = 0; api < 50; api++)
    for (let status = 200; status < 600; status++)
      book.cell(dimensions('k', { apiId: `${api}` })).add(status, 1, 1, NOON)
  assert.ok(book.waiting <= 20 + 5 + 4, `${book.waiting} rows wait`)
  await book.flush()
  assert.equal(store.sum, 50 * 400)
  const errors = [...store.rows.values()].reduce((sum, row) => sum + row.error, 0)
  assert.equal(errors, 50 * 200)
})

test('variants of a cell are found again, and at most 256 are kept', () => {
  const book = new HitBook(new ScriptedHits(), { flushMs: 0 })
  const cell = book.cell(dimensions('k', { tags: 'base' }))
  assert.equal(cell.variant('base', ''), cell)
  const one = cell.variant('x', 'GET /a')
  assert.notEqual(one, cell.variant('x', 'GET /b'))
  assert.equal(cell.variant('x', 'GET /a'), one)
  assert.equal(one.dimensions.keyHash, 'k')
  for (let i = 0; i < 300; i++) cell.variant(`t${i}`, '')
  assert.equal(cell.variant('t299', ''), cell)
  assert.equal(cell.variant('x', 'GET /a'), one)
})

test('the timer flushes without being asked, and again after a failure', async () => {
  const store = new ScriptedHits()
  store.failing = true
  const keepAlive = setInterval(() => {}, 1000) // the book's own timer does not keep a process alive
  const book = new HitBook(store, { flushMs: 2 })
  try {
    book.cell(dimensions('k')).add(200, 1, 1, NOON)
    await new Promise<void>((resolve) => {
      store.onAdd = resolve
    })
    store.failing = false
    await new Promise<void>((resolve) => {
      store.onAdd = resolve
    })
    assert.equal(await book.close(), true)
    assert.equal(store.sum, 1)
  } finally {
    clearInterval(keepAlive)
  }
})

test('a flush hands over its rows by key, whoever called first', async () => {
  const seen: string[] = []
  const book = new HitBook(
    {
      number: async () => [],
      append: async () => {},
      add: async (rows) => void seen.push(...rows.map((row) => row.keyHash)),
    },
    { flushMs: 0 },
  )
  const keys = ['ff00', '0a11', '', '9b22', '0a33', 'f', '00ff', 'no hash']
  for (const key of keys) book.cell(dimensions(key)).add(200, 1, 1, NOON)
  await book.flush()
  const hashes = seen.filter((key) => /^[0-9a-f]{4}$/.test(key))
  assert.deepEqual(hashes, ['00ff', '0a11', '0a33', '9b22', 'ff00'])
  assert.deepEqual([...seen].sort(), [...keys].sort())
})

test('close gives up on a store that stays away', async () => {
  const store = new ScriptedHits()
  store.failing = true
  const book = new HitBook(store, { flushMs: 0 })
  book.cell(dimensions('k')).add(200, 1, 1, NOON)
  assert.equal(await book.close(2), false)
  assert.equal(book.failedFlushes, 2)
})

test('buckets include their bound', () => {
  assert.deepEqual([0, 1, 1.001, 2, 10_000, 10_001].map(bucketOf), [0, 0, 1, 1, 12, 13])
})
