import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { silentLog } from '../../../src/model/logs/log.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { deadUrl } from '../../worlds/servers/free-port.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'
import { Client, get, statusOf } from '../../worlds/wire/raw.ts'

const PROXY_FAULT = { error: 'There was a problem proxying the request' }
const LEGACY = { SVC_COMPAT_LEGACYSTATUSES: 'true' }

/** A bare TCP upstream. `talk` is called when the first bytes of a connection have arrived. Answers its URL. */
async function bareOrigin(t: TestContext, talk: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => talk(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function serving(
  t: TestContext,
  draft: Partial<Parameters<typeof defined>[0]> & { url: string },
  env: Record<string, string> = {},
): Promise<TestGateway> {
  const gateway = await startTestGateway({ env })
  t.after(() => gateway.close())
  const made = await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', ...draft }))
  assert.equal(made.status, 200, made.text)
  return gateway
}

const UPSTREAMS: Readonly<Record<string, (socket: Socket) => void>> = {
  'ends without a word': (socket) => socket.end(),
  'resets the connection': (socket) => socket.resetAndDestroy(),
  'ends within its head': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le'),
  'talks another protocol': (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
  'answers with a bad status line': (socket) => socket.end('HTTP/1.1 2000 Hm\r\n\r\n'),
  'gives two lengths': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
  'gives chunks in HTTP/1.0': (socket) => socket.end('HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
  'never ends its head': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const line = `X-More: ${'x'.repeat(8000)}\r\n`
    for (let i = 0; i < 64 && socket.writable; i++) socket.write(line)
  },
}

for (const [what, talk] of Object.entries(UPSTREAMS)) {
  test(`an upstream that ${what} is 502, or 500 with legacy statuses, and the next request works`, async (t) => {
    for (const [env, status] of [
      [{}, 502],
      [LEGACY, 500],
    ] as const) {
      let bad = true
      const url = await bareOrigin(t, (socket) => {
        if (bad) talk(socket)
        else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok')
      })
      const gateway = await serving(t, { url }, env)
      const answer = await gateway.call('/a/x')
      assert.deepEqual([answer.status, answer.json], [status, PROXY_FAULT])
      assert.match(String(answer.headers['x-request-id']), /./)
      bad = false
      const next = await gateway.call('/a/x')
      assert.deepEqual([next.status, next.text], [200, 'ok'])
    }
  })
}

test('an upstream that is not there, and a name that does not resolve', async (t) => {
  const dead = await deadUrl()
  for (const [env, status] of [
    [{}, 502],
    [LEGACY, 500],
  ] as const) {
    const gateway = await serving(t, { url: dead }, env)
    const refused = await gateway.call('/a/x')
    assert.deepEqual([refused.status, refused.json], [status, PROXY_FAULT])
    const body = defined({ id: 'n', url: 'http://no-such-host.invalid/' })
    assert.equal((await gateway.svc('POST', '/svc/apis/oas', body)).status, 200)
    const unresolved = await gateway.call('/n/x')
    assert.deepEqual([unresolved.status, unresolved.json], [status, { error: 'Upstream host lookup failed' }])
  }
})

test('an upstream that is too slow is 504 under either statuses', async (t) => {
  const url = await bareOrigin(t, () => {})
  for (const env of [{}, LEGACY]) {
    const gateway = await serving(t, { url }, { SVC_GW_PROXYDEFAULTTIMEOUTMS: '60', ...env })
    const answer = await gateway.call('/a/x')
    assert.deepEqual([answer.status, answer.json], [504, { error: 'Upstream service reached hard timeout.' }])
  }
})

test('an operation may have less time, or more, than all others', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const waiting = new Map<string, () => void>()
  origin.script = ({ target }, response) => {
    waiting.set(target, () => response.end('late'))
  }
  const gateway = await serving(
    t,
    {
      url: origin.url,
      paths: {
        '/quick': { get: { operationId: 'quick' }, post: { operationId: 'post' } },
        '/patient': { get: { operationId: 'patient' } },
      },
      operations: {
        quick: { enforceTimeout: { enabled: true, value: 0.05 } },
        patient: { enforceTimeout: { enabled: true, value: 60 } },
      },
    },
    { SVC_GW_PROXYDEFAULTTIMEOUTMS: '400' },
  )
  const patient = gateway.call('/a/patient')
  assert.equal((await gateway.call('/a/quick')).status, 504)
  const from = performance.now()
  assert.equal((await gateway.call('/a/quick', { method: 'POST' })).status, 504)
  assert.ok(performance.now() - from >= 390, 'the time of the API, not that of the operation')
  assert.equal((await gateway.call('/a/other')).status, 504)
  await eventually('the patient call has arrived', () => waiting.has('/patient'))
  waiting.get('/patient')!()
  assert.deepEqual([(await patient).status, (await patient).text], [200, 'late'])
})

test('an answer that breaks off is cut for the client too, and never made to look whole', async (t) => {
  const url = await bareOrigin(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', () => socket.destroy())
  })
  const gateway = await serving(t, { url })
  const client = await Client.connect(gateway.port)
  const answer = await client.ask(get('/a/x'))
  assert.equal(statusOf(answer), 200)
  assert.equal(answer.complete, false)
  assert.equal((await client.inbox.toEnd()).length, 0)
})

for (const [what, weights] of [
  ['of equal weight', [1, 1]],
  ['of which the dead one has most of the weight', [9, 1]],
  ['of which two are dead', [5, 5, 1]],
] as const) {
  test(`with several targets ${what}, a request goes to the next when one is down`, async (t) => {
    const origin = await startOrigin()
    t.after(() => origin.close())
    const urls = await Promise.all(weights.map((_, i) => (i === weights.length - 1 ? origin.url : deadUrl())))
    const targets = weights.map((weight, i) => ({ url: urls[i]!, weight }))
    const gateway = await serving(t, { url: urls[0]!, upstream: { loadBalancing: { enabled: true, targets } } })
    for (let i = 0; i < 12; i++) {
      const answer = await gateway.call(`/a/${i}`, { method: 'POST', body: `body ${i}` })
      assert.equal(answer.status, 200, `request ${i}: ${answer.text}`)
      assert.equal(origin.seen.at(-1)?.body, `body ${i}`)
    }
    assert.equal(origin.seen.length, 12)
  })
}

test('with every target down the answer is 502, after each was tried once', async (t) => {
  const targets = [{ url: await deadUrl() }, { url: await deadUrl() }, { url: await deadUrl() }]
  const gateway = await serving(t, { url: targets[0]!.url, upstream: { loadBalancing: { enabled: true, targets } } })
  const answer = await gateway.call('/a/x')
  assert.deepEqual([answer.status, answer.json], [502, PROXY_FAULT])
})

test('a request that an upstream may have acted upon is not sent to another', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  let seen = 0
  const first = await bareOrigin(t, (socket) => {
    seen++
    socket.destroy()
  })
  const targets = [{ url: first }, { url: origin.url }]
  const gateway = await serving(t, { url: first, upstream: { loadBalancing: { enabled: true, targets } } })
  const statuses: number[] = []
  // Target after target: each kind of call meets the first one twice.
  for (const body of ['order one', undefined]) {
    for (let i = 0; i < 4; i++) {
      const answer = await gateway.call('/a/x', { method: 'POST', ...(body !== undefined && { body }) })
      statuses.push(answer.status)
    }
  }
  assert.equal(seen + origin.seen.length, 8, 'each was sent once')
  assert.equal(statuses.filter((status) => status === 502).length, seen)
  assert.equal(seen, 4)
})

test('without the store writer known keys work, new ones get a clear 503, and counts are kept', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-writer-'))
  t.after(() => rmSync(path, { recursive: true }))
  const store = await openStore({ path, log: silentLog, keepWriter: false })
  t.after(() => store.close())
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway({ store })
  const session = { access_rights: rights('a'), quota_max: 100, quota_renewal_rate: 3600 } as JsonObject
  await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url, keyIn: 'Authorization' }))
  const make = async () => (await gateway.svc('POST', '/svc/keys', session)).json as { key: string }
  const warm = (await make()).key
  const cold = (await make()).key
  const use = (key: string) => gateway.call('/a/x', { headers: { authorization: key } })
  assert.equal((await use(warm)).status, 200)

  await store.stopWriter()
  assert.equal((await use(warm)).status, 200)
  assert.equal((await use(cold)).status, 200)
  assert.equal((await use('not-a-key-at-all')).status, 403)
  const refused = await gateway.svc('POST', '/svc/keys', session)
  assert.deepEqual([refused.status, refused.json], [503, { status: 'error', message: 'Try again later' }])
  const deleted = await gateway.svc('DELETE', `/svc/keys/${cold}`)
  assert.equal(deleted.status, 503)
  assert.equal((await gateway.call('/hello')).status, 200)
  assert.ok(gateway.log.some(({ level, fields }) => level === 'error' && fields.code === 'store_away'))

  await store.startWriter()
  assert.equal((await gateway.svc('POST', '/svc/keys', session)).status, 200)
  await gateway.close()
  const hits = await store.hits.sum({ fromHour: 0, toHour: 1e6, by: ['status'], limit: 10 })
  assert.deepEqual(Object.fromEntries(hits.map(({ status, count }) => [status, count])), { 200: 3, 403: 1 })
})
