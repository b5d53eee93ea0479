import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined, rights } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

interface Part {
  readonly relative_url: string
  readonly code: number
  readonly headers: Record<string, string[]>
  readonly body: string
}

interface Scene {
  readonly gateway: TestGateway
  readonly origin: Origin
  send(path: string, requests: unknown[], more?: JsonObject, headers?: Record<string, string>): Promise<Part[]>
}

async function open(t: TestContext, env: Record<string, string> = {}): Promise<Scene> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway({ env, accessLog: true })
  t.after(() => gateway.close())
  const server = { batchProcessing: { enabled: true } }
  for (const api of [
    defined({ id: 'k', url: origin.url, keyIn: 'X-Key', server }),
    defined({ id: 'tenant', path: '/t/{tenant}/', url: origin.url, server }),
    defined({ id: 'off', url: origin.url }),
  ]) {
    const made = await gateway.svc('POST', '/svc/apis/oas', api)
    assert.equal(made.status, 200, made.text)
  }
  const old = classic('old', '/old/', origin.url, { enable_batch_request_support: true })
  assert.equal((await gateway.svc('POST', '/svc/apis', old)).status, 200)
  const send: Scene['send'] = async (path, requests, more = {}, headers = {}) => {
    const body = JSON.stringify({ requests, ...more })
    const answer = await gateway.call(path, { method: 'POST', headers, body })
    assert.equal(answer.status, 200, answer.text)
    return answer.json as Part[]
  }
  return { gateway, origin, send }
}

const key = async (gateway: TestGateway, more: JsonObject) => {
  const made = await gateway.svc('POST', '/svc/keys/create', { access_rights: rights('k'), quota_max: -1, ...more })
  return (made.json as { key: string }).key
}

test('each part of a batch is a request of its own: credential, limit, answer, in order', async (t) => {
  const { gateway, origin, send } = await open(t)
  const ours = await key(gateway, { rate: 2, per: 60 })
  origin.script = ({ target, method, body }, response) => {
    response.writeHead(target === '/b' ? 404 : 200, { 'content-type': 'text/plain', 'set-cookie': ['a=1', 'b=2'] })
    response.end(`${method} ${target} ${body}`)
  }
  const headers = { 'X-Key': ours }
  const parts = await send(
    '/k/svc/batch/',
    [
      { method: 'POST', relative_url: 'a?x=1', headers, body: 'né' },
      { method: 'GET', relative_url: '/b', headers },
      { method: 'GET', relative_url: 'c', headers },
      { method: 'GET', relative_url: 'd' },
    ],
    { suppress_parallel_execution: true },
  )
  assert.deepEqual(
    parts.map(({ relative_url, code }) => [relative_url, code]),
    [
      ['a?x=1', 200],
      ['/b', 404],
      ['c', 429],
      ['d', 401],
    ],
  )
  assert.equal(parts[0]!.body, `POST /a?x=1 ${Buffer.from('né').toString('latin1')}`)
  assert.deepEqual(parts[0]!.headers['set-cookie'], ['a=1', 'b=2'])
  assert.equal(parts[1]!.body, 'GET /b ')
  assert.equal(origin.seen.length, 2)
})

test('parts come from where the batch comes from, whatever they say', async (t) => {
  const { origin, send } = await open(t, { SVC_GW_TRUSTEDPROXIES: '127.0.0.1' })
  const spoof = { 'X-Forwarded-For': '6.6.6.6', 'x-real-ip': '6.6.6.6', Host: 'evil.example', 'Content-Length': '99' }
  const [part] = await send(
    '/old/svc/batch',
    [{ method: 'GET', relative_url: 'a', headers: spoof }],
    {},
    {
      'X-Forwarded-For': '9.9.9.9',
    },
  )
  assert.equal(part!.code, 200)
  const { headers } = origin.seen[0]!
  assert.match(String(headers['x-forwarded-for']), /^9\.9\.9\.9, 127\.0\.0\.1$/)
  assert.equal(headers['x-real-ip'], undefined)
  assert.match(String(headers['x-forwarded-host']), /^127\.0\.0\.1:\d+$/)
})

test('a part cannot leave the listen path, hold a batch, or smuggle a second request', async (t) => {
  const { origin, send } = await open(t)
  const outside = ['../off/x', '%2e%2e/off/x', '/../off/x', 'a/../../off/x', 'a b', 'a\r\nX: y', 'a#b', '\ud800']
  const requests: unknown[] = outside.map((relative_url) => ({ method: 'GET', relative_url }))
  requests.push({ method: 'GET /other HTTP/1.1\r\n\r\nGET', relative_url: 'a' }, { method: 'POST' }, 7, null)
  requests.push({ method: 'GET', relative_url: 'a', headers: { 'X-A': 'b\r\nX-B: c' } })
  requests.push({ method: 'GET', relative_url: 'a', headers: [] }, { method: 'GET', relative_url: 'a', body: {} })
  const parts = await send('/t/one/svc/batch/', requests)
  assert.deepEqual(
    parts.map(({ code }) => code),
    requests.map(() => 400),
  )
  const nested = JSON.stringify({ requests: [] })
  const [again] = await send('/t/one/svc/batch/', [{ method: 'POST', relative_url: 'svc/%62atch', body: nested }])
  assert.equal(again!.code, 403)
  assert.equal(origin.seen.length, 0)
  const [inside] = await send('/t/one/svc/batch/', [{ method: 'GET', relative_url: './x/../y' }])
  assert.equal(inside!.code, 200)
  assert.equal(origin.seen[0]!.target, '/y')
})

test('a batch is bounded: requests, body, answers', async (t) => {
  const { gateway, origin, send } = await open(t)
  const get = { method: 'GET', relative_url: 'a' }
  const post = (body: string) => gateway.call('/old/svc/batch/', { method: 'POST', body })
  assert.equal((await post(JSON.stringify({ requests: Array(51).fill(get) }))).status, 400)
  for (const body of ['', 'x', '[]', '{}', '{"requests":{}}']) assert.equal((await post(body)).status, 400, body)
  assert.equal((await post(`{"requests":[],"x":"${'x'.repeat(1_048_576)}"}`)).status, 413)
  assert.equal(origin.seen.length, 0)
  assert.deepEqual(await send('/old/svc/batch/', []), [])
  origin.script = ({ target }, response) => {
    if (target === '/cut') {
      response.writeHead(200, { 'content-length': '10' })
      response.write('half')
      response.destroy()
    } else response.end('x'.repeat(target === '/long' ? 262_145 : 262_144))
  }
  const parts = await send(
    '/old/svc/batch/',
    ['long', 'cut', 'fits'].map((relative_url) => ({ ...get, relative_url })),
  )
  assert.deepEqual(
    parts.map(({ code, body }) => [code, body.length > 1000]),
    [
      [502, false],
      [502, false],
      [200, true],
    ],
  )
  const many = await send('/old/svc/batch/', Array(50).fill({ ...get, relative_url: 'fits' }))
  assert.equal(many.filter(({ code, body }) => code === 200 && body.length === 262_144).length, 50)
  // A GET there, and APIs that do not take batches, are the upstream's business.
  assert.equal((await gateway.call('/old/svc/batch/')).text.length, 262_144)
  assert.equal((await gateway.call('/off/svc/batch/', { method: 'POST', body: '{}' })).text.length, 262_144)
})

test('a caller whose connection is gone is asked for nothing more', async (t) => {
  const { gateway, origin } = await open(t)
  const held: (() => void)[] = []
  origin.script = (_request, response) => void held.push(() => response.end())
  const requests = Array(50).fill({ method: 'GET', relative_url: 'a' })
  const body = JSON.stringify({ requests, suppress_parallel_execution: true })
  const caller = connect(gateway.port, '127.0.0.1')
  caller.write(`POST /old/svc/batch/ HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  await eventually('the first part is asked for', () => held.length === 1)
  caller.resetAndDestroy()
  await eventually('the gateway knows', async () => {
    const { text } = await gateway.svc('GET', '/metrics')
    return /^svc_connections 1$/m.test(text)
  })
  held[0]!()
  await eventually('the part is over', () => gateway.accessLines.some((line) => line.includes('/old/a')))
  origin.script = undefined
  assert.equal((await gateway.call('/off/later')).status, 200)
  assert.deepEqual(
    origin.seen.map(({ target }) => target),
    ['/a', '/later'],
  )
})
