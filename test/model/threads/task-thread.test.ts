import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TaskThread } from '../../../src/model/threads/task-thread.ts'

const threadOf = (withinMs: number, mostWaiting = 10, isLarge?: (task: string) => boolean) =>
  new TaskThread<string, string>({
    module: new URL('../../worlds/model/task-thread-module.ts', import.meta.url),
    name: 'test',
    withinMs,
    memoryMb: 32,
    mostWaiting,
    ...(isLarge && { isLarge }),
  })

test('tasks are done one after the other, and a refusal is that of its task alone', async () => {
  const thread = threadOf(60_000)
  const [first, refused, last] = await Promise.allSettled([
    thread.run('a'),
    thread.run('refused'),
    thread.run('chatty'),
  ])
  assert.deepEqual(first, { status: 'fulfilled', value: 'A' })
  assert.equal(refused?.status === 'rejected' && refused.reason.message, 'no')
  assert.deepEqual(last, { status: 'fulfilled', value: 'CHATTY' })
})

for (const [task, reason] of [
  ['endless', /longer than/],
  ['exit', /ended/],
] as const)
  test(`a task that is ${task} ends its thread, and the next one gets another`, async () => {
    const thread = threadOf(500)
    const [ended, after] = await Promise.allSettled([thread.run(task), thread.run('b')])
    assert.match(ended?.status === 'rejected' ? ended.reason.message : '', reason)
    assert.deepEqual(after, { status: 'fulfilled', value: 'B' })
    assert.equal(await thread.run('c'), 'C')
  })

test('a task that takes too much memory ends its thread, and the next one gets another', async () => {
  const thread = threadOf(60_000)
  const [ended, after] = await Promise.allSettled([thread.run('huge'), thread.run('b')])
  assert.match(ended?.status === 'rejected' ? ended.reason.message : '', /too large/)
  assert.deepEqual(after, { status: 'fulfilled', value: 'B' })
})

test('a large task ends its thread before its result is used, and small ones share theirs', async () => {
  const thread = threadOf(60_000, 10, (task) => task === 'large')
  const threads: string[] = []
  for (const task of ['which', 'large', 'which', 'which']) threads.push(await thread.run(task))
  const [first, done, second, third] = threads
  assert.equal(done, 'LARGE')
  assert.equal(second, third)
  assert.notEqual(first, second)
})

test('callers take turns, and one of them never keeps another out', async () => {
  const thread = threadOf(60_000, 4)
  const ended: string[] = []
  const run = async (task: string, caller: string) => {
    try {
      ended.push(await thread.run(task, caller))
    } catch (error) {
      ended.push(`${task}: ${(error as { code?: string }).code}`)
    }
  }
  const greedy = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map((task) => run(task, 'a'))
  await Promise.all([...greedy, run('b1', 'b'), run('c1', 'c')])
  assert.deepEqual(ended.slice(0, 3).sort(), ['a4: busy', 'a5: busy', 'a6: busy'])
  assert.deepEqual(ended.slice(3), ['A1', 'A2', 'B1', 'C1', 'A3'])
})

test('no more tasks wait than may', async () => {
  const thread = threadOf(60_000, 2)
  const running = thread.run('a')
  const waiting = [thread.run('b'), thread.run('c')]
  await assert.rejects(thread.run('d'), { code: 'busy' })
  assert.deepEqual(await Promise.all([running, ...waiting]), ['A', 'B', 'C'])
})
