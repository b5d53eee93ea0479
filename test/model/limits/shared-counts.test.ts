import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { makeLimit } from '../../../src/model/limits/limit.ts'
import { BUSY, endOwner, SharedLocks } from '../../../src/model/threads/shared-lock.ts'
import { FakeClock, monoOrigin, systemClock } from '../../../src/model/time/clock.ts'
import { MemoryCounters } from '../../../src/store/memory/counters.ts'
import { ownSharedCounters, SharedTables } from '../../../src/store/memory/shared-counters.ts'
import { FIRST_OWNER, reserveCounts, SharedState } from '../../../src/store/memory/shared-counts.ts'
import type { Counted, CountingOrder } from '../../worlds/model/counting-thread.ts'
import { fullestWindow, Log } from '../../worlds/model/naive.ts'

const deep = process.env.GATEHOUSE_DEEP === '1'
const THREAD = new URL('../../worlds/model/counting-thread.ts', import.meta.url)
/** A minute of a thousand a second from eight threads, or a moment of three. */
const hammered = deep
  ? { threads: 8, max: 1000, windowMs: 1000, calls: 1e9, forMs: 60_000, mostPauseUs: 4000 }
  : { threads: 3, max: 40, windowMs: 20, calls: 3000, forMs: 60_000, mostPauseUs: 20 }

test('one key from several threads is limited as by a plain log, and its quota counts every use', async (t) => {
  const memory = reserveCounts('sliding_window')
  const owner = ownSharedCounters(memory, systemClock)
  const { threads, ...order } = hammered
  const all = await Promise.all(
    Array.from({ length: threads }, async (_, at) => {
      const worker = startThread({ ...order, memory, number: owner.nextOwner(), seed: at + 1, stays: false })
      t.after(() => worker.terminate())
      const [counted] = (await once(worker, 'message')) as [Counted]
      return counted
    }),
  )
  const admitted = all.flatMap((each) => each.admitted).sort((a, b) => a - b)
  const calls = [...admitted, ...all.flatMap((each) => each.refused)].sort((a, b) => a - b)
  assert.ok(all.every((each) => each.admitted.length > 0))
  assert.ok(fullestWindow(admitted, order.windowMs) <= order.max)
  const log = new Log()
  for (const at of calls) if (log.used(order.windowMs, at) < order.max) log.times.push(at)
  assert.ok(admitted.length >= log.times.length * 0.99, `${admitted.length} of ${log.times.length}`)
  const quota = makeLimit('quota', 'hot|', 1e12, 0)
  await owner.counters.peek([quota], { wall: 0, mono: 0 })
  assert.equal(1e12 - quota.remaining, admitted.length)
})

test('a thread that ends within its locks keeps nobody from a count', async (t) => {
  const memory = reserveCounts('sliding_window')
  const owner = ownSharedCounters(memory, systemClock)
  const number = owner.nextOwner()
  const worker = startThread({ ...hammered, memory, number, seed: 1, stays: true })
  t.after(() => worker.terminate())
  await once(worker, 'message')
  const now = { wall: 0, mono: systemClock.mono() }
  const limit = () => [makeLimit('rate', 'hot|', 40, 20)]
  const waits = owner.counters.take(limit(), now)
  assert.ok(waits instanceof Promise, 'the thread that hears of ends does not wait in its turn')
  await worker.terminate()
  owner.ended(number)
  assert.equal(await waits, -1)
  const other = new MemoryCounters(systemClock, new SharedTables(memory, owner.nextOwner()))
  assert.equal(other.take(limit(), now), -1)
})

test('a live thread keeps its locks, and a dead one loses them, after any number of starts', () => {
  const state = new SharedState(reserveCounts('sliding_window'), FIRST_OWNER)
  const { living } = state
  const cells = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT))
  const locksOf = (number: number) => new SharedLocks({ number, living, patient: false })
  const [alive, dead] = [state.nextOwner(), state.nextOwner()]
  for (const [at, number] of [FIRST_OWNER, alive, dead].entries()) locksOf(number).lock(cells, at)
  endOwner(living, dead)
  const numbers = new Set([FIRST_OWNER, alive, dead])
  const running: number[] = []
  for (let start = 1; start <= 10_000; start++) {
    const number = state.nextOwner()
    assert.ok(!numbers.has(number), `number ${number} twice`)
    numbers.add(number)
    running.push(number)
    if (running.length > 50) endOwner(living, running.shift()!)
  }
  const locks = locksOf(state.nextOwner())
  assert.throws(() => locks.lock(cells, 0), BUSY)
  assert.throws(() => locks.lock(cells, 1), BUSY)
  locks.lock(cells, 2)
  assert.ok(locks.has(cells, 2))
})

test('names are found by every thread as in a map, whatever is claimed and given back', () => {
  const act = fc.record({
    act: fc.constantFrom('claim', 'claim', 'claim', 'release', 'find'),
    id: fc.nat({ max: 60 }),
    by: fc.nat({ max: 1 }),
  })
  fc.assert(
    fc.property(fc.array(act, { maxLength: 300 }), (acts) => {
      const memory = reserveCounts('sliding_window')
      const tables = [new SharedTables(memory, 1), new SharedTables(memory, 2)]
      const known = new Map<string, number>()
      for (const { act, id: number, by } of acts) {
        const id = `${'n'.repeat(number)}|${number % 7}`
        const { rates } = tables[by]!
        if (act === 'claim') {
          const slot = rates.claim(id)
          assert.equal(slot, known.get(id) ?? slot)
          assert.ok(known.has(id) || ![...known.values()].includes(slot), 'a slot of another name')
          known.set(id, slot)
        } else if (act === 'release' && known.has(id)) {
          tables[0]!.rates.release(known.get(id)!)
          known.delete(id)
        }
        assert.equal(rates.find(id), known.get(id) ?? -1)
      }
      for (const [id, slot] of known) assert.equal(tables[1]!.rates.idOf(slot), id)
      assert.equal(tables[1]!.rates.count, known.size)
    }),
    { numRuns: deep ? 500 : 20 },
  )
})

test('keys that come once give their slots, names and rings back', () => {
  const memory = reserveCounts('sliding_window')
  const clock = new FakeClock()
  const owner = ownSharedCounters(memory, clock)
  const serving = new MemoryCounters(clock, new SharedTables(memory, owner.nextOwner()))
  const keys = deep ? 100_000 : 4000
  const sizes: number[] = []
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < keys; i++) {
      const id = `${round}-${i}`.padEnd(60 + (i % 30), 'x')
      const limit = makeLimit('rate', id, 100, 1000)
      for (let use = 0; use < 6; use++) serving.take([limit], { wall: 0, mono: clock.mono() })
    }
    clock.advance(10_000)
    while (owner.kept.size.rates > 0) owner.kept.sweep(keys)
    sizes.push(memory.rates.slots.byteLength + memory.rings.byteLength + memory.tables.byteLength)
  }
  assert.deepEqual(sizes.slice(1), [sizes[0], sizes[0]], 'a later round takes no more memory')
})

function startThread(order: Omit<CountingOrder, 'origin'>): Worker {
  return new Worker(THREAD, { workerData: { ...order, origin: monoOrigin() } satisfies CountingOrder })
}
