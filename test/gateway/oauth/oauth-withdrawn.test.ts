import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { oauthApi, startWorld } from '../../worlds/gateway/oauth-fixtures.ts'

const CALLBACK = 'https://app.example.org/cb'
const OTHER = 'https://app.example.org/other'
const SCOPES = ['read', 'write']
const GRANTS = 'urn:ietf:params:oauth:grant-type:device_code'

interface Attempt {
  readonly status: number
  readonly body: JsonObject
}

/** Whether a redirect URI or a scope is taken away and given back: of the client, or of the API. */
const WITHDRAWALS = ['redirect URI', 'scope of the client', 'scope of the API'] as const

async function start(t: Parameters<typeof startWorld>[0]) {
  const world = await startWorld(t)
  const { gateway } = world
  const definition = (scopes: readonly string[]) =>
    oauthApi(world.origin.url, { id: 'a', scopes, settings: { deviceAuthorization: true } })
  await world.publish(definition(SCOPES))
  await world.policy('p', ['a'])
  const client = { api_id: 'a', policies: ['p'], redirect_uris: [CALLBACK, OTHER], scope: SCOPES.join(' ') }
  await world.client('app', client)
  const form = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const body = new URLSearchParams(fields).toString()
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await gateway.call(`/a/${path}`, { method: 'POST', headers: { ...type, ...headers }, body })
    const location = String(answer.headers.location ?? '')
    return { status: answer.status, location, body: (answer.json ?? {}) as JsonObject }
  }
  const basic = { authorization: `Basic ${Buffer.from('app:secret-of-app').toString('base64')}` }
  const decide = async (fields: Record<string, string>) => {
    const body = new URLSearchParams(fields).toString() as never
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await gateway.svc('POST', '/a/svc/oauth/authorize-client', body, type)
    return { status: answer.status, body: (answer.json ?? {}) as JsonObject }
  }
  const asked = { client_id: 'app', response_type: 'code', redirect_uri: CALLBACK, scope: 'read write' }
  const push = async () => String((await form('oauth/par', asked, basic)).body.request_uri)
  const device = async () => (await form('oauth/device_authorization', { scope: 'read write' }, basic)).body
  const put = async (path: string, body: JsonObject) => {
    const answer = await gateway.svc('PUT', path, body)
    assert.equal(answer.status, 200, answer.text)
  }
  const { api_id: _api, ...fields } = client
  return {
    /** Gives or takes what is named. */
    async set(what: (typeof WITHDRAWALS)[number], there: boolean) {
      if (what === 'scope of the API') return put('/svc/apis/oas/a', definition(there ? SCOPES : ['read']))
      const less = what === 'redirect URI' ? { redirect_uris: [OTHER] } : { scope: 'read' }
      return put('/svc/oauth/clients/a/app', there ? fields : { ...fields, ...less })
    },
    /** Each thing that waits for its use: made now, used when its function is called. */
    waiting: {
      async code() {
        const { code } = (await decide(asked)).body
        const exchange = { grant_type: 'authorization_code', code: String(code), redirect_uri: CALLBACK }
        return () => form('oauth/token', exchange, basic)
      },
      async 'pushed request'() {
        const request_uri = await push()
        return async (): Promise<Attempt> => {
          const { status, location, body } = await form('oauth/authorize', { client_id: 'app', request_uri })
          return { status: status === 307 ? 200 : status, body: location.includes('error=') ? {} : body }
        }
      },
      async 'request at the login page'() {
        const began = await form('oauth/authorize', { client_id: 'app', request_uri: await push() })
        const request_uri = new URL(began.location).searchParams.get('request_uri')!
        return () => decide({ client_id: 'app', request_uri })
      },
      async 'user code'() {
        const { user_code } = await device()
        return () => decide({ user_code: String(user_code), decision: 'approve' })
      },
      async 'device code'() {
        const { user_code, device_code } = await device()
        assert.equal((await decide({ user_code: String(user_code), decision: 'approve' })).status, 200)
        return () => form('oauth/token', { grant_type: GRANTS, device_code: String(device_code) }, basic)
      },
    } satisfies Record<string, () => Promise<() => Promise<Attempt>>>,
    form,
    basic,
  }
}

describe('what waits for its use', () => {
  test('ends when what it names is withdrawn, and does not come back with it', async (t) => {
    const { set, waiting } = await start(t)
    for (const [kind, make] of Object.entries(waiting)) {
      assert.equal((await (await make())()).status, 200, `${kind}: in the ordinary way`)
      for (const what of WITHDRAWALS) {
        const names = what !== 'redirect URI' || !/user|device/.test(kind)
        const [tried, untried] = [await make(), await make()]
        await set(what, false)
        const refused = await tried()
        assert.equal(refused.status === 200, !names, `${kind}, ${what} withdrawn: ${refused.status}`)
        await set(what, true)
        assert.notEqual((await tried()).status, 200, `${kind}, ${what}: a second use`)
        // A scope is looked at when it is used; a redirect URI that is back is another registration.
        const { status } = await untried()
        assert.equal(status === 200, !names || what !== 'redirect URI', `${kind}, ${what} back: ${status}`)
      }
    }
  })

  test('stays when something else is withdrawn', async (t) => {
    const { set, waiting } = await start(t)
    await set('redirect URI', true)
    const uses = await Promise.all(Object.values(waiting).map((make) => make()))
    await set('redirect URI', true)
    for (const use of uses) assert.equal((await use()).status, 200)
  })

  test('a refresh token gives no scope that the client or the API has lost', async (t) => {
    const { set, waiting, form, basic } = await start(t)
    const first = await (await waiting.code())()
    let token = String(first.body.refresh_token)
    const refresh = async (more: Record<string, string> = {}) => {
      const answer = await form('oauth/token', { grant_type: 'refresh_token', refresh_token: token, ...more }, basic)
      if (answer.status === 200) token = String(answer.body.refresh_token)
      return `${answer.status} ${answer.body.scope ?? answer.body.error}`
    }
    for (const what of ['scope of the client', 'scope of the API'] as const) {
      assert.equal(await refresh(), '200 read write')
      await set(what, false)
      assert.equal(await refresh({ scope: 'write' }), '400 invalid_scope')
      assert.equal(await refresh(), '200 read')
      await set(what, true)
    }
  })

  test('the marks of redirect URIs are shown to nobody, and nobody sets them', async (t) => {
    const world = await startWorld(t)
    await world.publish(oauthApi(world.origin.url, { id: 'a' }))
    await world.policy('p', ['a'])
    await world.client('app', { api_id: 'a', policies: ['p'] })
    const sent = {
      redirect_uris: [CALLBACK, OTHER],
      policies: ['p'],
      redirect_since: { [CALLBACK]: 'x', [OTHER]: 'x' },
    }
    const saved = await world.gateway.svc('PUT', '/svc/oauth/clients/a/app', sent)
    assert.equal(saved.status, 200, saved.text)
    const shown = await world.gateway.svc('GET', '/svc/oauth/clients/a/app')
    assert.doesNotMatch(saved.text + shown.text, /redirect_since/)
  })
})
