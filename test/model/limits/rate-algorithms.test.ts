import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RATE_ALGORITHMS } from '../../../src/model/limits/rate-algorithms.ts'
import { RATE_SCRIPTS } from '../../../src/store/redis/rate-scripts.ts'

const MAX = 20
const WINDOW_MS = 1_000

for (const algorithm of RATE_ALGORITHMS) {
  test(`${algorithm.name}: of a burst the limit passes, and what is waited for is free`, () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: MAX }), fc.integer({ min: 1, max: WINDOW_MS }), (max, windowMs) => {
        const table = algorithm.table()
        const slot = table.claim()
        let used = 0
        while (table.room(slot, max, windowMs, 1_000) > 0) {
          table.use(slot, max, windowMs)
          used++
        }
        assert.equal(used, max)
        const waitMs = table.nextMs(slot, max, windowMs)
        assert.ok(waitMs > 0 && waitMs <= windowMs + 1)
        assert.ok(table.room(slot, max, windowMs, 1_000 + waitMs) > 0)
        assert.equal(table.room(slot, max, windowMs, 1_000 + 3 * windowMs), max)
        assert.equal(table.idle(slot, 1_000 + 3 * windowMs + 2_000), true)
      }),
    )
  })

  test(`${algorithm.name}: slots count apart, add up, and are nobody's once they are released`, () => {
    const table = algorithm.table()
    const [a, b] = [table.claim(), table.claim()]
    const use = (slot: number, times: number) => {
      for (let i = 0; i < times; i++) {
        assert.ok(table.room(slot, MAX, WINDOW_MS, 5) > 0)
        table.use(slot, MAX, WINDOW_MS)
      }
    }
    use(a, 3)
    use(b, 4)
    assert.equal(table.room(b, MAX, WINDOW_MS, 5), MAX - 4)
    table.add(a, b)
    table.trim(b)
    assert.equal(table.room(a, MAX, WINDOW_MS, 5), MAX - 3)
    assert.equal(table.room(b, MAX, WINDOW_MS, 5), MAX - 7)
    const generation = table.generation(b)
    table.release(b)
    assert.notEqual(table.generation(b), generation)
    const again = table.claim()
    assert.notEqual(table.generation(again), generation)
    assert.equal(table.room(again, MAX, WINDOW_MS, 5), MAX)
  })
}

test('each algorithm counts under its own name in Redis, the window under that of older nodes', () => {
  const keys = Object.values(RATE_SCRIPTS).map(({ key }) => key)
  assert.equal(new Set([...keys, 'quota']).size, keys.length + 1)
  // Nodes of the version before count by it while a cluster is upgraded.
  assert.equal(RATE_SCRIPTS.sliding_window.key, 'rate')
})
