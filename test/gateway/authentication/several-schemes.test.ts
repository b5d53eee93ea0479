import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hashSync } from 'bcryptjs'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { classicApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { base64, claims, hsToken, SECRET } from '../../worlds/gateway/jwt-fixtures.ts'
import { challengesOf } from '../../worlds/gateway/oauth-fixtures.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

/** Cheap to check: this is not about passwords. */
const HASHED = hashSync('correct horse', 4)
const basic = `Basic ${base64('ann:correct horse')}`

/** Schemes `key` (in X-Key), `jwt` (in X-Jwt) and `basic` (in Authorization) under these requirements. */
function document(url: string, security: JsonObject[], authentication: JsonObject, more: JsonObject = {}): JsonObject {
  return {
    openapi: '3.0.3',
    info: { title: 's', version: '1' },
    paths: {},
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-Key' },
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        login: { type: 'http', scheme: 'basic' },
      },
    },
    security,
    'x-svc-api-gateway': {
      info: { id: 's', name: 's', state: { active: true } },
      upstream: { url },
      server: {
        listenPath: { value: '/s/', strip: true },
        authentication: {
          enabled: true,
          securitySchemes: {
            key: { enabled: true },
            token: {
              enabled: true,
              header: { enabled: true, name: 'X-Jwt' },
              ...{ source: base64(SECRET), signingMethod: 'hmac', defaultPolicies: ['p'] },
            },
            login: { enabled: true },
          },
          ...authentication,
        },
      },
      ...more,
    },
  }
}

async function world(t: TestContext, security: JsonObject[], authentication: JsonObject) {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const made = await gate.svc('POST', '/svc/apis/oas', document(origin.url, security, authentication))
  assert.equal(made.status, 200, made.text)
  const access_rights = rightsOn('s')
  const key = await gate.svc('POST', '/svc/keys/create', { access_rights, alias: 'the key' })
  const user = { access_rights, alias: 'the user', basic_auth_data: { password: HASHED } }
  assert.equal((await gate.svc('POST', '/svc/keys/ann', user)).status, 200)
  const policy = { id: 'p', active: true, access_rights }
  assert.equal((await gate.svc('POST', '/svc/policies', policy)).status, 200)
  const good: Record<string, Record<string, string>> = {
    key: { 'x-key': String((key.json as JsonObject).key) },
    token: { 'x-jwt': hsToken(claims({ sub: 'the token' })) },
    login: { authorization: basic },
  }
  const bad: Record<string, Record<string, string>> = {
    key: { 'x-key': 'nobody-has-this-key' },
    token: { 'x-jwt': `${hsToken().slice(0, -2)}AA` },
    login: { authorization: `Basic ${base64('ann:wrong')}` },
  }
  const headersOf = (words: string) =>
    Object.assign({}, ...words.split(' ').map((word) => (word.startsWith('!') ? bad[word.slice(1)] : good[word])))
  return {
    gate,
    origin,
    call: (words: string) => gate.call('/s/x', { headers: headersOf(words) }),
    async alias(words: string): Promise<unknown> {
      const asked = { method: 'GET', url: '/s/x', headers: headersOf(words) }
      const { json } = await gate.svc('POST', '/svc/explain', asked)
      return ((json as JsonObject).key as JsonObject | null)?.alias
    },
  }
}

const all = [{ key: [], token: [], login: [] }]
const either = [{ key: [], login: [] }, { token: [] }]
const compliant = (more: JsonObject = {}): JsonObject => ({ securityProcessingMode: 'compliant', ...more })

test('all schemes of a requirement must be met; the definition names the session’s', async (t) => {
  for (const [provider, alias] of [
    ['auth_token', 'the key'],
    ['jwt_claim', 'the token'],
    ['basic_auth_user', 'the user'],
    ['', 'the key'],
  ]) {
    const { call, alias: aliasOf } = await world(t, all, { baseIdentityProvider: provider! })
    assert.equal((await call('key token login')).status, 200)
    for (const [words, status] of [
      ['key token', 401],
      ['key login', 401],
      ['token login', 401],
      ['key !token login', 401],
      ['key token !login', 401],
      ['!key token login', 403],
      ['', 401],
    ] as const)
      assert.equal((await call(words)).status, status, words)
    assert.equal(await aliasOf('key token login'), alias)
  }
})

test('of several requirements one is enough, and the first that is met counts', async (t) => {
  const { call, alias, origin } = await world(t, either, compliant())
  for (const words of ['key login', 'token', 'key login token', '!key login token', 'key token', '!login token'])
    assert.equal((await call(words)).status, 200, words)
  assert.equal(await alias('key login token'), 'the key')
  assert.equal(await alias('token'), 'the token')
  assert.equal(await alias('key token'), 'the token')
  const before = origin.seen.length
  for (const words of ['', 'key', 'login', '!token', 'key !login', 'key !token', '!key login !token'])
    assert.equal((await call(words)).status, 401, words)
  assert.equal(origin.seen.length, before)
  // The challenge of the first requirement is taken back: the answer is that of the last.
  assert.match(challengesOf(await call('key')), /^Bearer [^,]*$/)
})

test('a second scheme that has run out or was switched off counts as not met', async (t) => {
  const { gate, call } = await world(t, all, { baseIdentityProvider: 'auth_token' })
  assert.equal((await call('key token login')).status, 200)
  const user = { access_rights: rightsOn('s'), is_inactive: true }
  assert.equal((await gate.svc('PUT', '/svc/keys/ann', user)).status, 200)
  assert.equal((await call('key token login')).status, 403)
})

test('what a document leaves open about its schemes is refused by name', async (t) => {
  const { gate, origin } = await world(t, all, {})
  const cases: [JsonObject[], JsonObject, RegExp][] = [
    [either, {}, /securityProcessingMode: must be .*compliant/],
    [[...either, {}], compliant(), /security\[2\]: must not be empty/],
    [all, { baseIdentityProvider: 'hmac_key' }, /baseIdentityProvider: must name one of the methods/],
    [[{ key: [], token: [] }], compliant(), /securitySchemes\.login: is not asked for in security/],
    [all, { hmac: { enabled: true, allowedAlgorithms: ['x'] } }, /hmac\.allowedAlgorithms\[0\]: must be one of/],
    [
      all,
      { securitySchemes: { key: { enabled: true }, token: { enabled: true, source: 'no key', signingMethod: 'rsa' } } },
      /securitySchemes\.token\.source: must /,
    ],
    [
      all,
      // Without a source tokens are signed by callers, so nothing is at fault but the scheme that is not enabled.
      { securitySchemes: { key: { enabled: true }, token: { enabled: true } } },
      /security\[0\]\.login: names a scheme that is not enabled/,
    ],
    [
      all,
      { securitySchemes: { key: { enabled: true }, login: { enabled: true, enableClientCertificate: true } } },
      /securitySchemes\.login\.enableClientCertificate: must be off/,
    ],
  ]
  for (const [security, authentication, says] of cases) {
    const answer = await gate.svc('PUT', '/svc/apis/oas/s', document(origin.url, security, authentication))
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.text, says)
  }
})

test('a classic definition says the same in its words', async (t) => {
  const { gate, origin } = await world(t, all, {})
  const classic = (more: JsonObject) =>
    classicApi('C', '/c/', {
      ...{ api_id: 'c', use_keyless: false, use_standard_auth: true, enable_jwt: true },
      ...{ jwt_source: base64(SECRET), jwt_signing_method: 'hmac', jwt_default_policies: ['pc'] },
      auth_configs: { authToken: { auth_header_name: 'X-Key' }, jwt: { name: 'person' } },
      proxy: { listen_path: '/c/', target_url: origin.url, strip_listen_path: true },
      ...more,
    })
  const publish = async (more: JsonObject) => gate.svc('POST', '/svc/apis', classic(more))
  assert.equal((await publish({})).status, 200)
  const policy = { id: 'pc', active: true, access_rights: rightsOn('c') }
  assert.equal((await gate.svc('POST', '/svc/policies', policy)).status, 200)
  const key = String(
    ((await gate.svc('POST', '/svc/keys/create', { access_rights: rightsOn('c') })).json as JsonObject).key,
  )
  const status = async (headers: Record<string, string>) => (await gate.call('/c/x', { headers })).status
  const [byKey, byToken] = [{ 'x-key': key }, { authorization: `Bearer ${hsToken()}` }]
  assert.deepEqual(
    [await status(byKey), await status(byToken), await status({ ...byKey, ...byToken })],
    [401, 401, 200],
  )
  const choice = { security_processing_mode: 'compliant', security_requirements: [['authToken'], ['person']] }
  assert.equal((await gate.svc('PUT', '/svc/apis/c', classic(choice))).status, 200)
  assert.deepEqual([await status(byKey), await status(byToken), await status({})], [200, 200, 401])
  for (const [security_requirements, says] of [
    [[], /security_requirements: must hold the groups/],
    [[['authToken']], /security_requirements: must name every method/],
    [[['authToken'], ['person'], []], /security_requirements\[2\]: must not be empty/],
    [[['authToken', 'person', 'x']], /security_requirements\[0\]\[2\]: names no method/],
  ] as const) {
    const answer = await gate.svc('PUT', '/svc/apis/c', classic({ ...choice, security_requirements } as never))
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.text, says)
  }
})
