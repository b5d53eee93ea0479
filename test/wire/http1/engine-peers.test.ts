import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Agent, request } from 'undici'
import { selfSigned } from '../../worlds/wire/engine-certificate.ts'
import { type Gate, openGate } from '../../worlds/wire/gate.ts'
import { openOrigin } from '../../worlds/wire/origin.ts'
import { within } from '../../worlds/wire/raw.ts'
import { choiceOf } from '../../worlds/wire/tls-gate.ts'

/** node:http behind the gate: it answers with what it was asked, in the framing that the path names. */
async function openNodeOrigin(t: TestContext): Promise<number> {
  const server = createServer((incoming, outgoing) => {
    const parts: Buffer[] = []
    incoming.on('data', (part: Buffer) => parts.push(part))
    incoming.on('end', () => {
      const body = Buffer.concat(parts)
      if (incoming.url === '/length') outgoing.setHeader('Content-Length', body.length)
      if (incoming.url === '/close') outgoing.setHeader('Connection', 'close')
      outgoing.setHeader('X-Method', incoming.method ?? '')
      outgoing.setHeader(
        'X-Framing',
        incoming.headers['transfer-encoding'] ?? incoming.headers['content-length'] ?? 'none',
      )
      outgoing.write(body.subarray(0, body.length >> 1))
      outgoing.end(body.subarray(body.length >> 1))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function openNodeGate(t: TestContext): Promise<Gate> {
  return openGate(t, { originPort: await openNodeOrigin(t) })
}

const BODIES = ['', 'x', 'x'.repeat(20_000), 'x'.repeat(1_000_000)]

test('undici in front, node:http behind', async (t) => {
  const gate = await openNodeGate(t)
  const dispatcher = new Agent({ connections: 4, pipelining: 1 })
  t.after(() => dispatcher.destroy())
  for (const path of ['/length', '/chunked', '/close']) {
    for (const body of BODIES) {
      const answer = await request(`http://127.0.0.1:${gate.port}${path}`, { method: 'POST', body, dispatcher })
      assert.equal(answer.statusCode, 200)
      assert.equal(answer.headers['x-framing'], String(body.length))
      assert.equal(await answer.body.text(), body, `${path} ${body.length}`)
    }
  }
  const many = Array.from({ length: 200 }, async (_, number) => {
    const answer = await request(`http://127.0.0.1:${gate.port}/length`, {
      method: 'PUT',
      body: `body ${number}`,
      dispatcher,
    })
    assert.equal(await answer.body.text(), `body ${number}`)
  })
  await Promise.all(many)
})

test('node:http in front, streaming without a length', async (t) => {
  const gate = await openNodeGate(t)
  const agent = new HttpAgent({ keepAlive: true })
  t.after(() => agent.destroy())
  for (const path of ['/length', '/chunked', '/close']) {
    for (const body of BODIES) {
      const outgoing = httpRequest({ port: gate.port, host: '127.0.0.1', path, method: 'POST', agent })
      outgoing.write(body)
      outgoing.end()
      const [answer] = (await within('an answer', once(outgoing, 'response'))) as [IncomingMessage]
      const parts: Buffer[] = []
      for await (const part of answer) parts.push(part as Buffer)
      assert.equal(Buffer.concat(parts).toString(), body, `${path} ${body.length}`)
      assert.equal(answer.headers['x-framing'], 'chunked')
    }
  }
})

test('fetch in front, HEAD and errors included', async (t) => {
  const gate = await openNodeGate(t)
  const url = `http://127.0.0.1:${gate.port}`
  for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'PATCH', 'QUERY']) {
    const answer = await fetch(`${url}/length`, { method })
    assert.deepEqual([answer.status, answer.headers.get('x-method')], [200, method])
  }
})

test('an HTTP/2 client is told in its own frames that HTTP/1.1 is spoken here', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port })
  const session = connectHttp2(`http://127.0.0.1:${gate.port}`)
  session.on('error', () => {})
  const [code] = (await within('GOAWAY', once(session, 'goaway'))) as [number]
  assert.equal(code, 13)
  session.destroy()
  assert.equal(origin.calls.length, 0)
})

test('fetch over TLS', async (t) => {
  const certificate = selfSigned('gate.test')
  const choice = choiceOf(certificate)
  const gate = await openGate(t, {
    originPort: await openNodeOrigin(t),
    tls: () => choice,
  })
  const dispatcher = new Agent({ connect: { ca: certificate.cert, servername: 'gate.test' } })
  t.after(() => dispatcher.destroy())
  for (const body of BODIES) {
    const answer = await request(`https://127.0.0.1:${gate.port}/length`, { method: 'POST', body, dispatcher })
    assert.equal(await answer.body.text(), body)
  }
})
