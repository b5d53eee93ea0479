import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { FakeClock } from '../../src/model/time/clock.ts'
import { AttemptLimiter, type DelayRules } from '../../src/runtime/attempt-limiter.ts'
import { collectGarbage } from '../worlds/base/garbage.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 20_000 : 500

type Step =
  | { readonly does: 'try' | 'begin' | 'succeed' | 'giveBack'; readonly name: string }
  | { readonly does: 'wait'; readonly ms: number }

const LONG = 'x'.repeat(100)
const names = fc.constantFrom('ada', 'eve', '__proto__', `${LONG}a`, `${LONG}b`, hash('sha512', `${LONG}a`, 'base64'))
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ does: fc.constantFrom('try' as const, 'begin' as const), name: names }) },
    {
      weight: 2,
      arbitrary: fc.record({ does: fc.constantFrom('succeed' as const, 'giveBack' as const), name: names }),
    },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 120 }) }) },
  ),
  { maxLength: 60 },
)

/** The rule in the plainest words: a window begins with the first failure and lets `limit` failures in. */
function naive(limit: number, windowMs: number) {
  const windows: Record<string, { from: number; failures: number }> = Object.create(null)
  const current = (name: string, now: number) => {
    const window = windows[name]
    return window !== undefined && now < window.from + windowMs && window.failures > 0 ? window : undefined
  }
  return {
    waitMs(name: string, now: number) {
      const window = current(name, now)
      return limit > 0 && window !== undefined && window.failures >= limit ? window.from + windowMs - now : 0
    },
    begin(name: string, now: number) {
      const window = current(name, now) ?? { from: now, failures: 0 }
      window.failures++
      windows[name] = window
    },
    giveBack(name: string, now: number) {
      const window = current(name, now)
      if (window !== undefined) window.failures--
    },
    succeed(name: string) {
      delete windows[name]
    },
  }
}

/** The rule in the plainest words: all attempts that count, in order, decide when the next one may come. */
function naiveDelay({ free, firstWaitMs, longestWaitMs, forgetMs }: DelayRules) {
  const names = new Map<string, { failures: number; lastAt: number; nextAt: number }>()
  const current = (name: string, now: number) => {
    const known = names.get(name)
    return known !== undefined && known.failures > 0 && now - known.lastAt < forgetMs ? known : undefined
  }
  return {
    waitMs: (name: string, now: number) => Math.max(0, (current(name, now)?.nextAt ?? 0) - now),
    begin(name: string, now: number) {
      const before = current(name, now) ?? { failures: 0, lastAt: now, nextAt: 0 }
      const failures = before.failures + 1
      let waitMs = failures > free ? firstWaitMs : 0
      for (let over = failures - free; over > 1; over--) waitMs *= 2
      names.set(name, { failures, lastAt: now, nextAt: failures > free ? now + Math.min(waitMs, longestWaitMs) : 0 })
    },
    giveBack(name: string, now: number) {
      const known = current(name, now)
      if (known === undefined) return
      known.failures--
      if (known.failures <= free) known.nextAt = 0
    },
    succeed: (name: string) => void names.delete(name),
  }
}

const window = fc
  .integer({ min: 0, max: 4 })
  .map((limit) => ({ rules: { limit, windowMs: 100 }, model: () => naive(limit, 100) }))
const delay = fc
  .record({
    free: fc.integer({ min: 0, max: 3 }),
    firstWaitMs: fc.integer({ min: 1, max: 40 }),
    longestWaitMs: fc.integer({ min: 40, max: 100 }),
    forgetMs: fc.integer({ min: 60, max: 200 }),
  })
  .map((rules) => ({ rules, model: () => naiveDelay(rules) }))

test('refuses what the rule in plain words refuses, whatever is tried in between', () => {
  fc.assert(
    fc.property(fc.oneof(window, delay), steps, ({ rules, model: modelOf }, list: readonly Step[]) => {
      const clock = new FakeClock()
      const throttle = new AttemptLimiter(clock, rules)
      const model = modelOf()
      for (const step of list) {
        if (step.does === 'wait') {
          clock.advance(step.ms)
          continue
        }
        const now = clock.mono()
        assert.equal(throttle.waitMs(step.name), model.waitMs(step.name, now))
        if (step.does === 'try') {
          if (throttle.tryBegin(step.name) === 0) model.begin(step.name, now)
        } else if (step.does === 'begin') {
          // Also where it would have to wait: one of several limiters may have let it in.
          throttle.begin(step.name)
          model.begin(step.name, now)
        } else if (step.does === 'giveBack') {
          throttle.giveBack(step.name)
          model.giveBack(step.name, now)
        } else {
          throttle.succeed(step.name)
          model.succeed(step.name)
        }
      }
    }),
    { numRuns: RUNS },
  )
})

test('memory is bounded, and a flood forgets the oldest', () => {
  const throttle = new AttemptLimiter(new FakeClock(), { limit: 1, windowMs: 1000 })
  for (let i = 0; i < 100_010; i++) throttle.begin(`name ${i}`)
  assert.equal(throttle.size, 100_000)
  assert.equal(throttle.waitMs('name 0'), 0)
  assert.equal(throttle.waitMs('name 100009'), 1000)
  const few = new AttemptLimiter(new FakeClock(), {
    free: 0,
    firstWaitMs: 10,
    longestWaitMs: 40,
    forgetMs: 100,
    names: 3,
  })
  for (const name of ['a', 'b', 'c', 'a', 'd']) few.begin(name)
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((name) => few.waitMs(name)),
    [20, 0, 10, 10],
    'the one that was not tried for longest',
  )
})

test('names that callers choose take no more memory for being long', () => {
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const limiter = new AttemptLimiter(new FakeClock(), { limit: 5, windowMs: 60_000 })
  for (let i = 0; i < 500; i++) limiter.begin(`127.0.0.1\n${i}${'x'.repeat(60_000)}`)
  collectGarbage()
  const grownBytes = process.memoryUsage().heapUsed - before
  assert.equal(limiter.size, 500)
  assert.ok(grownBytes < 5_000_000, `${grownBytes} bytes for 500 names`)
})
