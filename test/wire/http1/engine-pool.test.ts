import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OriginConnection, type OriginPool, type OriginUser } from '../../../src/wire/connect/origin.ts'
import { Fields } from '../../../src/wire/http1/fields.ts'
import { forward, openGate } from '../../worlds/wire/gate.ts'
import { answering, type OriginScript, openOrigin, polite } from '../../worlds/wire/origin.ts'
import { Client, get, statusOf, turn, until } from '../../worlds/wire/raw.ts'

const BOUNDS = {
  connectTimeoutMs: 5000,
  headTimeoutMs: 5000,
  idleTimeoutMs: 5000,
  totalTimeoutMs: 0,
  idleKeepMs: 5000,
} as const

/** Takes requests and never answers. */
const silent: OriginScript = async (connection) => {
  while ((await connection.request()) !== undefined);
}

const slowly = (lines: string) => answering(() => `HTTP/1.1 200 OK\r\n${lines}Content-Length: 2\r\n\r\nok`)

test('connections are used again, the last one first, and no more are kept than allowed', async (t) => {
  const waiting: (() => void)[] = []
  const served: number[] = []
  const origin = await openOrigin(t, async (connection) => {
    while ((await connection.request()) !== undefined) {
      await new Promise<void>((resolve) => waiting.push(resolve))
      served.push(connection.number)
      connection.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    }
  })
  const gate = await openGate(t, { originPort: origin.port, upstream: { maxIdle: 3 } })
  const clients = await Promise.all(Array.from({ length: 6 }, () => Client.connect(gate.port)))
  for (const client of clients) client.write(get('/'))
  await until('all six wait', () => waiting.length === 6)
  for (const [number, answer] of waiting.splice(0).entries()) {
    answer()
    assert.equal(statusOf((await clients[number]!.answer())!), 200)
  }
  await until('three are kept', () => origin.open() === 3)
  assert.equal(gate.upstream.idleCount, 3)
  const [client] = clients
  for (let round = 0; round < 3; round++) {
    client!.write(get('/'))
    await until('it waits', () => waiting.length === 1)
    assert.equal(gate.upstream.idleCount, 2)
    waiting.pop()?.()
    await client!.answer()
  }
  assert.equal(origin.accepted(), 6)
  assert.deepEqual(served.slice(6), [2, 2, 2], 'the third to become idle was the last that was kept')
  gate.upstream.close()
  await until('none is kept', () => origin.open() === 0)
  client!.write(get('/'))
  await until('a closed upstream still serves', () => waiting.length === 1)
  waiting.pop()?.()
  assert.equal(statusOf((await client!.answer())!), 200)
  await until('and keeps nothing', () => origin.open() === 0)
  for (const one of clients) one.destroy()
})

test('an upstream that says close, speaks HTTP/1.0 or hints at a short life is not used again', async (t) => {
  const answers = [
    'HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok',
    'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok',
    'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok',
  ]
  for (const answer of answers) {
    const origin = await openOrigin(
      t,
      answering(() => answer),
    )
    const gate = await openGate(t, { originPort: origin.port })
    const client = await Client.connect(gate.port)
    for (let round = 1; round <= 2; round++) {
      assert.equal(statusOf(await client.ask(get('/'))), 200)
      assert.equal(origin.accepted(), round)
    }
    client.destroy()
  }
  const origin = await openOrigin(t, slowly('Keep-Alive: timeout=60, max=100\r\n'))
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  for (let round = 0; round < 3; round++) await client.ask(get('/'))
  assert.equal(origin.accepted(), 1)
  client.destroy()
})

test('idle connections are closed after their time', async (t) => {
  const origin = await openOrigin(t, polite)
  const gate = await openGate(t, { originPort: origin.port, upstream: { idleKeepMs: 1_000 } })
  const client = await Client.connect(gate.port)
  await client.ask(get('/'))
  assert.equal(gate.upstream.idleCount, 1)
  await until('it was closed', () => origin.open() === 0)
  assert.equal(gate.upstream.idleCount, 0)
  assert.equal(statusOf(await client.ask(get('/'))), 200)
  client.destroy()
})

test('each wait for an upstream is bounded: head, silence, total', async (t) => {
  const stalling: OriginScript = async (connection) => {
    await connection.request()
    connection.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello')
    await connection.inbox.toEnd()
  }
  const dripping: OriginScript = async (connection) => {
    await connection.request()
    connection.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    while (!connection.inbox.ended) {
      connection.write('1\r\nx\r\n')
      await turn()
    }
  }
  for (const [script, upstream, status] of [
    [silent, { headTimeoutMs: 200 }, 504],
    [silent, { totalTimeoutMs: 200 }, 504],
    [stalling, { idleTimeoutMs: 200 }, 200],
    [dripping, { totalTimeoutMs: 1_000 }, 200],
  ] as const) {
    const origin = await openOrigin(t, script)
    const gate = await openGate(t, { originPort: origin.port, upstream })
    const client = await Client.connect(gate.port)
    const answer = await client.ask(get('/'))
    assert.deepEqual([statusOf(answer), answer.complete], [status, status !== 200])
    assert.deepEqual(gate.failures, status === 200 ? [] : ['upstream_timeout'])
    await until('the upstream was let go', () => origin.open() === 0)
    assert.equal(gate.done.aborted, status === 200 ? 1 : 0)
    client.destroy()
  }
})

test('the head timeout starts with the last byte of the request, not with the first', async (t) => {
  const origin = await openOrigin(t, polite)
  const gate = await openGate(t, { originPort: origin.port, upstream: { headTimeoutMs: 1500 } })
  const client = await Client.connect(gate.port)
  client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n')
  const startedAt = performance.now()
  for (let sent = 0; sent < 3; sent++) {
    await until('a while', () => performance.now() > startedAt + sent * 1000)
    client.write('x')
  }
  assert.equal(statusOf((await client.answer())!), 200)
  client.destroy()
})

test('a connection that is refused, and a name that does not resolve, are told apart', async (t) => {
  const gate = await openGate(t, { originPort: 1, upstream: { host: '127.0.0.1' } })
  const client = await Client.connect(gate.port)
  for (let round = 0; round < 2; round++) assert.equal(statusOf(await client.ask(get('/'))), 502)
  assert.deepEqual(gate.failures, ['upstream_unreachable', 'upstream_unreachable'])
  const nowhere = await openGate(t, { originPort: 1, upstream: { host: 'no-such-host.invalid' } })
  const other = await Client.connect(nowhere.port)
  assert.equal(statusOf(await other.ask(get('/'))), 502)
  assert.deepEqual(nowhere.failures, ['upstream_unresolved'])
  client.destroy()
  other.destroy()
})

test('the addresses of a host are tried in turn, and what none of them takes has failed', async (t) => {
  const origin = await openOrigin(t, polite)
  for (const [addresses, outcome] of [
    [['127.0.0.2', '127.0.0.3', '127.0.0.1'], 'ready'],
    [['127.0.0.2', '127.0.0.3'], 'upstream_unreachable'],
  ] as const) {
    const told: string[] = []
    const user: OriginUser = {
      answer: new Fields(),
      originReady: () => told.push('ready'),
      originInterim: () => {},
      originHead: () => {},
      originBody: () => {},
      originTunnel: () => {},
      originTunnelEnd: () => {},
      originDrained: () => {},
      originFailed: (fault) => told.push(fault.code),
    }
    const reached: string[] = []
    const pool: OriginPool = {
      ...BOUNDS,
      port: origin.port,
      tls: undefined,
      release: () => false,
      rest: () => false,
      surplus: () => {},
      forget: () => {},
      reached: (address) => reached.push(address),
      session: () => {},
    }
    const connection = new OriginConnection(pool, user)
    connection.connect(addresses)
    await until('the end of it', () => told.length > 0)
    assert.deepEqual([told, reached], [[outcome], outcome === 'ready' ? ['127.0.0.1'] : []])
    connection.destroy()
  }
})

test('a name is looked up once for those who wait', async (t) => {
  const origin = await openOrigin(t, polite)
  const gate = await openGate(t, { originPort: origin.port, upstream: { host: 'localhost' } })
  gate.upstream.warm()
  const clients = await Promise.all(Array.from({ length: 5 }, () => Client.connect(gate.port)))
  const answers = await Promise.all(clients.map((client) => client.ask(get('/'))))
  assert.deepEqual(answers.map(statusOf), [200, 200, 200, 200, 200])
  for (const client of clients) client.destroy()
})

test('an upstream that closes under a reused connection: GET is asked again once, POST is not', async (t) => {
  let dropped = 0
  const origin = await openOrigin(t, async (connection) => {
    for (let asked = 0; (await connection.request()) !== undefined; asked++) {
      if (asked > 0) {
        dropped++
        return connection.socket.resetAndDestroy() as unknown as undefined
      }
      connection.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    }
  })
  const gate = await openGate(t, {
    originPort: origin.port,
    handle(x, upstream) {
      if (x.path === '/read') x.readBody(0).then(() => forward(x, upstream))
      else forward(x, upstream)
    },
  })
  const client = await Client.connect(gate.port)
  const body = (method: string, path = '/') => `${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi`
  assert.equal(statusOf(await client.ask(get('/'))), 200)
  for (const [request, status] of [
    [get('/'), 200],
    [body('PUT'), 200],
    [body('PUT', '/read'), 200],
    [body('POST'), 502],
  ] as const) {
    const before = dropped
    assert.equal(statusOf(await client.ask(request)), status, request)
    assert.equal(dropped, before + 1)
    if (status === 200) assert.equal(origin.calls.at(-1)?.body.toString(), request.endsWith('hi') ? 'hi' : '')
  }
  client.destroy()
})
