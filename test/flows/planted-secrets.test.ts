import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { EXTENSION } from '../../src/model/apis/definition/members.ts'
import type { JsonObject } from '../../src/model/json/json.ts'
import { classic, defined, rights } from '../worlds/base/definitions.ts'
import { fill } from '../worlds/flows/moves-filled.ts'
import { filesIn, folderFor, startEnvironment } from '../worlds/flows/moves-world.ts'

const MARK = 'planted-4c1e'
const NAMES = ['password', 'client_secret', 'access_token', 'api_key', 'credential'] as const

/** Secrets under every name, each identified by its place. */
const planted = (place: string): JsonObject =>
  Object.fromEntries(NAMES.map((name) => [name, `${MARK}-${place}-${name}`]))
/** An address with a credential in its query, and what stays readable of it. */
const query = (place: string, name = 'api_key') => `https://up.example/${place}?page=1&${name}=${MARK}-${place}`

/** Places that are looked at in documents of APIs. */
function apis(): JsonObject[] {
  const document = defined({ id: 'planted', url: query('upstream') })
  const extension = document[EXTENSION] as JsonObject
  const upstream = extension.upstream as JsonObject
  upstream.uptimeTests = {
    ...{ enabled: false },
    tests: [{ url: query('check', 'token'), method: 'POST', body: `{"password":"${MARK}-check-body"}`, headers: {} }],
  }
  ;(extension.server as JsonObject).eventHandlers = [
    { enabled: true, trigger: 'QuotaExceeded', type: 'webhook', url: query('handler', 'key'), method: 'POST' },
  ]
  extension.middleware = {
    operations: {
      get: { urlRewrite: { enabled: true, pattern: '/x', rewriteTo: `https://up.example/y?key=${MARK}-rewrite` } },
    },
  }
  document.paths = { '/x': { get: { operationId: 'get', responses: {} } } }
  const handler = { target_path: query('classic-handler', 'sig'), method: 'POST', header_map: {} }
  const definition = classic('planted-classic', '/planted-classic/', query('classic', 'access_key'), {
    config_data: planted('config'),
    uptime_tests: { check_list: [{ url: '/', method: 'POST', body: `${MARK}-classic-body` }] },
    event_handlers: {
      events: { QuotaExceeded: [{ handler_name: 'eh_web_hook_handler', handler_meta: handler }] },
    },
  })
  return [document, { api_definition: definition }]
}

test('planted secrets of every document kind are sealed, masked, kept, and not in a dump', async (t) => {
  const world = await startEnvironment(t, { onDisk: true, env: { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' } })
  const { ask, dashboard } = world
  await fill(world, 'http://127.0.0.1:9/')
  const [document, wrapper] = apis()
  await ask('POST', '/api/apis/oas', document)
  await ask('POST', '/api/apis', wrapper)
  const policy = { id: 'planted', name: 'Planted', access_rights: rights('orders'), meta_data: planted('policy') }
  await ask('POST', '/api/portal/policies', policy)
  await ask('POST', '/api/hooks', { name: 'planted', method: 'POST', target_path: query('hook'), header_map: {} })
  const client = { client_id: 'planted', redirect_uri: 'https://app.example/cb', metadata: planted('client') }
  await ask('POST', '/api/apis/oauth/ledger', client)
  const mails = { mail_from_name: 'A', ...planted('mail') }
  await ask('PUT', '/api/portal/configuration', {
    ...planted('portal'),
    mail_options: mails,
    dcr_options: planted('dcr'),
    require_key_approval: true,
  })
  const catalogue = await ask('GET', '/api/portal/catalogue')
  const entry = {
    name: 'Planted',
    policy_id: 'planted',
    show: true,
    config: planted('entry'),
    fields: planted('fields'),
  }
  await ask('PUT', '/api/portal/catalogue', { ...catalogue, apis: [...(catalogue.apis as JsonObject[]), entry] })
  const developer = String(
    (await ask('POST', '/api/portal/developers', { email: 'dev@example.test', fields: planted('developer') })).Message,
  )
  const request = { by_user: developer, apply_policies: ['gold'], fields: planted('request'), version: 'v2' }
  const requested = String((await ask('POST', '/api/portal/requests', request)).Message)
  const data = defined({ id: 'asset', url: query('asset', 'token') })
  await ask('POST', '/api/assets', { name: 'Planted', kind: 'oas-template', data })

  const provider = { Name: 'openid-connect', Key: 'k', Secret: 's', DiscoverURL: query('discovery', 'token') }
  await ask('POST', '/api/tib/profiles', {
    ...{ ID: 'planted', Name: 'Planted', ActionType: 'GenerateOrLoginUserProfile', ProviderName: 'SocialProvider' },
    ...{ Type: 'redirect', ReturnURL: '/tap' },
    ProviderConfig: { CallbackBaseURL: 'https://gw.example', UseProviders: [provider] },
  })

  const { hooks } = await ask('GET', '/api/hooks?p=-1')
  const hook = (hooks as JsonObject[]).find(({ name }) => name === 'planted')!
  const one = [
    ...['/api/apis/oas/planted', '/api/apis/oas/planted/export', '/api/apis/planted-classic', `/api/hooks/${hook.id}`],
    ...['/api/portal/policies/planted', '/api/apis/oauth/ledger/planted', `/api/portal/requests/${requested}`],
    ...[`/api/portal/developers/${developer}`, '/api/portal/configuration', '/api/portal/catalogue'],
    '/api/tib/profiles/planted',
  ]
  const several = [
    ...['/api/apis?p=-1', '/api/apis/search?q=planted&p=-1', '/api/hooks?p=-1', '/api/portal/policies?p=-1'],
    ...['/api/apis/oauth/ledger?p=-1', '/api/portal/requests?p=-1', '/api/portal/developers?p=-1', '/api/assets?p=-1'],
    ...[
      '/api/tib/profiles',
      '/api/moves/apis',
      '/api/moves/clients',
      '/portal/configuration',
      '/portal/catalogue',
      '/portal/requests',
    ],
  ]
  const { audit_logs: entries = [] } = (await ask('GET', '/api/audit-logs?p=-1')) as { audit_logs?: JsonObject[] }
  assert.ok(entries.length > 10)
  const logs = [
    ...['/api/audit-logs?p=-1', '/api/audit-logs?download=true'],
    ...entries.map(({ _id, id }) => `/api/audit-logs/${_id ?? id}`),
  ]

  // Those who may write read them, so that what follows looks for something that is there.
  for (const path of one.filter((each) => !each.startsWith('/api/portal/requests')))
    assert.ok((await world.call('GET', path)).text.includes(MARK), `${path} for those who may write`)
  const reader = await dashboard.user(
    Object.fromEntries(
      ['apis', 'keys', 'policies', 'hooks', 'oauth', 'portal', 'api_assets', 'audit_logs', 'users', 'idm'].map(
        (noun) => [noun, 'read'],
      ),
    ),
  )
  for (const path of [...one, ...several, ...logs]) {
    const { status, text } = await dashboard.call('GET', path, { as: reader })
    if (!path.includes('/moves/')) assert.equal(status, 200, `${path} ${text}`)
    assert.ok(!text.includes(MARK), `${path} shows a reader ${text.slice(text.indexOf(MARK), text.indexOf(MARK) + 60)}`)
  }
  for (const path of logs) assert.ok(!(await world.call('GET', path)).text.includes(MARK), `${path} tells a secret`)

  // All other readable routes.
  for (const { method, path, once } of dashboard.dashboard.routes) {
    if (method !== 'GET' || once === true) continue
    const filled = path.replaceAll(/\{[^}]*\}/g, (name) => (/^\{(?:apiId|id)\}$/.test(name) ? 'planted' : '1'))
    const { text } = await dashboard.call('GET', filled, { as: reader })
    assert.ok(
      !text.includes(MARK),
      `${filled} shows a reader ${text.slice(text.indexOf(MARK) - 60, text.indexOf(MARK) + 60)}`,
    )
  }

  // A document as a reader saw it, written back by a user with permission, changes nothing.
  for (const path of [
    ...['/api/apis/oas/planted', `/api/hooks/${hook.id}`, '/api/portal/configuration', '/api/portal/catalogue'],
    ...[
      '/api/tib/profiles/planted',
      '/api/portal/policies/planted',
      `/api/portal/developers/${developer}`,
      `/api/portal/requests/${requested}`,
    ],
  ]) {
    const before = (await world.call('GET', path)).text
    const seen = (await dashboard.call('GET', path, { as: reader })).json
    await ask('PUT', path, seen)
    const after = (await world.call('GET', path)).text
    assert.deepEqual(
      after.match(new RegExp(`${MARK}[\\w-]*`, 'g')),
      before.match(new RegExp(`${MARK}[\\w-]*`, 'g')),
      path,
    )
  }

  const dir = folderFor(t)
  const dumped = await world.run('dump', '-t', dir)
  assert.equal(dumped.status, 0, dumped.err)
  // The sent content is part of what people review, where its name does not indicate a secret.
  const dump = Object.entries(filesIn(dir)).filter(([, text]) =>
    text.replaceAll(/planted-4c1e-classic-body/g, '').includes(MARK),
  )
  assert.deepEqual(
    dump.map(([name]) => name),
    [],
  )

  const files = readdirSync(world.folder!, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  assert.ok(files.length > 0)
  for (const { parentPath, name } of files) {
    const bytes = readFileSync(join(parentPath, name))
    const at = bytes.indexOf(MARK)
    assert.equal(at, -1, `${name} holds ${bytes.subarray(at - 80, at + 60).toString('latin1')}`)
  }
})
