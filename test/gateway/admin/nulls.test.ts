import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../../worlds/base/client.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { spread } from '../../worlds/base/spread.ts'
import { oasApi } from '../../worlds/gateway/admin-fixtures.ts'
import { memberPaths, replaced, WHOLE_POLICY, WHOLE_SESSION } from '../../worlds/model/whole-session.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const KEY = 'key-of-many-letters'
const PATHS = {
  policy: '/svc/policies/p',
  key: `/svc/keys/${KEY}`,
  org: '/svc/org/keys/o',
  client: '/svc/oauth/clients/login/c',
}

/** Bodies that the gateway takes, the whole of each. */
const SESSION: JsonObject = (() => {
  const { certificate: _bound, mtls_static_certificate_bindings: _too, basic_auth_data: _user, ...rest } = WHOLE_SESSION
  return { ...rest, org_id: '', expires: 0, apply_policies: ['p'] }
})()
const POLICY: JsonObject = { ...WHOLE_POLICY, _id: '', id: 'p', org_id: '' }
const CLIENT: JsonObject = {
  ...{ api_id: 'login', client_id: 'c', secret: 'secret-of-the-client', redirect_uri: 'https://app.test/' },
  ...{ policy_id: '', policies: [], meta_data: {}, metadata: {}, description: '', app_description: '', use_case: '' },
  ...{ redirect_uris: ['https://app.test/'], token_lifetime: 0, scope: '', certificate: '', api_ids: ['login'] },
  ...{ auth_method: 'any', token_endpoint_auth_method: 'any', grant_types: [], org_id: '', date_created: '' },
}

/** The calls that take each body. */
const WRITES: readonly (readonly [method: string, path: string, body: JsonObject])[] = [
  ['POST', '/svc/policies', POLICY],
  ['PUT', PATHS.policy, POLICY],
  ['POST', PATHS.key, SESSION],
  ['PUT', PATHS.key, SESSION],
  ['POST', '/svc/keys/preview', SESSION],
  ['PUT', PATHS.org, SESSION],
  ['POST', '/svc/oauth/clients/create', CLIENT],
  ['PUT', PATHS.client, CLIENT],
]

test('null in any member of a session, policy or client never makes a later call fail', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const taken = async (method: string, path: string, body?: Json) => {
    const answer = await gate.svc(method, path, body)
    assert.equal(answer.status, 200, `${method} ${path} ${JSON.stringify(body)} ${answer.text}`)
    return answer
  }
  for (const id of ['orders', 'users'])
    await taken('POST', '/svc/apis/oas', oasApi(id, `/${id}/`, { id, guarded: true, upstream: origin.url }))
  await taken('POST', '/svc/apis', login())
  const bodies = { [PATHS.policy]: POLICY, [PATHS.key]: SESSION, [PATHS.org]: SESSION, [PATHS.client]: CLIENT }
  const reset = async (changed: JsonObject) => {
    if (changed === POLICY) await gate.svc('POST', '/svc/policies', POLICY)
    if (changed === CLIENT) {
      // One that was created without its secret has another, which a PUT does not change.
      await gate.svc('DELETE', PATHS.client)
      await gate.svc('POST', '/svc/oauth/clients/create', CLIENT)
    }
    for (const [path, body] of Object.entries(bodies))
      if (body === changed) await taken(body === SESSION ? 'POST' : 'PUT', path, body)
  }
  for (const body of [POLICY, SESSION, CLIENT]) await reset(body)
  const used = async (where: string) => {
    const answers: Answer[] = [
      ...(await Promise.all(
        ['orders', 'users'].map((id) => gate.call(`/${id}/a/x`, { headers: { authorization: KEY } })),
      )),
      ...(await Promise.all(
        [...Object.keys(bodies), '/svc/policies', '/svc/keys', '/svc/oauth/clients/login'].map((path) =>
          gate.svc('GET', path),
        ),
      )),
    ]
    for (const { status, text } of answers) assert.ok(status < 500, `after ${where}: ${status} ${text}`)
  }
  let absent = 0
  for (const [turn, [method, path, body]] of WRITES.entries()) {
    for (const at of spread(memberPaths(body), turn, 3)) {
      if (method === 'POST' && path === '/svc/policies') await gate.svc('DELETE', PATHS.policy)
      if (path === '/svc/oauth/clients/create') await gate.svc('DELETE', PATHS.client)
      const where = `${method} ${path} with null in ${at.join('.')}`
      const { status, text, json } = await gate.svc(method, path, replaced(body, at, null))
      const named = String(at.findLast((step) => typeof step === 'string'))
      if (status === 200) absent++
      else
        assert.ok(
          status === 400 && (text.includes(named) || (named === 'access_rights' && /rights/.test(text))),
          `${where}: ${status} ${text}`,
        )
      await used(where)
      if (status === 200 && isObject(json)) {
        const made = path.endsWith('/create') ? `/svc/oauth/clients/login/${String(json.client_id)}` : ''
        if (made !== '' && made !== PATHS.client) await taken('DELETE', made)
        const policy = path === '/svc/policies' ? `${path}/${String(json.key)}` : ''
        if (policy !== '' && policy !== PATHS.policy) await taken('DELETE', policy)
      }
      await reset(body)
    }
  }
  assert.ok(absent > 80, String(absent))
})

test('null methods of an allowed URL allow none, stored ones too', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const made = await gate.svc(
    'POST',
    '/svc/apis/oas',
    oasApi('a', '/a/', { id: 'a', guarded: true, upstream: origin.url }),
  )
  assert.equal(made.status, 200)
  const urls = [
    { url: '/a/closed', methods: null },
    { url: '/a/open', methods: ['GET'] },
  ]
  const right = { api_id: 'a', allowed_urls: urls, endpoints: [{ path: '/open', methods: null }] }
  const policy = { id: 'p', access_rights: { a: right }, partitions: { acl: true } }
  const asked = async (key: string) => {
    for (const [path, status] of [
      ['/a/open', 200],
      ['/a/closed', 403],
    ] as const)
      assert.equal((await gate.call(path, { headers: { authorization: key } })).status, status, `${key} ${path}`)
  }
  assert.equal((await gate.svc('POST', '/svc/policies', policy)).status, 200)
  for (const [key, session] of [
    ['key-with-a-policy', { apply_policies: ['p'] }],
    ['key-with-own-rights', { access_rights: { a: right } }],
  ] as const) {
    assert.equal((await gate.svc('POST', `/svc/keys/${key}`, session)).status, 200)
    await asked(key)
  }
  const {
    rows: [stored],
  } = await gate.store.documents.list('policy', { limit: 1 })
  await gate.store.documents.commit(
    [{ op: 'put', kind: 'policy', id: stored!.id, body: { ...stored!.body, ...policy } }],
    undefined,
  )
  await gate.svc('GET', '/svc/reload?block=true')
  await asked('key-with-a-policy')
})

function login(): JsonObject {
  return {
    ...{ name: 'Login', api_id: 'login', active: true, use_oauth2: true },
    oauth_meta: {
      allowed_authorize_types: ['code'],
      allowed_access_types: ['authorization_code'],
      auth_login_redirect: '',
    },
    proxy: { listen_path: '/login/', target_url: 'http://127.0.0.1:9/', strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  }
}
