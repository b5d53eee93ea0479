import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ModuleSet } from '../../../src/gateway/modules/module-set.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { silentLog } from '../../../src/model/logs/log.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { calling, type Installation, install } from '../../worlds/gateway/module-fixtures.ts'

const LIMIT = 1000
const act = { name: 'act', body_limit_bytes: LIMIT }
const CHUNKED = { 'transfer-encoding': 'chunked' }

/** The last request at the upstream. */
const last = ({ origin }: Installation) => origin.seen.at(-1)!

async function worldOf(t: TestContext, module: string, env: Record<string, string> = {}): Promise<Installation> {
  const at = await install(t, env)
  at.write('m.ts', module)
  return at
}

/** Puts the body in capitals, and says how often it was called. */
const CAPITALS = `
  let calls = 0
  export function act(x: any) {
    x.headers.set('x-calls', String(++calls))
    x.headers.set('x-own', String(x.body.buffer.byteLength === x.body.length))
    if (x.body.length > 0) x.body = Buffer.from(x.body).toString().toUpperCase()
  }`

test('the example works: an upstream is told the end of a card alone', async (t) => {
  const at = await install(t)
  copyFileSync(join(import.meta.dirname, '../../../examples/modules/cards.ts'), join(at.folder, 'cards.ts'))
  const plugin = { enabled: true, functionName: 'hideCards', path: 'cards.ts', bodyLimitBytes: 65_536 }
  const global = { pluginConfig: { driver: 'typescript' }, postPlugins: [plugin] }
  const made = await at.publish(defined({ id: 'orders', url: at.origin.url, global }))
  assert.equal(made.status, 200, made.text)
  const headers = { 'content-type': 'application/json', 'content-digest': 'sha-256=:eA==:' }
  const order = (body: string) => at.gateway.call('/orders/', { method: 'POST', headers, body })
  assert.equal((await order('{"card":"4111 1111 1111 1234","n":1}')).status, 200)
  assert.equal(last(at).body, '{"card":"**** 1234","n":1}')
  assert.equal(last(at).headers['content-length'], '26')
  assert.equal(last(at).headers['content-digest'], undefined)
  for (const body of ['[]', '{', '', 'null']) assert.equal((await order(body)).status, 400, body)
  const other = await at.gateway.call('/orders/', { method: 'POST', body: 'card=4111' })
  assert.deepEqual([other.status, last(at).body], [200, 'card=4111'])
})

test('bodies of every framing are seen and changed, and those of nothing are none', async (t) => {
  const at = await worldOf(t, CAPITALS)
  for (const phase of ['pre', 'post_key_auth', 'post']) {
    await at.gateway.svc('DELETE', '/svc/apis/m')
    assert.equal((await at.publish(calling(at.origin.url, { [phase]: [act] }))).status, 200)
    await at.gateway.call('/m/', { method: 'POST', body: 'by length' })
    assert.equal(last(at).body, 'BY LENGTH', phase)
    assert.equal(last(at).headers['x-own'], 'true', 'no memory of others goes along')
    await at.gateway.call('/m/', { method: 'POST', headers: CHUNKED, body: 'in chunks' })
    assert.equal(last(at).body, 'IN CHUNKS', phase)
    assert.equal(last(at).headers['transfer-encoding'], undefined)
    await at.gateway.call('/m/')
    assert.deepEqual([last(at).body, last(at).headers['content-length']], ['', undefined], phase)
    const full = 'x'.repeat(LIMIT)
    await at.gateway.call('/m/', { method: 'PUT', headers: CHUNKED, body: full })
    assert.equal(last(at).body, full.toUpperCase(), phase)
  }
})

test('a caller that waits to be told to send its body is told so', async (t) => {
  const at = await worldOf(t, CAPITALS)
  await at.publish(calling(at.origin.url, { pre: [act] }))
  const status = await new Promise<number>((resolve, reject) => {
    const headers = { expect: '100-continue', 'content-length': '6' }
    const request = httpRequest({ host: '127.0.0.1', port: at.gateway.port, path: '/m/', method: 'POST', headers })
    request.on('continue', () => request.end('waited'))
    request.on('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('error', reject)
    request.flushHeaders()
  })
  assert.deepEqual([status, last(at).body], [200, 'WAITED'])
})

test('a body of HTTP/2 is seen and changed as well', async (t) => {
  const at = await worldOf(t, CAPITALS)
  await at.publish(calling(at.origin.url, { pre: [act] }))
  const session = connectHttp2(`http://127.0.0.1:${at.gateway.port}`)
  t.after(() => session.destroy())
  const ask = (body: string) =>
    new Promise<number>((resolve, reject) => {
      const stream = session.request({ ':method': 'POST', ':path': '/m/' })
      stream.on('response', (headers) => resolve(Number(headers[':status'])))
      stream.on('error', reject)
      stream.resume()
      stream.end(body)
    })
  assert.equal(await ask('over a stream'), 200)
  assert.equal(last(at).body, 'OVER A STREAM')
  assert.equal(await ask('x'.repeat(LIMIT + 1)), 413)
  assert.equal(at.origin.seen.length, 1)
})

test('a body over the bound is refused in any framing, before modules and upstream', async (t) => {
  const at = await worldOf(t, CAPITALS, { SVC_GW_MAXBODYBYTES: '500' })
  const over = (bytes: number, headers = {}) =>
    at.gateway.call('/m/', { method: 'POST', headers, body: 'x'.repeat(bytes) })
  await at.publish(calling(at.origin.url, { pre: [{ ...act, body_limit_bytes: 100 }] }))
  assert.equal((await over(101)).status, 413)
  assert.equal((await over(101, CHUNKED)).status, 413)
  assert.equal((await over(100, CHUNKED)).status, 200)
  assert.equal(last(at).headers['x-calls'], '1')
  // The bound of all requests counts too, and of several functions the smallest.
  const several = { pre: [act, { ...act, body_limit_bytes: 5000 }], post: [{ ...act, body_limit_bytes: 300 }] }
  assert.equal((await at.gateway.svc('PUT', '/svc/apis/m', calling(at.origin.url, several))).status, 200)
  assert.equal((await over(501, CHUNKED)).status, 413)
  assert.equal((await over(301, CHUNKED)).status, 413)
  assert.equal((await over(300, CHUNKED)).status, 200)
  assert.equal(at.origin.seen.length, 2)
})

test('a module gets the body only on request, as the one before left it', async (t) => {
  const at = await worldOf(
    t,
    `export const first = (x: any) => { x.body = new Uint8Array([...x.body, 33]) }
     export const blind = (x: any) => x.headers.set('x-blind', String(x.body))
     export const last = (x: any) => x.headers.set('x-last', Buffer.from(x.body).toString())
     export const sneaky = (x: any) => { x.body = 'mine' }`,
  )
  const shown = (name: string) => ({ name, body_limit_bytes: LIMIT })
  await at.publish(calling(at.origin.url, { pre: [shown('first'), 'blind', shown('last')], post: ['blind'] }))
  await at.gateway.call('/m/', { method: 'POST', body: 'hello' })
  assert.deepEqual([last(at).body, last(at).headers['x-last']], ['hello!', 'hello!'])
  assert.equal(last(at).headers['x-blind'], 'undefined')
  await at.gateway.svc('PUT', '/svc/apis/m', calling(at.origin.url, { pre: ['sneaky', shown('last')] }))
  assert.equal((await at.gateway.call('/m/', { method: 'POST', body: 'hello' })).status, 500)
  assert.equal(at.origin.seen.length, 1)
})

test('later steps judge the body that a module made', async (t) => {
  const at = await worldOf(t, `export const act = (x: any) => { x.body = x.headers.get('x-make') }`)
  const operation = {
    operationId: 'add',
    requestBody: { content: { 'application/json': { schema: { type: 'object', required: ['n'] } } }, required: true },
    responses: {},
  }
  const definition = defined({
    ...{ id: 'm', url: at.origin.url, paths: { '/': { post: operation } } },
    operations: { add: { validateRequest: { enabled: true } } },
    global: {
      pluginConfig: { driver: 'typescript' },
      prePlugins: [{ enabled: true, functionName: 'act', path: 'm.ts', bodyLimitBytes: LIMIT }],
    },
  })
  const published = await at.publish(definition)
  assert.equal(published.status, 200, published.text)
  const make = (made: string, body?: string) =>
    at.gateway.call('/m/', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-make': made },
      ...(body !== undefined && { body }),
    })
  assert.equal((await make('{"n":1}', 'no json')).status, 200)
  assert.equal((await make('{"n":2}')).status, 200)
  assert.equal((await make('{}', '{"n":1}')).status, 422)
  assert.deepEqual(
    at.origin.seen.map(({ body }) => body),
    ['{"n":1}', '{"n":2}'],
  )
})

test('a client that leaves, or breaks its chunks, in the midst of a body calls no module', async (t) => {
  const at = await worldOf(t, CAPITALS)
  await at.publish(calling(at.origin.url, { pre: [act] }))
  for (const part of [
    'Content-Length: 50\r\n\r\nhalf',
    'Transfer-Encoding: chunked\r\n\r\n5\r\nhel',
    'Transfer-Encoding: chunked\r\n\r\nZZ\r\n',
  ]) {
    const socket = connect(at.gateway.port, '127.0.0.1')
    socket.on('error', () => {})
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.resume()
    socket.end(`POST /m/ HTTP/1.1\r\nHost: a\r\n${part}`)
    await closed
  }
  assert.equal((await at.gateway.call('/m/', { method: 'POST', body: 'whole' })).status, 200)
  assert.deepEqual([last(at).body, last(at).headers['x-calls']], ['WHOLE', '1'])
  assert.equal(at.origin.seen.length, 1)
})

test('a module that throws, loops or returns no body is reported by name, and others continue', async (t) => {
  const at = await worldOf(
    t,
    `export function act(x: any) {
       const text = Buffer.from(x.body).toString()
       if (text === 'throw') throw new Error('on purpose')
       if (text === 'loop') for (;;);
       if (text === 'number') x.body = 1
       if (text === 'nothing') x.body = undefined
       if (text === 'large') x.body = 'x'.repeat(2_000_000)
       if (text === 'empty') x.body = ''
     }`,
    { SVC_GW_MODULES_TIMEOUTMS: '3000' },
  )
  await at.publish(calling(at.origin.url, { pre: [act] }))
  const ask = async (body: string) => (await at.gateway.call('/m/', { method: 'POST', body })).status
  for (const body of ['throw', 'number', 'nothing', 'large']) assert.equal(await ask(body), 500, body)
  const culprit = ask('loop')
  const behind = Array.from({ length: 3 }, () => ask('well'))
  assert.equal(await culprit, 504)
  assert.deepEqual(await Promise.all(behind), [200, 200, 200])
  assert.equal(await ask('empty'), 200)
  assert.deepEqual([last(at).body, last(at).headers['content-length']], ['', '0'])
  await eventually('the fault is in the log', () => at.gateway.log.some(({ message }) => message === 'on purpose'))
})

test('too many bytes of bodies at once are refused, and those that are done make room', async (t) => {
  const { folder } = await worldOf(t, 'export const act = (x: any) => { x.context.seen = x.body.length }')
  const ref = { file: 'm.ts', name: 'act', bodyLimitBytes: 1 }
  const rules = { refs: { pre: [ref], postAuthentication: [], post: [], response: [] }, config: {} }
  const bounds = { timeoutMs: 60_000, memoryMb: 64 }
  const set = new ModuleSet('m', rules, [['m.ts', join(folder, 'm.ts')]], bounds, silentLog)
  t.after(() => set.close())
  const request = {
    ...{
      api: { id: 'm', name: 'm' },
      method: 'POST',
      path: '/',
      query: '',
      fields: [],
      clientAddress: '',
      requestId: '',
    },
    ...{ session: undefined, context: {}, body: new Uint8Array(40 * 1_048_576) },
  }
  const seen = { seen: request.body.length }
  const [first, second] = await Promise.allSettled([set.call('pre', { request }), set.call('pre', { request })])
  assert.equal(first.status === 'fulfilled' && first.value.context.seen, seen.seen)
  assert.equal(second.status === 'rejected' && second.reason.code, 'modules_away')
  assert.deepEqual((await set.call('pre', { request })).context, seen)
})

test('bounds that are none are refused by name, in both formats', async (t) => {
  const at = await worldOf(t, CAPITALS)
  for (const body_limit_bytes of [1.5, 1_048_577]) {
    const refused = await at.publish(calling(at.origin.url, { pre: [{ name: 'act', body_limit_bytes }] }))
    assert.equal(refused.status, 400)
    assert.match(refused.text, /pre\[0\]\.body_limit_bytes: must be a whole number of bytes, at most 1048576/)
  }
  const answers: JsonObject = { driver: 'typescript', response: [{ ...act, path: 'm.ts' }] }
  const wrong = await at.publish(classic('m', '/m/', at.origin.url, { custom_middleware: answers }))
  assert.match(wrong.text, /response\[0\]\.body_limit_bytes: is for functions that see the request/)
  const plugin = { enabled: true, functionName: 'act', path: 'm.ts', bodyLimitBytes: 2_000_000 }
  const global = { pluginConfig: { driver: 'typescript' }, postPlugins: [plugin] }
  const oas = await at.publish(defined({ id: 'm', url: at.origin.url, global }))
  assert.match(oas.text, /postPlugins\[0\]\.bodyLimitBytes: must be a whole number/)
})
