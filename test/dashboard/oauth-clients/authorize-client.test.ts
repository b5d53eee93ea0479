import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { createClient } from '../../../src/publish/oauth-clients/oauth-clients.ts'
import { gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'

const REDIRECT = 'https://app.test/cb'
const PUBLIC = 'https://api.example.test'

async function world(t: TestContext, env: Record<string, string> = { SVC_GW_PUBLICURL: PUBLIC }) {
  const made = await gatewayWorld(t, env)
  const { oauth, policy, asked, root, call, gateway } = made
  await oauth({ id: 'shop' })
  await policy('gold', ['shop'])
  await asked(200, 'POST', '/api/apis/oauth/shop', root, {
    ...{ client_id: 'c1', secret: 's1', redirect_uri: REDIRECT, policy_id: 'gold' },
  })
  return {
    ...made,
    conclude: (form: Record<string, string>, path = '/api/apis/oauth/shop/authorize-client', headers = {}) =>
      call('POST', path, { as: root, body: new URLSearchParams(form).toString(), headers }),
    exchange: (form: Record<string, string>) =>
      gateway.call('/shop/oauth/token', {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from('c1:s1').toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams({ grant_type: 'authorization_code', redirect_uri: REDIRECT, ...form }).toString(),
      }),
  }
}

const asking = { response_type: 'code', client_id: 'c1', redirect_uri: REDIRECT }

test('a code from the dashboard becomes a token at the gateway, by every spelling of the call', async (t) => {
  const { conclude, exchange, use, store } = await world(t)
  const stored = await store.documents.find('api', 'api_id', 'shop')
  for (const path of [
    '/api/apis/oauth/shop/authorize-client',
    '/api/apis/oauth/shop/authorize-client/',
    '/api/apis/shop/authorize-client',
    `/api/apis/${stored!.id}/authorize-client/`,
  ]) {
    const verifier = randomBytes(32).toString('base64url')
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const answer = await conclude(
      { ...asking, state: 'a b&c', code_challenge: challenge, code_challenge_method: 'S256' },
      path,
      { 'content-type': 'text/plain' },
    )
    assert.equal(answer.status, 200, answer.text)
    const { code, redirect_to, state } = answer.json as Record<string, string>
    assert.deepEqual(Object.keys(answer.json as JsonObject).slice(0, 2), ['code', 'redirect_to'])
    const target = new URL(redirect_to!)
    assert.equal(target.origin + target.pathname, REDIRECT)
    const { searchParams } = target
    assert.deepEqual([searchParams.get('code'), searchParams.get('state'), state], [code, 'a b&c', 'a b&c'])
    assert.equal(searchParams.get('iss'), `${PUBLIC}/shop`)
    const token = await exchange({ code: code!, code_verifier: verifier })
    assert.equal(token.status, 200, token.text)
    assert.equal(await use('/shop/', (token.json as Record<string, string>).access_token!), 200)
    assert.equal((await exchange({ code: code!, code_verifier: verifier })).status, 400)
  }
})

test('iss is that of the settings; without an address it is left out, with a warning', async (t) => {
  const issuers = async (env: Record<string, string>, server = {}) => {
    const { oauth, asked, root, conclude } = await world(t, env)
    await oauth({ id: 'other', server })
    await asked(200, 'POST', '/api/apis/oauth/other', root, { client_id: 'c2', redirect_uri: REDIRECT, policy_id: '' })
    const answer = await conclude({ ...asking, client_id: 'c2' }, '/api/apis/other/authorize-client', {
      host: 'dash.example.test:3000',
    })
    const { redirect_to, warnings } = answer.json as { redirect_to: string; warnings?: string[] }
    const iss = new URL(redirect_to).searchParams.get('iss')
    assert.equal(warnings?.length, iss === null ? 1 : undefined)
    return iss
  }
  assert.equal(await issuers({ SVC_GW_PUBLICURL: `${PUBLIC}/base/` }), `${PUBLIC}/base/other`)
  const domain = { customDomain: { enabled: true, name: 'shop.example.test' } }
  assert.equal(await issuers({ SVC_GW_PUBLICURL: PUBLIC }, domain), 'https://shop.example.test/other')
  assert.equal(await issuers({}, domain), null)
  assert.equal(await issuers({}), null)
})

test('a client that is registered by a policy, and a policy that goes, are known at once', async (t) => {
  const { conclude, asked, root, parts, policy } = await world(t)
  await policy('silver', ['shop'])
  const body = { client_id: 'by-policy', redirect_uri: REDIRECT, policy_id: 'silver' }
  await createClient(parts, { body, orgId: root.orgId, actor: 'test' })
  const form = { ...asking, client_id: 'by-policy' }
  assert.equal((await conclude(form)).status, 200)
  await asked(200, 'PUT', '/api/portal/policies/silver', root, { name: 'Policy silver', access_rights: {} })
  assert.equal((await conclude(form)).status, 400)
})

test('rules for the key narrow what the policies give', async (t) => {
  const { conclude, exchange, store } = await world(t)
  const rules = {
    rate: 1,
    per: 1,
    access_rights: { shop: { api_id: 'shop', versions: ['Default'] } },
    meta_data: { user: 'ada' },
  }
  const { code } = (await conclude({ ...asking, key_rules: JSON.stringify(rules) })).json as Record<string, string>
  const token = (await exchange({ code: code! })).json as Record<string, string>
  const hash = createHash('sha256').update(token.access_token!).digest()
  assert.deepEqual((await store.tokens.getSession(hash))?.body.meta_data, { user: 'ada' })
  assert.equal((await conclude({ ...asking, key_rules: '{"rate":"x"}' })).status, 400)
})

test('a refusal is the envelope and the words of the standard in one', async (t) => {
  const { conclude, call, root, api } = await world(t)
  const refused = async (form: Record<string, string>, status: number, error: string) => {
    const answer = await conclude(form)
    const body = answer.json as JsonObject
    assert.deepEqual([answer.status, body.error], [status, error], answer.text)
    assert.deepEqual(Object.keys(body).slice(0, 3), ['Status', 'Message', 'Meta'])
    assert.deepEqual([body.Status, body.Meta, body.Message], ['Error', null, body.error_description])
    return body
  }
  await refused({ ...asking, client_id: 'nobody' }, 400, 'invalid_client')
  await refused({ ...asking, redirect_uri: 'https://evil.test/' }, 400, 'invalid_request')
  await refused({ ...asking, redirect_uri: `${REDIRECT}\r\nLocation: https://evil.test` }, 400, 'invalid_request')
  const told = await refused({ ...asking, response_type: 'token' }, 400, 'unsupported_response_type')
  assert.match(String(told.redirect_to), /^https:\/\/app\.test\/cb\?error=unsupported_response_type/)
  await refused({}, 400, 'invalid_request')
  await refused({ ...asking, junk: 'x'.repeat(70_000) }, 413, 'invalid_request')
  const path = '/api/apis/shop/authorize-client'
  assert.equal((await call('POST', path, { as: root, body: 'client_id=%zz' })).status, 400)
  assert.equal((await call('POST', path, { as: root, body: '{"client_id":5}' })).status, 400)
  assert.equal((await call('POST', path, { as: root, body: JSON.stringify(asking) })).status, 200)
  await api('keyed')
  assert.equal((await conclude(asking, '/api/apis/keyed/authorize-client')).status, 400)
  assert.equal((await conclude(asking, '/api/apis/nothing/authorize-client')).status, 404)
})

test('a login page tells of a refusal, and only whoever may write clients may conclude', async (t) => {
  const { conclude, call, user } = await world(t)
  const denied = await conclude({ ...asking, error: 'access_denied', state: 's' })
  const { redirect_to } = denied.json as Record<string, string>
  assert.deepEqual([denied.status, new URL(redirect_to!).searchParams.get('error')], [200, 'access_denied'])
  const reader = await user({ oauth: 'read', apis: 'write' })
  const body = new URLSearchParams(asking).toString()
  assert.equal((await call('POST', '/api/apis/shop/authorize-client', { as: reader, body })).status, 403)
  assert.equal((await call('POST', '/api/apis/shop/authorize-client', { body })).status, 401)
})

test('legacy statuses reach the identity server too', async (t) => {
  const { conclude } = await world(t, { SVC_COMPAT_LEGACYSTATUSES: 'true' })
  assert.equal((await conclude({ ...asking, client_id: 'nobody' })).status, 403)
  assert.equal((await conclude({ ...asking, redirect_uri: 'https://evil.test/' })).status, 403)
})

/** The changes at the dashboard that may happen between the code and its exchange. */
const CHANGES: Record<string, readonly (readonly [method: string, path: string, body: JsonObject])[]> = {
  'another redirect URI': [
    ['PUT', '/api/apis/oauth/shop/c1', { redirect_uri: 'https://new.test/cb', policy_id: 'gold' }],
  ],
  'the last policy taken': [['PUT', '/api/apis/oauth/shop/c1', { redirect_uri: REDIRECT, policies: [] }]],
  'no policy any more': [['DELETE', '/api/portal/policies/gold', {}]],
  'no client any more': [['DELETE', '/api/apis/oauth/shop/c1', {}]],
  'another client of the same name': [
    ['DELETE', '/api/apis/oauth/shop/c1', {}],
    ['POST', '/api/apis/oauth/shop', { client_id: 'c1', secret: 's1', redirect_uri: REDIRECT, policy_id: 'silver' }],
  ],
  'all tokens ended': [['DELETE', '/api/apis/oauth/shop/c1/tokens', {}]],
  'no API any more': [['DELETE', '/api/apis/shop', {}]],
}

for (const [what, calls] of Object.entries(CHANGES)) {
  for (const named of [REDIRECT, '']) {
    test(`a code is not exchanged: ${what}${named === '' ? ', redirect URI not named' : ''}`, async (t) => {
      const { conclude, exchange, asked, root, policy, gateway } = await world(t)
      await policy('silver', ['shop'])
      const { redirect_uri: _known, ...rest } = asking
      const concluded = await conclude(named === '' ? rest : asking)
      assert.equal(concluded.status, 200, concluded.text)
      const { code } = concluded.json as { code: string }
      for (const [method, path, body] of calls) await asked(200, method, path, root, body)
      await gateway.gateway.live.settled(await gateway.store.documents.revision())
      const refused = await exchange({ code, ...(named === '' && { redirect_uri: '' }) })
      assert.ok(refused.status >= 400 && refused.status < 500, refused.text)
      assert.ok(!refused.text.includes('access_token'))
      if (what === 'another redirect URI') assert.equal((refused.json as JsonObject).error, 'invalid_grant')
    })
  }
}

test('a code of an API that was switched off is not exchanged', async (t) => {
  const { conclude, exchange, asked, root } = await world(t)
  const { code } = (await conclude(asking)).json as { code: string }
  const document = await asked(200, 'GET', '/api/apis/oas/shop', root)
  const extension = document['x-svc-api-gateway'] as { info: JsonObject }
  extension.info.state = { active: false }
  await asked(200, 'PUT', '/api/apis/oas/shop', root, document)
  assert.equal((await exchange({ code })).status, 404)
  assert.equal((await conclude(asking)).status >= 400, true)
})

test('the body may be JSON with white space before it', async (t) => {
  const { call, root } = await world(t)
  const body = ` \r\n\t${JSON.stringify(asking)}`
  const answer = await call('POST', '/api/apis/oauth/shop/authorize-client', { as: root, body })
  assert.equal(answer.status, 200, answer.text)
})

test('undo restores a redirect URI, but no earlier code or pushed request', async (t) => {
  const { conclude, exchange, gateway, asked, call, root, store } = await world(t)
  const authorization = `Basic ${Buffer.from('c1:s1').toString('base64')}`
  const type = 'application/x-www-form-urlencoded'
  const push = async () => {
    const body = new URLSearchParams(asking).toString()
    const headers = { authorization, 'content-type': type }
    const pushed = await gateway.call('/shop/oauth/par', { method: 'POST', headers, body })
    const { request_uri } = pushed.json as Record<string, string>
    return new URLSearchParams({ client_id: 'c1', request_uri: request_uri! }).toString()
  }
  const uses = async () => {
    const { code } = (await conclude(asking)).json as Record<string, string>
    const query = await push()
    return async () => [
      (await exchange({ code: code! })).status,
      (await gateway.call(`/shop/oauth/authorize?${query}`)).status,
    ]
  }
  const put = (redirect_uri: string) =>
    asked(200, 'PUT', '/api/apis/oauth/shop/c1', root, { redirect_uri, policy_id: 'gold' })
  const undo = async () => {
    const [entry] = (await store.audit.list({ orgId: root.orgId, limit: 1 })).rows
    const undone = await call('POST', `/api/audit-logs/${entry!.id}/undo`, { as: root })
    assert.equal(undone.status, 200, undone.text)
  }
  assert.deepEqual(await (await uses())(), [200, 307])
  const first = await uses()
  await put('https://elsewhere.test/cb')
  await undo()
  assert.deepEqual(await first(), [400, 400])
  const second = await uses()
  assert.deepEqual(await (await uses())(), [200, 307])
  await undo()
  await undo()
  assert.deepEqual(await second(), [400, 400])
  // Clients that stay registered keep working.
  const third = await uses()
  await asked(200, 'PUT', '/api/apis/oauth/shop/c1', root, {
    redirect_uri: REDIRECT,
    description: 'x',
    policy_id: 'gold',
  })
  await undo()
  assert.deepEqual(await third(), [200, 307])
})

test('with ownership on, public clients are authorized by those who may create their key', async (t) => {
  const env = { SVC_GW_PUBLICURL: PUBLIC, SVC_DB_ENABLEOWNERSHIP: 'true' }
  const { oauth, policy, asked, root, call, gateway, user } = await world(t, env)
  await oauth({ id: 'theirs' })
  await oauth({ id: 'device', settings: { deviceAuthorization: true } })
  const partOwner = await user({ oauth: 'write', keys: 'write', apis: 'write' })
  await asked(200, 'PUT', '/api/apis/theirs/access', root, { userIds: [root.id], userGroupIds: [] })
  await policy('both', ['device', 'theirs'])
  await policy('mine', ['device'])
  const challenge = createHash('sha256').update('v'.repeat(50)).digest('base64url')
  const proof = { code_challenge: challenge, code_challenge_method: 'S256' }
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  for (const [policy_id, auth_method, status] of [
    ['both', 'none', 403],
    ['both', 'client_secret_basic', 200],
    ['mine', 'none', 200],
  ] as const) {
    const client_id = `${policy_id}-${auth_method}`
    const client = { client_id, redirect_uri: REDIRECT, policy_id, auth_method }
    await asked(200, 'POST', '/api/apis/oauth/device', root, client)
    const conclude = async (path: string, form: Record<string, string>, as = partOwner) => {
      const answer = await call('POST', path, { as, body: new URLSearchParams(form).toString() })
      return answer.status
    }
    const form = { ...asking, client_id, ...proof }
    assert.equal(await conclude('/api/apis/oauth/device/authorize-client', form), status, client_id)
    assert.equal(await conclude('/api/apis/device/authorize-client', form, root), 200)
    assert.equal(await conclude('/api/apis/device/authorize-client', { ...form, error: 'access_denied' }), 200)
    // The same as the key.
    const key = await call('POST', '/api/keys', { as: partOwner, body: { apply_policies: [policy_id] } })
    assert.equal(key.status === 200, policy_id === 'mine', key.text)
    if (auth_method !== 'none') continue
    const began = await gateway.call('/device/oauth/device_authorization', {
      ...{ method: 'POST', headers: type },
      body: new URLSearchParams({ client_id }).toString(),
    })
    const { user_code } = began.json as Record<string, string>
    const device = '/api/apis/oauth/device/authorize-client'
    assert.equal(await conclude(device, { user_code: user_code! }), 200, began.text)
    assert.equal(await conclude(device, { user_code: user_code!, decision: 'approve' }), status, client_id)
  }
})
