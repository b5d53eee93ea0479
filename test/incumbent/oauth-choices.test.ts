import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/model/json/json.ts'
import { startTestGateway, TEST_SECRET } from '../worlds/base/harness.ts'
import { startOrigin } from '../worlds/servers/origin.ts'

const OK = [{ url: '/ok', methods: ['GET'] }]
const rights = (allowed_urls: JsonObject[]): JsonObject => ({
  login: { api_id: 'login', api_name: 'login', versions: ['Default'], allowed_urls },
})
const api = (target_url: string): JsonObject => ({
  ...{ api_id: 'login', name: 'login', active: true, use_keyless: false, use_oauth2: true },
  oauth_meta: {
    allowed_access_types: ['client_credentials', 'authorization_code', 'refresh_token', 'password'],
    allowed_authorize_types: ['code', 'token'],
    auth_login_redirect: 'https://login.test/',
  },
  proxy: { listen_path: '/login/', target_url, strip_listen_path: true },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
})
const REDIRECT = { client_id: 'c', redirect_uri: 'https://app.test/cb' }

test('tokens, codes and secrets of clients are served as the differences say', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
  t.after(() => gate.close())
  for (const [path, body] of [
    ['apis', api(origin.url)],
    ['policies', { id: 'p', name: 'p', active: true, rate: 100, per: 1, access_rights: rights(OK) }],
    ['oauth/clients/create', { api_id: 'login', policy_id: 'p', secret: 's', ...REDIRECT }],
    ['keys/annie', { access_rights: rights([]), basic_auth_data: { password: 'pw-of-annie' } }],
  ] as const) {
    const { status, text } = await gate.svc('POST', `/inc/${path}`, body)
    assert.equal(status, 200, text)
  }
  const post = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const body = new URLSearchParams(fields).toString()
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const { status, json } = await gate.call(`/login/${path}`, {
      method: 'POST',
      headers: { ...type, ...headers },
      body,
    })
    return { status, ...(json as { code?: string; access_token?: string }) }
  }
  const basic = { authorization: `Basic ${Buffer.from('c:s').toString('base64')}` }
  const token = (fields: Record<string, string>) => post('oauth/token/', fields, basic)
  const authorize = (fields: Record<string, string>) =>
    post('inc/oauth/authorize-client/', { ...REDIRECT, ...fields }, { 'x-inc-authorization': TEST_SECRET })
  const used = async (access = '') =>
    Promise.all(
      ['/login/ok', '/login/no'].map(
        async (path) => (await gate.call(path, { headers: { authorization: `Bearer ${access}` } })).status,
      ),
    )

  // Rights that come with a code, and those of a user, do not go beyond the policy of the client.
  const { code = '' } = await authorize({
    response_type: 'code',
    key_rules: JSON.stringify({ access_rights: rights([]), rate: 10, per: 1 }),
  })
  const exchange = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT.redirect_uri }
  const byCode = await token(exchange)
  assert.deepEqual(await used(byCode.access_token), [200, 403])
  const byPassword = await token({ grant_type: 'password', username: 'annie', password: 'pw-of-annie' })
  assert.deepEqual(await used(byPassword.access_token), [200, 403])

  assert.ok((await authorize({ response_type: 'code', key_rules: '{' })).status >= 400)
  assert.ok((await authorize({ response_type: 'token' })).status >= 400)

  // A code that comes again ends the tokens that it gave.
  assert.ok((await token(exchange)).status >= 400)
  assert.ok((await used(byCode.access_token)).every((status) => status >= 400))

  const inBody = await post('oauth/token/', { grant_type: 'client_credentials', client_id: 'c', client_secret: 's' })
  assert.deepEqual(await used(inBody.access_token), [200, 403])
})
