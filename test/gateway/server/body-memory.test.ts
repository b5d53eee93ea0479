import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

// Bodies that checks read are in memory until the request ends: all of them together are bounded.

const MEBIBYTE = 1_048_576
const BODY = JSON.stringify({ text: 'x'.repeat(200_000) })
const PATHS = {
  '/checked': {
    post: {
      operationId: 'checked',
      requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
      responses: { 200: { description: 'ok' } },
    },
  },
}

async function start(t: TestContext): Promise<TestGateway> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({ env: { SVC_GW_BODYBYTESINFLIGHT: String(MEBIBYTE) } })
  t.after(() => gate.close())
  const operations = { checked: { validateRequest: { enabled: true } } }
  const made = await gate.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url, paths: PATHS, operations }))
  assert.equal(made.status, 200, made.text)
  return gate
}

const head = (length: number) =>
  `POST /a/checked HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

/** A client whose body lacks its last byte. */
function slowClient(t: TestContext, { port }: TestGateway, localAddress: string): { socket: Socket; text: string } {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  const client = { socket, text: '' }
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    client.text += chunk.toString()
  })
  socket.write(head(BODY.length) + BODY.slice(0, -1))
  t.after(() => socket.destroy())
  return client
}

const send = (gate: TestGateway) =>
  gate.call('/a/checked', { method: 'POST', headers: { 'content-type': 'application/json' }, body: BODY })

test('bodies of one address take half of the room, of all that are not identified three quarters', async (t) => {
  const gate = await start(t)
  const clients = Array.from({ length: 12 }, () => slowClient(t, gate, '127.0.0.2'))
  const refused = () => clients.filter(({ text }) => text.startsWith('HTTP/1.1 503'))
  // Of each 200 kB the first 64 are not counted: three fit.
  await eventually('those beyond half of the room are refused', () => refused().length >= 9)
  assert.ok(clients.every(({ text }) => text === '' || text.startsWith('HTTP/1.1 503')))
  const other = await send(gate)
  assert.equal(other.status, 200, other.text)
  for (const { socket } of clients) socket.destroy()
  const back = Array.from({ length: 2 }, () => slowClient(t, gate, '127.0.0.2'))
  for (const { socket } of back) socket.write(BODY.slice(-1))
  await eventually('there is room again', () => back.every(({ text }) => text.startsWith('HTTP/1.1 200')))
})

test('a body gives its room back whatever becomes of its request', async (t) => {
  const gate = await start(t)
  const bad = '{"text":"'.concat('x'.repeat(300_000))
  for (let i = 0; i < 8; i++) {
    const refused = await gate.call('/a/checked', {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: bad },
    })
    assert.equal(refused.status, 422, refused.text)
    assert.equal((await send(gate)).status, 200)
    const gone = slowClient(t, gate, '127.0.0.1')
    await eventually('it is on its way', () => gone.socket.bytesWritten >= BODY.length)
    gone.socket.destroy()
  }
  await eventually('all is given back', async () => (await send(gate)).status === 200)
})
