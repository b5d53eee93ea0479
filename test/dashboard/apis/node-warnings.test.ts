import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SETTING_NEEDS } from '../../../src/gateway/apis/node-flaws.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic } from '../../worlds/base/definitions.ts'
import { type GatewayWorld, gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { folderFor } from '../../worlds/flows/moves-world.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'

const oauth = (meta: JsonObject) => ({
  ...{ use_keyless: false, use_oauth2: true, auth_configs: { oauth: { name: 'oauth' } } },
  oauth_meta: { allowed_access_types: ['client_credentials'], ...meta },
})
const handler = (name: string, meta: JsonObject) => ({
  event_handlers: { events: { [name]: [{ handler_name: 'eh_web_hook_handler', handler_meta: meta }] } },
})
const https = { listen_path: '/x/', target_url: 'https://upstream.test/', strip_listen_path: true }

/** Definitions that settings of the node leave without effect, by the place of the warning. */
const CASES: readonly (readonly [path: string, more: JsonObject, words: RegExp])[] = [
  [
    'use_mutual_tls_auth',
    { use_mutual_tls_auth: true, client_certificates: ['0'.repeat(64)] },
    /gateway\.tls\.enabled/,
  ],
  ['certificates', { domain: 'needs.test', certificates: ['0'.repeat(64)] }, /gateway\.tls\.enabled/],
  ['oauth_meta.mutual_tls', oauth({ mutual_tls: 'required' }), /gateway\.tls\.enabled/],
  [
    'cache_options',
    { cache_options: { enable_cache: true, cache_timeout: 60, cache_all_safe_requests: true } },
    /gateway\.cache_bytes/,
  ],
  ['detailed_tracing', { detailed_tracing: true }, /opentelemetry\.enabled/],
  ['enable_detailed_recording', { enable_detailed_recording: true }, /analytics\.records_enabled/],
  [
    'event_handlers',
    handler('TriggerExceeded', { method: 'POST', target_path: 'https://hook.example/' }),
    /gateway\.monitor\.enable_trigger_monitors/,
  ],
  [
    'event_handlers',
    handler('RatelimitExceeded', { method: 'POST', target_path: 'http://10.0.0.1/' }),
    /webhooks\.allow_private/,
  ],
  ['grpc_web', { grpc_web: true, proxy: https }, /gateway\.proxy_enable_http2/],
  ['oauth_meta.registration_policies', oauth({ registration_policies: ['gold'] }), /gateway\.oauth_registration_token/],
  [
    'the document',
    { custom_middleware: { driver: 'typescript', pre: [{ name: 'act', path: 'm.ts' }] } },
    /not served: .*(?:gateway\.modules\.path)/,
  ],
]

const WITHHELD = {
  ...{ SVC_GW_CACHEBYTES: '0', SVC_ANALYTICS_RECORDSENABLED: 'false' },
  SVC_GW_MONITOR_ENABLETRIGGERMONITORS: 'false',
}

function granted(t: TestContext): Record<string, string> {
  const folder = folderFor(t)
  const { cert, key } = makeCertificate('gateway.test')
  for (const [name, text] of [
    ['cert.pem', cert],
    ['key.pem', key],
    ['m.ts', 'export function act() {}'],
  ] as const)
    writeFileSync(join(folder, name), text)
  return {
    ...{ SVC_GW_TLS_ENABLED: 'true', SVC_GW_TLS_LISTENPORT: '0', SVC_GW_MODULES_PATH: folder },
    ...{ SVC_GW_TLS_CERTFILE: join(folder, 'cert.pem'), SVC_GW_TLS_KEYFILE: join(folder, 'key.pem') },
    ...{ SVC_OPENTELEMETRY_ENABLED: 'true', SVC_OPENTELEMETRY_ENDPOINT: 'http://127.0.0.1:1' },
    ...{ SVC_WEBHOOKS_ALLOWPRIVATE: 'true', SVC_GW_PROXYENABLEHTTP2: 'true' },
    SVC_GW_OAUTHREGISTRATIONTOKEN: 'a-registration-token',
  }
}

/** The warnings of a save by the dashboard, by `/svc/`, and those that the dashboard reads afterwards. */
async function warningsOf(world: GatewayWorld, id: string, more: JsonObject) {
  const definition = { ...classic(id, `/${id}/`, 'http://upstream.test/', more) }
  const body = { ...definition, proxy: { ...(definition.proxy as JsonObject), listen_path: `/${id}/` } }
  const saved = await world.asked(200, 'POST', '/api/apis', world.root, { api_definition: body })
  const again = await world.gateway.svc('PUT', `/svc/apis/${id}`, body)
  assert.equal(again.status, 200, again.text)
  const read = await world.asked(200, 'GET', `/api/apis/${id}/warnings`, world.root)
  const lists = [saved.Warnings, (again.json as JsonObject).warnings, read.warnings]
  return lists.map((list) => (list ?? []) as { path: string; message: string }[])
}

test('a save says which features the settings of this node leave without effect', async (t) => {
  const [without, having] = [await gatewayWorld(t, WITHHELD), await gatewayWorld(t, granted(t))]
  const met = new Set<string>()
  for (const [index, [path, more, words]] of CASES.entries()) {
    const names = (warning: { path: string; message: string }) => warning.path === path && words.test(warning.message)
    for (const list of await warningsOf(without, `a${index}`, more)) {
      const found = list.find(names)
      assert.ok(found, `${path}: ${JSON.stringify(list)}`)
      met.add(found.message)
    }
    for (const list of await warningsOf(having, `a${index}`, more))
      assert.equal(list.find(names), undefined, `${path}: ${JSON.stringify(list)}`)
  }
  for (const { reason } of SETTING_NEEDS) assert.ok(met.has(reason), `no case for: ${reason}`)
})

test('a save of an API whose module is missing says what serves meanwhile', async (t) => {
  const folder = folderFor(t)
  const world = await gatewayWorld(t, { SVC_GW_MODULES_PATH: folder })
  const calling = (path: string) => ({ custom_middleware: { driver: 'typescript', pre: [{ name: 'act', path }] } })
  const [first] = await warningsOf(world, 'm', calling('none.ts'))
  assert.deepEqual(first, [
    {
      path: 'the document',
      message: 'is stored, but not served: module none.ts: cannot be read in gateway.modules.path (ENOENT)',
    },
  ])
  writeFileSync(join(folder, 'm.ts'), 'export function act() {}')
  const save = (path: string) =>
    world.gateway.svc('PUT', '/svc/apis/m', classic('m', '/m/', 'http://upstream.test/', calling(path)))
  assert.deepEqual((await save('m.ts')).json, { key: 'm', status: 'ok', action: 'modified' })
  assert.match((await save('none.ts')).text, /not served; the definition before it still is: module none\.ts/)
})
