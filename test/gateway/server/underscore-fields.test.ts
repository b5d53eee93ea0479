import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { CERTIFICATE_FIELDS } from '../../../src/gateway/authentication/credential-places.ts'
import { SCHEMES } from '../../../src/model/authentication/schemes.ts'
import { kindOfName, makeField } from '../../../src/wire/hpack/field.ts'
import { FIELD_NAMES, READ_FIELDS } from '../../../src/wire/http1/fields.ts'
import { requestTrailerLines } from '../../../src/wire/http2/request-text.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway, TEST_SECRET } from '../../worlds/base/harness.ts'
import { rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { type Pairs, sendExactly, VERSIONS, valuesOf } from '../../worlds/gateway/exact-fields.ts'
import { base64, SECRET } from '../../worlds/gateway/jwt-fixtures.ts'
import { calling, install } from '../../worlds/gateway/module-fixtures.ts'
import { variableOfField as variable } from '../../worlds/gateway/upstream-readers.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

async function world(t: TestContext, env: Record<string, string> = {}) {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({ env })
  t.after(() => gate.close())
  const open = defined({
    ...{ id: 'open', url: origin.url },
    global: {
      transformRequestHeaders: { enabled: true, remove: ['X-Secret'], add: [{ name: 'X-Role', value: 'reader' }] },
    },
  })
  const keyed = defined({
    id: 'keyed',
    url: origin.url,
    keyIn: 'api_key',
    authentication: { stripAuthorizationData: true },
  })
  for (const document of [open, keyed]) {
    const made = await gate.svc('POST', '/svc/apis/oas', document)
    assert.equal(made.status, 200, made.text)
  }
  const key = await gate.svc('POST', '/svc/keys/create', { access_rights: rightsOn('keyed') })
  const dropped = async () =>
    Number(/^svc_underscore_fields_dropped_total (\d+)$/m.exec((await gate.svc('GET', '/metrics')).text)?.[1])
  return { origin, gate, dropped, key: String((key.json as { key: string }).key) }
}

const spelled = (name: string) =>
  fc
    .tuple(
      ...[...name].map((c) =>
        fc.constantFrom(...(c === '-' ? ['-', '_', '_', '.', '!', '~', '+'] : [c, c.toUpperCase()])),
      ),
    )
    .map((letters) => letters.join(''))

/** An API with everything that sets or removes a field: credentials, the version, edits, modules. */
async function ownWorld(t: TestContext, env: Record<string, string>) {
  const { gateway: gate, origin, publish, write } = await install(t, env)
  write(
    'm.ts',
    `export function put(x) { x.headers.set('x-by-module', 'module') }
     export function look() {}`,
  )
  const auth_configs = {
    authToken: { name: 'key', auth_header_name: 'X-My-Key', use_certificate: true },
    jwt: { name: 'person', auth_header_name: 'X-Jwt' },
    basic: { name: 'login', auth_header_name: 'X-Login' },
    hmac: { name: 'signature' },
  }
  const version = {
    ...{ name: 'Default', use_extended_paths: true },
    ...{ global_headers: { 'X-Role': 'reader' }, global_headers_remove: ['X-Secret'] },
  }
  const more = {
    ...{ use_keyless: false, use_standard_auth: true, enable_jwt: true, use_basic_auth: true },
    ...{ enable_signature_checking: true, strip_auth_data: true, auth_configs },
    ...{ jwt_signing_method: 'hmac', jwt_source: base64(SECRET), jwt_default_policies: ['p'] },
    security_processing_mode: 'compliant',
    security_requirements: [['key'], ['person'], ['login'], ['signature']],
    definition: { location: 'header', key: 'X-Version', strip_versioning_data: true, fallback_to_default: true },
    version_data: { not_versioned: false, default_version: 'Default', versions: { Default: version } },
  }
  const made = await publish(calling(origin.url, { post: ['put'], response: ['look'] }, more))
  assert.equal(made.status, 200, made.text)
  const { key } = (await gate.svc('POST', '/svc/keys/create', { access_rights: rightsOn('m') })).json as { key: string }
  const send = async (version: (typeof VERSIONS)[number], fields: Pairs) =>
    (await sendExactly(gate.port, version, { path: '/m/x', fields: [['X-My-Key', key], ...fields] })).status
  return { gate, origin, send }
}

/** Every name that the gateway sets, removes or keeps for itself, on some way to an upstream. */
const SET: readonly string[] = ['x-role', 'x-secret', 'x-by-module', 'x-version', 'x-my-key', 'x-jwt', 'x-login']
const REMOVED = [
  ...FIELD_NAMES.flatMap((name) =>
    name === '' ? [] : name.endsWith('-') ? [`${name}prefix`, `${name}client-cert`] : [name],
  ),
  ...SCHEMES.flatMap(({ extraFields, ownFields = [] }) => [...ownFields, ...extraFields]),
  ...CERTIFICATE_FIELDS,
  ...READ_FIELDS,
  ...['admin-auth', 'x-svc-authorization', 'dpop'],
]

test('every field that the gateway reads in requests is one whose spellings it hides', () => {
  const sources = join(import.meta.dirname, '../../../src/gateway')
  const read = /\brequest\.(?:get|single|all)\('([a-z]+-[a-z-]+)'\)/g
  const names = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...readFileSync(join(sources, file), 'utf8').matchAll(read)].map(([, name]) => name!))
  assert.ok(names.includes('max-forwards') && names.includes('if-none-match'))
  const own = new Set(SCHEMES.flatMap(({ extraFields, ownFields = [] }) => [...ownFields, ...extraFields]))
  const known = (name: string) => FIELD_NAMES.includes(name) || READ_FIELDS.has(name) || own.has(name)
  assert.deepEqual(
    names.filter((name) => !known(name)),
    [],
  )
})

for (const allowed of ['false', 'true'])
  test(`no spelling reaches a variable of the gateway, underscores allowed: ${allowed}`, async (t) => {
    const { gate, origin, send } = await ownWorld(t, { SVC_GW_ALLOWUNDERSCOREFIELDS: allowed })
    const names = fc.constantFrom(...SET, ...REMOVED.filter((name) => name.includes('-')))
    const field = names.chain((name) => fc.tuple(spelled(name), fc.constant(TEST_SECRET)))
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...VERSIONS),
        fc.array(field, { minLength: 1, maxLength: 6 }),
        async (version, fields) => {
          // Fields that the wire reads by name it reads, and may refuse.
          const sent = fields.filter(([name]) => /[^a-z0-9-]/i.test(name))
          const status = await send(version, sent)
          if (status === 400) return
          assert.equal(status, 200)
          const { rawHeaders } = origin.seen.at(-1)!
          const seen = rawHeaders.flatMap(
            (name, i): Pairs => (i % 2 === 0 ? [[variable(name), rawHeaders[i + 1]!]] : []),
          )
          assert.deepEqual(
            seen.filter(([, value]) => value.includes(TEST_SECRET)),
            [],
          )
          assert.deepEqual(valuesOf({ fields: seen }, 'HTTP_X_ROLE'), ['reader'])
          assert.deepEqual(valuesOf({ fields: seen }, 'HTTP_X_BY_MODULE'), ['module'])
        },
      ),
      { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 2000 : 150 },
    )
    assert.ok(origin.seen.length > 0)
    assert.equal(gate.log.filter(({ level }) => level === 'error').length, 0)
  })

test('Proxy reaches no upstream, where CGI would take it for the address of a proxy', async (t) => {
  const { gate, origin } = await world(t)
  for (const version of VERSIONS) {
    const fields: Pairs = [
      ['Proxy', 'http://evil.example'],
      ['X-Proxy', 'theirs'],
    ]
    assert.equal((await sendExactly(gate.port, version, { path: '/open/x', fields })).status, 200)
    const { headers } = origin.seen.at(-1)!
    assert.deepEqual([headers.proxy, headers['x-proxy']], [undefined, 'theirs'])
  }
})

test('dropped fields are counted, and nobody reads them', async (t) => {
  const { gate, origin, dropped } = await world(t)
  for (const version of VERSIONS) {
    const before = await dropped()
    const fields: Pairs = [
      ['X_A', '1'],
      ['_', '2'],
      ['x-a_', '3'],
      ['x-b', '4'],
      ['Content_Length', '5'],
      ['Transfer_Encoding', 'chunked'],
      ['X.Real.IP', '6'],
      ['x.b', '7'],
    ]
    assert.equal((await sendExactly(gate.port, version, { path: '/open/x', fields })).status, 200)
    const { headers } = origin.seen.at(-1)!
    assert.deepEqual([headers['x-b'], headers['x.b']], ['4', '7'])
    assert.deepEqual(
      Object.keys(headers).filter((name) => name.includes('_')),
      [],
    )
    assert.equal((await dropped()) - before, 6)
  }
})

test('an API reads its credential from a name with an underscore, and no other such name passes', async (t) => {
  const { gate, origin, key, dropped } = await world(t)
  for (const version of VERSIONS) {
    const sent: Pairs = [
      ['x_role', 'admin'],
      ['API_KEY', key],
    ]
    assert.equal((await sendExactly(gate.port, version, { path: '/keyed/x', fields: sent })).status, 200)
    const { headers } = origin.seen.at(-1)!
    assert.deepEqual([headers.api_key, headers.x_role], [undefined, undefined], 'stripped, dropped')
    const twice: Pairs = [
      ['api_key', key],
      ['api_key', 'other'],
    ]
    assert.equal((await sendExactly(gate.port, version, { path: '/keyed/x', fields: twice })).status, 400)
    const near: Pairs = [
      ['api_ke', key],
      ['api_key2', key],
      ['api-key', key],
    ]
    assert.equal((await sendExactly(gate.port, version, { path: '/keyed/x', fields: near })).status, 401)
  }
  assert.equal(await dropped(), 2 * (1 + 0 + 2))
})

test('the setting lets them pass, answers always have them', async (t) => {
  const { gate, origin, dropped } = await world(t, { SVC_GW_ALLOWUNDERSCOREFIELDS: 'true' })
  origin.script = (_request, response) => response.writeHead(200, { answer_field: 'yes' }).end()
  for (const version of VERSIONS) {
    const answer = await sendExactly(gate.port, version, { path: '/open/x', fields: [['X_A', '1']] })
    assert.equal(origin.seen.at(-1)!.headers.x_a, '1')
    assert.deepEqual(valuesOf(answer, 'answer_field'), ['yes'])
  }
  assert.equal(await dropped(), 0)
})

test('trailers of a request say no more than its fields may', () => {
  const sent = [
    'x-sum',
    'x_role',
    'x.role',
    'proxy',
    'x-forwarded-for',
    'x-forwarded-prefix',
    'forwarded',
    'x-real-ip',
    'authorization',
  ]
  const fields = sent.map((name) => makeField(name, kindOfName(name), 'v'))
  assert.equal(requestTrailerLines(fields), 'x-sum: v\r\n')
  assert.equal(requestTrailerLines([makeField(':path', kindOfName(':path'), '/')]), undefined)
})

test('both spellings of a credential are one, and both are stripped', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({ env: { SVC_GW_ALLOWUNDERSCOREFIELDS: 'true' } })
  t.after(() => gate.close())
  const names = ['X-My_Key', 'x_my_key', 'X-My-Key']
  for (const [at, keyIn] of names.entries()) {
    for (const stripAuthorizationData of [true, false]) {
      const id = `${stripAuthorizationData ? 'strip' : 'keep'}${at}`
      const draft = { id, url: origin.url, keyIn, authentication: { stripAuthorizationData } }
      assert.equal((await gate.svc('POST', '/svc/apis/oas', defined(draft))).status, 200)
    }
  }
  const ids = names.flatMap((_, at) => [`strip${at}`, `keep${at}`])
  const made = await gate.svc('POST', '/svc/keys/create', { access_rights: rightsOn(...ids) })
  const { key } = made.json as { key: string }
  const spellings = ['x-my-key', 'x_my_key', 'X-MY_KEY', 'x_my-key']
  for (const version of VERSIONS) {
    for (const [at, name] of names.entries()) {
      for (const other of spellings) {
        for (const id of [`strip${at}`, `keep${at}`]) {
          const status = async (...fields: Pairs) =>
            (await sendExactly(gate.port, version, { path: `/${id}/x`, fields })).status
          const label = `${id} HTTP/${version} ${other}`
          assert.equal(await status([name, key], [other, 'victim']), 400, label)
          assert.equal(await status([other, 'victim'], [name, key]), 400, label)
          const isExact = other.toLowerCase() === name.toLowerCase()
          assert.equal(await status([other, key]), isExact ? 200 : 401, label)
          const seen = origin.seen.at(-1)?.rawHeaders.map(variable) ?? []
          if (isExact) assert.equal(seen.includes('HTTP_X_MY_KEY'), id.startsWith('keep'), label)
        }
      }
    }
  }
})

test('where no key is asked for, every spelling of it is stripped', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({ env: { SVC_GW_ALLOWUNDERSCOREFIELDS: 'true' } })
  t.after(() => gate.close())
  const draft = defined({
    ...{ id: 'open', url: origin.url, keyIn: 'X_Key', authentication: { stripAuthorizationData: true } },
    paths: { '/free': { get: { operationId: 'free', responses: { 200: { description: 'ok' } } } } },
    operations: { free: { ignoreAuthentication: { enabled: true } } },
  })
  const made = await gate.svc('POST', '/svc/apis/oas', draft)
  assert.equal(made.status, 200, made.text)
  for (const version of VERSIONS) {
    const fields: Pairs = [
      ['X-Key', 'victim'],
      ['x_key', 'victim'],
      ['X-Keys', 'other'],
    ]
    assert.equal((await sendExactly(gate.port, version, { path: '/open/free', fields })).status, 200)
    const seen = origin.seen.at(-1)!.rawHeaders.map(variable)
    assert.deepEqual([seen.includes('HTTP_X_KEY'), seen.includes('HTTP_X_KEYS')], [false, true])
  }
})
