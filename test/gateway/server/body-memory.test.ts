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

const CHECKED = { checked: { validateRequest: { enabled: true } } }

async function start(t: TestContext): Promise<TestGateway & { readonly upstream: string }> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({ env: { SVC_GW_BODYBYTESINFLIGHT: String(MEBIBYTE) } })
  t.after(() => gate.close())
  const draft = { id: 'a', url: origin.url, paths: PATHS, operations: CHECKED }
  const made = await gate.svc('POST', '/svc/apis/oas', defined(draft))
  assert.equal(made.status, 200, made.text)
  return { ...gate, upstream: origin.url }
}

const head = (length: number, path: string, key: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\n${key === '' ? '' : `Authorization: ${key}\r\n`}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

/** A client whose body lacks its last byte. */
function slowClient(
  t: TestContext,
  { port }: TestGateway,
  localAddress: string,
  path = '/a/checked',
  key = '',
): { socket: Socket; text: string } {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  const client = { socket, text: '' }
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    client.text += chunk.toString()
  })
  socket.write(head(BODY.length, path, key) + BODY.slice(0, -1))
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

test('callers with keys fill no room that others need, whatever their addresses', async (t) => {
  const gate = await start(t)
  const guarded = { ...{ url: gate.upstream, keyIn: 'Authorization', paths: PATHS }, operations: CHECKED }
  for (const [id, info] of [
    ['b', { orgId: 'one' }],
    ['c', { orgId: 'two' }],
  ] as const) {
    const made = await gate.svc('POST', '/svc/apis/oas', defined({ ...guarded, id, info }))
    assert.equal(made.status, 200, made.text)
  }
  const keyOf = async (api: string) => {
    const made = await gate.svc('POST', '/svc/keys', { access_rights: { [api]: { api_id: api, versions: [] } } })
    assert.equal(made.status, 200, made.text)
    return (made.json as { key: string }).key
  }
  // Of one organisation: one key from many addresses, then many keys from two, then many from as many.
  const one = await keyOf('b')
  const keys = await Promise.all(Array.from({ length: 20 }, () => keyOf('b')))
  const slow = [
    ...Array.from({ length: 8 }, (_, i) => [`127.0.1.${i + 2}`, one] as const),
    ...keys.map((key, i) => [`127.0.${i < 10 ? 2 : 3}.${2 + (i < 10 ? i % 2 : i)}`, key] as const),
  ]
  const clients: ReturnType<typeof slowClient>[] = []
  for (const [address, key] of slow) {
    const client = slowClient(t, gate, address, '/b/checked', key)
    clients.push(client)
    await eventually('it is sent', () => client.text !== '' || client.socket.bytesWritten >= BODY.length)
  }
  const refused = () => clients.filter(({ text }) => text.startsWith('HTTP/1.1 503')).length
  // Of each 200 kB the first 64 are not counted: in three quarters of the room five fit, in all of it seven.
  await eventually('most are refused', () => refused() >= clients.length - 5)
  await eventually('all have been sent', () =>
    clients.every(({ socket, text }) => text !== '' || socket.bytesWritten >= BODY.length),
  )
  const other = slowClient(t, gate, '127.0.4.1', '/c/checked', await keyOf('c'))
  other.socket.write(BODY.slice(-1))
  await eventually('another organisation is served', () => other.text !== '')
  assert.match(other.text, /^HTTP\/1\.1 200/)
})
