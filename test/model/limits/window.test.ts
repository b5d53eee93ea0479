import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MAX_BLOCKS, Windows } from '../../../src/model/limits/window.ts'
import { fullestWindow, Log, seeded } from '../../worlds/model/naive.ts'

const runs = process.env.GATEHOUSE_DEEP === '1' ? 5000 : 150
const longRuns = process.env.GATEHOUSE_DEEP === '1' ? 200 : 8

/** Takes one permit; true when admitted. */
function take(windows: Windows, slot: number, max: number, windowMs: number, now: number): boolean {
  if (windows.room(slot, max, windowMs, now) <= 0) return false
  windows.use(slot, max, windowMs)
  return true
}

test('up to 1024 every decision, remaining count and waiting time equals that of a plain log', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 200 }),
      fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 400 }),
      (max, windowMs, gaps) => {
        const windows = new Windows()
        const slot = windows.claim()
        const log = new Log()
        let now = 5000
        for (const gap of gaps) {
          now += gap
          const before = log.used(windowMs, now)
          assert.equal(windows.room(slot, max, windowMs, now), max - before)
          assert.equal(take(windows, slot, max, windowMs, now), before < max)
          if (before < max) log.times.push(now)
          assert.equal(windows.nextMs(slot, max, windowMs), log.nextMs(max, windowMs, now))
        }
        assert.ok(fullestWindow(log.times, windowMs) <= max)
      },
    ),
    { numRuns: runs },
  )
})

test('exactly 1024 is still exact, with bursts and pauses', () => {
  for (let seed = 1; seed <= longRuns; seed++) {
    const random = seeded(seed)
    const windows = new Windows()
    const slot = windows.claim()
    const log = new Log()
    let now = 0
    for (let i = 0; i < 6000; i++) {
      if (random() < 0.3) now += Math.floor(random() * (random() < 0.01 ? 1500 : 4))
      const free = log.used(1000, now) < MAX_BLOCKS
      assert.equal(take(windows, slot, MAX_BLOCKS, 1000, now), free, `seed ${seed}, call ${i}`)
      if (free) log.times.push(now)
    }
    assert.ok(log.times.length > MAX_BLOCKS)
  }
})

test('above 1024 no window holds more than the limit, and only less than one block is withheld', () => {
  let refused = 0
  for (let seed = 1; seed <= longRuns; seed++) {
    const random = seeded(seed)
    const max = 1025 + Math.floor(random() * 9000)
    const block = Math.ceil(max / MAX_BLOCKS)
    const windows = new Windows()
    const slot = windows.claim()
    const log = new Log()
    let now = 0
    for (let i = 0; i < 30_000; i++) {
      if (random() < 0.02) now += Math.floor(random() * (random() < 0.02 ? 900 : 6))
      const used = log.used(1000, now)
      const admitted = take(windows, slot, max, 1000, now)
      if (admitted) assert.ok(used < max, `seed ${seed}: ${used} of ${max} used, and one more admitted`)
      else assert.ok(used > max - block, `seed ${seed}: refused at ${used} of ${max}`)
      if (admitted) log.times.push(now)
      else refused++
    }
    assert.ok(fullestWindow(log.times, 1000) <= max)
  }
  assert.ok(refused > longRuns * 100, 'the runs hardly reached their limits')
})

test('a limit that changes counts what was used, and is exact while it stays within 1024', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ gap: fc.integer({ min: 0, max: 12 }), max: fc.integer({ min: 1, max: 30 }) }), {
        maxLength: 300,
      }),
      (calls) => {
        const windows = new Windows()
        const slot = windows.claim()
        const log = new Log()
        let now = 0
        for (const { gap, max } of calls) {
          now += gap
          const used = log.used(100, now)
          assert.equal(take(windows, slot, max, 100, now), used < max)
          if (used < max) log.times.push(now)
          assert.equal(windows.nextMs(slot, max, 100), log.nextMs(max, 100, now))
        }
      },
    ),
    { numRuns: runs },
  )
})

test('a limit that jumps between small and very large never admits beyond the one in force', () => {
  for (let seed = 1; seed <= longRuns; seed++) {
    const random = seeded(seed)
    const windows = new Windows()
    const slot = windows.claim()
    const log = new Log()
    const choices = [3, 100, 1024, 1025, 2500, 20_000, 1e12]
    let max = 20_000
    let now = 0
    for (let i = 0; i < 30_000; i++) {
      if (random() < 0.02) now += Math.floor(random() * 40)
      if (random() < 0.002) max = choices[Math.floor(random() * choices.length)]!
      const used = log.used(1000, now)
      if (!take(windows, slot, max, 1000, now)) continue
      assert.ok(used < max, `seed ${seed}: ${used} of ${max} used, and one more admitted`)
      log.times.push(now)
    }
  }
})

test('a lowered limit is exact again one window later', () => {
  const windows = new Windows()
  const slot = windows.claim()
  const log = new Log()
  let now = 0
  for (let i = 0; i < 5000; i++) {
    now = Math.floor(i / 5)
    take(windows, slot, 5000, 1000, now)
  }
  assert.equal(take(windows, slot, 100, 1000, now), false)
  const lowered = now
  for (; now < lowered + 4000; now += 3) {
    const admitted = take(windows, slot, 100, 1000, now)
    if (now > lowered + 1001) assert.equal(admitted, log.used(1000, now) < 100, `at ${now - lowered}`)
    if (admitted) log.times.push(now)
  }
})

test('a limit lowered far below what was used refuses until that is over', () => {
  const windows = new Windows()
  const slot = windows.claim()
  for (let i = 0; i < 100_000; i++) assert.ok(take(windows, slot, 100_000, 1000, i % 1000 === 0 ? i / 1000 : 99))
  assert.equal(windows.room(slot, 10, 1000, 100), 10 - 100_000)
  assert.equal(take(windows, slot, 10, 1000, 1099), false)
  assert.equal(take(windows, slot, 10, 1000, 1100), true)
})

test('after a quiet window a large limit is exact again', () => {
  const windows = new Windows()
  const slot = windows.claim()
  for (let i = 0; i < 5000; i++) take(windows, slot, 5000, 1000, 0)
  assert.equal(windows.room(slot, 5000, 1000, 1001), 5000)
  take(windows, slot, 5000, 1000, 1001)
  take(windows, slot, 5000, 1000, 1011)
  assert.equal(windows.room(slot, 5000, 1000, 2002), 4999)
})

test('a use counts until strictly more than the window has passed', () => {
  const windows = new Windows()
  const slot = windows.claim()
  assert.equal(take(windows, slot, 1, 1000, 0), true)
  assert.equal(take(windows, slot, 1, 1000, 1000), false)
  assert.equal(windows.nextMs(slot, 1, 1000), 1)
  assert.equal(take(windows, slot, 1, 1000, 1001), true)
})

test('a clock that goes back stands still, and admits nothing more', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10 }),
      fc.array(fc.record({ gap: fc.integer({ min: -300, max: 120 }), which: fc.nat(1) }), { maxLength: 200 }),
      (max, calls) => {
        const windows = new Windows()
        const slots = [windows.claim(), windows.claim()]
        const logs = [new Log(), new Log()]
        let now = 10_000
        let latest = Number.NEGATIVE_INFINITY
        for (const { gap, which } of calls) {
          now += gap
          latest = Math.max(latest, now)
          const log = logs[which]!
          const free = log.used(100, latest) < max
          assert.equal(take(windows, slots[which]!, max, 100, now), free)
          if (free) log.times.push(latest)
        }
        for (const log of logs) assert.ok(fullestWindow(log.times, 100) <= max)
      },
    ),
    { numRuns: runs },
  )
})

test('slots are given out again with another generation and nothing used', () => {
  const windows = new Windows()
  const slot = windows.claim()
  const generation = windows.generation(slot)
  take(windows, slot, 1, 60_000, 0)
  windows.release(slot)
  assert.equal(windows.generation(slot), -1)
  const again = windows.claim()
  assert.equal(again, slot)
  assert.notEqual(windows.generation(again), generation)
  assert.equal(windows.room(again, 1, 60_000, 1), 1)
  assert.equal(windows.generation(123_456), -1)
})

test('slots do not disturb each other while rings grow, shrink and change hands', () => {
  for (let seed = 1; seed <= longRuns; seed++) {
    const random = seeded(seed)
    const windows = new Windows()
    let kept = Array.from({ length: 60 }, () => ({ slot: windows.claim(), log: new Log() }))
    let now = 0
    for (let i = 0; i < 20_000; i++) {
      now += random() < 0.1 ? Math.floor(random() * 5) : 0
      const one = kept[Math.floor(random() ** 3 * kept.length)]!
      const free = one.log.used(200, now) < 150
      assert.equal(take(windows, one.slot, 150, 200, now), free, `seed ${seed}, call ${i}`)
      if (free) one.log.times.push(now)
      if (i % 500 === 0) {
        for (const { slot } of kept) windows.trim(slot)
        const idle = kept.filter(({ slot }) => windows.idle(slot, now))
        for (const { slot } of idle) windows.release(slot)
        kept = kept.map((each) => (idle.includes(each) ? { slot: windows.claim(), log: new Log() } : each))
      }
    }
    assert.ok(windows.size <= 60)
  }
})

test('idle means that nothing counts any more', () => {
  const windows = new Windows()
  const slot = windows.claim()
  assert.equal(windows.idle(slot, 0), true)
  take(windows, slot, 5, 1500, 100)
  assert.equal(windows.idle(slot, 1600), false)
  assert.equal(windows.idle(slot, 2101), true)
})

test('added counts are those of both', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 80 }),
      fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 80 }),
      (first, second) => {
        const windows = new Windows()
        const logs = [new Log(), new Log()] as const
        const slots = [windows.claim(), windows.claim()] as const
        let now = 0
        for (const [index, gaps] of [first, second].entries()) {
          for (const gap of gaps) {
            now += gap
            if (take(windows, slots[index]!, 100, 500, now)) logs[index]!.times.push(now)
          }
        }
        windows.add(slots[0], slots[1])
        const together = new Log()
        together.times.push(...logs[0].times, ...logs[1].times)
        assert.equal(windows.room(slots[1], 200, 500, now), 200 - together.used(500, now))
      },
    ),
    { numRuns: runs },
  )
})
