import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientRequest, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { DroppedConnections } from '../../../src/model/nodes/descriptors.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestDashboard, type TestDashboardOptions } from '../../worlds/dashboard/harness.ts'

const KB = 1024

async function started(t: TestContext, options: TestDashboardOptions = {}) {
  const world = await startTestDashboard(options)
  const open: (ClientRequest | Socket)[] = []
  t.after(async () => {
    for (const sent of open) sent.destroy()
    await world.close()
  })
  return { ...world, open, statusOf: (what: Announced) => statusOf(open, world.port, what) }
}

interface Announced {
  readonly method: string
  readonly path: string
  /** Absent = chunked. */
  readonly length?: number
  readonly headers?: object
}

/** The status of a call whose body is announced and never sent; undefined where the server waits for it. */
async function statusOf(
  open: (ClientRequest | Socket)[],
  port: number,
  { method, path, length, headers = {} }: Announced,
): Promise<number | undefined> {
  const sent = request({
    ...{ host: '127.0.0.1', port, method, path, agent: false },
    headers: {
      ...headers,
      ...(length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': length }),
    },
  })
  open.push(sent)
  sent.on('error', () => {})
  const answered = once(sent, 'response').then(([{ statusCode }]) => statusCode as number)
  sent.flushHeaders()
  // A call that came after it, and was answered: refusals before it have been answered.
  await once(sent, 'socket')
  const later = (async () => {
    for (let turn = 0; turn < 5; turn++) {
      const probe = request({ host: '127.0.0.1', port, path: '/hello', agent: false }).end()
      const [answer] = await once(probe, 'response')
      answer.resume()
      await once(answer, 'end')
    }
    return undefined
  })()
  return Promise.race([answered, later])
}

const pathOf = (path: string) => path.replace(/\{[^}]*\}/g, 'x')

test('no public call takes a large body, and none that does not exist', async (t) => {
  const { dashboard, statusOf, call, admin } = await started(t, { env: { SVC_SSO_ALLOWPRIVATE: 'true' } })
  const larger: string[] = []
  for (const { method, path, access, bodyLimit } of dashboard.routes) {
    if (access !== 'public' || method === 'GET') continue
    const most = bodyLimit ?? 64 * KB
    if (most > 64 * KB) larger.push(path)
    assert.equal(await statusOf({ method, path: pathOf(path), length: most + 1 }), 413, path)
    assert.notEqual(await statusOf({ method, path: pathOf(path), length: most }), 413, path)
  }
  assert.deepEqual(larger, ['/auth/{profile_id}/saml/callback'])
  for (const path of ['/nowhere', '/api/nowhere', '/api/login/more'])
    assert.equal(await statusOf({ method: 'POST', path, length: 1 }), 404, path)
  assert.equal(await statusOf({ method: 'DELETE', path: '/api/login', length: 1 }), 405)
  for (const path of ['/api/keys', '/api/apis'])
    assert.equal(await statusOf({ method: 'POST', path, length: 1 }), 401, path)
  const as = await admin()
  const large = { alias: 'a'.repeat(100 * KB) }
  assert.notEqual((await call('POST', '/api/keys', { as, body: large })).status, 413)
})

test('public calls are counted by address before their bodies are read, and no other is', async (t) => {
  const clock = new FakeClock()
  const { statusOf, call, admin } = await started(t, {
    clock,
    env: { SVC_DB_SECURITY_PUBLICCALLSPERMINUTE: '3', SVC_DB_TRUSTEDPROXIES: '127.0.0.1' },
  })
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const send = (headers: object) => statusOf({ method: 'POST', path: '/api/login', length: 10, headers })
  for (let calls = 0; calls < 3; calls++) assert.equal(await send(from('192.0.2.1')), undefined)
  assert.equal(await send(from('192.0.2.1')), 429)
  assert.equal(await send(from('192.0.2.2')), undefined)
  for (let calls = 0; calls < 3; calls++) assert.equal(await send(from(`2001:db8::${calls}`)), undefined)
  assert.equal(await send(from('2001:db8::ffff')), 429)
  const refused = await call('POST', '/api/login', { headers: from('192.0.2.1'), body: {} })
  assert.equal(refused.status, 429)
  assert.equal(refused.headers['retry-after'], '60')
  const as = await admin()
  for (let calls = 0; calls < 5; calls++)
    assert.equal((await call('GET', '/api/apis', { as, headers: from('192.0.2.1') })).status, 200)
  clock.advance(60_000)
  assert.equal(await send(from('192.0.2.1')), undefined)
})

/** Announces a body from an address and sends a part of it. Answers the status, undefined where the server waits for the rest. */
function partsOf(open: (ClientRequest | Socket)[], port: number, probe: () => Promise<unknown>) {
  return async (localAddress: string, announced: number, sent: number, path = '/api/login', more = '') => {
    const socket = connect({ host: '127.0.0.1', port, localAddress })
    socket.on('error', () => {})
    open.push(socket)
    await once(socket, 'connect')
    const answered = once(socket, 'data').then(([data]) => Number(/^HTTP\/1.1 (\d+)/.exec(String(data))![1]))
    const body = 'x'.repeat(sent)
    socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${more}Content-Length: ${announced}\r\n\r\n${body}`)
    // Calls that came after it, and were answered: so it would have been.
    const later = (async () => {
      for (let turn = 0; turn < 5; turn++) await probe()
      return undefined
    })()
    return { status: await Promise.race([answered, later]), answered }
  }
}

test('a body is charged what it cost, and known addresses have their own share', async (t) => {
  const { admin, call, port, open } = await started(t, { env: { SVC_DB_BODYBYTESINFLIGHT: String(512 * KB) } })
  const as = await admin()
  const probe = () => call('GET', '/hello')
  const send = partsOf(open, port, probe)
  // 128 kB for all public bodies, 64 kB for one address, 96 kB for strangers.
  const silent = ['127.0.0.2', '127.0.0.3'].flatMap((address) => Array.from({ length: 15 }, () => address))
  for (const address of silent) assert.equal((await send(address, 64_000, 10)).status, undefined)
  assert.notEqual((await send('127.0.0.4', 2, 2)).status, 503, 'announced and never sent')
  assert.equal((await send('127.0.0.4', 60 * KB, 55 * KB)).status, undefined)
  assert.equal((await send('127.0.0.4', 60 * KB, 20 * KB)).status, 503, 'an address has half of it')
  assert.equal((await send('127.0.0.5', 60 * KB, 30 * KB)).status, 503, 'strangers have three quarters')
  const key = `Authorization: ${as.key}\r\n`
  assert.equal((await send('127.0.0.6', 200 * KB, 150 * KB, '/api/keys', key)).status, undefined)
  assert.equal((await send('127.0.0.6', 200 * KB, 150 * KB, '/api/keys', key)).status, 503, 'known callers too')
  // A user was signed in there.
  assert.equal((await send('127.0.0.6', 60 * KB, 30 * KB)).status, undefined)
})

/** Sends most of a body from an address, as a user. */
function fromAddress(open: (ClientRequest | Socket)[], port: number, probe: () => Promise<unknown>) {
  const send = partsOf(open, port, probe)
  return async (address: number, { key }: { key: string }, kilobytes: number) => {
    const announced = (kilobytes + 1) * KB
    return (await send(`127.0.1.${address}`, announced, kilobytes * KB, '/api/keys', `Authorization: ${key}\r\n`))
      .status
  }
}

test('one user takes no room that others need, from however many addresses', async (t) => {
  const { admin, organisation, call, port, open } = await started(t, {
    env: { SVC_DB_BODYBYTESINFLIGHT: String(512 * KB) },
  })
  const [as, other] = [await admin(), await admin()]
  const stranger = await admin(await organisation())
  const from = fromAddress(open, port, () => call('GET', '/hello'))
  // 384 kB for callers who are signed in.
  const slow = []
  for (let address = 1; address <= 8; address++) slow.push(await from(address, as, 80))
  assert.deepEqual(slow, [undefined, undefined, ...Array(6).fill(503)])
  assert.equal(await from(20, other, 80), undefined, 'another user')
  // Users of one organisation have three quarters together, and of what is left afterwards there is something for another.
  for (const [user, kilobytes] of [80, 80, 60, 40, 20].entries()) await from(30 + user, await admin(), kilobytes)
  assert.equal(await from(50, stranger, 60), undefined, 'another organisation')
})

test('users of the only organisation may use all of the room', async (t) => {
  const { admin, organisation, call, port, open } = await started(t, {
    env: { SVC_DB_BODYBYTESINFLIGHT: String(512 * KB) },
  })
  const from = fromAddress(open, port, () => call('GET', '/hello'))
  // 384 kB: as two imports of 12 MB at once with the default of 24 MiB, and one of another user besides.
  assert.equal(await from(1, await admin(), 183), undefined)
  assert.equal(await from(2, await admin(), 183), undefined)
  await organisation()
  assert.equal(await from(3, await admin(), 10), 503, 'there is another one now')
})

test('a public body that does not come is refused, and its room given back', async (t) => {
  const { call, port, open } = await started(t, { parts: { publicBodyMs: 50 } })
  const send = partsOf(open, port, () => call('GET', '/hello'))
  for (const sent of [0, 10, 500]) assert.equal(await (await send('127.0.0.2', 501, sent)).answered, 408)
  // One whose bytes are there is not.
  assert.notEqual((await call('POST', '/api/login', { body: { email: 'a', password: 'b' } })).status, 408)
})

test('what was held for a body is given back when its call ends, in whatever way', async (t) => {
  const { port, call, admin } = await started(t, { env: { SVC_DB_BODYBYTESINFLIGHT: String(512 * KB) } })
  const as = await admin()
  const body = { alias: 'a'.repeat(300 * KB) }
  for (let calls = 0; calls < 5; calls++) assert.notEqual((await call('POST', '/api/keys', { as, body })).status, 503)
  for (let calls = 0; calls < 5; calls++) {
    const sent = request({
      ...{ host: '127.0.0.1', port, method: 'POST', path: '/api/keys', agent: false },
      headers: { authorization: as.key, 'content-length': 300 * KB },
    })
    sent.on('error', () => {})
    sent.write('{')
    await once(sent, 'socket')
    sent.destroy()
  }
  await eventually('room for a body', async () => (await call('POST', '/api/keys', { as, body })).status !== 503)
})

test('connections are bounded, and those of one address more so', async (t) => {
  const drops = new DroppedConnections()
  const env = { SVC_DB_MAXCONNECTIONS: '40', SVC_DB_TRUSTEDPROXIES: '127.0.0.2' }
  const { port, log } = await started(t, { env, parts: { drops } })
  const open: Socket[] = []
  t.after(() => {
    for (const socket of open) socket.destroy()
  })
  const dial = async (localAddress: string) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress })
    socket.on('error', () => {})
    open.push(socket)
    await once(socket, 'connect')
    socket.write('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n')
    return Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)])
  }
  for (let number = 0; number < 10; number++) assert.equal(await dial('127.0.0.3'), true)
  assert.equal(await dial('127.0.0.3'), false, 'an address has a quarter')
  for (let number = 0; number < 30; number++) assert.equal(await dial('127.0.0.2'), true, 'a trusted proxy has all')
  assert.equal(await dial('127.0.0.4'), false, 'and there are no more')
  // The counts that another thread reads in the same memory.
  assert.deepEqual(new DroppedConnections(drops.cells).counts(), [
    ['max_connections', 1],
    ['address', 1],
  ])
  await eventually('a line in the log', () => log.some(({ fields }) => fields.max_connections === 40))
  for (const socket of open.splice(0)) socket.destroy()
  await eventually('room for another', () => dial('127.0.0.3'))
})
