import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  type ClientHttp2Session,
  connect,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway, TEST_SECRET } from '../../worlds/base/harness.ts'
import { rightsOn } from '../../worlds/gateway/admin-fixtures.ts'

type Fields = Readonly<Record<string, string>>

/** The last request to an upstream of HTTP/2; it answers with these trailers. */
async function startUpstream(t: TestContext) {
  const seen: { head: IncomingHttpHeaders; trailers: IncomingHttpHeaders; answer: Fields } = {
    ...{ head: {}, trailers: {} },
    answer: {},
  }
  const server = createServer()
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session) => sessions.add(session))
  server.on('stream', (stream: ServerHttp2Stream, head) => {
    seen.head = head
    seen.trailers = {}
    stream.on('trailers', (trailers: IncomingHttpHeaders) => {
      seen.trailers = Object.fromEntries(Object.entries(trailers))
    })
    stream.resume()
    stream.on('end', () => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers(seen.answer))
      stream.end('ok')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  return { seen, url: `h2c://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

async function ask(session: ClientHttp2Session, path: string, head: Fields, trailers: Fields) {
  const stream = session.request({ ':method': 'POST', ':path': path, ...head }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers(trailers))
  let behind: IncomingHttpHeaders = {}
  let status = 0
  stream.on('trailers', (found) => {
    behind = Object.fromEntries(Object.entries(found))
  })
  stream.on('response', (headers) => {
    status = Number(headers[':status'])
  })
  stream.end('body')
  stream.resume()
  await once(stream, 'close')
  assert.equal(status, 200, path)
  return behind
}

const EDITS = { enabled: true, add: [{ name: 'X-Role', value: 'reader' }], remove: ['X-Secret'] }
const OF_OPERATION = { enabled: true, add: [{ name: 'X-Step', value: 'one' }], remove: ['X-Inner'] }

async function world(t: TestContext) {
  const { seen, url } = await startUpstream(t)
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const edits = {
    global: { transformRequestHeaders: EDITS, transformResponseHeaders: EDITS },
    operations: { op: { transformRequestHeaders: OF_OPERATION, transformResponseHeaders: OF_OPERATION } },
    paths: { '/p': { post: { operationId: 'op' } } },
  }
  const version = { enabled: true, name: 'v1', location: 'header', key: 'X-Version', stripVersioningData: true }
  const strip = { stripAuthorizationData: true }
  const documents = [
    defined({ id: 'plain', url }),
    defined({ id: 'edited', url, ...edits }),
    defined({ id: 'keyed', url, keyIn: 'X-Key' }),
    defined({ id: 'stripped', url, keyIn: 'X-Key', authentication: strip }),
    defined({
      ...{ id: 'versioned', url },
      info: { versioning: { ...version, default: 'self', fallbackToDefault: true, versions: [] } },
    }),
    defined({ id: 'led', url: 'svc://plain/', ...edits }),
  ]
  for (const document of documents) {
    const made = await gate.svc('POST', '/svc/apis/oas', document)
    assert.equal(made.status, 200, made.text)
  }
  const created = await gate.svc('POST', '/svc/keys/create', { access_rights: rightsOn('keyed', 'stripped') })
  const session = connect(`http://127.0.0.1:${gate.port}`)
  t.after(() => session.destroy())
  return { seen, session, key: String((created.json as JsonObject).key) }
}

const APIS = ['plain', 'edited', 'keyed', 'stripped', 'versioned', 'led']

test('no request trailer reaches an upstream under a name that heads may not pass', async (t) => {
  const { seen, session, key } = await world(t)
  const values: Fields = {
    'x-svc-authorization': TEST_SECRET,
    'admin-auth': 'admin secret',
    'x-foo-authorization': `Bearer ${TEST_SECRET}`,
    'x-role': 'admin',
    'x-step': 'two',
    'x-secret': 's',
    'x-inner': 'i',
    'x-version': 'v1',
    'x-forwarded-for': '192.0.2.1',
    'x-real-ip': '192.0.2.1',
    'x-sum': '17',
  }
  for (const id of APIS) {
    const given: Fields = id === 'keyed' || id === 'stripped' ? { 'x-key': key } : {}
    const path = `/${id}/p`
    // The effect of the values in a head, with a wrong key in the trailers beside the right one.
    await ask(session, path, { ...values, ...given }, {})
    const passed = Object.entries(values).filter(([name, value]) => seen.head[name] === value)
    await ask(session, path, given, { ...values, 'x-key': id === 'plain' || id === 'led' ? 'x' : 'not the right one' })
    const open =
      id === 'keyed' || id === 'stripped' ? [] : [['x-key', id === 'plain' || id === 'led' ? 'x' : 'not the right one']]
    assert.deepEqual({ ...seen.trailers }, Object.fromEntries([...passed, ...open]), id)
    assert.equal(seen.trailers['x-sum'], '17', id)
  }
})

test('no trailer of an answer reaches a client under a name that the API edits', async (t) => {
  const { seen, session, key } = await world(t)
  seen.answer = {
    'x-role': 'admin',
    'x-step': 'two',
    'x-secret': 's',
    'x-inner': 'i',
    'x-ratelimit-limit': '9',
    'x-sum': '17',
  }
  assert.deepEqual({ ...(await ask(session, '/plain/p', {}, {})) }, seen.answer)
  assert.deepEqual({ ...(await ask(session, '/edited/p', {}, {})) }, { 'x-ratelimit-limit': '9', 'x-sum': '17' })
  assert.deepEqual({ ...(await ask(session, '/keyed/p', { 'x-key': key }, {})) }, seen.answer)
})
