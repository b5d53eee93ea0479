import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../../../src/errors/fault.ts'
import { WireExchange } from '../../../src/wire/http1/exchange.ts'
import { forward, openGate } from '../../worlds/wire/gate.ts'
import { openOrigin } from '../../worlds/wire/origin.ts'
import { Client, fieldOf, get, statusOf, until } from '../../worlds/wire/raw.ts'

const post = (body: string, more = '') =>
  `POST /p HTTP/1.1\r\nHost: a\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`

test('a reply is framed, dated and sent as UTF-8, whatever the body is', async (t) => {
  const large = Buffer.alloc(100_000, 'x')
  const bodies: Record<string, string | Uint8Array | undefined> = {
    '/text': 'plain',
    '/unicode': 'Grüße, 世界',
    '/bytes': new Uint8Array([0, 255, 13, 10]),
    '/view': new Uint8Array(large.buffer, large.byteOffset + 5, 3),
    '/large': large,
    '/none': undefined,
  }
  const gate = await openGate(t, { originPort: 1, handle: (x) => x.reply(200, 'X-A: b\r\n', bodies[x.path]) })
  const client = await Client.connect(gate.port)
  for (const [path, body] of Object.entries(bodies)) {
    const answer = await client.ask(get(path))
    assert.deepEqual(answer.body, Buffer.from(body ?? ''), path)
    assert.equal(fieldOf(answer, 'x-a'), 'b')
    assert.ok(Math.abs(Date.parse(fieldOf(answer, 'date') ?? '') - Date.now()) < 60_000)
    const head = await client.ask(`HEAD ${path} HTTP/1.1\r\nHost: a\r\n\r\n`, 'HEAD')
    assert.equal(fieldOf(head, 'content-length'), String(Buffer.from(body ?? '').length))
  }
  client.destroy()
})

test('204 and 304 have neither body nor length', async (t) => {
  const gate = await openGate(t, { originPort: 1, handle: (x) => x.reply(Number(x.path.slice(1)), '', 'ignored') })
  const client = await Client.connect(gate.port)
  for (const status of [204, 304, 204]) {
    const answer = await client.ask(get(`/${status}`))
    assert.equal(statusOf(answer), status)
    assert.equal(fieldOf(answer, 'content-length'), undefined)
  }
  assert.equal((await client.ask(get('/200'))).body.toString(), 'ignored', 'the framing held')
  client.destroy()
})

test('answers come in the order of pipelined requests, however late each is given', async (t) => {
  let running = 0
  const gate = await openGate(t, {
    originPort: 1,
    handle(x) {
      assert.equal(++running, 1, 'one at a time')
      const path = x.path
      const answer = () => {
        running--
        x.reply(200, '', path)
      }
      if (path.endsWith('0')) setTimeout(answer, 5)
      else if (path.endsWith('1')) queueMicrotask(answer)
      else answer()
    },
  })
  const client = await Client.connect(gate.port)
  const paths = Array.from({ length: 30 }, (_, number) => `/${number % 10 === 9 ? 'x' : ''}${number}`)
  client.write(paths.map((path) => get(path)).join(''))
  for (const path of paths) assert.equal((await client.answer())?.body.toString(), path)
  client.destroy()
})

test('HTTP/1.0 closes unless asked to stay, and HTTP/1.1 stays unless asked to close', async (t) => {
  const gate = await openGate(t, { originPort: 1, handle: (x) => x.reply(200, '', 'ok') })
  for (const [request, connection, again] of [
    ['GET / HTTP/1.0\r\n\r\n', undefined, false],
    ['GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n', 'keep-alive', true],
    ['GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n', undefined, false],
    ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', undefined, true],
    ['GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n', 'close', false],
  ] as const) {
    const client = await Client.connect(gate.port)
    assert.equal(fieldOf(await client.ask(request), 'connection'), connection, request)
    client.write(request)
    assert.equal((await client.answer()) !== undefined, again, request)
    client.destroy()
  }
})

test('readBody gives the whole body, within its bound, by length and chunked', async (t) => {
  const gate = await openGate(t, {
    originPort: 1,
    handle(x) {
      x.readBody(10).then(
        (body) => x.reply(200, '', `${x.bytesIn} ${body}`),
        (fault) => x.reply(fault.entry.status, '', fault.code),
      )
    },
  })
  const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  for (const [request, status, body] of [
    [post('hello'), 200, `${post('hello').length} hello`],
    [post(''), 200, `${post('').length} `],
    [`${chunked}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`, 200, `${chunked.length + 5} abcde`],
    [post('hello, world'), 413, 'body_too_large'],
    [`${chunked}3\r\nabc\r\n9\r\n123456789\r\n0\r\n\r\n`, 413, 'body_too_large'],
    [`${chunked}3\r\nabcd\r\n`, 400, 'request_malformed'],
  ] as const) {
    const client = await Client.connect(gate.port)
    const answer = await client.ask(request)
    assert.deepEqual([statusOf(answer), answer.body.toString()], [status, body], request)
    if (status === 400) assert.equal(fieldOf(answer, 'connection'), 'close', 'nothing behind it can be read')
    client.destroy()
  }
})

test('a body that was read is forwarded, or what the gateway put in its place', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, {
    originPort: origin.port,
    handle(x, upstream) {
      x.readBody(0).then((body) => {
        if (x.path === '/changed') x.body = Buffer.from(`<${body}>`)
        forward(x, upstream)
      })
    },
  })
  const client = await Client.connect(gate.port)
  const chunked = 'PUT /kept HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'
  await client.ask(chunked)
  await client.ask('PUT /changed HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello')
  assert.deepEqual(
    origin.calls.map((call) => [fieldOf(call, 'content-length'), call.body.toString()]),
    [
      ['5', 'hello'],
      ['7', '<hello>'],
    ],
  )
  client.destroy()
})

test('100 Continue is sent when the body is wanted, and never when it is not', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, {
    originPort: origin.port,
    handle(x, upstream) {
      if (x.path === '/refuse') x.reply(403, '', 'no')
      else if (x.path === '/read') x.readBody(0).then((body) => x.reply(200, '', body))
      else forward(x, upstream)
    },
  })
  const head = (path: string, version = '1.1') =>
    `POST ${path} HTTP/${version}\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\n`
  for (const path of ['/read', '/forward']) {
    const client = await Client.connect(gate.port)
    client.write(head(path))
    await client.inbox.take('100', ({ pending }) =>
      pending.includes('\r\n\r\n') ? pending.indexOf('\r\n\r\n') + 4 : -1,
    )
    const answer = await client.ask('hello')
    assert.deepEqual([statusOf(answer), answer.interim], [200, []])
    assert.deepEqual((await client.ask(`${head(path)}hello`)).interim, [], 'a body that is there is not asked for')
    client.destroy()
  }
  assert.ok(origin.calls.every((call) => fieldOf(call, 'expect') === undefined))
  const refused = await Client.connect(gate.port)
  const answer = await refused.ask(head('/refuse'))
  assert.deepEqual([statusOf(answer), answer.interim, fieldOf(answer, 'connection')], [403, [], 'close'])
  const old = await Client.connect(gate.port)
  old.write(`${head('/read', '1.0')}hello`)
  assert.deepEqual((await old.answer())?.interim, [])
  refused.destroy()
  old.destroy()
})

test('an unread body is skipped when it is small, and ends the connection otherwise', async (t) => {
  const gate = await openGate(t, {
    originPort: 1,
    handle(x) {
      x.bodyLimitBytes = 1 // a bound for what is let through, not for what is thrown away
      x.reply(200, '', x.method)
    },
  })
  const small = await Client.connect(gate.port)
  const answer = await small.ask('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n')
  assert.equal(fieldOf(answer, 'connection'), undefined)
  assert.equal((await small.ask(`12345${get('/')}`)).body.toString(), 'GET')
  await small.ask('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
  assert.equal((await small.ask(`3\r\nabc\r\n0\r\n\r\n${get('/')}`)).body.toString(), 'GET')
  small.destroy()
  const large = await Client.connect(gate.port)
  const first = await large.ask('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n')
  assert.equal(fieldOf(first, 'connection'), 'close')
  large.write(Buffer.alloc(100_000))
  assert.equal(await large.answer(), undefined, 'the rest is let in, and nothing follows')
  large.destroy()
})

test('a handler that throws gets to answer for it, and harms no other connection', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, {
    originPort: origin.port,
    handle(x, upstream) {
      if (x.path === '/throw') throw new Error('in handle')
      forward(x, upstream)
    },
    respond(x) {
      if (x.path === '/respond') throw new Error('in respond')
      return ''
    },
  })
  const client = await Client.connect(gate.port)
  for (const [path, status] of [
    ['/throw', 500],
    ['/respond', 500],
    ['/', 200],
  ] as const) {
    assert.equal(statusOf(await client.ask(get(path))), status, path)
  }
  assert.deepEqual(gate.failures, ['internal', 'internal'])
  client.destroy()
})

test('a client that leaves during the handler: done once, aborted, no late response', async (t) => {
  const held: WireExchange[] = []
  const faults: string[] = []
  const gate = await openGate(t, {
    originPort: 1,
    handle(x) {
      held.push(x)
      if (x.path === '/read')
        x.readBody(0).catch((fault: unknown) => faults.push(fault instanceof Fault ? fault.code : '?'))
    },
  })
  for (const request of [get('/'), 'POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab']) {
    const client = await Client.connect(gate.port)
    client.write(request)
    await until('it is handled', () => held.length === 1)
    client.destroy(true)
    await until('it is gone', () => gate.listener.connections() === 0)
    assert.equal(held[0]?.aborted, true)
    const before = gate.done.all
    held[0]?.reply(200, '', 'late')
    held[0]?.reply(200, '', 'later')
    assert.equal(gate.done.all, before + 1)
    held.length = 0
  }
  assert.deepEqual(faults, ['client_gone'])
})

test('draining ends idle connections, lets exchanges finish, and turns new ones away', async (t) => {
  const held: WireExchange[] = []
  const gate = await openGate(t, { originPort: 1, handle: (x) => void held.push(x) })
  const idle = await Client.connect(gate.port)
  const busy = await Client.connect(gate.port)
  busy.write(get('/'))
  await until('it is handled', () => held.length === 1)
  const drained = gate.listener.drain(60_000)
  assert.equal(await idle.answer(), undefined)
  await assert.rejects(Client.connect(gate.port))
  held[0]?.reply(200, '', 'bye')
  const answer = await busy.answer()
  assert.deepEqual([answer?.body.toString(), fieldOf(answer!, 'connection')], ['bye', 'close'])
  busy.destroy()
  await drained
  assert.equal(gate.listener.connections(), 0)
})

test('draining cuts what does not finish within its bound', async (t) => {
  const gate = await openGate(t, { originPort: 1, handle: () => {} })
  const busy = await Client.connect(gate.port)
  busy.write(get('/'))
  await until('it is handled', () => gate.inFlight() === 1)
  await gate.listener.drain(50)
  assert.equal(await busy.answer(), undefined)
})

test('a port in use is a fault that names it', async (t) => {
  const gate = await openGate(t, { originPort: 1 })
  const { listen } = await import('../../../src/wire/listen/listen.ts')
  const { LIMITS, UNBOUNDED } = await import('../../worlds/wire/gate.ts')
  const handler = {
    make: () => new WireExchange(),
    handle: () => {},
    respond: () => '',
    failed: () => {},
    done: () => {},
    refuse: () => ({ fields: '', body: '' }),
  }
  await assert.rejects(
    listen({ host: '127.0.0.1', port: gate.port, handler, limits: LIMITS, admission: UNBOUNDED }),
    (fault: unknown) => {
      assert.ok(fault instanceof Fault)
      assert.equal(fault.code, 'port_in_use')
      return fault.message.includes(String(gate.port))
    },
  )
})
