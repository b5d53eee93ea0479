import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'
import { Client, get } from '../../worlds/wire/raw.ts'

async function open(
  t: TestContext,
  env: Record<string, string> = {},
): Promise<{ gateway: TestGateway; origin: Origin; makeKey: (session: JsonObject) => Promise<string> }> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway({ env })
  t.after(() => gateway.close())
  for (const id of ['a', 'b']) {
    const made = await gateway.svc('POST', '/svc/apis/oas', defined({ id, url: origin.url, keyIn: 'Authorization' }))
    assert.equal(made.status, 200, made.text)
  }
  const makeKey = async (session: JsonObject) => {
    const made = await gateway.svc('POST', '/svc/keys', session)
    assert.equal(made.status, 200, made.text)
    return (made.json as { key: string }).key
  }
  return { gateway, origin, makeKey }
}

/** Open client connections, that of the question included. */
async function connections(gateway: TestGateway): Promise<number> {
  const { text } = await gateway.svc('GET', '/metrics')
  return Number(/^svc_connections (\d+)$/m.exec(text)?.[1])
}

const carrying = (key: string) => ({ headers: { authorization: key } })

test('a throttled call waits until a permit is free, and goes through', async (t) => {
  const { gateway, origin, makeKey } = await open(t)
  const key = await makeKey({
    access_rights: rights('a'),
    rate: 1,
    per: 10,
    throttle_interval: 0.01,
    throttle_retry_limit: 1000,
  })
  assert.equal((await gateway.call('/a/x', carrying(key))).status, 200)
  let answered = false
  const waiting = gateway.call('/a/late', carrying(key)).finally(() => {
    answered = true
  })
  // Others are not held up by it.
  for (let i = 0; i < 5; i++) assert.equal((await gateway.call('/b/x')).status, 401)
  assert.equal(answered, false)
  gateway.clock.advance(10_001)
  assert.equal((await waiting).status, 200)
  assert.equal(origin.seen.at(-1)?.target, '/late')
})

test('throttle fields of -1 or 0 mean none: the call is refused at once', async (t) => {
  const { gateway, makeKey } = await open(t)
  for (const [interval, retries] of [
    [-1, -1],
    [0, 5],
    [3600, 0],
  ] as const) {
    const limits = { rate: 1, per: 10, throttle_interval: interval, throttle_retry_limit: retries }
    const key = await makeKey({ access_rights: rights('a'), ...limits })
    assert.equal((await gateway.call('/a/x', carrying(key))).status, 200)
    // The clock does not move: a waiting caller would wait for ever, or for an hour.
    assert.equal((await gateway.call('/a/x', carrying(key))).status, 429)
  }
})

test('a client that leaves while its call waits for a permit takes none', async (t) => {
  const { gateway, origin, makeKey } = await open(t)
  const limits = { rate: 1, per: 10, throttle_interval: 0.01, throttle_retry_limit: 1000 }
  const key = await makeKey({ access_rights: rights('a'), ...limits })
  assert.equal((await gateway.call('/a/x', carrying(key))).status, 200)
  const client = await Client.connect(gateway.port)
  client.write(get('/a/gone', `Authorization: ${key}\r\n`))
  // The response to a later request: the earlier call has arrived by then.
  assert.equal((await gateway.call('/b/x')).status, 401)
  await eventually('connections of before are gone, that one is there', async () => (await connections(gateway)) === 2)
  client.destroy(true)
  await eventually('it is gone', async () => (await connections(gateway)) === 1)
  gateway.clock.advance(10_001)
  assert.equal((await gateway.call('/a/x', carrying(key))).status, 200)
  assert.ok(!origin.seen.some(({ target }) => target === '/gone'))
})

test('a client that closes its side waits for no permit, however long its key says', async (t) => {
  const { gateway, makeKey } = await open(t)
  const limits = { rate: 1, per: 10, throttle_interval: 3600, throttle_retry_limit: 1_000_000_000 }
  const key = await makeKey({ access_rights: rights('a'), ...limits })
  assert.equal((await gateway.call('/a/x', carrying(key))).status, 200)
  const sockets = Array.from({ length: 20 }, () => {
    const socket = connect({ port: gateway.port, host: '127.0.0.1' })
    t.after(() => socket.destroy())
    return socket.end(get('/a/gone', `Authorization: ${key}\r\n`)).resume()
  })
  await Promise.all(sockets.map((socket) => once(socket, 'close')))
  await eventually('all connections but that of the question are gone', async () => (await connections(gateway)) === 1)
})

test('every change of a key is in force on the very next request', async (t) => {
  const { gateway, makeKey } = await open(t)
  const key = await makeKey({ access_rights: rights('a') })
  const put = async (session: JsonObject) => {
    const answer = await gateway.svc('PUT', `/svc/keys/${key}`, session)
    assert.equal(answer.status, 200, answer.text)
  }
  const status = async (path: string) => (await gateway.call(path, carrying(key))).status
  for (let i = 0; i < 20; i++) {
    assert.deepEqual([await status('/a/x'), await status('/b/x')], [200, 403])
    await put({ access_rights: rights('b') })
    assert.deepEqual([await status('/a/x'), await status('/b/x')], [403, 200])
    await put({ access_rights: rights('a', 'b'), is_inactive: true })
    assert.deepEqual([await status('/a/x'), await status('/b/x')], [403, 403])
    await put({ access_rights: rights('a', 'b'), expires: 1 })
    assert.deepEqual([await status('/a/x'), await status('/b/x')], [401, 401])
    await put({ access_rights: rights('a') })
  }
})

test('a rotated key: the old one is unknown at once, the new one goes on with its counts', async (t) => {
  const { gateway, makeKey } = await open(t)
  const key = await makeKey({
    access_rights: rights('a'),
    quota_max: 3,
    quota_renewal_rate: 3600,
    rate: 100,
    per: 1,
  })
  assert.equal((await gateway.call('/a/x', carrying(key))).headers['x-ratelimit-remaining'], '2')
  const rotated = (await gateway.svc('POST', `/svc/keys/${key}/rotate`)).json as { key: string }
  assert.equal((await gateway.call('/a/x', carrying(key))).status, 403)
  assert.equal((await gateway.call('/a/x', carrying(rotated.key))).headers['x-ratelimit-remaining'], '1')
})

test('a rate admits exactly N of a burst over many connections, a quota likewise', async (t) => {
  const { gateway, makeKey, origin } = await open(t)
  const rated = await makeKey({ access_rights: rights('a'), rate: 17, per: 60 })
  const quoted = await makeKey({ access_rights: rights('b'), quota_max: 23, quota_renewal_rate: 3600 })
  const burst = async (path: string, key: string) => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => gateway.call(path, carrying(key))))
    return answers.filter(({ status }) => status === 200).length
  }
  assert.deepEqual(await Promise.all([burst('/a/x', rated), burst('/b/x', quoted)]), [17, 23])
  assert.equal(origin.seen.length, 40)
})

test('an organisation is limited, switched off, and set free again', async (t) => {
  const { gateway, origin, makeKey } = await open(t)
  const owned = defined({ id: 'o', url: origin.url, keyIn: 'Authorization', info: { orgId: 'org1' } })
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', owned)).status, 200)
  const keys = [
    await makeKey({ org_id: 'org1', access_rights: rights('o') }),
    await makeKey({ org_id: 'org1', access_rights: rights('o') }),
  ]
  const elsewhere = await makeKey({ access_rights: rights('a') })
  const call = async (n: number) => (await gateway.call('/o/x', carrying(keys[n]!))).status
  const limit = async (session: JsonObject) => {
    const answer = await gateway.svc('POST', '/svc/org/keys/org1?reset_quota=1', session)
    assert.equal(answer.status, 200, answer.text)
  }
  await limit({ quota_max: 2, quota_renewal_rate: 60 })
  assert.deepEqual([await call(0), await call(1), await call(0)], [200, 200, 429])
  assert.equal((await gateway.call('/a/x', carrying(elsewhere))).status, 200)
  gateway.clock.advance(60_001)
  assert.equal(await call(0), 200)
  await limit({ rate: 1, per: 10 })
  assert.deepEqual([await call(0), await call(1)], [200, 429])
  await limit({ is_inactive: true })
  const off = await gateway.call('/o/x', carrying(keys[0]!))
  assert.equal(off.status, 403)
  assert.match(off.text, /organisation/)
  assert.equal((await gateway.svc('DELETE', '/svc/org/keys/org1')).status, 200)
  assert.deepEqual([await call(0), await call(0)], [200, 200])
})
