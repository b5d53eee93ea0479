import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { FakeClock } from '../../src/model/time/clock.ts'
import { AdminSecretThrottle } from '../../src/runtime/admin-secret-throttle.ts'
import { AttemptLimiter } from '../../src/runtime/attempt-limiter.ts'
import { isThrottled, LoginThrottle, signInRules } from '../../src/runtime/login-throttle.ts'
import type { TablePlace } from '../../src/runtime/recent-tables.ts'
import { reserveTables, SharedRecentTables, SharedTableOwners } from '../../src/runtime/shared-recent-tables.ts'

const deep = process.env.GATEHOUSE_DEEP === '1'
const numRuns = deep ? 2000 : 60
const THREAD = new URL('../worlds/model/attempting-thread.ts', import.meta.url)

/** The places of two threads over one memory. */
function twoPlaces(): [TablePlace, TablePlace] {
  const memory = reserveTables()
  const owners = new SharedTableOwners(memory)
  const place = () => ({ tables: new SharedRecentTables(memory, owners.next()), name: 'limiter' })
  return [place(), place()]
}

const act = fc.record({
  does: fc.constantFrom('begin', 'begin', 'wrong', 'right', 'giveBack', 'succeed', 'wait'),
  name: fc.constantFrom('ann', 'bob', 'x'.repeat(500), ''),
  address: fc.constantFrom('192.0.2.1', '192.0.2.2'),
  by: fc.constantFrom(0, 1),
  afterMs: fc.constantFrom(0, 0, 0, 500, 1000, 40_000),
})
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never

/** Each of these answers an act: over tables of two threads as one over its own. */
const USERS: Record<string, (clock: FakeClock, place?: TablePlace) => (act: Act) => unknown> = {
  window(clock, place) {
    const limiter = new AttemptLimiter(clock, { limit: 3, windowMs: 30_000 }, place)
    return (each) => limit(limiter, each)
  },
  delays(clock, place) {
    const rules = { free: 2, firstWaitMs: 1000, longestWaitMs: 30_000, forgetMs: 60_000 }
    const limiter = new AttemptLimiter(clock, rules, place)
    return (each) => limit(limiter, each)
  },
  secret(clock, place) {
    const throttle = new AdminSecretThrottle(clock, place)
    return ({ does, name, address }) => {
      // A hundred wrong ones are free.
      if (does === 'begin') for (let i = 0; i < 60; i++) throttle.waitMs(name + address, false)
      return [throttle.waitMs(name + address, does === 'right'), throttle.size]
    }
  },
  login(clock, place) {
    const throttle = new LoginThrottle(clock, signInRules({ pair: 2, address: 4, windowMs: 30_000 }), place)
    return ({ does, name, address }) => {
      const begun = throttle.begin({ name, address, narrow: does === 'wait', crowd: does === 'begin' })
      if (isThrottled(begun)) return begun.waitMs
      if (does === 'right' || does === 'succeed') begun.succeed()
      else if (does === 'giveBack') begun.giveBack()
      return begun.isKnown
    }
  },
}

function limit(limiter: AttemptLimiter, { does, name }: Act): unknown {
  if (does === 'giveBack') limiter.giveBack(name)
  else if (does === 'succeed') limiter.succeed(name)
  else if (does !== 'wait') return [limiter.tryBegin(name), limiter.size]
  return [limiter.waitMs(name), limiter.size]
}

for (const [kind, make] of Object.entries(USERS))
  test(`limits of failed attempts over two threads are those of one: ${kind}`, () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
        const clock = new FakeClock()
        const alone = make(clock)
        const threads = twoPlaces().map((place) => make(clock, place))
        for (const each of acts) {
          clock.advance(each.afterMs)
          assert.deepEqual(threads[each.by]!(each), alone(each), JSON.stringify(each))
        }
      }),
      { numRuns },
    )
  })

test('a table holds about as many names as it is made for, and the latest of them', () => {
  const [{ tables }, { tables: other }] = twoPlaces()
  const [table, same] = [tables.table('names', 1000, 1), other.table('names', 1000, 1)]
  for (let i = 0; i < 20_000; i++) table.put(`name ${i}`, [i])
  assert.ok(same.size <= 2 * 2048, String(same.size))
  for (let i = 19_500; i < 20_000; i++) assert.deepEqual(same.get(`name ${i}`), [i])
  assert.equal(tables.table('others', 1000, 1).get('name 19999'), undefined, 'each table has names of its own')
})

test('attempts of several threads at once are as many as allowed, also where one ends amid them', async (t) => {
  const memory = reserveTables()
  const owners = new SharedTableOwners(memory)
  const [threads, most] = [4, deep ? 20_000 : 500]
  const start = () => {
    const owner = owners.next()
    const worker = new Worker(THREAD, { workerData: { memory, owner, most } })
    t.after(() => worker.terminate())
    worker.once('exit', () => owners.ended(owner))
    return worker
  }
  const ending = start()
  await once(ending, 'message')
  const counting = Array.from({ length: threads }, async () => Number((await once(start(), 'message'))[0]))
  await ending.terminate()
  const begun = (await Promise.all(counting)).reduce((sum, each) => sum + each, 0)
  assert.equal(begun, most)
})
