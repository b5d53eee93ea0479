import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Ajv } from 'ajv'
import { WebSocket, WebSocketServer } from 'ws'
import type { JsonObject } from '../../src/model/json/json.ts'
import type { Answer } from '../worlds/base/client.ts'
import { rights } from '../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../worlds/servers/origin.ts'

const FOLDER = join(import.meta.dirname, '../../examples/definitions')
const UPSTREAM = 'http://127.0.0.1:8080/sample'
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.json'))

interface Scene {
  readonly gateway: TestGateway
  readonly origin: Origin
  call(path: string, options?: { method?: string; headers?: Record<string, string>; body?: string }): Promise<Answer>
}

/** All examples from a folder of files, in front of an origin. */
async function serve(t: TestContext): Promise<Scene> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-examples-'))
  t.after(() => rmSync(dir, { recursive: true }))
  cpSync(FOLDER, dir, { recursive: true, filter: (path) => !path.endsWith('.md') })
  for (const name of FILES) {
    const text = readFileSync(join(dir, name), 'utf8')
    assert.ok(text.includes(UPSTREAM), name)
    writeFileSync(join(dir, name), text.replaceAll(UPSTREAM, `${origin.url}/sample`))
  }
  const gateway = await startTestGateway({ env: { SVC_GW_APPPATH: dir } })
  t.after(() => gateway.close())
  const policy = { id: 'example', access_rights: rights('example-key', 'example-jwt', 'example-oauth') }
  assert.equal((await gateway.svc('POST', '/svc/policies', policy)).status, 200)
  return { gateway, origin, call: (path, options = {}) => gateway.call(path, options) }
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token of the issuer of `example-jwt.json`. */
function tokenFor(nowMs: number): string {
  const { source } = (
    JSON.parse(readFileSync(join(FOLDER, 'example-jwt.json'), 'utf8'))['x-svc-api-gateway'] as {
      server: { authentication: { securitySchemes: { token: { source: string } } } }
    }
  ).server.authentication.securitySchemes.token
  const exp = Math.floor(nowMs / 1000) + 60
  const head = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: 'ada', aud: 'example-jwt', exp })}`
  return `${head}.${createHmac('sha256', Buffer.from(source, 'base64')).update(head).digest('base64url')}`
}

/** A call of each example, and what shows that it does its task. */
const CALLS: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  'example-key': async ({ gateway, call, origin }) => {
    const { json } = await gateway.svc('POST', '/svc/keys', { apply_policies: ['example'] })
    const { key } = json as { key: string }
    assert.equal((await call('/example-key/a')).status, 401)
    assert.equal((await call('/example-key/a', { headers: { 'x-api-key': key } })).status, 200)
    assert.equal(origin.seen.at(-1)!.headers['x-api-key'], undefined)
  },
  'example-jwt': async ({ gateway, call }) => {
    const authorization = `Bearer ${tokenFor(gateway.clock.wall())}`
    assert.equal((await call('/example-jwt/a')).status, 401)
    const { status, text } = await call('/example-jwt/a', { headers: { authorization } })
    assert.equal(status, 200, text)
  },
  'example-oauth': async ({ gateway, call }) => {
    const client = {
      api_id: 'example-oauth',
      client_id: 'bookkeeper',
      secret: 'a-secret-of-the-example-client',
      policy_id: 'example',
    }
    const made = await gateway.svc('POST', '/svc/oauth/clients/create', {
      ...client,
      redirect_uri: 'https://app.example.com/',
    })
    assert.equal(made.status, 200, made.text)
    const basic = Buffer.from(`bookkeeper:${client.secret}`).toString('base64')
    const headers = { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' }
    const body = 'grant_type=client_credentials&scope=read'
    const issued = await call('/example-oauth/oauth/token', { method: 'POST', headers, body })
    assert.equal(issued.status, 200, issued.text)
    const { access_token: token, expires_in } = issued.json as { access_token: string; expires_in: number }
    assert.equal(expires_in, 600)
    assert.equal((await call('/example-oauth/a', { headers: { authorization: `Bearer ${token}` } })).status, 200)
    assert.equal((await call('/example-oauth/a')).status, 401)
  },
  'example-cors': async ({ call }) => {
    const preflight = (origin: string) =>
      call('/example-cors/a', { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'GET' } })
    const allowed = await preflight('https://app.example.com')
    assert.equal(allowed.headers['access-control-allow-origin'], 'https://app.example.com')
    assert.equal(allowed.headers['access-control-max-age'], '600')
    assert.equal((await preflight('https://other.example')).headers['access-control-allow-origin'], undefined)
  },
  'example-rate-limit': async ({ call }) => {
    const statuses: number[] = []
    for (let n = 0; n < 3; n++) statuses.push((await call('/example-rate-limit/search')).status)
    assert.deepEqual(statuses, [200, 200, 429])
    assert.equal((await call('/example-rate-limit/other')).status, 200)
  },
  'example-cache': async ({ call, origin }) => {
    await call('/example-cache/a')
    const before = origin.seen.length
    assert.equal((await call('/example-cache/a')).headers['x-svc-cached-response'], '1')
    assert.equal(origin.seen.length, before)
  },
  'example-mock': async ({ call }) => {
    assert.deepEqual((await call('/example-mock/pets/7')).json, { name: 'Tom' })
    const { status, text } = await call('/example-mock/teapot')
    assert.deepEqual([status, text], [418, 'short and stout'])
  },
  'example-rewrite': async ({ call, origin }) => {
    await call('/example-rewrite/old/7', { headers: { 'x-internal': 'a' } })
    const { target, headers } = origin.seen.at(-1)!
    assert.deepEqual(
      [target, headers['x-gateway'], headers['x-internal']],
      ['/sample/new?id=7', 'gatehouse', undefined],
    )
  },
  'example-load-balancing': async ({ call, origin }) => {
    const before = origin.seen.length
    for (let n = 0; n < 10; n++) await call('/example-load-balancing/a')
    const green = origin.seen.slice(before).filter(({ target }) => target === '/sample/green/a')
    assert.deepEqual([origin.seen.length - before, green.length], [10, 1])
  },
  'example-validate': async ({ call }) => {
    const order = (body: string) =>
      call('/example-validate/orders', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    assert.equal((await order('{"count":1}')).status, 200)
    assert.equal((await order('{"count":0}')).status, 422)
  },
  'example-versions': async ({ call, origin }) => {
    await call('/example-versions/a')
    assert.equal(origin.seen.at(-1)!.target, '/sample/a')
    await call('/example-versions/a', { headers: { 'x-api-version': 'v2' } })
    assert.equal(origin.seen.at(-1)!.target, '/sample/v2/a')
    assert.equal((await call('/example-versions/a', { headers: { 'x-api-version': 'v3' } })).status, 404)
  },
  'example-websocket': async ({ gateway }) => {
    const echo = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    echo.on('connection', (socket) => socket.on('message', (data) => socket.send(String(data))))
    await once(echo, 'listening')
    const { port } = echo.address() as AddressInfo
    const document = JSON.parse(readFileSync(join(FOLDER, 'example-websocket.json'), 'utf8')) as JsonObject
    const extension = document['x-svc-api-gateway'] as { server: { listenPath: object } } & JsonObject
    const moved = {
      ...extension,
      info: { ...(extension.info as JsonObject), id: 'socket' },
      upstream: { url: `http://127.0.0.1:${port}/` },
      server: { ...extension.server, listenPath: { value: '/socket/', strip: true } },
    }
    await gateway.svc('POST', '/svc/apis/oas', { ...document, 'x-svc-api-gateway': moved })
    const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/socket/a`)
    try {
      const answer = new Promise((resolve, reject) => {
        socket.on('message', (data) => resolve(String(data)))
        socket.on('error', reject)
      })
      socket.on('open', () => socket.send('hello'))
      assert.equal(await answer, 'hello')
    } finally {
      socket.terminate()
      echo.close()
    }
  },
}

test('every example definition is served without a warning, and does its task when it is called', async (t) => {
  const scene = await serve(t)
  const ids = FILES.map((name) => name.replace('.json', ''))
  assert.deepEqual(Object.keys(CALLS).sort(), ids.filter((id) => id !== 'example-versions-v2').sort())
  const { apis } = (await scene.gateway.svc('GET', '/svc/node')).json as { apis: { api_id: string; reason: string }[] }
  assert.deepEqual(
    ids.map((id) => [id, apis.find(({ api_id }) => api_id === id)?.reason]),
    ids.map((id) => [id, '']),
  )
  for (const call of Object.values(CALLS)) await call(scene)
})

test('every example definition fits the JSON Schema that it names, and is in its page', () => {
  const page = readFileSync(join(FOLDER, 'README.md'), 'utf8')
  for (const name of FILES) {
    const example = JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as JsonObject
    const schema = JSON.parse(readFileSync(join(FOLDER, String(example.$schema)), 'utf8')) as JsonObject
    const ajv = new Ajv({ strict: false, allErrors: true })
    assert.ok(ajv.validate(schema, example), `${name}: ${ajv.errorsText()}`)
    assert.ok(page.includes(`\`${name}\``), name)
  }
})
