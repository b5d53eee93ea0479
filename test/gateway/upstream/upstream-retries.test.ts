import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RetryBudget } from '../../../src/gateway/upstream/resilience.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { balanced, bareOrigin, caredFor, origins } from '../../worlds/gateway/upstream-fixtures.ts'
import { deadUrl } from '../../worlds/servers/free-port.ts'
import { Client, statusOf } from '../../worlds/wire/raw.ts'

const RETRIES = { enabled: true, attempts: 2, budgetPercent: 0, minPerSecond: 100 }

test('what may be done twice is tried again after a refusal, a reset and an answer of 503', async (t) => {
  const [good] = await origins(t, 1)
  const failing = await origins(t, 1)
  failing[0]!.script = (_request, response) => void response.writeHead(503).end('not now')
  const reset = await bareOrigin(t, (socket) => socket.resetAndDestroy())
  const half = await bareOrigin(t, (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le'))
  for (const bad of [await deadUrl(), reset.url, half.url, failing[0]!.url]) {
    const upstream = { loadBalancing: balanced([bad, good!.url]), retries: RETRIES }
    const gateway = await caredFor(t, { url: bad, upstream })
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
      const seen = good!.seen.length
      // The bad one has every second turn.
      const answers = [await gateway.call('/a/x', { method }), await gateway.call('/a/x', { method })]
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200],
        `${method} ${bad}`,
      )
      assert.equal(good!.seen.length, seen + 2)
    }
    await gateway.close()
  }
})

test('a POST is never sent twice, nor a body that is not at hand any more', async (t) => {
  const [failing] = await origins(t, 1)
  failing!.script = (_request, response) => void response.writeHead(503).end('not now')
  const reset = await bareOrigin(t, (socket) => socket.resetAndDestroy())
  for (const [url, seen, status] of [
    [failing!.url, failing!.seen, 503],
    [reset.url, reset.seen, 502],
  ] as const) {
    const gateway = await caredFor(t, { url, upstream: { retries: RETRIES } })
    for (const [method, body] of [
      ['POST', undefined],
      ['POST', 'order one'],
      ['PATCH', 'a part'],
      ['PUT', 'streamed'],
    ] as const) {
      const before = seen.length
      const answer = await gateway.call('/a/x', { method, ...(body !== undefined && { body }) })
      assert.deepEqual([answer.status, seen.length - before], [status, 1], `${method} ${body}`)
    }
    await gateway.close()
  }
})

test('a body that a step has read is sent again whole', async (t) => {
  const [good] = await origins(t, 1)
  const reset = await bareOrigin(t, (socket) => socket.resetAndDestroy())
  const content = { 'application/json': { schema: { type: 'object' } } }
  const gateway = await caredFor(t, {
    url: reset.url,
    upstream: { loadBalancing: balanced([reset.url, good!.url]), retries: RETRIES },
    paths: { '/x': { put: { operationId: 'put', requestBody: { content } } } },
    operations: { put: { validateRequest: { enabled: true } } },
  })
  for (let i = 0; i < 4; i++) {
    const headers = { 'content-type': 'application/json' }
    const answer = await gateway.call('/a/x', { method: 'PUT', headers, body: `{"order":${i}}` })
    assert.deepEqual([answer.status, good!.seen.at(-1)?.body], [200, `{"order":${i}}`])
  }
  assert.deepEqual([good!.seen.length, reset.seen.length], [4, 2])
})

test('a body that is sent twice is recorded once', async (t) => {
  const store = openMemoryStore()
  t.after(() => store.close())
  const gateway = await startTestGateway({ store })
  t.after(() => gateway.close())
  const [failing] = await origins(t, 1)
  failing!.script = (_request, response) => void response.writeHead(503).end()
  const definition = defined({
    id: 'a',
    url: failing!.url,
    upstream: { retries: RETRIES },
    server: { listenPath: { value: '/a/', strip: true }, detailedActivityLogs: { enabled: true } },
    paths: { '/x': { put: { operationId: 'put', requestBody: { content: { 'application/json': { schema: {} } } } } } },
    operations: { put: { validateRequest: { enabled: true } } },
  })
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', definition)).status, 200)
  await gateway.call('/a/x', { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '[1]' })
  assert.equal(failing!.seen.length, 3)
  await gateway.close()
  const { rows } = await store.records.list({ limit: 10 })
  assert.deepEqual(
    rows.map(({ detail }) => Buffer.from(detail!.request).toString().split('\r\n\r\n')[1]),
    ['[1]'],
  )
})

test('a request is sent to another target when nothing of it went out, whatever its method', async (t) => {
  const [good] = await origins(t, 1)
  for (const dead of [await deadUrl(), 'http://no-such-host.invalid/']) {
    const upstream = { loadBalancing: balanced([dead, good!.url]), retries: RETRIES }
    const gateway = await caredFor(t, { url: dead, upstream })
    const before = good!.seen.length
    for (let i = 0; i < 4; i++) {
      const answer = await gateway.call('/a/x', { method: 'POST', body: `order ${i}` })
      assert.deepEqual([answer.status, good!.seen.at(-1)?.body], [200, `order ${i}`])
    }
    assert.equal(good!.seen.length, before + 4)
    await gateway.close()
  }
})

test('attempts are bounded, and the last answer is the one that is given', async (t) => {
  const [failing] = await origins(t, 1)
  failing!.script = (_request, response) => void response.writeHead(503).end(`try ${failing!.seen.length}`)
  const gateway = await caredFor(t, { url: failing!.url, upstream: { retries: RETRIES } })
  const answer = await gateway.call('/a/x')
  assert.deepEqual([answer.status, answer.text, failing!.seen.length], [503, 'try 3', 3])
  failing!.script = (_request, response) => void response.writeHead(500).end()
  assert.equal((await gateway.call('/a/x')).status, 500)
  assert.equal(failing!.seen.length, 4, '500 is none of the statuses')
})

test('nothing is tried again once a byte of the answer was sent', async (t) => {
  const torn = await bareOrigin(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', () => socket.destroy())
  })
  const gateway = await caredFor(t, { url: torn.url, upstream: { retries: RETRIES } })
  const client = await Client.connect(gateway.port)
  const answer = await client.ask('GET /a/x HTTP/1.1\r\nHost: h\r\n\r\n')
  assert.deepEqual([statusOf(answer), answer.complete, torn.seen.length], [200, false, 1])
})

test('what is slow is not asked again', async (t) => {
  const hung = await bareOrigin(t, () => {})
  const env = { SVC_GW_PROXYDEFAULTTIMEOUTMS: '50' }
  const gateway = await caredFor(t, { url: hung.url, upstream: { retries: RETRIES } }, env)
  assert.equal((await gateway.call('/a/x')).status, 504)
  assert.equal(hung.seen.length, 1)
})

test('the budget bounds retries: a share of the requests, and some each second', async (t) => {
  const [failing] = await origins(t, 1)
  failing!.script = (_request, response) => void response.writeHead(503).end()
  const retries = { enabled: true, attempts: 2, budgetPercent: 20, minPerSecond: 3 }
  const gateway = await caredFor(t, { url: failing!.url, upstream: { retries } })
  for (let i = 0; i < 50; i++) await gateway.call('/a/x')
  assert.equal(failing!.seen.length, 50 + 10 + 3)
  gateway.clock.advance(1000)
  for (let i = 0; i < 4; i++) await gateway.call('/a/x')
  assert.equal(failing!.seen.length, 63 + 4 + 3)
  const metrics = await gateway.svc('GET', '/metrics')
  assert.match(metrics.text, /svc_upstream_retries_total 16\b/)
})

test('in any time there are no more retries than the budget says', () => {
  const event = fc.oneof(fc.constant('ask' as const), fc.constant('retry' as const), fc.integer({ min: 1, max: 3000 }))
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 100 }),
      fc.integer({ min: 0, max: 20 }),
      fc.array(event, { maxLength: 300 }),
      (percent, minPerSecond, events) => {
        const budget = new RetryBudget({ budgetShare: percent / 100, minPerSecond }, 0)
        let [mono, asked, retried] = [0, 0, 0]
        for (const each of events) {
          if (each === 'ask') {
            asked++
            budget.earn()
          } else if (each === 'retry') retried += Number(budget.take(mono))
          else mono += each
          const bound = (asked * percent) / 100 + minPerSecond * (mono / 1000 + 1)
          assert.ok(retried <= bound + 1e-6, `${retried} retries, at most ${bound}`)
        }
      },
    ),
  )
})
