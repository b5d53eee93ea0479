import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CALL_EXAMPLES } from '../../src/dashboard/openapi/call-examples.ts'
import { isObject, type JsonObject } from '../../src/model/json/json.ts'
import type { Answer } from '../worlds/base/client.ts'
import { startTestDashboard, type TestDashboard, type TestUser } from '../worlds/dashboard/harness.ts'

const DOCUMENT = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../docs/generated/openapi.json'), 'utf8'),
) as JsonObject

interface DescribedCall {
  readonly method: string
  readonly path: string
  readonly types: readonly string[]
}

/** Calls with a body, by the id of the operation. */
const CALLS = new Map(
  Object.entries(DOCUMENT.paths as Record<string, Record<string, JsonObject>>).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { operationId, requestBody }]): [string, DescribedCall][] => {
      const { content } = (requestBody ?? {}) as { content?: JsonObject }
      const types = Object.keys(content ?? {})
      return content === undefined ? [] : [[String(operationId), { method: method.toUpperCase(), path, types }]]
    }),
  ),
)

/** Calls that need more than their body, each with what that is. */
const NOT_SENT: Readonly<Record<string, string>> = {
  ...{ createCertificate: 'a file', tryApi: 'a gateway' },
  ...{
    continueSignIn: 'a sign-in',
    signInByPasskey: 'a passkey',
    registerPasskey: 'a passkey',
    renamePasskey: 'a passkey',
  },
  ...{ confirmTotp: 'an authenticator app', disableTotp: 'an authenticator app' },
  ...{ verifySession: 'a browser', chooseSessionOrganisation: 'a browser' },
  ...{
    resetPassword: 'a mail',
    resetDeveloperPassword: 'a mail',
    collectKey: 'a mail',
    setUpInstallation: 'a set-up link',
  },
  ...{ revokeOwnAppToken: 'a portal session', revokeOwnAppTokens: 'a portal session' },
  ...{ signInByDirectory: 'a directory', acceptSamlResponse: 'an identity provider' },
}

interface KeyList {
  readonly Data: readonly { readonly key_id: string }[]
}

const DEVELOPERS = '/api/portal/developers/'
const ORGANISATION = '5e9d9544a1dcd60001d0ed20'
/** Placeholders by the id of the operation, where the path alone does not say what they mean. */
const ODD: Readonly<Record<string, JsonObject>> = {
  updateApi: { id: 'ledger' },
  createChosenKey: { keyId: 'a-key-of-another-system' },
  updateApiKey: { apiId: 'billing' },
  authorizeClient: { apiId: 'ledger' },
}
const BY_NAME: JsonObject = {
  ...{ apiID: 'billing', api_id: 'billing', apiId: 'ledger', asset_id: 'company-defaults', clientId: 'bookkeeper' },
  ...{ permission: 'reports', username: 'nightly' },
}

/** Values of the placeholder `id`, by the path before it. */
const BY_PATH: Readonly<Record<string, string>> = {
  '/admin/org/keys/': ORGANISATION,
  '/admin/organisations/': ORGANISATION,
  '/api/apis/': 'billing',
  '/api/apis/oas/': 'billing',
  '/api/portal/policies/': 'small',
  '/api/tib/profiles/': 'company',
}

test('the dashboard takes the example of every call that needs nothing from elsewhere', async (t) => {
  const dashboard = await startTestDashboard()
  t.after(() => dashboard.close())
  const admin = await dashboard.user({ IsAdmin: 'admin', ResetPassword: 'admin' })
  const made = new Map<string, string>(Object.entries(BY_PATH))
  const flaws: string[] = []
  for (const [id, body] of Object.entries(CALL_EXAMPLES)) {
    if (NOT_SENT[id] !== undefined) continue
    await before(id, dashboard, admin, made)
    const { method, path, types } = CALLS.get(id)!
    const target = path.replace(/\{(\w+)\}/g, (_all, name: string, at: number) =>
      encodeURIComponent(String(ODD[id]?.[name] ?? made.get(path.slice(0, at)) ?? made.get(name) ?? BY_NAME[name])),
    )
    const isForm = types[0] === 'application/x-www-form-urlencoded'
    const sent = id === 'createKeyRequest' ? { ...(body as JsonObject), by_user: made.get(DEVELOPERS) } : body
    const answer = await dashboard.call(
      method,
      `${target}${id === 'importOpenapiApi' ? '?listenPath=/weather/' : ''}`,
      {
        as: path.startsWith('/admin/') ? 'installation' : admin,
        body: isForm ? new URLSearchParams(sent as Record<string, string>).toString() : sent,
        ...(isForm && { headers: { 'content-type': types[0]! } }),
      },
    )
    if (answer.status !== 200 && answer.status !== 201)
      flaws.push(`${id}: ${method} ${target} ${answer.status} ${answer.text}`)
    else await note(id, answer, dashboard, admin, made)
  }
  assert.deepEqual(flaws, [])
  const missing = [...CALLS.keys()].filter((id) => !Object.hasOwn(CALL_EXAMPLES, id))
  assert.deepEqual(missing, ['createCertificate'])
  const unknown = [...Object.keys(NOT_SENT), ...Object.keys(CALL_EXAMPLES)].filter((id) => !CALLS.has(id))
  assert.deepEqual(unknown, [])
})

/** Prepares a call that needs more than the examples before it: settings of the organisation, an OAuth app of the developer. */
async function before(
  id: string,
  { call, orgId }: TestDashboard,
  admin: TestUser,
  made: Map<string, string>,
): Promise<void> {
  if (id === 'createSignInNonce') {
    const body = { owner_name: 'First organisation', sso_enabled: true }
    const { status, text } = await call('PUT', `/admin/organisations/${orgId}`, { as: 'installation', body })
    assert.equal(status, 200, text)
  }
  if (id === 'createDeveloperSubscription' || id === 'createKeyRequest') {
    // A policy is subscribed to once.
    const path = `${DEVELOPERS}${made.get(DEVELOPERS)}/keys`
    const { Data } = (await call('GET', path, { as: admin })).json as KeyList
    for (const { key_id } of Data) await call('DELETE', `${path}/${key_id}`, { as: admin })
  }
  if (id !== 'updateDeveloperApp') return
  const access_rights = { ledger: { api_id: 'ledger', versions: ['Default'] } }
  const policy = { id: 'reports', name: 'Reports', active: true, rate: 1, per: 1, access_rights }
  const stored = await call('POST', '/api/portal/policies', { as: admin, body: policy })
  assert.equal(stored.status, 200, stored.text)
  const body = { apply_policies: ['reports'], oauth_info: { redirect_uri: 'https://app.example.com/callback' } }
  const app = await call('POST', `/api/portal/developers/${made.get(DEVELOPERS)}/keys`, { as: admin, body })
  assert.equal(app.status, 200, app.text)
  made.set(`${DEVELOPERS}oauth/`, (app.json as { client_id: string }).client_id)
}

/** Where an answer has the id of what was created, and the paths that name it. */
const CREATED: Readonly<Record<string, readonly [member: string, ...paths: string[]]>> = {
  createUserGroup: ['Meta', '/api/usergroups/'],
  createUser: ['Meta', '/api/users/'],
  createAdminUser: ['Meta', '/admin/users/'],
  createLabel: ['id', '/api/labels/'],
  createKey: ['key_id', '/api/keys/', '/api/apis/{apiId}/keys/'],
  createDeveloper: ['Message', DEVELOPERS, `${DEVELOPERS}password/`],
  createPortalPage: ['Message', '/api/portal/pages/'],
  createKeyRequest: ['Message', '/api/portal/requests/'],
}

/** Keeps the id of what was created, by the paths of its calls. */
async function note(
  id: string,
  { json }: Answer,
  { call }: TestDashboard,
  admin: TestUser,
  made: Map<string, string>,
): Promise<void> {
  const [member, ...paths] = CREATED[id] ?? ['']
  const created = (json as JsonObject)[member]
  for (const path of paths) made.set(path, String(isObject(created ?? null) ? (created as JsonObject).id : created))
  if (id === 'createWebhook') {
    const { hooks } = (await call('GET', '/api/hooks', { as: admin })).json as { hooks: { id: string }[] }
    made.set('/api/hooks/', hooks[0]!.id)
  }
  if (id === 'createDeveloperKey') {
    const { Data } = (await call('GET', `${DEVELOPERS}${made.get(DEVELOPERS)}/keys`, { as: admin })).json as KeyList
    made.set(`${DEVELOPERS}{id}/keys/`, Data[0]!.key_id)
  }
}
