import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { FaultCode } from '../../../src/errors/catalog.ts'
import { Fault } from '../../../src/errors/fault.ts'
import { makeLimit } from '../../../src/model/limits/limit.ts'
import { FakeClock, systemClock } from '../../../src/model/time/clock.ts'
import { RedisCounters, type RedisCountersOptions } from '../../../src/store/redis/counters.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { commonRedis, startRedis } from '../../worlds/servers/redis.ts'

const numRuns = process.env.GATEHOUSE_DEEP === '1' ? 300 : 15
const NOW = { wall: 0, mono: 0 }
/** Redis counts a use of a rate for so much longer than the limit says. */
const SLACK_MS = 50
/** Permits that were leased ahead for a long window may be used so much later, and are counted so much longer. */
const LONGEST_AHEAD_MS = 5_000
/** Much longer than calls wait for Redis. */
const PAUSE_MS = 5_000
let prefixes = 0

/** A node on the common Redis, with the keys of `prefix`. */
async function nodeOf(t: TestContext, options: Partial<RedisCountersOptions> = {}): Promise<RedisCounters> {
  const url = options.url ?? (await commonRedis()).url
  const counters = new RedisCounters({ prefix: `own-${prefixes++}:{counts}:`, ...options, url })
  t.after(() => counters.close())
  return counters
}

const rejected = (code: FaultCode) => (error: unknown) => error instanceof Fault && error.code === code

/** Calls at a few times, by one of two nodes each. */
const someCalls = fc.array(
  fc.record({ afterMs: fc.constantFrom(0, 0, 0, 1, 7, 60, 300, 1000, 1047, 1048, 1049), node: fc.constantFrom(0, 1) }),
  { minLength: 1, maxLength: 60 },
)

test('two nodes admit what one exact window would, call by call', async (t) => {
  await fc.assert(
    fc.asyncProperty(someCalls, fc.integer({ min: 1, max: 12 }), async (calls, max) => {
      const clock = new FakeClock()
      const shared = { prefix: `window-${prefixes++}:{counts}:`, clock, ownTime: true }
      const nodes = [await nodeOf(t, shared), await nodeOf(t, shared)]
      await Promise.all(nodes.map((node) => node.check()))
      const used: number[] = []
      for (const { afterMs, node } of calls) {
        // Longer than a refusal is remembered.
        clock.advance(afterMs + 2)
        const limit = makeLimit('rate', 'k|', max, 1000)
        const refused = await nodes[node]!.take([limit], NOW)
        const inWindow = used.filter((at) => clock.wall() - at <= 1000 + SLACK_MS).length
        assert.equal(refused, inWindow < max ? -1 : 0)
        if (refused === -1) used.push(clock.wall())
        assert.equal(limit.remaining, refused === -1 ? max - inWindow - 1 : 0)
      }
      await Promise.all(nodes.map((node) => node.close()))
    }),
    { numRuns },
  )
})

const someTurns = fc.array(
  fc.record({
    afterMs: fc.constantFrom(0, 1, 1, 2, 5, 12, 30, 46, 90, 200, 600, 2_700),
    node: fc.constantFrom(0, 0, 0, 1, 2),
    calls: fc.integer({ min: 0, max: 40 }),
    // False: time passes while the responses are on their way.
    waits: fc.constantFrom(true, true, true, false),
  }),
  { minLength: 80, maxLength: 160 },
)

test('no window holds one use too many, with any leases, delays and returns', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      someTurns,
      fc.constantFrom(40, 100, 2500),
      // Of the last two, what is asked for ahead is held and counted longer.
      fc.constantFrom(20, 100, 300, 2000, 10_000),
      async (turns, max, perMs) => {
        const clock = new FakeClock()
        const shared = { prefix: `lease-${prefixes++}:{counts}:`, clock, ownTime: true }
        const nodes = [await nodeOf(t, shared), await nodeOf(t, shared), await nodeOf(t, shared)]
        await Promise.all(nodes.map((node) => node.check()))
        const limits = nodes.map(() => [makeLimit('rate', 'k|', max, perMs)])
        const used: number[] = []
        const note = (refused: number) => {
          if (refused === -1) used.push(clock.mono())
        }
        let open: Promise<void>[] = []
        for (const { afterMs, node, calls, waits } of turns) {
          clock.advance(afterMs)
          for (let i = 0; i < calls; i++) {
            const answer = nodes[node]!.take(limits[node]!, NOW)
            if (typeof answer === 'number') note(answer)
            else open.push(answer.then(note))
          }
          if (!waits) continue
          await Promise.all(open)
          open = []
        }
        await Promise.all(open)
        for (const from of used) {
          const within = used.filter((at) => at >= from && at - from <= perMs).length
          assert.ok(within <= max, `${within} uses within ${perMs} ms for ${max}`)
        }
        const seen = makeLimit('rate', 'k|', max, perMs)
        // Permits that a node requested ahead are on their way still: they are to be given now, not after the window.
        await Promise.all(nodes.map((node) => node.peek([seen], NOW)))
        clock.advance(perMs + 2 * SLACK_MS + LONGEST_AHEAD_MS)
        await nodes[1]!.peek([seen], NOW)
        assert.equal(seen.remaining, max)
        await Promise.all(nodes.map((node) => node.close()))
      },
    ),
    { numRuns: Math.ceil(numRuns / 3), endOnFailure: true },
  )
})

test('what is held for a long window may be used late, and then counts as long', async (t) => {
  const clock = new FakeClock()
  const shared = { prefix: `held-${prefixes++}:{counts}:`, clock, ownTime: true }
  const [node, other] = [await nodeOf(t, shared), await nodeOf(t, shared)]
  await Promise.all([node.check(), other.check()])
  const [max, perMs] = [1000, 20_000]
  const [limits, others] = [[makeLimit('rate', 'k|', max, perMs)], [makeLimit('rate', 'k|', max, perMs)]]
  const used: number[] = []
  const call = async (by: RedisCounters, what: typeof limits) => {
    const refused = await by.take(what, NOW)
    if (refused === -1) used.push(clock.mono())
    return refused === -1
  }
  for (let turn = 0; turn < 40; turn++) {
    clock.advance(10)
    for (let i = 0; i < 10; i++) await call(node, limits)
  }
  const lastTurn = used.length
  // The permits that were requested ahead have come.
  await node.peek([makeLimit('rate', 'k|', max, perMs)], NOW)
  clock.advance(400)
  for (let held = true; held; ) {
    const answer = node.take(limits, NOW)
    held = typeof answer === 'number'
    if ((await answer) === -1) used.push(clock.mono())
  }
  assert.ok(used.length > lastTurn + 1, 'nothing was held')
  const takeAll = async () => {
    while (await call(other, others));
  }
  await takeAll()
  assert.ok(used.length > max - max / 10, `${used.length} of ${max}`)
  // The permits that were used first come back now; leased ones must not, for they were used later.
  clock.advance(perMs - 400 + SLACK_MS + 5)
  await takeAll()
  clock.advance(LONGEST_AHEAD_MS)
  await takeAll()
  assert.ok(used.length > max + max / 10, 'nothing came back')
  for (const from of used) {
    const within = used.filter((at) => at >= from && at - from <= perMs).length
    assert.ok(within <= max, `${within} uses within ${perMs} ms for ${max}`)
  }
})

test('permits of a slow key are held for seconds while little of its limits is used', async (t) => {
  const clock = new FakeClock()
  const shared = { prefix: `slow-${prefixes++}:{counts}:`, clock, ownTime: true }
  const [node, other] = [await nodeOf(t, shared), await nodeOf(t, shared)]
  await Promise.all([node.check(), other.check()])
  const limitsOf = () => [makeLimit('rate', 'k|', 1000, 10_000), makeLimit('quota', 'k|q', 1_000_000, 86_400_000)]
  const [own, others] = [limitsOf(), limitsOf()]
  const used: number[] = []
  let asked = 0
  for (let call = 0; call < 120; call++) {
    // More rarely after a while: then more is left of a lease when it ends, and the next must be there by then.
    clock.advance(call < 60 ? 300 : 900)
    const answer = node.take(own, NOW)
    if (typeof answer !== 'number') asked++
    assert.equal(await answer, -1)
    used.push(clock.mono())
    // The permits that it fetches ahead have come.
    await node.peek(limitsOf(), NOW)
  }
  assert.ok(asked < 4, `${asked} of 120 calls waited for Redis`)
  const takeAll = async () => {
    while ((await other.take(others, NOW)) === -1) used.push(clock.mono())
  }
  const checkAll = () => {
    for (const from of new Set(used)) {
      const within = used.filter((at) => at >= from && at - from <= 10_000).length
      assert.ok(within <= 1000, `${within} uses within 10 s for 1000`)
    }
  }
  await takeAll()
  const inWindow = used.filter((at) => clock.mono() - at <= 10_000).length
  assert.ok(inWindow > 930, `${inWindow} of 1000`)
  // Leased permits are used late; all others as soon as they are given.
  let late = 0
  for (let turn = 0; turn < 160; turn++) {
    clock.advance(100)
    if (turn % 10 === 9) {
      const answer = node.take(own, NOW)
      if (answer === -1) late++
      if ((await answer) === -1) used.push(clock.mono())
    }
    await takeAll()
  }
  assert.ok(late > 0, 'nothing was held')
  checkAll()
  // Now that much of it is used, nobody holds more than a moment.
  for (let turn = 0; turn < 2; turn++) {
    clock.advance(10_000 + SLACK_MS + LONGEST_AHEAD_MS)
    const from = used.length
    await takeAll()
    assert.ok(used.length - from > 930, `${used.length - from} of 1000`)
  }
})

test('above 1024 permits neighbours share an entry, erring towards refusal', async (t) => {
  const clock = new FakeClock()
  const node = await nodeOf(t, { clock, ownTime: true })
  await node.check()
  const limit = makeLimit('rate', 'k|', 4096, 1000)
  let passed = 0
  for (let turn = 0; turn < 70; turn++) {
    const answers = await Promise.all(Array.from({ length: 100 }, () => node.take([limit], NOW)))
    passed += answers.filter((refused) => refused === -1).length
    clock.advance(15)
  }
  assert.equal(passed, 4096)
  clock.advance(100)
  await node.peek([limit], NOW)
  assert.ok(limit.remaining > 0 && limit.remaining <= 1000, `${limit.remaining}`)
})

test('a busy count answers at once from what was leased, and gives back what is not used', async (t) => {
  const prefix = `busy-${prefixes++}:{counts}:`
  const [node, other] = [await nodeOf(t, { prefix }), await nodeOf(t, { prefix })]
  await Promise.all([node.check(), other.check()])
  const limits = [makeLimit('rate', 'k|', 100_000, 60_000), makeLimit('quota', 'k|', 50_000, 3_600_000)]
  let atOnce = 0
  let passed = 0
  await eventually('calls are answered at once', async () => {
    for (let i = 0; i < 20; i++) {
      const answer = node.take(limits, NOW)
      if (typeof answer === 'number') atOnce++
      assert.equal(await answer, -1)
      passed++
    }
    return atOnce > 500
  })
  const seen = [makeLimit('rate', 'k|', 100_000, 60_000), makeLimit('quota', 'k|', 50_000, 3_600_000)]
  await eventually('the rest is given back', async () => {
    await other.peek(seen, NOW)
    return seen[1]!.remaining === 50_000 - passed && seen[0]!.remaining === 100_000 - passed
  })
  await other.carry('k|', 'c|')
  const carried = [makeLimit('rate', 'c|', 100_000, 60_000), makeLimit('quota', 'c|', 50_000, 3_600_000)]
  await other.peek(carried, NOW)
  assert.deepEqual(
    carried.map(({ remaining }) => remaining),
    [100_000 - passed, 50_000 - passed],
  )
})

test('a count that is named twice is taken from once, and must have room under both', async (t) => {
  const node = await nodeOf(t)
  await node.check()
  const limits = [makeLimit('quota', 'k|', 10, 60_000), makeLimit('quota', 'k|', 2, 60_000)]
  const answers: number[] = []
  for (let i = 0; i < 3; i++) answers.push(await node.take(limits, NOW))
  assert.deepEqual(answers, [-1, -1, 1])
  assert.deepEqual(
    limits.map(({ remaining }) => remaining),
    [8, 0],
  )
})

test('every count of an owner is carried, and nobody else’s', async (t) => {
  const node = await nodeOf(t)
  await node.check()
  const take = (...ids: string[]) =>
    node.take(
      ids.map((id) => makeLimit('rate', id, 10, 60_000)),
      NOW,
    )
  await take('a*|x', 'a*|y')
  await take('a*|x', 'ab|x', 'b|x')
  await node.carry('a*', 'b')
  const limits = ['b|x', 'b|y', 'a*|x', 'ab|x'].map((id) => makeLimit('rate', id, 10, 60_000))
  await node.peek(limits, NOW)
  assert.deepEqual(
    limits.map(({ remaining }) => remaining),
    [7, 9, 8, 9],
  )
})

test('without Redis calls fail at once and follow the degraded limit', async (t) => {
  const redis = await startRedis(t)
  const changes: (FaultCode | undefined)[] = []
  const onChange: RedisCountersOptions['onChange'] = (trouble) => changes.push(trouble?.code)
  // With a fake clock nothing is busy, so nothing is held.
  const node = await nodeOf(t, { url: redis.url, clock: new FakeClock(), onChange })
  await node.check()
  const limits = [makeLimit('rate', 'k|', 100, 60_000), makeLimit('quota', 'k|', 1000, 0)]
  for (let i = 0; i < 20; i++) assert.equal(await node.take(limits, NOW), -1)
  await redis.kill()
  await eventually('the connection is gone', () => node.trouble !== undefined)
  await assert.rejects(async () => node.take(limits, NOW), rejected('store_away'))
  await assert.rejects(async () => node.peek(limits, NOW), rejected('store_away'))
  await assert.rejects(async () => node.resetQuota('k|'), rejected('store_away'))
  // It used 20 in this window, which is more than it could have leased.
  assert.equal(node.takeAlone(limits, NOW), 0)
  const quiet = [makeLimit('rate', 'q|', 100, 60_000), limits[1]!]
  assert.deepEqual(
    Array.from({ length: 6 }, () => node.takeAlone(quiet, NOW)),
    [-1, -1, -1, -1, -1, 0],
  )
  await redis.start()
  await node.check(10_000)
  await eventually('Redis knows of the quota again', async () => {
    await node.peek(limits, NOW)
    return limits[1]!.remaining === 975
  })
  assert.equal(limits[0]!.remaining, 80)
  assert.deepEqual(changes, [undefined, 'store_away', undefined])
})

test('a Redis that does not answer is given up, and calls do not wait for ever', async (t) => {
  const redis = await startRedis(t)
  const node = await nodeOf(t, { url: redis.url })
  await node.check()
  const limits = [makeLimit('rate', 'k|', 100, 60_000)]
  assert.equal(await node.take(limits, NOW), -1)
  await redis.command('CLIENT', 'PAUSE', String(PAUSE_MS), 'ALL')
  const begun = performance.now()
  await assert.rejects(async () => node.take(limits, NOW), rejected('store_away'))
  assert.ok(performance.now() - begun < PAUSE_MS, 'long before it answers again')
  await node.check(60_000)
  assert.equal(await node.take(limits, NOW), -1)
})

test('a Redis that is full, read-only or not ours to use says so, and nothing is taken', async (t) => {
  const redis = await startRedis(t)
  const node = await nodeOf(t, { url: redis.url })
  await node.check()
  const limits = () => [makeLimit('rate', 'k|', 10, 60_000), makeLimit('quota', 'k|', 10, 60_000)]
  await node.take(limits(), NOW)
  await redis.command('CONFIG', 'SET', 'maxmemory', '1')
  await assert.rejects(async () => node.take(limits(), NOW), rejected('store_full'))
  await redis.command('CONFIG', 'SET', 'maxmemory', '0')
  await node.check()
  await redis.command('REPLICAOF', '127.0.0.1', '1')
  await assert.rejects(async () => node.take(limits(), NOW), rejected('store_read_only'))
  await redis.command('REPLICAOF', 'NO', 'ONE')
  await node.check()
  const seen = limits()
  await node.peek(seen, NOW)
  assert.deepEqual(
    seen.map(({ remaining }) => remaining),
    [9, 9],
  )
  const closed = await startRedis(t, ['--requirepass', 'secret'])
  for (const url of [closed.url, closed.url.replace('//', '//:wrong@')]) {
    const stranger = await nodeOf(t, { url })
    await assert.rejects(stranger.check(2_000), rejected('store_refused'))
    await assert.rejects(async () => stranger.take(limits(), NOW), rejected('store_refused'))
  }
  const guest = await nodeOf(t, { url: closed.url.replace('//', '//:secret@') })
  await guest.check()
  assert.equal(await guest.take(limits(), NOW), -1)
  assert.throws(
    () => new RedisCounters({ url: 'http://user:secret@host' }),
    (error) => {
      return (
        rejected('setting_invalid')(error) &&
        !JSON.stringify([String(error), (error as Fault).cause]).includes('secret')
      )
    },
  )
})

/** Outages that a Redis comes back from by itself; how each begins and ends. */
const OUTAGES: Readonly<Record<string, { code: FaultCode; begin: string[]; end: string[] }>> = {
  'out of memory': {
    code: 'store_full',
    begin: ['CONFIG', 'SET', 'maxmemory', '1'],
    end: ['CONFIG', 'SET', 'maxmemory', '0'],
  },
  'a replica': { code: 'store_read_only', begin: ['REPLICAOF', '127.0.0.1', '1'], end: ['REPLICAOF', 'NO', 'ONE'] },
  'without its replicas': {
    code: 'store_read_only',
    begin: ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
    end: ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
  },
  hanging: { code: 'store_away', begin: ['CLIENT', 'PAUSE', '600000', 'WRITE'], end: ['CLIENT', 'UNPAUSE'] },
}

test('a node without traffic notices each outage of Redis, tells it once, and goes on by itself', async (t) => {
  const redis = await startRedis(t)
  const limits = [makeLimit('quota', 'k|', 100, 60_000)]
  for (const [name, { code, begin, end }] of Object.entries(OUTAGES)) {
    await t.test(name, async () => {
      const changes: (FaultCode | undefined)[] = []
      const node = await nodeOf(t, { url: redis.url, onChange: (trouble) => changes.push(trouble?.code) })
      await node.check()
      await redis.command(...begin)
      await eventually('it is noticed', () => node.trouble !== undefined)
      for (let i = 0; i < 20; i++) await assert.rejects(async () => node.take(limits, NOW), Fault)
      assert.equal(node.takeAlone(limits, NOW), -1)
      await redis.command(...end)
      await eventually('it is over', () => node.trouble === undefined)
      assert.equal(await node.take(limits, NOW), -1)
      assert.deepEqual(changes, [undefined, code, undefined])
      await node.close()
    })
  }
})

test('a permit that comes too late is not used', async (t) => {
  // A clock that runs on while the answer is on its way.
  let lateMs = 0
  const mono = () => {
    lateMs += 60
    return systemClock.mono() + lateMs
  }
  const clock = { wall: systemClock.wall, mono }
  const node = await nodeOf(t, { clock })
  await node.check()
  const limits = [makeLimit('quota', 'k|', 1000, 60_000)]
  await assert.rejects(async () => node.take(limits, NOW), rejected('store_away'))
  const other = await nodeOf(t)
  await other.check()
  assert.equal(await other.take(limits, NOW), -1)
})

/** The life of a quota that some nodes share: calls of a node, and a Redis that forgets everything. */
const quotaLife = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ node: fc.nat(2), calls: fc.integer({ min: 1, max: 9 }) }) },
    { weight: 1, arbitrary: fc.constant('flush' as const) },
  ),
  { minLength: 4, maxLength: 14 },
)

test('a quota is used up to the last call and no further, whatever Redis forgets', async (t) => {
  const redis = await startRedis(t)
  await fc.assert(
    fc.asyncProperty(quotaLife, fc.integer({ min: 5, max: 40 }), async (life, max) => {
      const shared = { prefix: `flushed-${prefixes++}:{counts}:`, url: redis.url }
      const nodes = [await nodeOf(t, shared), await nodeOf(t, shared), await nodeOf(t, shared)]
      await Promise.all(nodes.map((node) => node.check()))
      const limitOf = () => makeLimit('quota', 'k|', max, 3_600_000)
      const use = async (node: number, calls: number) => {
        const refused = await Promise.all(Array.from({ length: calls }, () => nodes[node]!.take([limitOf()], NOW)))
        return refused.filter((each) => each === -1).length
      }
      // All know of the memory that is lost.
      let used = (await use(0, 1)) + (await use(1, 1)) + (await use(2, 1))
      for (const act of life) {
        if (act === 'flush') await redis.command('FLUSHALL')
        else used += await use(act.node, act.calls)
      }
      for (const node of nodes.keys()) used += await use(node, max)
      assert.equal(used, max)
      await Promise.all(nodes.map((node) => node.close()))
    }),
    { numRuns: Math.ceil(numRuns / 5) },
  )
})
