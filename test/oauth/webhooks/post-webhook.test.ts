import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { webhookNetwork } from '../../../src/model/webhooks/hook.ts'
import { type PostOptions, WebhookClient } from '../../../src/oauth/webhooks/webhook-client.ts'
import { webhookMessage } from '../../../src/oauth/webhooks/webhook-messages.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { type Receiver, startReceiver } from '../../worlds/oauth/receiver.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'

const MESSAGE = webhookMessage('the shared secret', '{"new_oauth_token":"tok-1"}', 1_700_000_000)

async function receiverOf(t: TestContext, options: Parameters<typeof startReceiver>[0] = {}): Promise<Receiver> {
  const receiver = await startReceiver(options)
  t.after(() => receiver.close())
  return receiver
}

function clientOf(t: TestContext, options: Partial<PostOptions> = {}): WebhookClient {
  const client = new WebhookClient({ ...webhookNetwork(true), connectMs: 5_000, totalMs: 10_000, ...options })
  t.after(() => client.close())
  return client
}

/** A server that does with each connection what the test says. */
async function rawServer(t: TestContext, accept: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    accept(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/hook`
}

test('a message goes out as one POST with its fields, and the connection is used again', async (t) => {
  const receiver = await receiverOf(t)
  const client = clientOf(t)
  for (let i = 0; i < 3; i++) assert.equal(await client.post(`${receiver.url}?a=1#part`, MESSAGE), '')
  assert.equal(receiver.received.length, 3)
  const [{ method, path, headers, body }] = receiver.received as [Receiver['received'][number]]
  assert.equal(method, 'POST')
  assert.equal(path, '/hook?a=1')
  assert.equal(body, MESSAGE.body)
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(headers['content-length'], String(MESSAGE.body.length))
  assert.equal(headers['x-svc-shared-secret'], 'the shared secret')
  assert.equal(headers['x-svc-signature'], MESSAGE.headers['X-Svc-Signature'])
  assert.equal(headers['user-agent'], 'Gatehouse-Notifications/1')
  assert.equal(headers.host, `127.0.0.1:${receiver.port}`)
  assert.equal(headers.authorization, undefined)
  assert.equal(receiver.connections(), 1)
})

test('any 2xx is success, whatever comes with it; anything else is none', async (t) => {
  const receiver = await receiverOf(t)
  const client = clientOf(t)
  for (const status of [200, 201, 202, 204, 206, 226, 299]) {
    receiver.script = (_message, response) => response.writeHead(status).end(status === 204 ? undefined : 'thanks')
    assert.equal(await client.post(receiver.url, MESSAGE), '', String(status))
  }
  for (const status of [300, 400, 401, 404, 410, 429, 500, 503, 599]) {
    receiver.script = (_message, response) => response.writeHead(status).end('secret of the receiver')
    const reason = await client.post(receiver.url, MESSAGE)
    assert.match(reason, new RegExp(`^answered ${status}(?:;|$)`))
    assert.doesNotMatch(reason, /secret/)
  }
})

test('a redirect is a failure and leads nowhere', async (t) => {
  const elsewhere = await receiverOf(t)
  const receiver = await receiverOf(t)
  const client = clientOf(t)
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.script = (_message, response) => response.writeHead(status, { location: elsewhere.url }).end()
    assert.equal(await client.post(receiver.url, MESSAGE), `answered ${status}; redirects are not followed`)
  }
  assert.equal(elsewhere.received.length, 0)
})

test('an answer without end, or one that trickles after its head, holds nothing up', async (t) => {
  const receiver = await receiverOf(t)
  const client = clientOf(t, { totalMs: 1_500 })
  let cutOff = false
  receiver.script = (_message, response) => {
    response.writeHead(200)
    response.on('close', () => {
      cutOff = true
    })
    const more = () => {
      if (cutOff) return
      response.write(Buffer.alloc(16_384))
      setImmediate(more)
    }
    more()
  }
  assert.equal(await client.post(receiver.url, MESSAGE), '')
  await eventually('the flood is cut off', () => cutOff)
  receiver.script = (_message, response) => void response.writeHead(200).write('{')
  assert.equal(await client.post(receiver.url, MESSAGE), '')
})

test('a hanging receiver is dropped after the bound, in any phase', async (t) => {
  const client = clientOf(t, { connectMs: 700, totalMs: 1_400 })
  const silent = await rawServer(t, () => {})
  assert.equal(await client.post(silent, MESSAGE), 'no answer within 1400 ms')
  const dribbling = await rawServer(t, (socket) => void socket.write('HTTP/1.1 200 O'))
  assert.equal(await client.post(dribbling, MESSAGE), 'no answer within 1400 ms')
  // says nothing in TLS, so that there never is a connection
  assert.equal(await client.post(silent.replace('http:', 'https:'), MESSAGE), 'no connection within 700 ms')
  const slowNames = clientOf(t, { connectMs: 700, totalMs: 1_400, resolve: () => new Promise(() => {}) })
  assert.equal(await slowNames.post('http://slow.example/', MESSAGE), 'no connection within 700 ms')
})

test('broken receivers give a short reason that tells nothing of address, message or answer', async (t) => {
  const client = clientOf(t)
  const closed = await startReceiver()
  await closed.close()
  assert.equal(await client.post(`${closed.url}?key=hidden`, MESSAGE), 'no connection: ECONNREFUSED')
  const hangUp = await rawServer(t, (socket) => socket.destroy())
  assert.match(await client.post(hangUp, MESSAGE), /^no connection: E[A-Z]+$/)
  const nonsense = await rawServer(t, (socket) => void socket.end('hidden nonsense\r\n\r\n'))
  assert.match(await client.post(nonsense, MESSAGE), /^no connection: HPE_[A-Z_]+$/)
  const huge = await rawServer(t, (socket) => void socket.end(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`))
  assert.match(await client.post(huge, MESSAGE), /^no connection: [A-Z_]+$/)
  const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'
  const switching = await rawServer(t, (socket) => void socket.write(upgrade))
  assert.notEqual(await client.post(switching, MESSAGE), '')
  assert.match(
    await clientOf(t, { resolve: () => Promise.reject(new Error('hidden')) }).post('http://a.example/', MESSAGE),
    /^no connection$/,
  )
})

test('a kept connection that the receiver has closed meanwhile costs no try', async (t) => {
  const receiver = await receiverOf(t)
  const client = clientOf(t)
  receiver.script = (message, response) => {
    // the second message on the first connection meets a receiver that was just about to close it
    if (message.connection === 1 && receiver.received.length === 2) response.socket!.resetAndDestroy()
    else response.writeHead(200).end()
  }
  assert.equal(await client.post(receiver.url, MESSAGE), '')
  assert.equal(await client.post(receiver.url, MESSAGE), '')
  assert.deepEqual(
    receiver.received.map(({ connection }) => connection),
    [1, 1, 2],
  )
})

test('TLS is checked: a certificate that nobody vouches for is no receiver', async (t) => {
  const certificate = makeCertificate('localhost')
  const receiver = await receiverOf(t, { tls: certificate })
  assert.match(await clientOf(t).post(receiver.url, MESSAGE), /^no connection: [A-Z_]*(?:CERT|SIGNED|VERIFY)[A-Z_]*$/)
  assert.equal(receiver.received.length, 0)
})

test('private targets are refused, as addresses and by name, before a connection', async (t) => {
  const receiver = await receiverOf(t)
  const reason = /loopback, link-local, private or reserved/
  const resolved: string[] = []
  const resolve = (host: string) => {
    resolved.push(host)
    return Promise.resolve(['127.0.0.1', '::1'])
  }
  const client = clientOf(t, { allowPrivate: false, resolve })
  for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', '2130706433', 'hooks.example.org', 'localhost'])
    assert.match(await client.post(`http://${host}:${receiver.port}/hook`, MESSAGE), reason, host)
  assert.deepEqual(resolved, ['hooks.example.org', 'localhost'])
  assert.match(await clientOf(t, { allowPrivate: false }).post(`http://localhost:${receiver.port}/`, MESSAGE), reason)
  assert.equal(receiver.connections(), 0)
})

test('a name is resolved once per connection, and the connection goes where the check looked', async (t) => {
  const receiver = await receiverOf(t)
  let asked = 0
  const resolve = async () => (asked++ === 0 ? ['127.0.0.1'] : ['127.0.0.2'])
  const client = clientOf(t, { resolve })
  assert.equal(await client.post(`http://rebinding.example:${receiver.port}/hook`, MESSAGE), '')
  assert.equal(asked, 1)
  assert.equal(receiver.received[0]!.headers.host, `rebinding.example:${receiver.port}`)
})
