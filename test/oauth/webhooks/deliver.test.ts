import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { fault } from '../../../src/errors/fault.ts'
import { deliveriesOf, resend } from '../../../src/oauth/webhooks/undelivered.ts'
import { deliveryOf, signatureOf } from '../../../src/oauth/webhooks/webhook-messages.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { apiOf, noticeOf, openBench, SHARED_SECRET, settled } from '../../worlds/oauth/notifications.ts'
import { type Receiver, startReceiver } from '../../worlds/oauth/receiver.ts'

const SECOND = 1_000
const HOUR = 3_600_000

async function receiverOf(t: TestContext, port = 0): Promise<Receiver> {
  const receiver = await startReceiver({ port })
  t.after(() => receiver.close())
  return receiver
}

const tokensOf = ({ received }: Receiver) =>
  received.map(({ body }) => (JSON.parse(body) as { new_oauth_token: string }).new_oauth_token)

test('notifications arrive once, in commit order, signed, with exactly five members', async (t) => {
  const bench = openBench(t)
  const receiver = await receiverOf(t)
  bench.targets.set('a', receiver.url)
  const deliveries = bench.start()
  const tokens: string[] = []
  for (let i = 0; i < 40; i++) {
    tokens.push(await bench.announce('a'))
    if (i % 3 === 0) deliveries.wake()
  }
  deliveries.wake()
  await eventually('all have arrived', () => receiver.received.length === 40)
  await settled(bench)
  assert.deepEqual(tokensOf(receiver), tokens)
  assert.deepEqual(await bench.rows('a'), [])
  const { body, headers } = receiver.received[0]!
  assert.equal(
    body,
    `{"auth_code":"code of ${tokens[0]}","new_oauth_token":"${tokens[0]}","refresh_token":"refresh of ${tokens[0]}","old_refresh_token":"","notification_type":"new"}`,
  )
  assert.equal(headers['x-svc-shared-secret'], SHARED_SECRET)
  const [, at = '', hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-svc-signature'])) ?? []
  assert.equal(Number(at), Math.floor(bench.clock.wall() / 1000))
  assert.equal(hex, createHmac('sha256', SHARED_SECRET).update(`${at}.${body}`).digest('hex'))
})

test('the signature is the documented one, and nothing is signed without a secret', () => {
  // computed with: printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac key
  const expected = 't=1700000000,v1=a438e398bfafc57e4396bb7fc2304422f0f768e965d073ca313cb52e22e6ad03'
  assert.equal(signatureOf('key', '{"a":1}', 1_700_000_000), expected)
})

test('an API without a URL puts nothing into the outbox; notices have only their own members', async (t) => {
  const bench = openBench(t)
  assert.equal(deliveryOf(bench.parts, apiOf('a', ''), noticeOf('x')), undefined)
  const receiver = await receiverOf(t)
  bench.targets.set('a', receiver.url)
  const more = { ...noticeOf('x'), client_secret: 'not theirs' }
  await bench.store.documents.commit([deliveryOf(bench.parts, apiOf('a', receiver.url), more)!], undefined)
  bench.start()
  await eventually('it has arrived', () => receiver.received.length === 1)
  assert.deepEqual(Object.keys(JSON.parse(receiver.received[0]!.body) as object), Object.keys(noticeOf('x')))
})

test('tokens are not announced to an organisation that made an API under the same id', async (t) => {
  const bench = openBench(t)
  const receiver = await receiverOf(t)
  bench.targets.set('a', receiver.url)
  await bench.announce('a', 'own')
  const before = { ...apiOf('a', receiver.url), orgId: 'before' }
  await bench.store.documents.commit([deliveryOf(bench.parts, before, noticeOf('of another'))!], undefined)
  bench.start()
  await eventually('it was tried', async () => (await bench.rows('a'))[0]?.attempts === 1)
  assert.deepEqual(tokensOf(receiver), ['own'])
  assert.match((await bench.rows('a'))[0]!.error, /another organisation/)
})

test('a failed delivery is repeated after 10 s, doubling to 15 min, and blocks later ones', async (t) => {
  const bench = openBench(t)
  const receiver = await receiverOf(t)
  receiver.script = (_message, response) => response.writeHead(503).end()
  bench.targets.set('a', receiver.url)
  await bench.announce('a', 'first')
  await bench.announce('a', 'second')
  const deliveries = bench.start()
  const waits = [10, 20, 40, 80, 160, 320, 640, 900, 900, 900]
  for (const [i, waitS] of waits.entries()) {
    await eventually('a try', () => receiver.received.length === i + 1)
    await settled(bench)
    const [row] = await bench.rows('a')
    assert.equal(row!.nextAt - bench.clock.wall(), waitS * SECOND)
    assert.equal(row!.attempts, i + 1)
    assert.equal(row!.error, 'answered 503')
    bench.clock.advance(waitS * SECOND - 1)
    deliveries.wake()
    assert.equal((await bench.store.outbox.due(bench.clock.wall(), 9)).length, 0)
    bench.clock.advance(1)
    if (i === waits.length - 1) receiver.script = undefined
    deliveries.wake()
  }
  await eventually('both have arrived', () => receiver.received.length === waits.length + 2)
  assert.deepEqual(tokensOf(receiver), [...waits.map(() => 'first'), 'first', 'second'])
  const signatures = new Set(receiver.received.map(({ headers }) => headers['x-svc-signature']))
  assert.equal(signatures.size, waits.length + 2, 'each try is signed with its own time')
  await settled(bench)
  assert.deepEqual(await bench.rows('a'), [])
})

test('a target that is down for an hour misses nothing', async (t) => {
  const bench = openBench(t)
  const before = await startReceiver()
  await before.close()
  bench.targets.set('a', before.url)
  const deliveries = bench.start()
  const tokens: string[] = []
  for (let minute = 0; minute < 60; minute++) {
    tokens.push(await bench.announce('a'), await bench.announce('a'))
    bench.clock.advance(60 * SECOND)
    deliveries.wake()
    await settled(bench)
  }
  assert.equal((await bench.rows('a')).length, tokens.length)
  const receiver = await receiverOf(t, before.port)
  bench.clock.advance(900 * SECOND)
  deliveries.wake()
  await eventually('all have arrived', () => receiver.received.length >= tokens.length)
  await settled(bench)
  assert.deepEqual(tokensOf(receiver), tokens)
})

test('after 24 h a message is given up, the next are sent, and it can be sent again', async (t) => {
  const bench = openBench(t)
  const receiver = await receiverOf(t)
  receiver.script = ({ body }, response) => response.writeHead(body.includes('"doomed"') ? 500 : 200).end()
  bench.targets.set('a', receiver.url)
  await bench.announce('a', 'doomed')
  const madeAt = bench.clock.wall()
  await bench.announce('a', 'behind')
  const deliveries = bench.start()
  while (bench.clock.wall() - madeAt < 24 * HOUR) {
    await eventually('nothing is due', () => receiver.received.length > 0)
    await settled(bench)
    const [first] = await bench.rows('a')
    assert.equal(first!.dead, false)
    bench.clock.advance(first!.nextAt - bench.clock.wall())
    deliveries.wake()
  }
  await eventually('the next one has arrived', () => tokensOf(receiver).includes('behind'))
  await settled(bench)
  assert.equal(bench.clock.wall() - madeAt, 24 * HOUR, 'the last try is made at the very end')
  const [dead, ...others] = await deliveriesOf(bench.parts, { apiId: 'a', dead: true })
  assert.deepEqual(others, [])
  assert.equal(dead!.error, 'answered 500')
  assert.ok(dead!.attempts > 90, String(dead!.attempts))
  assert.ok(bench.log.some(({ level, fields }) => level === 'error' && fields.delivery === dead!.id))

  const again = () =>
    resend({ ...bench.parts, wakeDeliveries: () => deliveries.wake() }, { apiId: 'a', id: dead!.id, actor: 'me' })
  const triesBefore = receiver.received.length
  await again()
  await eventually('it was tried once more', () => receiver.received.length === triesBefore + 1)
  await settled(bench)
  assert.equal((await deliveriesOf(bench.parts, { apiId: 'a', dead: true })).length, 1)
  receiver.script = undefined
  await again()
  await eventually('it has arrived', () => receiver.received.length === triesBefore + 2)
  await settled(bench)
  assert.deepEqual(await bench.rows('a'), [])
})

test('only what was given up by the same API can be sent again', async (t) => {
  const bench = openBench(t)
  await bench.announce('a')
  const { id } = (await bench.rows('a'))[0]!
  for (const wanted of [
    { apiId: 'a', id },
    { apiId: 'a', id: id + 1 },
  ])
    await assert.rejects(resend(bench.parts, { ...wanted, actor: 'me' }), { code: 'not_found' })
  await bench.store.documents.commit([{ op: 'settleDelivery', id, outcome: { is: 'dead', error: 'x' } }], undefined)
  await assert.rejects(resend(bench.parts, { apiId: 'b', id, actor: 'me' }), { code: 'not_found' })
  await resend(bench.parts, { apiId: 'a', id, actor: 'me' })
  assert.equal((await bench.rows('a'))[0]!.dead, false)
})

test('a receiver that hangs holds up no other API, and many of them only part of the room', async (t) => {
  const bench = openBench(t)
  const silent = await receiverOf(t)
  silent.script = (_message, response) => response.writeHead(503).end()
  const quick = await receiverOf(t)
  const hanging = Array.from({ length: 12 }, (_, i) => `hanging-${i}@org-${i % 2}`)
  for (const apiId of hanging) {
    bench.targets.set(apiId, silent.url)
    await bench.announce(apiId)
  }
  bench.targets.set('quick', quick.url)
  const deliveries = bench.start({ parallel: 4, totalMs: 120_000 })
  await eventually('all have failed once', () => silent.received.length === hanging.length)
  await settled(bench)
  // from now on they never answer
  silent.script = () => {}
  bench.clock.advance(10 * SECOND)
  deliveries.wake()
  await eventually('retries take what room they may', () => silent.received.length === hanging.length + 2)
  const tokens: string[] = []
  for (let i = 0; i < 20; i++) {
    tokens.push(await bench.announce('quick'))
    deliveries.wake()
  }
  await eventually('the other API is served', () => quick.received.length === tokens.length)
  assert.deepEqual(tokensOf(quick), tokens)
  assert.equal(silent.received.length, hanging.length + 2)
})

test('receivers of one organisation that hang at once hold up no other organisation', async (t) => {
  const bench = openBench(t)
  const [silent, quick] = [await receiverOf(t), await receiverOf(t)]
  silent.script = () => {}
  for (let i = 0; i < 40; i++) {
    bench.targets.set(`hanging-${i}@one`, silent.url)
    await bench.announce(`hanging-${i}@one`)
  }
  const deliveries = bench.start({ parallel: 4, totalMs: 120_000 })
  await eventually('half of the places are taken', () => silent.received.length === 2)
  bench.targets.set('quick@other', quick.url)
  const token = await bench.announce('quick@other')
  deliveries.wake()
  await eventually('the other organisation is served', () => quick.received.length === 1)
  assert.deepEqual(tokensOf(quick), [token])
  assert.equal(silent.received.length, 2)
})

test('a stop breaks off what hangs, counts it as no try, and the next start sends it', async (t) => {
  const bench = openBench(t)
  const receiver = await receiverOf(t)
  receiver.script = () => {}
  bench.targets.set('a', receiver.url)
  const token = await bench.announce('a')
  const deliveries = bench.start({ totalMs: 600_000 })
  await eventually('the message is under way', () => receiver.received.length === 1)
  let isClosed = false
  void deliveries.close().then(() => {
    isClosed = true
  })
  await eventually('it has stopped, long before the message had its time', () => isClosed)
  deliveries.wake()
  deliveries.start()
  const [row] = await bench.rows('a')
  assert.equal(row!.attempts, 0)
  receiver.script = undefined
  bench.start()
  await eventually('the message has arrived', () => receiver.received.length === 2)
  assert.deepEqual(tokensOf(receiver), [token, token])
})

test('a stop lets an answer come that is under way, and writes it down', async (t) => {
  const bench = openBench(t)
  const receiver = await receiverOf(t)
  let answer = () => {}
  receiver.script = (_message, response) => {
    answer = () => response.writeHead(200).end()
  }
  bench.targets.set('a', receiver.url)
  await bench.announce('a')
  const deliveries = bench.start()
  await eventually('the message is under way', () => receiver.received.length === 1)
  const closed = deliveries.close()
  answer()
  await closed
  assert.deepEqual(await bench.rows('a'), [])
})

test('what was delivered and cannot be written down yet is not sent again meanwhile', async (t) => {
  const bench = openBench(t)
  const receiver = await receiverOf(t)
  bench.targets.set('a', receiver.url)
  const tokens = [await bench.announce('a'), await bench.announce('a')]
  let refusals = 1
  const { documents } = bench.store
  const commit: typeof documents.commit = async (changes, audit) => {
    if (changes.some(({ op }) => op === 'settleDelivery') && refusals-- > 0) throw fault('store_full')
    return documents.commit(changes, audit)
  }
  Object.assign(bench.parts, { documents: { ...documents, commit } })
  bench.start()
  await eventually('both have arrived', () => receiver.received.length === 2)
  await settled(bench)
  assert.deepEqual(tokensOf(receiver), tokens)
  assert.ok(refusals < 0)
})

test('an outbox that cannot be read is reported once for each cause', async (t) => {
  const bench = openBench(t)
  const { outbox, log } = bench.parts
  const codes = [...Array(5).fill('store_frozen'), ...Array(5).fill('store_away'), undefined, 'store_away'] as const
  let looks = 0
  const due: typeof outbox.due = async (now, limit) => {
    const code = codes[looks++]
    if (code !== undefined) throw fault(code)
    return outbox.due(now, limit)
  }
  const lines: string[] = []
  const note = (level: string) => (_fields: object, text: string) => void lines.push(`${level} ${text}`)
  Object.assign(bench.parts, {
    outbox: Object.assign(Object.create(outbox), { due }),
    log: { ...log, error: note('error'), warn: note('warn') },
  })
  const deliveries = bench.start()
  for (let look = 1; look <= codes.length; look++) {
    deliveries.wake()
    await eventually('a look', () => looks >= look)
    await settled(bench)
  }
  const away = 'error cannot read the notification outbox'
  assert.deepEqual(lines, ['warn the store is frozen by migrate-store: no notifications are sent', away, away])
})

test('a store that answers late, with what was true before, makes nothing go out twice', async (t) => {
  const bench = openBench(t)
  const receiver = await receiverOf(t)
  bench.targets.set('a', receiver.url)
  const tokens: string[] = []
  for (let i = 0; i < 20; i++) tokens.push(await bench.announce('a'))
  const { outbox } = bench.store
  const due: typeof outbox.due = async (now, limit) => {
    const rows = await outbox.due(now, limit)
    const arrived = receiver.received.length
    // until the message that was under way has been dealt with, or for the time of an ordinary look
    for (let turn = 0; turn < 50 && receiver.received.length < arrived + 2; turn++)
      await new Promise((resolve) => setImmediate(resolve))
    return rows
  }
  Object.assign(bench.parts, { outbox: { due, nextAt: () => outbox.nextAt() } })
  const deliveries = bench.start()
  const waking = setInterval(() => deliveries.wake(), 1)
  t.after(() => clearInterval(waking))
  await eventually('all have arrived', () => receiver.received.length >= tokens.length)
  await settled(bench)
  assert.deepEqual(tokensOf(receiver), tokens)
})

test('a message waits for a missing API or address, and is sent once there is one', async (t) => {
  const bench = openBench(t)
  const receiver = await receiverOf(t)
  const token = await bench.announce('a')
  const deliveries = bench.start()
  await settled(bench)
  assert.equal((await bench.rows('a'))[0]!.error, 'the API names no address for notifications')
  bench.targets.set('a', receiver.url)
  bench.clock.advance(10 * SECOND)
  deliveries.wake()
  await eventually('it has arrived', () => receiver.received.length === 1)
  assert.deepEqual(tokensOf(receiver), [token])
})

test('a private target is refused at delivery, and reached once the setting allows it', async (t) => {
  const bench = openBench(t, { allowPrivate: false })
  const receiver = await receiverOf(t)
  bench.targets.set('a', receiver.url)
  await bench.announce('a')
  const deliveries = bench.start()
  await settled(bench)
  assert.match((await bench.rows('a'))[0]!.error, /private or reserved network/)
  await deliveries.close()
  assert.equal(receiver.connections(), 0)
  Object.assign(bench.parts, { allowPrivate: true })
  bench.clock.advance(10 * SECOND)
  bench.start()
  await eventually('it has arrived', () => receiver.received.length === 1)
})

test('a message that cannot be opened is a failure of its own queue only', async (t) => {
  const bench = openBench(t)
  const receiver = await receiverOf(t)
  bench.targets.set('a', receiver.url)
  bench.targets.set('b', receiver.url)
  await bench.announce('b')
  const { sealed } = (await bench.rows('b'))[0]!
  // moved from one API's queue to another's: write access to the store does not allow reading tokens through a receiver
  const row = { queue: 'a', sealed, createdAt: bench.clock.wall() }
  await bench.store.documents.commit([{ op: 'putDelivery', row }], undefined)
  bench.start()
  await eventually('the other has arrived', () => receiver.received.length === 1)
  await settled(bench)
  assert.notEqual((await bench.rows('a'))[0]!.error, '')
  assert.equal(receiver.received.length, 1)
})

test('a message that somebody else put into the store is found without a call', async (t) => {
  const bench = openBench(t)
  const receiver = await receiverOf(t)
  bench.targets.set('a', receiver.url)
  bench.start()
  await bench.announce('a')
  await eventually('it has arrived', () => receiver.received.length === 1)
})
