import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request as httpRequest, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { openCacheScene } from '../../worlds/gateway/cache-scene.ts'
import type { Origin } from '../../worlds/servers/origin.ts'

const ALL = { enabled: true, cacheAllSafeRequests: true, timeout: 60 }
const DECIDES = { ...ALL, enableUpstreamCacheControl: true }

/** True when a stored answer came. */
const isHit = (answer: { headers: Record<string, unknown> }) => answer.headers['x-svc-cached-response'] === '1'

/** Has the upstream keep its answers back: those that came, in order. */
function holding(origin: Origin): ServerResponse[] {
  const held: ServerResponse[] = []
  origin.script = (_request, response) => void held.push(response)
  return held
}

test('equal requests at once are one request to the upstream', async (t) => {
  const { gateway, origin, publish, metric } = await openCacheScene(t)
  await publish('a', ALL)
  const held = holding(origin)
  const equal = Array.from({ length: 20 }, () => gateway.call('/a/x'))
  await eventually('the first is there', () => held.length === 1)
  const other = gateway.call('/a/y')
  await eventually('another path is not held up', () => held.length === 2)
  await eventually('all are there', async () => (await metric('svc_connections')) >= 22)
  held[1]!.end('of y')
  assert.equal((await other).text, 'of y')
  assert.equal(held.length, 2)
  held[0]!.end('of x')
  const answers = await Promise.all(equal)
  for (const { status, text } of answers) assert.deepEqual([status, text], [200, 'of x'])
  assert.equal(answers.filter(isHit).length, 19)
  assert.equal(origin.seen.length, 2)
})

test('who waits goes on by itself once it is clear that the answer is not stored', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t)
  await publish('a', DECIDES)
  const held = holding(origin)
  const calls = [gateway.call('/a/x'), gateway.call('/a/x'), gateway.call('/a/x')]
  await eventually('one asks', () => held.length === 1)
  held[0]!.writeHead(200, { 'Cache-Control': 'no-store' })
  held[0]!.write('begun')
  await eventually('the others ask', () => held.length === 3)
  for (const response of held) response.end('!')
  assert.deepEqual((await Promise.all(calls)).filter(isHit), [])
  // An answer that is known not to be stored delays nobody from then on.
  const more = [gateway.call('/a/x'), gateway.call('/a/x')]
  await eventually('both ask', () => held.length === 5)
  for (const response of held) response.end()
  await Promise.all(more)
})

test('who waits goes on when the one that asks is cut off, or leaves', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t)
  await publish('a', ALL)
  const held = holding(origin)
  const leaving = httpRequest({ host: '127.0.0.1', port: gateway.port, path: '/a/x', agent: false })
  leaving.on('error', () => {})
  leaving.end()
  await eventually('it asks', () => held.length === 1)
  const waiting = gateway.call('/a/x')
  leaving.destroy()
  await eventually('the other asks', () => held.length === 2)
  held[1]!.end('x')
  assert.equal((await waiting).text, 'x')
})

test('who waits goes on once the answer is too large to be stored', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t, { SVC_GW_CACHEENTRYBYTES: '1000' })
  await publish('a', ALL)
  const held = holding(origin)
  const calls = [gateway.call('/a/x'), gateway.call('/a/x')]
  await eventually('one asks', () => held.length === 1)
  held[0]!.write('x'.repeat(1001))
  await eventually('the other asks', () => held.length === 2)
  for (const response of held) response.end()
  assert.deepEqual((await Promise.all(calls)).filter(isHit), [])
})

test('nobody waits for longer than is set', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t, { SVC_GW_CACHEWAITMS: '20' })
  await publish('a', ALL)
  const held = holding(origin)
  const calls = [gateway.call('/a/x'), gateway.call('/a/x')]
  await eventually('both ask', () => held.length === 2)
  for (const response of held) response.end('x')
  await Promise.all(calls)
})

test('the first answer streams on while it is stored, and what breaks off is not stored', async (t) => {
  const { gateway, origin, publish, metric } = await openCacheScene(t)
  await publish('a', ALL)
  const held = holding(origin)
  const parts: string[] = []
  let cut = false
  const ask = () => {
    parts.length = 0
    cut = false
    const request = httpRequest({ host: '127.0.0.1', port: gateway.port, path: '/a/x', agent: false }, (response) => {
      response.on('data', (chunk: Buffer) => void parts.push(chunk.toString()))
      response.on('error', () => {
        cut = true
      })
    })
    request.end()
    return request
  }
  ask()
  await eventually('it asks', () => held.length === 1)
  held[0]!.write('one')
  await eventually('the first part is there before the second', () => parts.join('') === 'one')
  held[0]!.destroy()
  await eventually('it is cut off', () => cut)

  const leaving = ask()
  await eventually('it asks again', () => held.length === 2)
  held[1]!.write('one')
  await eventually('the first part is there', () => parts.join('') === 'one')
  leaving.on('error', () => {})
  leaving.destroy()
  await eventually('the upstream is let go', () => held[1]!.destroyed)
  await eventually('nothing of either is kept', async () => (await metric('svc_cache_bytes')) === 0)

  ask()
  await eventually('it asks once more', () => held.length === 3)
  held[2]!.write('one')
  held[2]!.end('two')
  await eventually('all is there', () => parts.join('') === 'onetwo')
  await eventually('it is stored', async () => (await metric('svc_cache_entries')) === 1)
  const again = await gateway.call('/a/x')
  assert.ok(isHit(again))
  assert.equal(again.text, 'onetwo')
  assert.equal(held.length, 3)
})

test('a connection to the upstream outlives validations', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t)
  await publish('a', ALL)
  const sockets = new Set<unknown>()
  origin.script = ({ headers }, response, { socket }) => {
    sockets.add(socket)
    response.writeHead(headers['if-none-match'] === undefined ? 200 : 304, { ETag: '"1"' })
    response.end()
  }
  for (let i = 0; i < 4; i++) {
    const answer = await gateway.call('/a/x')
    assert.deepEqual([answer.status, isHit(answer)], [200, i > 0])
    gateway.clock.advance(61_000)
  }
  assert.deepEqual([origin.seen.length, sockets.size], [4, 1])
})

test('bytes are given as they came, small and large, and as far as they are asked for at once', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t)
  await publish('a', ALL)
  for (const size of [0, 1000, 16_384, 16_385, 300_000]) {
    const body = randomBytes(size)
    origin.script = (_request, response) => response.end(body)
    const url = `http://127.0.0.1:${gateway.port}/a/${size}`
    const [first, second] = [await fetch(url), await fetch(url)]
    assert.ok(Buffer.from(await first.arrayBuffer()).equals(body), `${size}, first`)
    assert.ok(Buffer.from(await second.arrayBuffer()).equals(body), `${size}, stored`)
    assert.equal(second.headers.get('x-svc-cached-response'), '1')
    assert.equal(second.headers.get('content-length'), String(size))
  }
  const socket = connect(gateway.port, '127.0.0.1')
  const host = 'Host: 127.0.0.1\r\n'
  origin.script = (_request, response) => response.end('stored')
  let got = ''
  socket.on('data', (chunk) => {
    got += chunk.toString('latin1')
  })
  const heads = ['GET', 'GET', 'GET', 'HEAD'].map((method) => `${method} /a/p HTTP/1.1\r\n${host}\r\n`)
  socket.write(`${heads.join('')}GET /a/p HTTP/1.0\r\n${host}\r\n`)
  await eventually('five answers', () => got.split('HTTP/1.1 200').length === 6 && got.endsWith('stored'))
  socket.destroy()
  assert.equal(got.split('X-Svc-Cached-Response: 1').length, 5)
  assert.equal(got.split('stored').length, 5)
  assert.match(got, /Cached-Response: 1\r\nX-Request-Id: [\w-]+\r\nContent-Length: 6\r\n\r\nstored$/)
  assert.equal(origin.seen.length, 6)
})

test('one request in the background fetches what many are given stale', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t)
  await publish('a', { ...ALL, staleWhileRevalidate: 60 })
  await gateway.call('/a/x')
  gateway.clock.advance(61_000)
  const held = holding(origin)
  for (let i = 0; i < 3; i++) assert.equal((await gateway.call('/a/x')).headers.age, '61')
  await eventually('the upstream is asked', () => held.length > 0)
  assert.equal(held.length, 1)
  held[0]!.end('new')
  await eventually('the new answer is given', async () => (await gateway.call('/a/x')).text === 'new')
  assert.equal(held.length, 1)
})

test('an upstream that fails behind a stored answer is told of in the log', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t)
  await publish('a', { ...ALL, staleIfError: 60 })
  await gateway.call('/a/x')
  gateway.clock.advance(61_000)
  origin.script = (_request, response) => response.destroy()
  const answer = await gateway.call('/a/x')
  assert.deepEqual([answer.status, isHit(answer), answer.headers.age], [200, true, '61'])
  assert.ok(gateway.log.some(({ level, fields }) => level === 'warn' && fields.code === 'upstream_unreachable'))
})

test('one call lets go of what is stored for an API, also of what was asked for before it', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t)
  await publish('a', ALL)
  await publish('b', ALL)
  for (const path of ['/a/x', '/b/x']) await gateway.call(path)
  const said = await gateway.svc('DELETE', '/svc/cache/a')
  assert.deepEqual([said.status, said.json], [200, { status: 'ok', message: 'cache invalidated' }])
  assert.ok(isHit(await gateway.call('/b/x')))
  const held = holding(origin)
  const old = gateway.call('/a/x')
  await eventually('it asks', () => held.length === 1)
  await gateway.svc('DELETE', '/svc/cache/a')
  held[0]!.end('old')
  assert.equal((await old).text, 'old')
  origin.script = undefined
  assert.ok(!isHit(await gateway.call('/a/x')))
  assert.ok(isHit(await gateway.call('/a/x')))
  assert.equal((await gateway.svc('DELETE', '/svc/cache/a', undefined, { 'x-svc-authorization': 'wrong' })).status, 403)
  assert.ok(isHit(await gateway.call('/a/x')))
})

test('every gateway of a store lets go, whichever is asked', async (t) => {
  const { gateway, publish } = await openCacheScene(t)
  const { store, clock } = gateway
  const other = await startTestGateway({ store, clock })
  t.after(() => other.close())
  await publish('a', ALL)
  for (const wipes of [other, gateway]) {
    for (const each of [gateway, other]) {
      await each.call('/a/x')
      assert.ok(isHit(await each.call('/a/x')))
    }
    assert.equal((await wipes.svc('DELETE', '/svc/cache/a')).status, 200)
    for (const each of [gateway, other]) await eventually('it is gone', async () => !isHit(await each.call('/a/x')))
  }
})

test('what a write may have changed is not stored, though it was asked for before', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t)
  await publish('a', ALL)
  const held = holding(origin)
  const old = gateway.call('/a/x')
  await eventually('it asks', () => held.length === 1)
  const write = gateway.call('/a/x', { method: 'PUT', body: 'new' })
  await eventually('the write arrives', () => held.length === 2)
  held[1]!.end()
  await write
  held[0]!.end('old')
  await old
  origin.script = undefined
  assert.ok(!isHit(await gateway.call('/a/x')))
})

test('a changed API begins with nothing stored', async (t) => {
  const { gateway, origin, publish, metric } = await openCacheScene(t)
  await publish('a', ALL)
  await gateway.call('/a/x')
  assert.equal(await metric('svc_cache_entries'), 1)
  const changed = defined({ id: 'a', url: origin.url, global: { cache: { ...ALL, timeout: 50 } } })
  assert.equal((await gateway.svc('PUT', '/svc/apis/oas/a', changed)).status, 200)
  assert.deepEqual([await metric('svc_cache_entries'), await metric('svc_cache_bytes')], [0, 0])
  assert.ok(!isHit(await gateway.call('/a/x')))
})

test('stored answers pass what every other request passes', async (t) => {
  const { gateway, publish, key } = await openCacheScene(t)
  await publish('a', { ...ALL, shareBetweenKeys: true }, { keyIn: 'X-Key' })
  await publish('b', ALL)
  const good = await key(['a'], { rate: 2, per: 60 })
  const other = await key(['b'])
  const ask = (value?: string) => gateway.call('/a/x', { headers: value === undefined ? {} : { 'X-Key': value } })
  assert.equal((await ask(good)).status, 200)
  assert.ok(isHit(await ask(good)))
  assert.equal((await ask(good)).status, 429)
  for (const [value, status] of [
    [undefined, 401],
    ['unknown-key-0123456789', 403],
    [other, 403],
  ] as const) {
    const answer = await ask(value)
    assert.equal(answer.status, status)
    assert.ok(!isHit(answer))
  }
})

test('operations that come to one address with edits of their own do not mix', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t)
  const edit = (value: string) => ({ enabled: true, add: [{ name: 'X-Op', value }] })
  const operation = (value: string): JsonObject => ({
    urlRewrite: { enabled: true, pattern: '.*', rewriteTo: '/same' },
    transformRequestHeaders: edit(value),
    transformResponseHeaders: edit(value),
  })
  await publish('a', ALL, {
    paths: { '/one': { get: { operationId: 'one' } }, '/two': { get: { operationId: 'two' } } },
    operations: { one: operation('1'), two: operation('2') },
  })
  origin.script = (request, response) => response.end(`for ${request.headers['x-op'] ?? 'none'}`)
  for (const hit of [false, true])
    for (const [path, op] of [
      ['one', '1'],
      ['two', '2'],
      ['same', undefined],
    ] as const) {
      const answer = await gateway.call(`/a/${path}`)
      assert.deepEqual([answer.text, answer.headers['x-op'], isHit(answer)], [`for ${op ?? 'none'}`, op, hit])
    }
})

test('the explain call tells of the cache, and an API without it has no such step', async (t) => {
  const { gateway, publish } = await openCacheScene(t)
  await publish('a', ALL)
  await publish('b', undefined)
  const stepsOf = async (url: string) => {
    const { json } = await gateway.svc('POST', '/svc/explain', { url: `http://127.0.0.1:${gateway.port}${url}` })
    return (json as { steps: { step: string; outcome: string }[] }).steps
  }
  const told = async () => (await stepsOf('/a/x')).find(({ step }) => step === 'answerFromCache')
  assert.deepEqual(await told(), {
    step: 'answerFromCache',
    outcome: 'passed',
    detail: 'no stored answer is given',
  })
  await gateway.call('/a/x')
  assert.deepEqual(await told(), { step: 'answerFromCache', outcome: 'answered', status: 200 })
  assert.ok(!(await stepsOf('/b/x')).some(({ step }) => step === 'answerFromCache'))
})

test('what cannot be stored is refused when it is asked for', async (t) => {
  const { gateway, origin } = await openCacheScene(t)
  const draft = (method: string, cache: JsonObject) =>
    defined({
      id: 'a',
      url: origin.url,
      paths: { '/x': { [method]: { operationId: 'x' } } },
      operations: { x: { cache: { enabled: true, ...cache } } },
    })
  const refused = async (definition: JsonObject, path: string, words: RegExp) => {
    const answer = await gateway.svc('POST', path, definition)
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.text, words)
  }
  await refused(
    draft('get', { cacheByRegex: 'a' }),
    '/svc/apis/oas',
    /operations\.x\.cache\.cacheByRegex: is not served/,
  )
  await refused(draft('post', {}), '/svc/apis/oas', /operations\.x\.cache\.method: must be GET or HEAD/)
  const lists = { advance_cache_config: [{ path: '/x', method: 'PUT' }] }
  const versions = { Default: { name: 'Default', use_extended_paths: true, extended_paths: lists } }
  const old = classic('o', '/o/', origin.url, { version_data: { not_versioned: true, versions } })
  await refused(old, '/svc/apis', /advance_cache_config\[0\]\.method: must be GET or HEAD/)
})

test('plain lists of paths in classic definitions are stored as the API says', async (t) => {
  const { gateway, origin } = await openCacheScene(t)
  const versions = { Default: { name: 'Default', use_extended_paths: true, extended_paths: { cache: ['x'] } } }
  const definition = classic('o', '/o/', origin.url, {
    cache_options: { enable_cache: true, cache_timeout: 10 },
    version_data: { not_versioned: true, versions },
  })
  assert.equal((await gateway.svc('POST', '/svc/apis', definition)).status, 200)
  for (const hit of [false, true]) assert.equal(isHit(await gateway.call('/o/x')), hit)
  gateway.clock.advance(10_000)
  assert.ok(!isHit(await gateway.call('/o/x')))
  for (let i = 0; i < 2; i++) assert.ok(!isHit(await gateway.call('/o/y')))
})
