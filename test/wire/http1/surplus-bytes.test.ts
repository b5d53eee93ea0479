import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openGate } from '../../worlds/wire/gate.ts'
import { type OriginConnection, openOrigin } from '../../worlds/wire/origin.ts'
import { Client, fieldOf, get, type Message, statusOf, until } from '../../worlds/wire/raw.ts'

const POISON = 'HTTP/1.1 200 OK\r\nX-Path: poison\r\nContent-Length: 6\r\n\r\npoison'

function pathOf(request: Message): string {
  return request.start.split(' ')[1] ?? ''
}

function echo(request: Message): string {
  const path = pathOf(request)
  return `HTTP/1.1 200 OK\r\nX-Path: ${path}\r\nContent-Length: ${path.length}\r\n\r\n${path}`
}

/** An origin that answers honestly, but for paths with an answer of their own; `sendLate` writes on the connection of the latest. */
async function world(t: TestContext, answers: Readonly<Record<string, string>>) {
  let latest: OriginConnection | undefined
  const origin = await openOrigin(t, async (connection) => {
    for (;;) {
      const request = await connection.request()
      if (request === undefined) return
      const own = answers[pathOf(request)]
      if (own !== undefined) latest = connection
      connection.write(own ?? echo(request))
    }
  })
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  t.after(() => client.destroy())
  return {
    origin,
    gate,
    client,
    sendLate: (bytes: string) => latest!.write(bytes),
    honest: async (path: string) => {
      const answer = await client.ask(get(path))
      assert.deepEqual([statusOf(answer), fieldOf(answer, 'x-path'), answer.body.toString()], [200, path, path])
    },
  }
}

test('a connection serves no request right after HEAD, so a late body reaches nobody', async (t) => {
  const { origin, gate, client, sendLate, honest } = await world(t, {
    '/head': 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n',
  })
  const head = 'HEAD /head HTTP/1.1\r\nHost: a\r\n\r\n'
  assert.equal(statusOf(await client.ask(head, 'HEAD')), 200)
  await honest('/next')
  assert.equal(origin.accepted(), 2)
  sendLate(POISON)
  await until('the connection is closed', () => origin.open() < 2)
  await honest('/after')
  // Known to send bodies to HEAD: no rest, but a close.
  const before = origin.accepted()
  assert.equal(statusOf(await client.ask(head, 'HEAD')), 200)
  await until('it is closed', () => origin.open() === gate.upstream.idleCount)
  await honest('/again')
  assert.ok(origin.accepted() <= before + 1)
})

test('a connection is used again once it has rested after HEAD', async (t) => {
  const { origin, gate, client, honest } = await world(t, { '/head': 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n' })
  assert.equal(statusOf(await client.ask('HEAD /head HTTP/1.1\r\nHost: a\r\n\r\n', 'HEAD')), 200)
  assert.equal(gate.upstream.idleCount, 0)
  await until('it has rested', () => gate.upstream.idleCount === 1)
  await honest('/next')
  assert.equal(origin.accepted(), 1)
})

test('a closed upstream keeps no connection that rests', async (t) => {
  const { origin, gate, client } = await world(t, { '/head': 'HTTP/1.1 200 OK\r\n\r\n' })
  assert.equal(statusOf(await client.ask('HEAD /head HTTP/1.1\r\nHost: a\r\n\r\n', 'HEAD')), 200)
  gate.upstream.close()
  await until('it is closed', () => origin.open() === 0)
})

for (const [name, answer, bodiless] of [
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n', true],
  ['304', 'HTTP/1.1 304 Not Modified\r\n\r\n', true],
  ['more than its length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', false],
  ['more than its chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', false],
] as const) {
  test(`surplus bytes end reuse after such answers: ${name}`, async (t) => {
    const { origin, gate, client, sendLate, honest } = await world(t, { '/lie': answer })
    await client.ask(get('/lie'))
    assert.equal(gate.upstream.idleCount, 1)
    sendLate(POISON)
    await until('the surplus is noticed', () => gate.upstream.idleCount === 0)
    await client.ask(get('/lie'))
    assert.equal(gate.upstream.idleCount, 0, 'not used again')
    await honest('/one')
    assert.equal(gate.upstream.idleCount, bodiless ? 1 : 0)
    await until('the others are closed', () => origin.open() === gate.upstream.idleCount)
  })
}

test('a GET that meets surplus bytes is sent again on a new connection, a POST is not', async (t) => {
  const origin = await openOrigin(t, async (connection) => {
    for (let asked = 0; ; asked++) {
      const request = await connection.request()
      if (request === undefined) return
      connection.write(connection.number % 2 === 0 && asked > 0 ? 'surplus of the answer before' : echo(request))
    }
  })
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  t.after(() => client.destroy())
  assert.equal((await client.ask(get('/first'))).body.toString(), '/first')
  assert.equal((await client.ask(get('/second'))).body.toString(), '/second')
  assert.equal(origin.accepted(), 2)
  const other = await openGate(t, { originPort: origin.port })
  const poster = await Client.connect(other.port)
  t.after(() => poster.destroy())
  assert.equal(statusOf(await poster.ask(get('/first'))), 200)
  const answer = await poster.ask('POST /once HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi')
  assert.equal(statusOf(answer), 502)
  assert.equal(origin.calls.filter((call) => pathOf(call) === '/once').length, 1)
})

test('408 on an idle connection is its end, not surplus of an answer', async (t) => {
  const { origin, gate, client, sendLate, honest } = await world(t, {
    '/ok': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  })
  await client.ask(get('/ok'))
  sendLate('HTTP/1.1 408 Request Time-out\r\nConnection: close\r\n\r\n')
  await until('it is closed', () => origin.open() === 0)
  await honest('/next')
  assert.equal(gate.upstream.idleCount, 1)
})
