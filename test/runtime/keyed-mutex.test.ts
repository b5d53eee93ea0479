import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { KeyedMutex } from '../../src/runtime/keyed-mutex.ts'

const KEYS = ['a', 'b', 'c'] as const

/** Work, handed in after so many turns of the event loop, that takes so many. */
const WORK = fc.record({
  key: fc.constantFrom(...KEYS),
  after: fc.nat({ max: 5 }),
  takes: fc.nat({ max: 3 }),
  fails: fc.boolean(),
})

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

test('runs what is under one key alone and in order, and forgets keys that nothing waits for', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(WORK, { maxLength: 12 }), async (works) => {
      const mutex = new KeyedMutex()
      const running = new Set<string>()
      const [handed, begun]: [number[], number[]] = [[], []]
      const outcomes = await Promise.allSettled(
        works.map(async ({ key, after, takes, fails }, index) => {
          await turns(after)
          handed.push(index)
          return mutex.run(key, async () => {
            assert.ok(!running.has(key), `two at once under ${key}`)
            running.add(key)
            begun.push(index)
            await turns(takes)
            running.delete(key)
            if (fails) throw new Error(`failed ${index}`)
            return index
          })
        }),
      )
      for (const [index, outcome] of outcomes.entries()) {
        const { fails } = works[index]!
        if (outcome.status === 'fulfilled') assert.deepEqual([outcome.value, fails], [index, false])
        else assert.deepEqual([outcome.reason.message, fails], [`failed ${index}`, true])
      }
      for (const key of KEYS) {
        const isOf = (index: number) => works[index]!.key === key
        assert.deepEqual(begun.filter(isOf), handed.filter(isOf))
      }
      assert.equal(mutex.size, 0)
    }),
  )
})

test('work under another key does not wait', async () => {
  const mutex = new KeyedMutex()
  const gate = Promise.withResolvers<void>()
  const first = mutex.run('a', () => gate.promise)
  assert.equal(await mutex.run('b', async () => 'done'), 'done')
  assert.equal(mutex.size, 1)
  gate.resolve()
  await first
  assert.equal(mutex.size, 0)
})

test('shared work runs once for all who ask while it is under way, and again for the next', async () => {
  const mutex = new KeyedMutex()
  let runs = 0
  const work = (key: string, fails = false) =>
    mutex.share(key, async () => {
      runs++
      await turns(2)
      if (fails) throw new Error(`failed ${key}`)
      return key
    })
  assert.deepEqual(await Promise.all([work('a'), work('a'), work('b'), work('a')]), ['a', 'a', 'b', 'a'])
  assert.equal(runs, 2)
  const failed = await Promise.allSettled([work('a', true), work('a')])
  assert.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(runs, 3)
  assert.equal(await work('a'), 'a', 'a failure is not kept')
  assert.equal(runs, 4)
})
