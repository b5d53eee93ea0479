import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

const api = defined({ id: 'mine', url: 'http://127.0.0.1:1', keyIn: 'Authorization' })
const HASH = 'a'.repeat(64)

const OAUTH: JsonObject = {
  ...{ api_id: 'o', name: 'o', active: true, use_oauth2: true, use_standard_auth: false },
  oauth_meta: { allowed_access_types: ['client_credentials'], auth_login_redirect: '' },
  proxy: { listen_path: '/o/', target_url: 'http://127.0.0.1:1/' },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
}

/** The calls of moves that take a body, each with one that is taken. */
const BODIES: Readonly<Record<string, JsonObject>> = {
  'POST /api/moves/check': {
    apis: [{ id: 'mine', api_id: 'mine', format: 'oas', definition: api }],
    ...{ client_ids: ['app'], key_hashes: [HASH], api_ids: ['other'], policy_ids: ['gold'] },
  },
  'POST /api/moves/clients': {
    ...{ client_id: 'app', secret: 'secret-of-the-app-16', api_ids: ['o'], registration_id: '' },
    ...{ redirect_uris: ['https://app.test/cb'], policies: [], description: 'text' },
    metadata: { a: 1 },
  },
  'POST /api/moves/keys': {
    ...{ key_hash: HASH, user_name: '', session: { access_rights: rights('mine') }, password_hash: '' },
    quota_used: {},
  },
  'PUT /api/moves/lock': { run: 'run-of-the-test', seconds: 5 },
}

const OTHERS: readonly Json[] = [true, 7, 'text', ['text'], { a: 1 }, [7], [{ a: 1 }]]

/** The type of a value, and of the entries of a list. */
function shapeOf(value: Json): string {
  if (Array.isArray(value)) return value.length === 0 ? 'list' : `list of ${shapeOf(value[0]!)}`
  return typeof value
}

test('a member of a wrong type is refused by its name in every call of a move', async (t) => {
  const dashboard = await startTestDashboard()
  t.after(dashboard.close)
  const as = await dashboard.admin()
  assert.equal((await dashboard.call('POST', '/api/apis/oas', { as, body: api })).status, 200)
  assert.equal((await dashboard.call('POST', '/api/apis', { as, body: { api_definition: OAUTH } })).status, 200)
  const declared = dashboard.dashboard.routes.filter(
    ({ method, path, body, deprecated }) => path.startsWith('/api/moves/') && body && !deprecated && method !== 'GET',
  )
  assert.deepEqual(declared.map(({ method, path }) => `${method} ${path}`).sort(), Object.keys(BODIES).sort())
  const wrong: string[] = []
  for (const [name, sent] of Object.entries(BODIES)) {
    const [method = '', path = ''] = name.split(' ')
    const ask = (body: JsonObject) => dashboard.call(method, path, { as, body, isRandom: true })
    const { status, text } = await ask(sent)
    assert.equal(status, 200, `${name}: ${text}`)
    for (const [member, value] of Object.entries(sent))
      for (const other of OTHERS) {
        if (shapeOf(other).startsWith(shapeOf(value))) continue
        const refused = await ask({ ...sent, [member]: other })
        if (refused.status !== 400 || !refused.text.includes(member))
          wrong.push(`${name} ${member} ${JSON.stringify(other)}: ${refused.status} ${refused.text.slice(0, 100)}`)
      }
  }
  assert.deepEqual(wrong, [])
})

test('a user who has very many objects checked waits, and others do not', async (t) => {
  const dashboard = await startTestDashboard()
  t.after(dashboard.close)
  const [as, other] = [await dashboard.admin(), await dashboard.admin()]
  const body = { key_hashes: new Array(1000).fill(HASH) }
  const statuses = new Map<number, number>()
  let waitS = ''
  for (let call = 0; call < 25; call++) {
    const { status, headers } = await dashboard.call('POST', '/api/moves/check', { as, body })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status === 429) waitS = String(headers['retry-after'])
  }
  assert.deepEqual(
    [...statuses],
    [
      [200, 20],
      [429, 5],
    ],
  )
  assert.match(waitS, /^\d+$/)
  assert.equal((await dashboard.call('POST', '/api/moves/check', { as: other, body })).status, 200)
  dashboard.clock.advance(Number(waitS) * 1000)
  assert.equal((await dashboard.call('POST', '/api/moves/check', { as, body })).status, 200)
})

test('secrets of a client are masked for readers in moves too, and stay when they are sent back', async (t) => {
  const dashboard = await startTestDashboard()
  t.after(dashboard.close)
  const as = await dashboard.admin()
  const reader = await dashboard.user({ IsAdmin: 'false', oauth: 'read', apis: 'read' })
  const ask = async (method: string, path: string, by = as, body?: JsonObject) => {
    const { status, text, json } = await dashboard.call(method, path, { as: by, body })
    assert.equal(status, 200, `${method} ${path}: ${text}`)
    return json as JsonObject
  }
  await ask('POST', '/api/apis', as, { api_definition: OAUTH })
  const secrets = { metadata: { password: 'META-SECRET' }, jwks_uri: 'https://keys.test/jwks?token=JWKS-SECRET' }
  await ask('POST', '/api/moves/clients', as, {
    ...{ client_id: 'app', api_ids: ['o'], redirect_uri: 'https://app.test/cb' },
    ...secrets,
  })
  const views = async (by: typeof as) => [
    (await ask('GET', '/api/moves/clients', by)).clients as JsonObject[],
    [await ask('GET', '/api/apis/oauth/o/app', by)],
  ]
  for (const [view] of await views(reader)) assert.doesNotMatch(JSON.stringify(view), /META-SECRET|JWKS-SECRET/)
  const [[moved], [shown]] = (await views(reader)) as [[JsonObject], [JsonObject]]
  await ask('PUT', '/api/apis/oauth/o/app', as, { ...shown, secret: '' })
  await ask('POST', '/api/moves/clients', as, moved)
  for (const [view] of await views(as)) {
    assert.deepEqual((view as JsonObject).metadata, secrets.metadata)
    assert.equal((view as JsonObject).jwks_uri, secrets.jwks_uri)
  }
})
