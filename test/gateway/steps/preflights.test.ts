import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { oauthApi, startWorld } from '../../worlds/gateway/oauth-fixtures.ts'

const APP = 'https://app.example'

/** Classic members for each way in which an API asks for a credential. */
const METHODS: Readonly<Record<string, JsonObject>> = {
  keyless: { use_keyless: true },
  key: { use_keyless: false },
  basic: { use_basic_auth: true },
  jwt: {
    enable_jwt: true,
    jwt_signing_method: 'hmac',
    jwt_source: Buffer.from('s'.repeat(32)).toString('base64'),
    jwt_default_policies: ['p'],
  },
  hmac: { enable_signature_checking: true },
  certificates: { use_mutual_tls_auth: true, client_certificates: [] },
  'key and paths': { use_keyless: false },
}

const definitionOf = (id: string, url: string, more: JsonObject, passthrough: boolean): JsonObject => ({
  ...{ api_id: id, name: id, active: true, use_keyless: false, auth: { auth_header_name: 'Authorization' } },
  proxy: { listen_path: `/${id}/`, target_url: url, strip_listen_path: true },
  version_data: {
    not_versioned: true,
    versions: {
      Default: {
        name: 'Default',
        ...(id.startsWith('key-and-paths') && {
          use_extended_paths: true,
          extended_paths: {
            white_list: [
              { path: '/x', method_actions: { PUT: { action: 'no_action', code: 200, data: '', headers: {} } } },
            ],
          },
        }),
      },
    },
  },
  CORS: { enable: true, allowed_origins: [APP], allowed_methods: ['PUT'], options_passthrough: passthrough },
  ...more,
})

test('a preflight that is passed on reaches the upstream before authentication, nothing else', async (t) => {
  const { gateway, origin } = await startWorld(t)
  origin.script = (_request, response) =>
    void response.writeHead(200, { 'access-control-allow-methods': 'PUT', 'x-by': 'upstream' }).end()
  const options = (id: string, headers: Record<string, string>) =>
    gateway.call(`/${id}/x`, { method: 'OPTIONS', headers })
  const preflight = { origin: APP, 'access-control-request-method': 'PUT' }
  for (const [method, more] of Object.entries(METHODS)) {
    const name = method.replaceAll(' ', '-')
    const [passed, own] = [`${name}-passed`, `${name}-own`]
    for (const [id, passthrough] of [
      [passed, true],
      [own, false],
    ] as const) {
      const made = await gateway.svc('POST', '/svc/apis', definitionOf(id, origin.url, more, passthrough))
      assert.equal(made.status, 200, `${id}: ${made.text}`)
    }
    const asked = await options(passed, preflight)
    assert.deepEqual([asked.status, asked.headers['x-by']], [200, 'upstream'], method)
    assert.equal(asked.headers['access-control-allow-origin'], APP, method)
    const answered = await options(own, preflight)
    assert.deepEqual([answered.status, answered.headers['x-by']], [204, undefined], method)
    if (method === 'keyless') continue
    const before = origin.seen.length
    const others: Record<string, Record<string, string>> = {
      'no preflight': { origin: APP },
      'no origin': { 'access-control-request-method': 'PUT' },
      'another origin': { ...preflight, origin: 'https://evil.example' },
    }
    for (const [why, headers] of Object.entries(others)) {
      const { status } = await options(passed, headers)
      assert.ok(status >= 400 && status < 500, `${method}, ${why}: ${status}`)
    }
    const put = await gateway.call(`/${passed}/x`, { method: 'PUT', headers: preflight })
    assert.ok(put.status >= 400 && put.status < 500, `${method}: ${put.status}`)
    assert.equal(origin.seen.length, before, method)
  }
})

test('a preflight that is passed on carries no credential to the upstream', async (t) => {
  const { gateway, origin } = await startWorld(t)
  const places = { use_param: true, param_name: 'k', use_cookie: true, cookie_name: 'c' }
  for (const [method, more] of Object.entries(METHODS)) {
    const id = method.replaceAll(' ', '-')
    const auth_configs = Object.fromEntries(
      ['authToken', 'basic', 'jwt', 'hmac'].map((name) => [name, { auth_header_name: 'Authorization', ...places }]),
    )
    const definition = definitionOf(id, origin.url, { ...more, auth_configs }, true)
    const made = await gateway.svc('POST', '/svc/apis', definition)
    assert.equal(made.status, 200, made.text)
    for (const [path, headers] of [
      ['', { authorization: 'Bearer forged' }],
      ['', { authorization: 'Basic forged', signature: 'forged', dpop: 'forged' }],
      ['?k=forged', { cookie: 'c=forged; a=b' }],
    ] as const) {
      const before = origin.seen.length
      const asked = { ...headers, origin: APP, 'access-control-request-method': 'PUT' }
      await gateway.call(`/${id}/x${path}`, { method: 'OPTIONS', headers: asked })
      assert.equal(origin.seen.length, before + 1, `${method} ${path}`)
      const { target, rawHeaders } = origin.seen.at(-1)!
      const sent = `${target} ${rawHeaders.join(' ')}`
      // An API without methods has no places of credentials.
      if (method !== 'keyless' && method !== 'certificates')
        assert.doesNotMatch(sent, /Bearer forged|k=forged|c=forged/, method)
    }
  }
})

test('a version lets preflights pass by its own rules, not by those of its base', async (t) => {
  const { gateway, origin } = await startWorld(t)
  const other = 'https://other.example'
  const rules = (...allowedOrigins: string[]) => ({ cors: { enabled: true, allowedOrigins, optionsPassthrough: true } })
  const publish = async (document: JsonObject) => {
    const made = await gateway.svc('POST', '/svc/apis/oas', document)
    assert.equal(made.status, 200, made.text)
  }
  await publish(defined({ id: 'two', url: origin.url, keyIn: 'Authorization', global: rules(other) }))
  const versions = [{ name: 'two', id: 'two' }]
  const versioning = { enabled: true, name: 'one', location: 'header', key: 'X-V', default: 'one', versions }
  await publish(defined({ id: 'base', url: origin.url, global: rules(APP), info: { versioning } }))
  const asked = async (version: string, from: string) => {
    const headers = { origin: from, 'access-control-request-method': 'PUT', 'x-v': version }
    return (await gateway.call('/base/x', { method: 'OPTIONS', headers })).status
  }
  assert.deepEqual([await asked('one', APP), await asked('two', other)], [200, 200])
  const before = origin.seen.length
  assert.equal(await asked('two', APP), 401)
  assert.equal(origin.seen.length, before)
})

/** Paths of authorization servers, each with a method that its clients use from a page. */
const CALLS: readonly (readonly [path: string, method: string])[] = [
  ...['token', 'revoke', 'revoke_all', 'introspect', 'par', 'device_authorization', 'register'].map(
    (name) => [`/oauth/${name}`, 'POST'] as const,
  ),
  ...['/oauth/jwks', '/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'].map(
    (path) => [path, 'GET'] as const,
  ),
  ['/oauth/register/some-client', 'PUT'],
  ['/oauth/register/some-client', 'DELETE'],
]

/** Settings of an API for CORS, and the origin that a page of `APP` then sees. */
const SETTINGS: Readonly<Record<string, readonly [cors: JsonObject | undefined, seen: string]>> = {
  none: [undefined, '*'],
  off: [{ enabled: false, allowedOrigins: [APP] }, '*'],
  on: [{ enabled: true, allowedOrigins: [APP], allowedMethods: ['GET'], allowedHeaders: ['X-Own'] }, APP],
  passed: [{ enabled: true, allowedOrigins: [APP], optionsPassthrough: true }, APP],
  any: [{ enabled: true, allowedOrigins: ['*'] }, '*'],
}

test('the authorization server answers preflights of its own endpoints, whatever the API says', async (t) => {
  const { gateway, origin, publish } = await startWorld(t)
  for (const [name, [cors, seen]] of Object.entries(SETTINGS)) {
    await publish(oauthApi(origin.url, { id: name, settings: { dpop: 'allowed' }, ...(cors && { global: { cors } }) }))
    for (const [path, method] of CALLS) {
      const asked = await gateway.call(`/${name}${path}`, {
        method: 'OPTIONS',
        headers: {
          origin: APP,
          'access-control-request-method': method,
          'access-control-request-headers': 'authorization,content-type,dpop',
        },
      })
      const where = `${name} ${method} ${path}`
      assert.equal(asked.status, 204, where)
      assert.equal(asked.headers['access-control-allow-origin'], seen, where)
      assert.ok(String(asked.headers['access-control-allow-methods']).split(', ').includes(method), where)
      const allowed = String(asked.headers['access-control-allow-headers']).toLowerCase().split(', ')
      for (const header of ['authorization', 'content-type', 'dpop']) assert.ok(allowed.includes(header), where)
      const answer = await gateway.call(`/${name}${path}`, { method, headers: { origin: APP } })
      assert.equal(answer.headers['access-control-allow-origin'], seen, where)
    }
    // Pages send people to the authorization endpoint; the login page's call is for its own server.
    const closed =
      cors?.enabled === true ? ['/svc/oauth/authorize-client'] : ['/svc/oauth/authorize-client', '/oauth/authorize']
    for (const path of closed) {
      const answer = await gateway.call(`/${name}${path}`, { method: 'POST', headers: { origin: APP } })
      assert.equal(answer.headers['access-control-allow-origin'], undefined, `${name} ${path}`)
    }
  }
  assert.equal(origin.seen.length, 0)
  // A page that proves its token may say so at the API itself, also where that has versions, which no preflight names.
  const versioning = {
    enabled: true,
    name: 'one',
    location: 'header',
    key: 'X-V',
    default: 'one',
    versions: [{ name: 'two', id: 'any' }],
  }
  const versioned = {
    id: 'versioned',
    settings: { dpop: 'allowed' },
    info: { versioning },
    global: { cors: SETTINGS.any![0]! },
  }
  await publish(oauthApi(origin.url, versioned))
  for (const name of ['any', 'versioned']) {
    const asked = await gateway.call(`/${name}/x`, {
      method: 'OPTIONS',
      headers: { origin: APP, 'access-control-request-method': 'GET', 'access-control-request-headers': 'dpop' },
    })
    assert.match(String(asked.headers['access-control-allow-headers']), /\bDPoP\b/, name)
  }
})
