import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toDocumentId } from '../../../src/model/documents/ids.ts'
import type { OAuthClient } from '../../../src/model/oauth-clients/oauth-client.ts'
import { defined } from '../../worlds/base/definitions.ts'
import {
  challengesOf,
  hashOf,
  oauthApi,
  policyOf,
  startPlain,
  startWorld,
} from '../../worlds/gateway/oauth-fixtures.ts'

const CHALLENGE = 'Bearer realm="oauth"'
const refusal = (error: string, text: string) => `${CHALLENGE}, error="${error}", error_description="${text}"`

describe('a token at its API', () => {
  test('opens it, under Bearer in any letter case; the same word is needed', async (t) => {
    const world = await startPlain(t)
    const token = await world.token('/a/', 'app')
    for (const authorization of [`Bearer ${token}`, `bEARER ${token}`, `Bearer   ${token}`]) {
      const answer = await world.gateway.call('/a/x', { headers: { authorization } })
      assert.equal(answer.status, 200, String(authorization))
    }
    assert.equal(world.origin.seen.length, 3)
    const cases: readonly [string | undefined, number, string, string][] = [
      [undefined, 401, 'Authorization field missing', CHALLENGE],
      [token, 401, 'Authorization field missing', CHALLENGE],
      ['Bearer', 401, 'Authorization field missing', CHALLENGE],
      [`Basic ${token}`, 401, 'Bearer token malformed', CHALLENGE],
      [`Token ${token}`, 401, 'Bearer token malformed', CHALLENGE],
      ['Bearer nonsense', 401, 'Key not authorised', refusal('invalid_token', 'Key not authorised')],
      [`Bearer ${token} `, 200, '', ''],
      [`Bearer ${token}x`, 401, 'Key not authorised', refusal('invalid_token', 'Key not authorised')],
    ]
    for (const [authorization, status, error, challenge] of cases) {
      const answer = await world.gateway.call('/a/x', { headers: authorization === undefined ? {} : { authorization } })
      assert.equal(answer.status, status, String(authorization))
      if (status === 200) continue
      assert.deepEqual(answer.json, { error }, String(authorization))
      assert.equal(challengesOf(answer), challenge, String(authorization))
    }
  })

  test('the same in the words and statuses of the incumbent', async (t) => {
    const world = await startPlain(t, {}, { env: { SVC_COMPAT_LEGACYSTATUSES: 'true' } })
    const token = await world.token('/a/', 'app')
    const key = await keyOn(world.gateway, 'a')
    const cases: readonly [string | undefined, number, string][] = [
      [undefined, 400, 'Authorization field missing'],
      [token, 400, 'Authorization field missing'],
      [`Basic ${token}`, 400, 'Bearer token malformed'],
      ['Bearer nonsense', 403, 'Key not authorised'],
      [`Bearer ${key}`, 403, 'Key not authorised. OAuth client access was revoked'],
    ]
    for (const [authorization, status, error] of cases) {
      const answer = await world.gateway.call('/a/x', { headers: authorization === undefined ? {} : { authorization } })
      assert.deepEqual([answer.status, answer.json], [status, { error }], String(authorization))
    }
    world.gateway.clock.advance(3_600_000)
    const lapsed = await world.get('/a/x', token)
    assert.deepEqual([lapsed.status, lapsed.json], [401, { error: 'Key has expired, please renew' }])
    world.gateway.clock.advance(61_000)
    assert.equal((await world.get('/a/x', token)).status, 403)
  })

  test('is read from a cookie, a query parameter or a header of its own, with or without the word', async (t) => {
    const world = await startPlain(t, {
      settings: {
        header: { enabled: true, name: 'X-Token' },
        query: { enabled: true, name: 'tok' },
        cookie: { enabled: true, name: 'tok' },
      },
    })
    const token = await world.token('/a/', 'app')
    const status = async (path: string, headers: Record<string, string> = {}) =>
      (await world.gateway.call(path, { headers })).status
    assert.equal(await status('/a/x', { 'x-token': token }), 200)
    assert.equal(await status('/a/x', { 'x-token': `Bearer ${token}` }), 200)
    assert.equal(await status('/a/x', { authorization: `Bearer ${token}` }), 401)
    assert.equal(await status(`/a/x?tok=${token}`), 200)
    assert.equal(await status(`/a/x?tok=bearer+${token}`), 200)
    assert.equal(await status(`/a/x?TOK=${token}`), 401)
    assert.equal(await status('/a/x', { cookie: `tok=${token}` }), 200)
    assert.equal(await status(`/a/x?tok=${token}`, { cookie: 'tok=wrong' }), 400)
    assert.equal(await status('/a/x?tok=wrong', { 'x-token': token }), 400)
    assert.equal(await status('/a/x?tok=', { 'x-token': token }), 200)
  })

  test('is taken out before the request goes on, where the API says so', async (t) => {
    const world = await startPlain(t, {
      server: {
        authentication: {
          enabled: true,
          stripAuthorizationData: true,
          securitySchemes: { oa: { enabled: true, header: { enabled: true, name: 'Authorization' } } },
        },
      },
    })
    const token = await world.token('/a/', 'app')
    assert.equal((await world.get('/a/x', token)).status, 200)
    assert.equal(world.origin.seen.at(-1)!.headers.authorization, undefined)
  })

  test('ends: by its time, by revocation, with its client', async (t) => {
    const world = await startPlain(t)
    const { gateway } = world
    const gone = refusal('invalid_token', 'Key not authorised. OAuth client access was revoked')
    const [first, second, third] = [
      await world.token('/a/', 'app'),
      await world.token('/a/', 'app'),
      await world.token('/a/', 'app'),
    ]
    for (const token of [first, second, third]) assert.equal((await world.get('/a/x', token)).status, 200)
    const revoked = await gateway.call('/a/oauth/revoke', {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from('app:secret-of-app').toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: `token=${first}`,
    })
    assert.equal(revoked.status, 200, revoked.text)
    assert.equal(challengesOf(await world.get('/a/x', first)), refusal('invalid_token', 'Key not authorised'))
    assert.equal((await world.get('/a/x', second)).status, 200)

    gateway.clock.advance(3_600_000)
    const lapsed = await world.get('/a/x', second)
    assert.equal(lapsed.status, 401)
    assert.equal(challengesOf(lapsed), refusal('invalid_token', 'Key has expired, please renew'))

    const fourth = await world.token('/a/', 'app')
    assert.equal((await world.get('/a/x', fourth)).status, 200)
    assert.equal((await gateway.svc('DELETE', '/svc/oauth/clients/a/app')).status, 200)
    const after = await world.get('/a/x', fourth)
    assert.equal(after.status, 401)
    assert.ok([gone, refusal('invalid_token', 'Key not authorised')].includes(challengesOf(after)))
  })

  test('is void for the very next request when the document of its client changes', async (t) => {
    const world = await startPlain(t)
    const { documents } = world.gateway.store
    const token = await world.token('/a/', 'app')
    assert.equal((await world.get('/a/x', token)).status, 200)
    const stored = (await documents.find('oauth_client', 'client_id', 'app'))!
    const put = (body: OAuthClient) =>
      documents.commit([{ op: 'put', kind: 'oauth_client', id: toDocumentId(stored.id), body }], undefined)
    const gone = refusal('invalid_token', 'Key not authorised. OAuth client access was revoked')

    await put({ ...stored.body, epoch: 'another' })
    assert.equal(challengesOf(await world.get('/a/x', token)), gone)
    await put(stored.body)
    assert.equal((await world.get('/a/x', token)).status, 200)
    await put({ ...stored.body, api_ids: ['elsewhere'] })
    assert.equal(challengesOf(await world.get('/a/x', token)), gone)
    await put({ ...stored.body, api_ids: [], registered_by_policy: 'p' })
    assert.equal((await world.get('/a/x', token)).status, 200)
    await documents.commit([{ op: 'delete', kind: 'oauth_client', id: stored.id }], undefined)
    assert.equal(challengesOf(await world.get('/a/x', token)), gone)
  })

  test('a key is no token, and a token of an API where its client is not registered is none here', async (t) => {
    const world = await startPlain(t)
    const gone = refusal('invalid_token', 'Key not authorised. OAuth client access was revoked')
    const key = await keyOn(world.gateway, 'a')
    assert.equal(challengesOf(await world.get('/a/x', key)), gone)
    await world.publish(oauthApi(world.origin.url, { id: 'b' }))
    await world.policy('both', ['a', 'b'])
    await world.client('other', { api_id: 'b', policies: ['both'] })
    const token = await world.token('/b/', 'other')
    assert.equal((await world.get('/b/x', token)).status, 200)
    assert.equal(challengesOf(await world.get('/a/x', token)), gone)
    await world.client('wide', { policies: ['both'], policy_id: 'both' })
    const wide = await world.token('/b/', 'wide')
    assert.equal((await world.get('/a/x', wide)).status, 200)
  })
})

describe('policies of a client', () => {
  test('are applied at use: an edited policy, and other policies of the client, reach live tokens', async (t) => {
    const world = await startPlain(t)
    const { gateway } = world
    const { documents } = gateway.store
    const token = await world.token('/a/', 'app')
    const seen = async () => (await world.get('/a/x', token)).headers['ratelimit-policy']
    assert.equal(await seen(), undefined)
    const edited = await gateway.svc('PUT', '/svc/policies/p', policyOf('p', ['a'], { rate: 7, per: 60 }))
    assert.equal(edited.status, 200, edited.text)
    assert.match(String(await seen()), /q=7/)
    await world.policy('q', ['a'], { rate: 9, per: 60, meta_data: {} })
    const stored = (await documents.find('oauth_client', 'client_id', 'app'))!
    const body = { ...stored.body, policies: ['q'] }
    await documents.commit([{ op: 'put', kind: 'oauth_client', id: toDocumentId(stored.id), body }], undefined)
    assert.match(String(await seen()), /q=9/)
  })

  test('count by client for client credentials: a new token refills nothing', async (t) => {
    const world = await startWorld(t)
    await world.publish(oauthApi(world.origin.url, { id: 'a' }))
    await world.policy('p', ['a'], { quota_max: 2, quota_renewal_rate: 3600 })
    await world.client('app', { api_id: 'a', policies: ['p'] })
    assert.equal((await world.get('/a/x', await world.token('/a/', 'app'))).status, 200)
    assert.equal((await world.get('/a/x', await world.token('/a/', 'app'))).status, 200)
    assert.equal((await world.get('/a/x', await world.token('/a/', 'app'))).status, 429)
  })
})

describe('at an auth-token API of a common policy', () => {
  async function start(t: import('node:test').TestContext) {
    const world = await startPlain(t)
    await world.publish(defined({ id: 'k', url: world.origin.url, keyIn: 'Authorization' }))
    await world.gateway.svc('PUT', '/svc/policies/p', policyOf('p', ['a', 'k']))
    return world
  }

  test('a token opens it too, and ends with its client', async (t) => {
    const world = await start(t)
    const token = await world.token('/a/', 'app')
    assert.equal((await world.get('/k/x', token)).status, 200)
    assert.equal((await world.gateway.call('/k/x', { headers: { authorization: token } })).status, 200)
    const { documents } = world.gateway.store
    const stored = (await documents.find('oauth_client', 'client_id', 'app'))!
    const body = { ...stored.body, epoch: 'another' }
    await documents.commit([{ op: 'put', kind: 'oauth_client', id: toDocumentId(stored.id), body }], undefined)
    const after = await world.get('/k/x', token)
    assert.deepEqual([after.status, after.json], [403, { error: 'Access to this API has been disallowed' }])
  })

  test('its hits carry the client, and so does explain', async (t) => {
    const world = await start(t)
    const token = await world.token('/a/', 'app')
    await world.get('/a/x', token)
    await world.get('/k/x', token)
    const asked = { method: 'GET', url: '/a/x', headers: { authorization: `Bearer ${token}` } }
    const explained = (await world.gateway.svc('POST', '/svc/explain', asked)).json as {
      client: unknown
      steps: { step: string; detail?: string }[]
    }
    assert.deepEqual(explained.client, { client_id: 'app', scope: '' })
    const step = explained.steps.find(({ step: name }) => name === 'authenticateToken')
    assert.equal(step?.detail, `token ${hashOf(token)} of client app`)
    await world.gateway.gateway.stop()
    const rows = await world.gateway.store.hits.sum({ fromHour: 0, toHour: 1e6, limit: 100 })
    assert.deepEqual(rows.map(({ apiId, clientId }) => [apiId, clientId]).sort(), [
      ['a', 'app'],
      ['k', 'app'],
    ])
  })
})

describe('scopes', () => {
  const paths = {
    '/orders': {
      get: { responses: {} },
      post: { responses: {}, security: [{ oa: ['read', 'write'] }, { oa: ['admin'] }] },
    },
    '/open': { get: { responses: {}, security: [{ oa: [] }] } },
  }

  test('of an operation, else of the document, are asked for', async (t) => {
    const world = await startPlain(t, { scopes: ['read', 'write', 'admin'], security: [{ oa: ['read'] }], paths })
    const none = await world.ask('/a/', 'app', { scope: 'read' })
    assert.equal(none.status, 200, none.text)
    const tokens = {
      read: await world.token('/a/', 'app', { scope: 'read' }),
      both: await world.token('/a/', 'app', { scope: 'write read' }),
      admin: await world.token('/a/', 'app', { scope: 'admin' }),
    }
    const table: readonly [keyof typeof tokens, string, string, number][] = [
      ['read', 'GET', '/orders', 200],
      ['read', 'HEAD', '/orders', 200],
      ['read', 'GET', '/unlisted', 200],
      ['read', 'POST', '/orders', 403],
      ['read', 'POST', '/orders/', 403],
      ['both', 'POST', '/orders', 200],
      ['admin', 'POST', '/orders', 200],
      ['admin', 'GET', '/orders', 403],
      ['admin', 'GET', '/unlisted', 403],
      ['admin', 'HEAD', '/orders', 403],
      ['admin', 'GET', '/open', 200],
    ]
    for (const [name, method, path, status] of table) {
      const headers = { authorization: `Bearer ${tokens[name]}` }
      const answer = await world.gateway.call(`/a${path}`, { method, headers })
      assert.equal(answer.status, status, `${name} ${method} ${path}`)
      if (status === 200) continue
      const needed = method === 'POST' ? 'read write' : 'read'
      const text = 'The token lacks a scope that this operation needs'
      assert.equal(
        challengesOf(answer),
        `${refusal('insufficient_scope', text)}, scope="${needed}"`,
        `${name} ${method} ${path}`,
      )
    }
  })
})

async function keyOn(gateway: Awaited<ReturnType<typeof startPlain>>['gateway'], apiId: string): Promise<string> {
  const session = { access_rights: { [apiId]: { api_id: apiId, api_name: apiId, versions: ['Default'] } } }
  const made = await gateway.svc('POST', '/svc/keys/create', session)
  assert.equal(made.status, 200, made.text)
  return (made.json as { key: string }).key
}
