import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SETTINGS } from '../../../src/config/settings.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic } from '../../worlds/base/definitions.ts'
import { gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { ssoWorld, whyRefused } from '../../worlds/dashboard/sso-world.ts'

const INSIDE = 'http://10.0.0.1/'
const jwt = (more: JsonObject) => ({ use_keyless: false, enable_jwt: true, jwt_default_policies: ['p'], ...more })
const external = (provider: JsonObject) => ({
  use_keyless: false,
  external_oauth: { enabled: true, providers: [provider] },
})
const oauth = {
  ...{ use_keyless: false, use_oauth2: true, oauth_meta: { allowed_access_types: ['authorization_code'] } },
  notifications: { oauth_on_keychange_url: INSIDE, shared_secret: 'a secret' },
}
const handler = { handler_name: 'eh_web_hook_handler', handler_meta: { method: 'POST', target_path: INSIDE } }

/** Calls that name an address on a private network, and the setting that would allow it. Sign-ins by OpenID Connect and SAML have theirs elsewhere. */
const DEFINITIONS: readonly JsonObject[] = [
  jwt({ jwt_source: Buffer.from(INSIDE).toString('base64'), jwt_signing_method: 'rsa' }),
  jwt({ jwt_jwks_uris: [{ url: INSIDE }], jwt_signing_method: 'rsa' }),
  external({ jwt: { enabled: true, source: Buffer.from(INSIDE).toString('base64'), signing_method: 'rsa' } }),
  external({ introspection: { enabled: true, url: INSIDE, client_id: 'a', client_secret: 'b' } }),
  oauth,
  { event_handlers: { events: { RatelimitExceeded: [handler] } } },
]

test('a refusal of an address on a private network names the setting that allows it there', async (t) => {
  const world = await gatewayWorld(t, { SVC_DB_IMPORTURL_ENABLED: 'true' })
  const { root } = world
  const named = new Set<string>()
  const said = (text: string, setting: string, what: string) => {
    assert.ok(text.includes(setting), `${what}: ${text}`)
    for (const { path } of SETTINGS)
      if (path.endsWith('allow_private') && path !== setting) assert.ok(!text.includes(path), `${what}: ${text}`)
    named.add(setting)
  }
  const ask = async (path: string, body: JsonObject) => (await world.call('POST', path, { as: root, body })).text
  for (const [index, more] of DEFINITIONS.entries()) {
    const api_definition = classic(`a${index}`, `/a${index}/`, 'http://upstream.test/', more)
    said(await ask('/api/apis', { api_definition }), 'webhooks.allow_private', JSON.stringify(more))
  }
  const hook = { name: 'h', method: 'POST', target_path: INSIDE }
  said(await ask('/api/hooks', hook), 'webhooks.allow_private', 'webhook')
  const url = { url: `${INSIDE}document.json` }
  said(await ask('/api/apis/oas/import?listenPath=/x/', url), 'dashboard.import_url.allow_private', 'import')
  const fenced = await ssoWorld(t, { SVC_SSO_ALLOWPRIVATE: 'false' })
  await fenced.profile({
    ...{ ID: 'ad', ActionType: 'GenerateOrLoginUserProfile', ProviderName: 'ADProvider' },
    ProviderConfig: { LDAPServer: '10.0.0.1', LDAPPort: '389', LDAPUserDN: 'cn=*USERNAME*' },
  })
  await fenced.call('POST', '/auth/ad/ADProvider', { body: 'username=ada&password=right' })
  said(whyRefused(fenced), 'sso.allow_private', 'directory')
  const settings = SETTINGS.map(({ path }) => path).filter((path) => path.endsWith('allow_private'))
  assert.deepEqual([...named].sort(), settings.sort())
})
