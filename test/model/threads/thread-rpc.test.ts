import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import fc from 'fast-check'
import { fault } from '../../../src/errors/fault.ts'
import { serveThread, ThreadClient } from '../../../src/model/threads/thread-rpc.ts'

function channel(t: TestContext) {
  const { port1, port2 } = new MessageChannel()
  t.after(() => port1.close())
  return { client: new ThreadClient<string, string>(port1), port1, port2 }
}

const LATE = { withinMs: 5000, late: () => fault('gateway_behind') }

test('an answer that is late is refused with the fault of the question, and may come afterwards', async (t) => {
  const { client, port2 } = channel(t)
  const asked = Promise.withResolvers<number>()
  port2.on('message', ({ number }) => asked.resolve(number))
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const first = client.ask('?', LATE)
  t.mock.timers.tick(4999)
  const still = Symbol('no answer')
  assert.equal(await Promise.race([first, Promise.resolve(still)]), still)
  t.mock.timers.tick(1)
  await assert.rejects(first, { code: 'gateway_behind' })
  port2.postMessage({ number: await asked.promise, answer: 'late' })
  const second = client.ask('?')
  port2.postMessage({ number: 2, answer: 'in time' })
  assert.equal(await second, 'in time')
})

test('answers and faults arrive each at its question, in whatever order, among other messages', async (t) => {
  const { client, port2 } = channel(t)
  const gates = new Map<string, PromiseWithResolvers<void>>()
  serveThread<string, string>(port2, async (question) => {
    port2.postMessage({ type: 'something else' })
    await gates.get(question)?.promise
    if (question.startsWith('bad')) throw fault('try_busy', question)
    return question.toUpperCase()
  })
  const words = fc.uniqueArray(fc.tuple(fc.constantFrom('good ', 'bad '), fc.nat({ max: 99 })), {
    selector: String,
    minLength: 1,
    maxLength: 8,
  })
  const property = fc.asyncProperty(words, fc.array(fc.nat({ max: 7 })), async (pairs, order) => {
    const questions = pairs.map(([how, number]) => `${how}${number}`)
    for (const question of questions) gates.set(question, Promise.withResolvers())
    const ends = Promise.allSettled(questions.map((question) => client.ask(question)))
    for (const index of [...order, ...questions.keys()]) gates.get(questions[index] ?? '')?.resolve()
    for (const [index, end] of (await ends).entries()) {
      const question = questions[index]!
      if (end.status === 'fulfilled') assert.equal(end.value, question.toUpperCase())
      else assert.deepEqual([end.reason.code, end.reason.message], ['try_busy', question])
      assert.equal(end.status === 'rejected', question.startsWith('bad'))
    }
  })
  await fc.assert(property, { numRuns: 30 })
})

test('after the end, what waits and what is asked gets the fault of the end', async (t) => {
  const { client } = channel(t)
  const waiting = client.ask('?', LATE)
  client.end(fault('store_away', 'closed'))
  client.end(fault('internal'))
  await assert.rejects(waiting, { code: 'store_away', message: 'closed' })
  await assert.rejects(client.ask('?'), { code: 'store_away', message: 'closed' })
})

test('only an answer that is due keeps the process', async (t) => {
  const { client, port1, port2 } = channel(t)
  serveThread<string, string>(port2, (question) => question)
  assert.equal(port1.hasRef(), false)
  const asked = client.ask('?')
  assert.equal(port1.hasRef(), true)
  await asked
  assert.equal(port1.hasRef(), false)
})
