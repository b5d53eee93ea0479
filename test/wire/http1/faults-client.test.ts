import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prebuilt } from '../../../src/errors/fault.ts'
import { forward, openGate } from '../../worlds/wire/gate.ts'
import { answering, type OriginScript, openOrigin, polite } from '../../worlds/wire/origin.ts'
import { Client, fieldOf, get, statusOf, turn, until } from '../../worlds/wire/raw.ts'
import { bufferBytes, legsEnd, nothingLeft, othersAreServed } from '../../worlds/wire/until-quiet.ts'

/** Others are served within it, on a machine that does much besides. */
const SHORT_MS = 500
const MB = 1 << 20

/** Takes requests and never answers. */
const silent: OriginScript = async (connection) => {
  while ((await connection.request()) !== undefined);
}

/** Writes an endless body as fast as it is taken, until the connection ends. */
const endless: OriginScript = async (connection) => {
  const request = await connection.request()
  if (request === undefined || request.start.includes('/other')) {
    connection.write('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    return
  }
  connection.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536), Buffer.from('\r\n')])
  while (connection.socket.writable) {
    if (connection.socket.write(chunk)) await turn()
    else await new Promise<void>((resolve) => connection.socket.once('drain', resolve).once('close', () => resolve()))
  }
}

test('a head that stops half way ends with 408 or without a word', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, limits: { headTimeoutMs: SHORT_MS } })
  for (const part of ['G', 'GET / HTTP/1.1', 'GET / HTTP/1.1\r\nHost: a\r\n', 'GET / HTTP/1.1\r\nHost: a\r\nX: ']) {
    const client = await Client.connect(gate.port)
    client.write(part)
    await othersAreServed(gate)
    const answer = await client.answer()
    if (answer !== undefined) assert.equal(statusOf(answer), 408)
    assert.equal(await client.answer(), undefined, 'closed')
    client.destroy()
  }
  await nothingLeft(gate)
  assert.equal(
    origin.calls.filter((call) => !call.start.includes('/other')).length,
    0,
    'the upstream heard of none of them',
  )
})

test('a head that drips byte by byte cannot outlive the bound of the head', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, limits: { headTimeoutMs: SHORT_MS } })
  const client = await Client.connect(gate.port)
  client.write('GET / HTTP/1.1\r\nHost: a\r\nX: ')
  const drip = setInterval(() => client.write('a'), SHORT_MS / 10)
  t.after(() => clearInterval(drip))
  const answer = await client.answer()
  if (answer !== undefined) assert.equal(statusOf(answer), 408)
  assert.equal(await client.answer(), undefined, 'closed')
  client.destroy()
  await nothingLeft(gate)
})

test('an idle connection is closed without an answer, before and after a request', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, {
    originPort: origin.port,
    limits: { keepAliveMs: SHORT_MS, headTimeoutMs: SHORT_MS },
  })
  const fresh = await Client.connect(gate.port)
  const used = await Client.connect(gate.port)
  assert.equal(statusOf(await used.ask(get('/'))), 200)
  assert.equal((await used.inbox.toEnd()).length, 0, 'not a byte after the answer')
  const last = await fresh.answer()
  if (last !== undefined) assert.equal(statusOf(last), 408)
  used.destroy()
  fresh.destroy()
  await nothingLeft(gate)
})

test('a body that stops half way ends the exchange on both sides', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, limits: { bodyIdleMs: SHORT_MS } })
  const bodies = [
    'Content-Length: 10\r\n\r\nhello',
    'Content-Length: 10\r\n\r\n',
    'Transfer-Encoding: chunked\r\n\r\n5\r\nhel',
    'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n',
  ]
  for (const body of bodies) {
    const client = await Client.connect(gate.port)
    client.write(`POST / HTTP/1.1\r\nHost: a\r\n${body}`)
    await othersAreServed(gate)
    const answer = await client.answer()
    if (answer !== undefined) assert.equal(statusOf(answer), 408)
    assert.equal(await client.answer(), undefined, 'closed')
    client.destroy()
  }
  await nothingLeft(gate)
  await until('upstream legs settle', () => origin.calls.length >= origin.heads.length)
  assert.ok(
    origin.calls.every((call) => call.start.includes('/other') || !call.complete),
    'no half body passed as whole',
  )
})

test('a client that does not read stops the upstream, and is cut off in the end', async (t) => {
  const origin = await openOrigin(t, endless)
  const gate = await openGate(t, { originPort: origin.port, limits: { bodyIdleMs: SHORT_MS * 4 } })
  const before = bufferBytes()
  const client = await Client.connect(gate.port)
  client.socket.pause()
  client.write(get('/'))
  await othersAreServed(gate)
  await until('the exchange is cut', () => gate.done.aborted === 1)
  assert.ok(bufferBytes() - before < 64 * MB, 'what nobody reads is not kept')
  client.destroy()
  await nothingLeft(gate)
  await legsEnd(origin)
})

test('a client that reads slowly gets everything, and nothing is kept for it', async (t) => {
  const size = 64 * MB
  const origin = await openOrigin(t, async (connection) => {
    await connection.request()
    connection.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`)
    for (let left = size; left > 0; left -= MB) {
      if (!connection.socket.write(Buffer.alloc(MB, left / MB))) {
        await new Promise((resolve) => connection.socket.once('drain', resolve))
      }
    }
  })
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  const before = bufferBytes()
  let got = 0
  let highest = 0
  client.inbox.stop()
  client.socket.on('data', (chunk: Buffer) => {
    if (Math.trunc(got / (4 * MB)) !== Math.trunc((got + chunk.length) / (4 * MB)))
      highest = Math.max(highest, bufferBytes())
    got += chunk.length
    client.socket.pause()
    setImmediate(() => client.socket.resume())
  })
  client.write(get('/'))
  await until('everything is read', () => got >= size)
  assert.ok(highest - before < 48 * MB, `at most ${(highest - before) / MB} MB were held`)
  client.destroy()
  await nothingLeft(gate)
})

/** Where a client may leave: what it has sent, and what the upstream does then. */
const STAGES: readonly { name: string; send: string; script: OriginScript; leg: boolean }[] = [
  { name: 'before the first byte', send: '', script: polite, leg: false },
  { name: 'within the request line', send: 'GET / HT', script: polite, leg: false },
  { name: 'within the fields', send: 'GET / HTTP/1.1\r\nHost: a\r\nX', script: polite, leg: false },
  {
    name: 'within a body',
    send: 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhe',
    script: polite,
    leg: true,
  },
  {
    name: 'within a chunk',
    send: 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhe',
    script: polite,
    leg: true,
  },
  { name: 'while the answer is awaited', send: get('/'), script: silent, leg: true },
  { name: 'within the answer', send: get('/'), script: endless, leg: true },
]

for (const { name, send, script, leg } of STAGES) {
  for (const reset of [true, false]) {
    test(`a client leaves ${name}${reset ? ' with a reset' : ''}`, async (t) => {
      const origin = await openOrigin(t, script)
      const gate = await openGate(t, { originPort: origin.port })
      const client = await Client.connect(gate.port)
      client.write(send)
      await until('the gate has the connection', () => gate.listener.connections() === 1)
      if (leg) await until('the upstream is asked', () => origin.accepted() === 1)
      if (script === endless) await until('the answer has begun', () => client.inbox.pending.length > 0)
      client.destroy(reset)
      await nothingLeft(gate)
      await legsEnd(origin)
      assert.equal(gate.done.aborted, gate.done.all)
      assert.ok(origin.calls.every((call) => call.complete === (script !== polite)))
    })
  }
}

for (const [name, send] of [
  ['within a body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhe'],
  ['before a body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n'],
  ['within a chunk', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhe'],
] as const) {
  for (const act of ['forwards', 'reads the body', 'answers'] as const) {
    test(`a client leaves ${name} before the handler ${act}`, async (t) => {
      const origin = await openOrigin(t)
      const asked = Promise.withResolvers<void>()
      const gone = Promise.withResolvers<void>()
      const gate = await openGate(t, {
        originPort: origin.port,
        async handle(x, upstream) {
          asked.resolve()
          await gone.promise
          if (act === 'forwards') return forward(x, upstream)
          if (act === 'reads the body') await assert.rejects(x.readBody(0))
          x.reply(400, '', 'gone')
        },
      })
      const client = await Client.connect(gate.port)
      client.write(send)
      client.end()
      await asked.promise
      for (let turns = 0; turns < 5; turns++) await turn()
      gone.resolve()
      await client.inbox.toEnd()
      client.destroy()
      await nothingLeft(gate)
      await legsEnd(origin)
      assert.ok(origin.calls.every((call) => !call.complete))
    })
  }
}

test('a body over its bound is refused by its length, and while it streams', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, {
    originPort: origin.port,
    handle(x, upstream) {
      x.bodyLimitBytes = 1000
      x.bodyFault = prebuilt('body_too_large')
      forward(x, upstream)
    },
  })
  const chunks = `200\r\n${'a'.repeat(512)}\r\n`.repeat(4)
  const requests = [
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n${'a'.repeat(1001)}`,
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000000\r\n\r\n`,
    `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
    `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(1001)}0\r\n\r\n`,
    `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n${'a'.repeat(2000)}`,
  ]
  for (const request of requests) {
    const client = await Client.connect(gate.port)
    assert.equal(statusOf(await client.ask(request)), 413, request.slice(0, 80))
    client.destroy()
    await until('the exchange ends', () => gate.inFlight() === 0)
  }
  const exact = await Client.connect(gate.port)
  const whole = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n${'a'.repeat(1000)}`
  assert.equal(statusOf(await exact.ask(whole)), 200, 'exactly the bound passes')
  exact.destroy()
  await nothingLeft(gate)
  assert.equal(origin.calls.filter((call) => call.complete).length, 1)
})

test('an answer before the end of the body reaches a client that is still sending', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, handle: (x) => x.reply(403, '', 'no') })
  for (const size of [1000, 200_000, 20 * MB]) {
    const client = await Client.connect(gate.port)
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
    for (let left = size; left > 0; left -= 50_000) client.write(Buffer.alloc(Math.min(left, 50_000)))
    const answer = await client.answer()
    assert.ok(answer !== undefined, `an answer to ${size} bytes`)
    assert.equal(statusOf(answer), 403)
    assert.equal(answer.body.toString(), 'no')
    const saysClose = fieldOf(answer, 'connection') === 'close'
    if (!saysClose) assert.equal(statusOf(await client.ask(get('/next'))), 403, 'the body was thrown away to its end')
    client.destroy()
  }
  await nothingLeft(gate)
})

test('a refused head is answered even when the client sends on and on', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  client.write('GET / HTTP/1.1\r\nHost: a\r\nX y: z\r\n\r\n')
  for (let sent = 0; sent < 4 * MB && !client.inbox.ended; sent += 65_536) {
    client.write(Buffer.alloc(65_536, 'a'))
    await turn()
  }
  const answer = await client.answer()
  assert.ok(answer !== undefined)
  assert.equal(statusOf(answer), 400)
  client.destroy()
  await nothingLeft(gate)
})

test('a refusal of a request that expects 100-continue comes without the 100', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, handle: (x) => x.reply(403, '', 'no') })
  const client = await Client.connect(gate.port)
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n'
  const answer = await client.ask(head)
  assert.equal(statusOf(answer), 403)
  assert.deepEqual(answer.interim, [])
  client.destroy()
  await nothingLeft(gate)
})

test('a client that waits for 100-continue gets it', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  client.write('POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n')
  await until('100 comes', () => client.inbox.pending.toString('latin1').startsWith('HTTP/1.1 100 '))
  const answer = await client.ask('hello')
  assert.equal(statusOf(answer), 200)
  assert.deepEqual(answer.interim, [100])
  assert.equal(origin.calls[0]?.body.toString(), 'hello')
  client.destroy()
  await nothingLeft(gate)
})

test('a flood of pipelined requests is answered in order, without heaping up', async (t) => {
  const origin = await openOrigin(
    t,
    answering((request) => {
      const body = request.start.split(' ')[1] ?? ''
      return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    }),
  )
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  const count = 3000
  let flood = ''
  for (let number = 0; number < count; number++) flood += get(`/${number}`)
  client.write(flood)
  for (let number = 0; number < count; number++) {
    const answer = await client.answer()
    assert.equal(answer?.body.toString(), `/${number}`)
  }
  assert.equal(origin.accepted(), 1, 'one at a time')
  client.destroy()
  await nothingLeft(gate)
})

test('thousands of connections opened and dropped leave nothing behind', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port })
  const total = process.env.GATEHOUSE_DEEP === '1' ? 20_000 : 2000
  const starts = [
    '',
    'G',
    'GET / HTTP/1.1\r\n',
    get('/'),
    `${get('/')}GET`,
    '\0',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx',
  ]
  for (let opened = 0; opened < total; opened += 100) {
    const crowd = await Promise.all(Array.from({ length: 100 }, () => Client.connect(gate.port)))
    for (const [number, client] of crowd.entries()) {
      client.write(starts[number % starts.length] ?? '')
      if (number % 3 === 0) await turn()
      client.destroy(number % 2 === 0)
    }
    await othersAreServed(gate)
  }
  await nothingLeft(gate)
  await legsEnd(origin, 16)
})

test('connections over the bound are turned away, and let in again when others leave', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, most: 5 })
  const first = await Promise.all(Array.from({ length: 5 }, () => Client.connect(gate.port)))
  for (const client of first) assert.equal(statusOf(await client.ask(get('/'))), 200)
  const sixth = await Client.connect(gate.port)
  sixth.write(get('/sixth'))
  const answer = await sixth.answer()
  if (answer !== undefined) assert.equal(statusOf(answer), 503)
  assert.equal(await sixth.answer(), undefined, 'closed')
  for (const client of first) assert.equal(statusOf(await client.ask(get('/'))), 200)
  for (const client of [...first, sixth]) client.destroy()
  await nothingLeft(gate)
  await othersAreServed(gate)
  assert.ok(origin.calls.every((call) => !call.start.includes('/sixth')))
})
