import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { Fault, fault } from '../../src/errors/fault.ts'
import { answerThread, askThread } from '../../src/process/ask-thread.ts'

test('a thread that never answers holds no question up for longer than its bound', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.after(() => port1.close())
  port2.on('message', () => {}).unref()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asked = askThread<string, string>(port1, 5000)('?')
  t.mock.timers.tick(4999)
  const still = Symbol('no answer')
  assert.equal(await Promise.race([asked, Promise.resolve(still)]), still)
  t.mock.timers.tick(1)
  await assert.rejects(asked, (error: unknown) => error instanceof Fault && error.code === 'gateway_behind')
})

test('answers and faults of the other thread arrive, each at its question', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.after(() => port1.close())
  answerThread<string, string>(port2, async (question) => {
    if (question === 'bad') throw fault('try_busy')
    return question.toUpperCase()
  })
  const ask = askThread<string, string>(port1, 60_000)
  // The end that waits does not keep a process alive by itself.
  port1.ref()
  const bad = assert.rejects(ask('bad'), (error: unknown) => error instanceof Fault && error.code === 'try_busy')
  assert.deepEqual(await Promise.all([ask('a'), ask('b')]), ['A', 'B'])
  await bad
})
