import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSecureContext, type TLSSocket } from 'node:tls'
import { makeCertificate } from '../../worlds/wire/certificates.ts'
import { openGate } from '../../worlds/wire/gate.ts'
import { openOrigin, polite } from '../../worlds/wire/origin.ts'
import { Client, get, type Message, statusOf, within } from '../../worlds/wire/raw.ts'
import { legsEnd, nothingLeft } from '../../worlds/wire/until-quiet.ts'

const RIGHT = makeCertificate('up.example')
const WRONG = makeCertificate('up.example')

async function ask(port: number, request = get('/')): Promise<Message | undefined> {
  const client = await Client.connect(port)
  client.write(request)
  const answer = await client.answer()
  client.destroy()
  return answer
}

test('the certificate of an upstream is checked: authority and name', async (t) => {
  const origin = await openOrigin(t, polite, RIGHT)
  const cases = [
    { upstream: { ca: RIGHT.cert, serverName: 'up.example' }, status: 200 },
    { upstream: { ca: WRONG.cert, serverName: 'up.example' }, status: 502 },
    { upstream: { serverName: 'up.example' }, status: 502 },
    { upstream: { ca: RIGHT.cert, serverName: 'other.example' }, status: 502 },
    { upstream: { ca: RIGHT.cert }, status: 502 },
    { upstream: { insecure: true }, status: 200 },
  ]
  for (const { upstream, status } of cases) {
    const gate = await openGate(t, { originPort: origin.port, upstream: { secure: true, ...upstream } })
    const answer = await ask(gate.port)
    assert.equal(answer === undefined ? 0 : statusOf(answer), status, JSON.stringify(Object.keys(upstream)))
    await nothingLeft(gate)
    gate.upstream.close()
  }
  await legsEnd(origin)
  assert.equal(origin.calls.length, 2, 'nothing was sent to an upstream that could not prove its name')
})

test('the upstream is told the name it is asked for', async (t) => {
  const names: string[] = []
  const origin = await openOrigin(t, polite, {
    ...RIGHT,
    SNICallback: (name, answer) => {
      names.push(name)
      answer(null, createSecureContext(RIGHT))
    },
  })
  const gate = await openGate(t, {
    originPort: origin.port,
    upstream: { secure: true, ca: RIGHT.cert, serverName: 'up.example' },
  })
  assert.equal(statusOf((await ask(gate.port)) as Message), 200)
  assert.deepEqual(names, ['up.example'])
  await nothingLeft(gate)
})

test('a plain-text upstream behind a secure setting is 502, and gets no request', async (t) => {
  const origin = await openOrigin(t, async (connection) => {
    await connection.inbox.take('a byte', ({ pending }) => (pending.length > 0 ? pending.length : -1))
    connection.write('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')
  })
  const gate = await openGate(t, { originPort: origin.port, upstream: { secure: true, insecure: true } })
  assert.equal(statusOf((await ask(gate.port)) as Message), 502)
  await nothingLeft(gate)
  await legsEnd(origin)
})

test('an upstream that leaves without close_notify does not pass half a body as whole', async (t) => {
  for (const framing of ['Content-Length: 10', 'Transfer-Encoding: chunked']) {
    const origin = await openOrigin(
      t,
      async (connection) => {
        await connection.request()
        connection.write(
          `HTTP/1.1 200 OK\r\n${framing}\r\n\r\n5\r\nhello\r\n`.slice(0, framing.endsWith('10') ? -4 : -2),
        )
        const flushed = new Promise<void>((resolve) => connection.socket.write('', () => resolve()))
        await within('the bytes are out', flushed)
        tcpOf(connection.socket as TLSSocket).destroy()
      },
      RIGHT,
    )
    const gate = await openGate(t, { originPort: origin.port, upstream: { secure: true, insecure: true } })
    const answer = await ask(gate.port)
    assert.ok(answer === undefined || !answer.complete || statusOf(answer) === 502, framing)
    await nothingLeft(gate)
    await legsEnd(origin)
  }
})

/** The socket under a TLS socket of a server. */
function tcpOf(socket: TLSSocket): { destroy(): void } {
  const { _parent: tcp } = socket as unknown as { _parent?: { destroy(): void } }
  assert.ok(tcp !== undefined, 'a TLS socket stands on another')
  return tcp
}
