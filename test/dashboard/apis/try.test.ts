import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { TRIAL_ANSWER_BYTES, TRIAL_BODY_BYTES } from '../../../src/model/apis/definition/trial.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { call as plainCall } from '../../worlds/base/client.ts'
import { type Draft, defined } from '../../worlds/base/definitions.ts'
import { gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { keyWorld, refusal } from '../../worlds/dashboard/key-world.ts'

interface Tried {
  readonly steps: readonly { step: string; outcome: string; code?: string }[]
  readonly explained: JsonObject
  readonly answer: {
    readonly status: number
    readonly headers: readonly { name: string; value: string }[]
    readonly body: string
    readonly body_encoding: string
    readonly body_cut: boolean
  } | null
  readonly trouble: string
  readonly duration_ms: number
}

const ELSEWHERE =
  'The gateway does not route this path to this API: start it with the listen path, and check that the API is active'

async function tryWorld(t: TestContext, env: Record<string, string> = {}) {
  const world = await gatewayWorld(t, env)
  const publish = async (draft: Omit<Draft, 'url'>, orgId = world.orgId) => {
    const definition = defined({ url: world.origin.url, ...draft })
    const { revision } = await publishApi(world.parts, { format: 'oas', definition, orgId, actor: 'test' })
    await world.gateway.gateway.live.settled(revision)
  }
  const sent = (body: unknown, api = 'orders', as = world.root) =>
    world.call('POST', `/api/apis/${api}/try`, { as, body })
  const tried = async (body: JsonObject, api = 'orders') => {
    const answer = await sent(body, api)
    assert.equal(answer.status, 200, answer.text)
    return answer.json as Tried
  }
  return { ...world, publish, sent, tried }
}

test('a request is sent through the gateway, and its steps are told', async (t) => {
  const { publish, tried, key, origin } = await tryWorld(t)
  await publish({ id: 'orders', keyIn: 'X-Key' })
  const refused = await tried({ method: 'GET', path: '/orders/a?b=1' })
  assert.equal(refused.answer?.status, 401)
  assert.equal(refused.steps.at(-1)?.outcome, 'refused')
  assert.equal(origin.seen.length, 0)

  const rights = { orders: { api_id: 'orders', api_name: 'orders', versions: ['Default'] } }
  const { key: raw, hash } = await key({ access_rights: rights, alias: 'Ada' })
  const headers = [
    { name: 'X-Key', value: raw },
    { name: 'X-Twice', value: 'one' },
    { name: 'X-Twice', value: 'two' },
  ]
  const done = await tried({ method: 'POST', path: '/orders/a?b=1', headers, body: '{"ä":1}' })
  assert.deepEqual([done.answer?.status, done.answer?.body, done.trouble], [200, '{"ok":true}', ''])
  assert.deepEqual([done.answer?.body_encoding, done.answer?.body_cut], ['utf-8', false])
  assert.ok(
    done.answer?.headers.some(({ name, value }) => /^content-type$/i.test(name) && value === 'application/json'),
  )
  assert.ok(done.duration_ms > 0)
  assert.equal(done.steps.at(-1)?.outcome, 'forwarded')
  assert.deepEqual((done.explained.key as JsonObject).key_hash, hash)
  assert.ok(!JSON.stringify(done.explained).includes(raw), 'explained without the key')
  const [seen] = origin.seen
  assert.deepEqual([seen?.method, seen?.target, seen?.headers['x-twice']], ['POST', '/a?b=1', 'one, two'])
  assert.equal(Buffer.from(seen!.body, 'latin1').toString(), '{"ä":1}')
})

test('a path that another API, the gateway itself or nobody answers is not sent', async (t) => {
  const { publish, sent, gateway, origin, organisation } = await tryWorld(t)
  const other = await organisation()
  await publish({ id: 'orders' })
  await publish({ id: 'inner', path: '/orders/inner/' })
  await publish({ id: 'secret', path: '/secret/' }, other)
  const paths = [
    '/',
    '/secret/',
    '/orders/../secret/',
    '/orders/%2e%2e/secret/',
    '/orders/./../secret/x',
    '/orders//../../secret/',
    '/orders/inner/x',
    '/hello',
    '/svc/apis',
    '/orders/../svc/apis',
    '/orders/..%2fsecret/../../secret/',
    '/unknown',
  ]
  for (const path of paths) {
    const answer = await sent({ method: 'GET', path, headers: [{ name: 'x-svc-authorization', value: 'x' }] })
    const [status, message] = refusal(answer)
    assert.equal(status, 400, path)
    assert.match(String(message), /does not route this path|body is not valid/, path)
  }
  assert.equal(origin.seen.length, 0)
  // The id in the path of the call decides whose API may answer, not that the caller may see the other one too.
  assert.deepEqual(refusal(await sent({ method: 'GET', path: '/orders/' }, 'inner')), [400, ELSEWHERE])
  assert.deepEqual(refusal(await sent({ method: 'GET', path: '/secret/' }, 'secret')), [
    400,
    'Could not retrieve API detail',
  ])
  assert.equal(gateway.log.filter(({ level }) => level === 'error').length, 0)
})

test('characters that break out of a line, and framing fields, are refused before sending', async (t) => {
  const { publish, sent, origin } = await tryWorld(t)
  await publish({ id: 'orders' })
  const ordinary = { method: 'GET', path: '/orders/' }
  const bodies: JsonObject[] = [
    { method: 'CONNECT', path: '/orders/' },
    { method: 'get', path: '/orders/' },
    { method: 'GET /secret/ HTTP/1.1\r\nHost: a\r\n\r\nGET', path: '/orders/' },
    { method: 'GET', path: 'http://169.254.169.254/orders/' },
    { method: 'GET', path: '/orders/ HTTP/1.1\r\nX: y' },
    { method: 'GET', path: '/orders/\u0000' },
    { method: 'GET', path: '/orders/ä' },
    { method: 'GET', path: '/orders/#x' },
    { method: 'GET', path: `/orders/${'a'.repeat(9000)}` },
    { ...ordinary, body: 'x'.repeat(TRIAL_BODY_BYTES + 1) },
    { ...ordinary, headers: Array.from({ length: 65 }, () => ({ name: 'a', value: 'b' })) },
  ]
  const fields = [
    ['Host', 'secret.example.test'],
    ['Content-Length', '5'],
    ['Transfer-Encoding', 'chunked'],
    ['Connection', 'upgrade'],
    ['Upgrade', 'websocket'],
    ['Expect', '100-continue'],
    ['X-Forwarded-For', '10.0.0.1'],
    ['Forwarded', 'for=10.0.0.1'],
    ['X-Real-IP', '10.0.0.1'],
    ['Proxy-Authorization', 'x'],
    ['a b', 'x'],
    ['a:', 'x'],
    ['', 'x'],
    ['X-A', 'x\r\nX-Admin: yes'],
    ['X-A', 'x\nY: z'],
    ['X-A', 'ä'],
    ['X-A', 'x'.repeat(9000)],
  ]
  for (const [name, value] of fields) bodies.push({ ...ordinary, headers: [{ name: name!, value: value! }] })
  for (const body of bodies) {
    const { status } = await sent(body)
    assert.equal(status, 400, JSON.stringify(body).slice(0, 200))
  }
  for (const body of [
    {},
    [],
    'text',
    { method: 'GET' },
    { ...ordinary, headers: { a: 'b' } },
    { ...ordinary, body: 1 },
  ])
    assert.ok((await sent(body)).status >= 400)
  assert.equal(origin.seen.length, 0)
})

test('an API with a domain of its own is tried at it', async (t) => {
  const { publish, tried } = await tryWorld(t)
  await publish({ id: 'orders', server: { listenPath: { value: '/orders/', strip: true }, ...domain('orders.test') } })
  await publish({ id: 'twin', path: '/orders/', server: { listenPath: { value: '/orders/', strip: true } } })
  for (const api of ['orders', 'twin']) {
    const { explained } = await tried({ method: 'GET', path: '/orders/' }, api)
    assert.equal((explained.api as JsonObject).api_id, api)
  }
})

test('a long answer is cut, binary is shown as base64, and an incomplete one is reported', async (t) => {
  const { publish, tried, origin } = await tryWorld(t)
  await publish({ id: 'orders' })
  const bytes = randomBytes(1000)
  origin.script = ({ target }, response) => {
    if (target === '/long') response.end('ä'.repeat(TRIAL_ANSWER_BYTES))
    else if (target === '/bytes') response.end(bytes)
    else if (target === '/broken') {
      response.writeHead(200, { 'content-length': '100' })
      response.write('half', () => response.destroy())
    } else response.writeHead(302, { location: '/elsewhere' }).end()
  }
  const at = (path: string) => tried({ method: 'GET', path: `/orders/${path}` })
  const long = (await at('long')).answer!
  assert.deepEqual(
    [long.body_cut, long.body_encoding, Buffer.byteLength(long.body)],
    [true, 'utf-8', TRIAL_ANSWER_BYTES],
  )
  const raw = (await at('bytes')).answer!
  assert.deepEqual([raw.body_encoding, Buffer.from(raw.body, 'base64').equals(bytes)], ['base64', true])
  const broken = await at('broken')
  assert.deepEqual([broken.answer, broken.trouble], [null, 'the connection ended before the answer did'])
  assert.equal((await at('moved')).answer?.status, 302)
  assert.equal(origin.seen.length, 4, 'a redirect is shown, not followed')
})

test('what was sent and answered stands in no log and no audit record, whatever is switched on', async (t) => {
  const { publish, tried, store, log, gateway, orgId } = await tryWorld(t, {
    SVC_DB_AUDIT_DETAILEDRECORDING: 'true',
    SVC_DB_AUDIT_READS: 'true',
  })
  await publish({ id: 'orders' })
  const secret = 'a-secret-nobody-keeps'
  await tried({
    method: 'POST',
    path: `/orders/?q=${secret}`,
    headers: [{ name: 'X-Any', value: secret }],
    body: secret,
  })
  const { rows } = await store.audit.list({ orgId, limit: 100, offset: 0 })
  assert.ok(rows.some(({ request }) => request?.url === '/api/apis/orders/try'))
  for (const kept of [rows, log, gateway.log]) assert.ok(!JSON.stringify(kept).includes(secret))
})

test('no more are sent at once than the gateway bears', async (t) => {
  const { publish, sent, origin, gateway } = await tryWorld(t)
  await publish({ id: 'orders' })
  const held: (() => void)[] = []
  const full = Promise.withResolvers<void>()
  origin.script = (_request, response) => {
    held.push(() => response.end('{}'))
    if (held.length === 8) full.resolve()
  }
  const first = Array.from({ length: 8 }, () => sent({ method: 'GET', path: '/orders/' }))
  await full.promise
  const trial = { apiId: 'orders', host: '', method: 'GET', target: '/orders/', headers: [], body: '' }
  await assert.rejects(gateway.gateway.tryRequest(trial), { code: 'try_busy' })
  for (const end of held) end()
  for (const answer of await Promise.all(first)) assert.equal(answer.status, 200)
  origin.script = undefined
  assert.equal((await sent({ method: 'GET', path: '/orders/' })).status, 200)
})

test('without a gateway in the process nothing can be tried', async (t) => {
  const { api, call, root, port } = await keyWorld(t)
  await api('orders')
  const body = { method: 'GET', path: '/orders/' }
  // The harness takes no answer from 500 on for an ordinary one.
  const headers = { authorization: root.key }
  const answer = await plainCall(port, '/api/apis/orders/try', { method: 'POST', headers, body: JSON.stringify(body) })
  assert.equal(answer.status, 503)
  assert.equal((await call('POST', '/api/apis/orders/try', { as: root, body: { ...body, method: 'x' } })).status, 400)
})

function domain(name: string): JsonObject {
  return { customDomain: { enabled: true, name } }
}
