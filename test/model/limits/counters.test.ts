import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Instant, type Limit, makeLimit } from '../../../src/model/limits/limit.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { MemoryCounters } from '../../../src/store/memory/counters.ts'
import { QUOTA_NUMBERS, type QuotaChanges, type SavedQuota } from '../../../src/store/memory/quota-changes.ts'
import { fullestWindow, Log } from '../../worlds/model/naive.ts'

const runs = process.env.GATEHOUSE_DEEP === '1' ? 3000 : 120

function instant(clock: FakeClock): Instant {
  return { wall: clock.wall(), mono: clock.mono() }
}

function started(): { clock: FakeClock; counters: MemoryCounters; take: (...limits: Limit[]) => number } {
  const clock = new FakeClock()
  const counters = new MemoryCounters(clock)
  return { clock, counters, take: (...limits) => counters.take(limits, instant(clock)) }
}

/** A store of quota counts: what it is given, and what it holds. */
class Saved {
  readonly names = new Map<number, string>()
  readonly held = new Map<number, SavedQuota>()

  /** Answers the changes with their ids. */
  save(changes: QuotaChanges | undefined): Omit<SavedQuota, 'number'>[] {
    if (changes === undefined) return []
    for (const [number, id] of changes.names) this.names.set(number, id)
    const rows: SavedQuota[] = []
    for (let at = 0; at < changes.counts.length; at += QUOTA_NUMBERS) {
      const [number = 0, used = 0, endsAt = 0] = changes.counts.subarray(at, at + QUOTA_NUMBERS)
      rows.push({ number, id: this.names.get(number)!, used, endsAt })
    }
    for (const row of rows) {
      if (row.used > 0) this.held.set(row.number, row)
      else this.held.delete(row.number)
    }
    return rows.map(({ id, used, endsAt }) => ({ id, used, endsAt }))
  }
}

/** Takes until refused, at most 10,000 times. */
function drain(take: (limit: Limit) => number, limit: Limit): number {
  let taken = 0
  while (taken < 10_000 && take(limit) < 0) taken++
  return taken
}

test('with several limits no window overflows, and refusals cost nothing', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ max: fc.integer({ min: 1, max: 12 }), windowMs: fc.integer({ min: 1, max: 150 }) }), {
        minLength: 1,
        maxLength: 5,
      }),
      fc.array(fc.record({ gap: fc.integer({ min: 0, max: 15 }), used: fc.integer({ min: 1, max: 31 }) }), {
        maxLength: 300,
      }),
      (rules, calls) => {
        const { clock, counters } = started()
        const limits = rules.map(({ max, windowMs }, index) => makeLimit('rate', `k|${index}`, max, windowMs))
        const logs = rules.map(() => new Log())
        for (const [number, { gap, used }] of calls.entries()) {
          clock.advance(gap)
          const named = limits.flatMap((limit, index) => (used & (1 << index) ? [{ limit, log: logs[index]! }] : []))
          const now = clock.mono()
          const refuses = ({ limit, log }: (typeof named)[number]) => log.used(limit.windowMs, now) >= limit.max
          const list = named.map(({ limit }) => limit)
          const expected = named.findIndex(refuses)
          assert.equal(counters.peek(list, instant(clock)), expected)
          assert.equal(counters.take(list, instant(clock)), expected)
          if (expected < 0) for (const { log } of named) log.times.push(now)
          for (const { limit, log } of named) {
            assert.equal(limit.remaining, limit.max - log.used(limit.windowMs, now))
            assert.equal(limit.resetMs, log.nextMs(limit.max, limit.windowMs, now))
          }
          if (number % 17 === 0) counters.sweep()
        }
        for (const [index, { max, windowMs }] of rules.entries())
          assert.ok(fullestWindow(logs[index]!.times, windowMs) <= max)
      },
    ),
    { numRuns: runs },
  )
})

test('rates and quotas together are taken all or none', () => {
  const { take, clock } = started()
  const rate = makeLimit('rate', 'k|', 2, 1000)
  const quota = makeLimit('quota', 'k|', 3, 60_000)
  assert.equal(take(rate, quota), -1)
  assert.equal(take(rate, quota), -1)
  assert.equal(take(rate, quota), 0)
  assert.equal(quota.remaining, 1)
  clock.advance(1001)
  assert.equal(take(rate, quota), -1)
  assert.equal(take(rate, quota), 1)
  assert.equal(rate.remaining, 1)
})

test('limits with one id share one count, even within one call', () => {
  const { take } = started()
  const first = makeLimit('rate', 'k|', 2, 1000)
  const second = makeLimit('rate', 'k|', 2, 1000)
  assert.equal(take(first, second), -1)
  assert.equal(take(second), -1)
  assert.equal(take(first), 0)
})

test('a limit object outlives the count that it remembers', () => {
  const { take, clock, counters } = started()
  const one = makeLimit('rate', 'one|', 1, 1000)
  const two = makeLimit('rate', 'two|', 1, 1000)
  assert.equal(take(one), -1)
  clock.advance(5000)
  counters.sweep()
  assert.deepEqual(counters.size, { rates: 0, quotas: 0 })
  assert.equal(take(two), -1)
  assert.equal(take(one), -1)
  assert.equal(take(two), 0)
  const other = started()
  assert.equal(other.take(one), -1, 'another instance counts for itself')
})

test('a quota window starts with the first admitted call, and the next with the first after it', () => {
  const { take, clock } = started()
  const quota = makeLimit('quota', 'k|', 2, 10_000)
  const shut = makeLimit('rate', 'shut|', 1, 1_000_000)
  take(shut)
  assert.equal(take(shut, quota), 0)
  clock.advance(9000)
  assert.equal(take(quota), -1)
  assert.deepEqual([quota.remaining, quota.resetMs], [1, 10_000])
  clock.advance(9999)
  assert.equal(take(quota), -1)
  assert.equal(take(quota), 0)
  assert.equal(quota.resetMs, 1)
  clock.advance(1)
  assert.equal(take(quota), -1)
  assert.deepEqual([quota.remaining, quota.resetMs], [1, 10_000])
})

test('a quota without renewal never starts again', () => {
  const { take, clock, counters } = started()
  const quota = makeLimit('quota', 'k|', 1, 0)
  assert.equal(take(quota), -1)
  clock.advance(1e12)
  counters.sweep()
  assert.equal(take(quota), 0)
  assert.equal(quota.resetMs, 0)
})

test('a wall clock that jumps neither renews a quota early nor late', () => {
  for (const jump of [-86_400_000, 86_400_000]) {
    const { take, clock } = started()
    const quota = makeLimit('quota', 'k|', 1, 10_000)
    assert.equal(take(quota), -1)
    clock.wallMs += jump
    assert.equal(take(quota), 0)
    clock.advance(9999)
    assert.equal(take(quota), 0)
    clock.advance(1)
    assert.equal(take(quota), -1)
  }
})

test('a new renewal time applies at once, also to the running window', () => {
  const { take, clock } = started()
  take(makeLimit('quota', 'k|', 1, 1_000_000))
  const shorter = makeLimit('quota', 'k|', 1, 1000)
  assert.equal(take(shorter), 0)
  assert.equal(shorter.resetMs, 1000)
  assert.equal(take(makeLimit('quota', 'k|', 1, 0)), 0)
  clock.advance(5000)
  assert.equal(take(makeLimit('quota', 'k|', 1, 0)), 0)
})

test('quota counts survive a restart with their window, whatever the wall clock did', () => {
  const before = started()
  const quota = makeLimit('quota', 'k|', 3, 10_000)
  before.take(quota)
  before.take(quota)
  before.clock.advance(4000)
  const saved = new Saved()
  assert.deepEqual(saved.save(before.counters.takeChanges()), [
    { id: 'k|', used: 2, endsAt: before.clock.wall() + 6000 },
  ])

  for (const [awayMs, expected] of [
    [0, { left: 1, endsInMs: 6000 }],
    [5999, { left: 1, endsInMs: 1 }],
    [6000, { left: 3, endsInMs: 0 }],
    [-3_600_000, { left: 1, endsInMs: 10_000 }],
  ] as const) {
    const clock = new FakeClock(before.clock.wall() + awayMs, 5)
    const counters = new MemoryCounters(clock)
    counters.loadQuotas(saved.held.values())
    const again = makeLimit('quota', 'k|', 3, 10_000)
    counters.peek([again], instant(clock))
    assert.deepEqual({ left: again.remaining, endsInMs: again.resetMs }, expected, `away for ${awayMs}`)
  }
})

test('changed quotas are each given once, and again when they change or could not be saved', () => {
  const { take, counters, clock } = started()
  const saved = new Saved()
  const used = () => saved.save(counters.takeChanges()).map((row) => row.used)
  const quota = makeLimit('quota', 'k|', 9, 10_000)
  take(quota)
  take(quota)
  const lost = counters.takeChanges()!
  assert.equal(counters.takeChanges(), undefined)
  take(quota)
  counters.keepChanges(lost)
  // The name comes again as well: the store cannot know it.
  assert.deepEqual(saved.save(counters.takeChanges()), [{ id: 'k|', used: 3, endsAt: clock.wall() + 10_000 }])
  take(quota)
  assert.deepEqual(used(), [4])
  assert.deepEqual(used(), [])
  clock.advance(20_000)
  counters.sweep()
  const gone = counters.takeChanges()!
  counters.keepChanges(gone)
  assert.deepEqual(saved.save(counters.takeChanges()), [{ id: 'k|', used: 0, endsAt: 0 }])
  assert.equal(counters.size.quotas, 0)
})

test('a count that is dropped before its name was saved leaves nothing, and keeps its number', () => {
  const { take, counters, clock } = started()
  const saved = new Saved()
  take(makeLimit('quota', 'first|', 9, 10_000))
  const lost = counters.takeChanges()!
  clock.advance(20_000)
  counters.sweep()
  take(makeLimit('quota', 'second|', 9, 10_000))
  counters.keepChanges(lost)
  saved.save(counters.takeChanges())
  assert.deepEqual(
    [...saved.held.values()].map(({ id }) => id),
    ['second|'],
  )
  assert.equal(saved.names.size, 2)
})

test('numbers of saved counts are not given again after a restart', () => {
  const { take, counters } = started()
  const saved = new Saved()
  counters.loadQuotas([
    { number: 7, id: 'a|', used: 2, endsAt: 0 },
    { number: 9, id: '', used: 0, endsAt: 0 },
  ])
  take(makeLimit('quota', 'a|', 9, 0))
  take(makeLimit('quota', 'b|', 9, 0))
  saved.names.set(7, 'a|')
  saved.save(counters.takeChanges())
  assert.deepEqual(
    [...saved.held.values()].map(({ number, id, used }) => [number, id, used]),
    [
      [7, 'a|', 3],
      [10, 'b|', 1],
    ],
  )
})

test('refused calls and looks leave nothing to save', () => {
  const { take, counters, clock } = started()
  const shut = makeLimit('rate', 'shut|', 1, 1_000_000)
  const quota = makeLimit('quota', 'k|', 9, 10_000)
  take(shut)
  take(shut, quota)
  counters.peek([quota], instant(clock))
  assert.deepEqual(new Saved().save(counters.takeChanges()), [])
  assert.equal(quota.remaining, 9)
})

test('a reset quota starts anew, or with what is given', () => {
  const { take, counters, clock } = started()
  const quota = makeLimit('quota', 'k|', 3, 10_000)
  drain(take, quota)
  const saved = new Saved()
  saved.save(counters.takeChanges())
  counters.resetQuota('k|')
  assert.deepEqual(saved.save(counters.takeChanges()), [{ id: 'k|', used: 0, endsAt: 0 }])
  assert.equal(drain(take, quota), 3)
  counters.resetQuota('k|', 2)
  clock.advance(500)
  assert.equal(drain(take, quota), 1)
  assert.equal(quota.resetMs, 10_000)
  assert.equal(saved.save(counters.takeChanges())[0]?.used, 3)
})

test('a successor keeps what its predecessor has used', () => {
  const { take, counters } = started()
  const of = (owner: string) =>
    [makeLimit('rate', `${owner}|a.x`, 5, 60_000), makeLimit('quota', `${owner}|`, 9, 60_000)] as const
  for (let i = 0; i < 4; i++) take(...of('old'))
  take(makeLimit('rate', 'older|', 1, 60_000))
  counters.carry('old', 'new')
  const [rate, quota] = of('new')
  assert.equal(take(rate, quota), -1)
  assert.deepEqual([rate.remaining, quota.remaining], [0, 4])
  assert.equal(take(makeLimit('rate', 'newer|', 1, 60_000)), -1)
})

test('memory follows the counts that still say something', () => {
  const { take, counters, clock } = started()
  for (let i = 0; i < 30_000; i++) {
    clock.advance(1)
    take(makeLimit('rate', `k${i}|`, 5, 1000), makeLimit('quota', `k${i}|`, 5, 2000))
  }
  assert.ok(counters.size.rates < 4000, `${counters.size.rates} rates kept`)
  assert.ok(counters.size.quotas < 8000, `${counters.size.quotas} quotas kept`)
  const saved = new Saved()
  saved.save(counters.takeChanges())
  assert.ok(saved.names.size < 8000 && saved.held.size > 0)
})
