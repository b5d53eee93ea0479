import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { startReceiver } from '../../worlds/oauth/receiver.ts'

const REDIRECT = 'https://app.example.org/callback'
const SHARED_SECRET = 'hook-secret-of-the-test'

function definition(notifyUrl: string): object {
  const tokenUrl = '/oauth/token'
  const flows = {
    authorizationCode: { authorizationUrl: '/oauth/authorize', tokenUrl, refreshUrl: tokenUrl, scopes: {} },
    clientCredentials: { tokenUrl, scopes: {} },
  }
  const scheme = {
    enabled: true,
    allowedAuthorizeTypes: ['code'],
    refreshToken: true,
    notifications: { onKeyChangeUrl: notifyUrl, sharedSecret: SHARED_SECRET },
  }
  return {
    openapi: '3.0.3',
    info: { title: 'Billing', version: '1' },
    paths: {},
    components: { securitySchemes: { oauth: { type: 'oauth2', flows } } },
    security: [{ oauth: [] }],
    'x-svc-api-gateway': {
      info: { id: 'billing', name: 'Billing', state: { active: true } },
      upstream: { url: 'http://127.0.0.1:9/' },
      server: {
        listenPath: { value: '/billing/', strip: true },
        authentication: { enabled: true, securitySchemes: { oauth: scheme } },
      },
    },
  }
}

async function started(t: TestContext, notifyUrl: string, store?: Store): Promise<TestGateway> {
  const env = { SVC_COMPAT_VENDORALIASES: 'acme,other', SVC_WEBHOOKS_ALLOWPRIVATE: 'true' }
  const gateway = await startTestGateway({ env, ...(store && { store }) })
  t.after(() => gateway.close())
  const rights = { billing: { api_id: 'billing', versions: ['Default'] } }
  const policy = { id: 'p', name: 'p', active: true, rate: 100, per: 1, access_rights: rights }
  const client = {
    client_id: 'app',
    secret: 'app-secret-of-the-test',
    api_id: 'billing',
    policy_id: 'p',
    redirect_uri: REDIRECT,
  }
  for (const [path, body] of [
    ['/svc/apis/oas', definition(notifyUrl)],
    ['/svc/policies', policy],
    ['/svc/oauth/clients/create', client],
  ] as const) {
    const { status, text } = await gateway.svc('POST', path, body)
    assert.equal(status, 200, text)
  }
  return gateway
}

async function tokens(gateway: TestGateway, form: Record<string, string>): Promise<Record<string, string>> {
  const { status, json, text } = await gateway.call('/billing/oauth/token', {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa('app:app-secret-of-the-test')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams(form).toString(),
  })
  assert.equal(status, 200, text)
  return json as Record<string, string>
}

async function newCode(gateway: TestGateway): Promise<string> {
  const form = new URLSearchParams({ response_type: 'code', client_id: 'app', redirect_uri: REDIRECT })
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const { json } = await gateway.svc('POST', '/billing/svc/oauth/authorize-client', form.toString(), type)
  return (json as { code: string }).code
}

test('tokens of a code and of a refresh are announced, those of client credentials are not', async (t) => {
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  const gateway = await started(t, receiver.url)
  await tokens(gateway, { grant_type: 'client_credentials' })
  const code = await newCode(gateway)
  const first = await tokens(gateway, { grant_type: 'authorization_code', code, redirect_uri: REDIRECT })
  const second = await tokens(gateway, { grant_type: 'refresh_token', refresh_token: first.refresh_token! })
  await eventually('both have arrived', () => receiver.received.length >= 2)
  assert.deepEqual(
    receiver.received.map(({ body }) => JSON.parse(body)),
    [
      {
        auth_code: code,
        new_oauth_token: first.access_token,
        refresh_token: first.refresh_token,
        old_refresh_token: '',
        notification_type: 'new',
      },
      {
        auth_code: '',
        new_oauth_token: second.access_token,
        refresh_token: second.refresh_token,
        old_refresh_token: first.refresh_token,
        notification_type: 'refresh',
      },
    ],
  )
  const { headers, body } = receiver.received[0]!
  assert.equal(headers['x-svc-shared-secret'], SHARED_SECRET)
  assert.equal(headers['x-acme-shared-secret'], SHARED_SECRET)
  const at = Math.floor(gateway.clock.wall() / 1000)
  const hex = createHmac('sha256', SHARED_SECRET).update(`${at}.${body}`).digest('hex')
  assert.equal(headers['x-svc-signature'], `t=${at},v1=${hex}`)
})

test('a private target is not reached unless it is allowed, and the list of deliveries says why', async (t) => {
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  // Saved while it was allowed: it is refused at save otherwise.
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  await (await started(t, receiver.url, store)).close()
  const gateway = await startTestGateway({ store, clock })
  t.after(async () => {
    await gateway.close()
    await store.close()
  })
  const given = await tokens(gateway, {
    grant_type: 'authorization_code',
    code: await newCode(gateway),
    redirect_uri: REDIRECT,
  })
  const list = async () => (await gateway.svc('GET', '/svc/oauth/notifications/billing')).json as { error: string }[]
  await eventually('it was tried', async () => (await list())[0]?.error !== '')
  assert.match((await list())[0]!.error, /private or reserved network/)
  assert.equal(receiver.connections(), 0)
  const written = JSON.stringify(gateway.log)
  for (const secret of [given.access_token!, given.refresh_token!, SHARED_SECRET])
    assert.equal(written.includes(secret), false)
})
