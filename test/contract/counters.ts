import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLimit } from '../../src/model/limits/limit.ts'
import { FakeClock } from '../../src/model/time/clock.ts'
import type { CountersAdapter } from './adapters.ts'

const at = (clock: FakeClock) => ({ wall: clock.wall(), mono: clock.mono() })

/** Checks of every adapter of `Counters`. The limiter itself is tested with `model/window`. */
export function countersSuite(adapters: readonly CountersAdapter[]): void {
  for (const { name, open } of adapters) {
    test(`${name}: of 100 calls at once, as many pass as the limit has permits`, async (t) => {
      const clock = new FakeClock()
      const { counters } = await open(t, clock)
      const calls = Array.from({ length: 100 }, () => counters.take([makeLimit('rate', 'k|', 30, 1000)], at(clock)))
      const answers = await Promise.all(calls)
      assert.equal(answers.filter((refused) => refused === -1).length, 30)
      assert.equal(answers.filter((refused) => refused === 0).length, 70)
    })

    test(`${name}: a call that one limit refuses costs none of the others anything`, async (t) => {
      const clock = new FakeClock()
      const { counters } = await open(t, clock)
      const wide = makeLimit('rate', 'api|a', 100, 1000)
      const narrow = makeLimit('quota', 'k|', 2, 60_000)
      const answers: number[] = []
      for (let i = 0; i < 5; i++) answers.push(await counters.take([wide, narrow], at(clock)))
      assert.deepEqual(answers, [-1, -1, 1, 1, 1])
      assert.deepEqual([wide.remaining, narrow.remaining, narrow.resetMs], [98, 0, 60_000])
      const fresh = makeLimit('rate', 'api|a', 100, 1000)
      assert.equal(await counters.peek([fresh], at(clock)), -1)
      assert.equal(fresh.remaining, 98)
    })

    test(`${name}: a window of a quota starts with its first call and ends on time`, async (t) => {
      const clock = new FakeClock()
      const { counters } = await open(t, clock)
      const quota = makeLimit('quota', 'k|', 1, 60_000)
      assert.equal(await counters.take([quota], at(clock)), -1)
      clock.advance(59_999)
      assert.equal(await counters.take([quota], at(clock)), 0)
      clock.advance(2)
      assert.equal(await counters.take([quota], at(clock)), -1)
    })

    test(`${name}: a quota can be given anew, or some used permits`, async (t) => {
      const clock = new FakeClock()
      const { counters } = await open(t, clock)
      const quota = makeLimit('quota', 'k|', 10, 60_000)
      await counters.take([quota], at(clock))
      await counters.resetQuota('k|', 9)
      await counters.peek([quota], at(clock))
      assert.equal(quota.remaining, 1)
      await counters.resetQuota('k|')
      await counters.peek([quota], at(clock))
      assert.equal(quota.remaining, 10)
    })

    test(`${name}: used permits can come with the end of the window that they were used in`, async (t) => {
      const clock = new FakeClock()
      const { counters } = await open(t, clock)
      const quota = makeLimit('quota', 'k|', 10, 60_000)
      await counters.resetQuota('k|', 9, 5_000)
      assert.equal(await counters.take([quota], at(clock)), -1)
      assert.ok(quota.remaining === 0 && quota.resetMs > 4_900 && quota.resetMs <= 5_000, String(quota.resetMs))
      clock.advance(4_900)
      assert.equal(await counters.take([quota], at(clock)), 0)
      clock.advance(102)
      assert.equal(await counters.take([quota], at(clock)), -1)
      assert.equal(quota.remaining, 9)
    })

    test(`${name}: counts are carried to a rotated key`, async (t) => {
      const clock = new FakeClock()
      const { counters } = await open(t, clock)
      const old = [makeLimit('quota', 'old|', 10, 60_000), makeLimit('rate', 'old|', 10, 60_000)]
      for (let i = 0; i < 3; i++) await counters.take(old, at(clock))
      await counters.carry('old|', 'new|')
      const rotated = [makeLimit('quota', 'new|', 10, 60_000), makeLimit('rate', 'new|', 10, 60_000)]
      await counters.peek(rotated, at(clock))
      assert.deepEqual(
        rotated.map(({ remaining }) => remaining),
        [7, 7],
      )
    })
  }
}
