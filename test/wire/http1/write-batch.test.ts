import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WireExchange, type WireHandler } from '../../../src/wire/http1/exchange.ts'
import { openInner } from '../../../src/wire/http1/inner-socket.ts'
import { TurnEnd, turnEnd } from '../../../src/wire/http1/write-batch.ts'
import { LIMITS, openGate } from '../../worlds/wire/gate.ts'
import { Client, get, statusOf, turn, until } from '../../worlds/wire/raw.ts'
import { choose, to } from '../../worlds/wire/tls-gate.ts'
import { nothingLeft } from '../../worlds/wire/until-quiet.ts'

// Bytes that are written within one turn of the event loop wait for its end, so that a peer is woken once. Nobody may see that.
// Where it has not paid lately nothing waits: `tryAgain` sees to it that it does here.

const SHORT_MS = 300
const LARGE = Buffer.alloc(100_000, 'l')
const post = (more: string) => `POST /read HTTP/1.1\r\nHost: a\r\n${more}Content-Length: 5\r\n\r\n`

/** Answers by path; `/read` with the body that it was sent. */
async function answer(x: WireExchange): Promise<void> {
  if (x.path === '/large') x.reply(200, '', LARGE)
  else if (x.path !== '/read') x.reply(200, '', x.path)
  else {
    const body = await x.readBody(0).catch(() => undefined)
    x.reply(body === undefined ? 400 : 200, '', body)
  }
}

for (const secured of [false, true]) {
  const over = secured ? 'TLS' : 'TCP'
  const options = { originPort: 1, handle: answer, ...(secured ? { tls: choose } : {}) }

  test(`over ${over}, answers to simultaneous requests leave in order`, async (t) => {
    const gate = await openGate(t, options)
    const client = await Client.connect(gate.port, secured ? to('') : undefined)
    turnEnd.tryAgain()
    client.write(get('/one') + get('/large') + get('/three') + post('Expect: 100-continue\r\n'))
    for (const body of ['/one', LARGE.toString(), '/three']) {
      const message = await client.answer()
      assert.equal(message?.body.toString(), body)
      assert.deepEqual(message.interim, [], 'the body of the last is not asked for before it is its turn')
    }
    client.write('hello')
    const last = await client.answer()
    assert.deepEqual([last?.body.toString(), last?.interim], ['hello', [100]])
    client.destroy()
    await nothingLeft(gate)
  })

  test(`over ${over}, a client that leaves within a body still gets the answers before it`, async (t) => {
    const gate = await openGate(t, options)
    const client = await Client.connect(gate.port, secured ? to('') : undefined)
    turnEnd.tryAgain()
    client.socket.end(`${get('/one')}${get('/two')}${post('')}he`)
    for (const path of ['/one', '/two']) assert.equal((await client.answer())?.body.toString(), path)
    assert.equal(await client.answer(), undefined, 'closed')
    await nothingLeft(gate)
  })
}

test('many clients that are answered within one turn all get their answers', async (t) => {
  const waiting: WireExchange[] = []
  const gate = await openGate(t, { originPort: 1, handle: (x) => void waiting.push(x) })
  const clients = await Promise.all(Array.from({ length: 100 }, () => Client.connect(gate.port)))
  for (const [i, client] of clients.entries()) client.write(get(`/${i}`))
  await until('all requests are there', () => waiting.length === clients.length)
  turnEnd.tryAgain()
  for (const x of waiting) x.reply(200, '', x.path)
  for (const [i, client] of clients.entries()) {
    const message = await client.answer()
    assert.deepEqual([message && statusOf(message), message?.body.toString()], [200, `/${i}`])
    client.destroy()
  }
  await nothingLeft(gate)
})

test('a client that does not take what was held for it is let go of', async () => {
  let answered = 0
  const handler: WireHandler<WireExchange> = {
    make: () => new WireExchange(),
    handle: (x) => x.reply(200, '', 'x'.repeat(60_000)),
    respond: () => '',
    failed: (x) => x.reply(502, '', undefined),
    done: () => void answered++,
    refuse: () => ({ fields: '', body: '' }),
  }
  const limits = { ...LIMITS, bodyIdleMs: SHORT_MS }
  const client = openInner(handler, limits, { address: '127.0.0.1', secured: undefined })
  client.on('error', () => {})
  // The first answer fits into the stream between the two, the second does not.
  turnEnd.tryAgain()
  for (const count of [1, 2]) {
    client.write(get('/'))
    await until('it is answered', () => answered === count)
    await turn()
    await turn()
  }
  await until('it is closed', () => client.destroyed)
})

test('writes are batched where many come together, adapted to the load', async () => {
  let flushed = 0
  const one = { flush: () => void flushed++ }
  const ends = new TurnEnd()
  /** Writes so many in each of so many turns. Answers how many of them waited. */
  const waited = async (turns: number, writes: number) => {
    const before = flushed
    for (let i = 0; i < turns; i++) {
      for (let j = 0; j < writes; j++) if (ends.pays()) ends.flush(one)
      await turn()
    }
    return flushed - before
  }
  assert.equal(await waited(500, 20), 500 * 20, 'together')
  const alone = await waited(500, 1)
  assert.ok(alone > 0 && alone < 200, `alone: ${alone} of 500 waited`)
  // Those that always wait, as those of HTTP/2 do, count too.
  for (let i = 0; i < 700; i++) {
    for (let j = 0; j < 7; j++) ends.flush(one)
    await turn()
  }
  const again = await waited(500, 20)
  assert.ok(again > 0.5 * 500 * 20, `together again: ${again} of 10,000 waited`)
})
