import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toOas } from '../../../src/model/apis/convert/convert.ts'
import { EXTENSION } from '../../../src/model/apis/definition/members.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startEnvironment } from '../../worlds/flows/moves-world.ts'

const UP = 'http://up.test/'
const CERTIFICATE = 'ab'.repeat(32)

const document = (server: JsonObject, more: JsonObject = {}, extension: JsonObject = {}): JsonObject => ({
  openapi: '3.0.3',
  info: { title: 'a', version: '1' },
  paths: { '/a': { get: { operationId: 'op', responses: { default: { description: '' } } } } },
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  [EXTENSION]: {
    info: { id: 'a', name: 'a', state: { active: true } },
    upstream: { url: UP },
    server: { listenPath: { value: '/a/', strip: true }, ...server },
    ...extension,
  },
  ...more,
})
const SECURITY = { security: [{ key: [] }] }
const OPERATION = { paths: { '/a': { get: { operationId: 'op', security: [{ key: [] }], responses: {} } } } }
const ON = { enabled: true, securitySchemes: { key: { enabled: true } } }

/** Documents, the status of saving them, and the words of the refusal or of the warnings, in order. */
const CASES: readonly (readonly [name: string, body: JsonObject, status: number, words: readonly RegExp[]])[] = [
  ['a key is asked for, and taken', document({ authentication: ON }, SECURITY), 200, []],
  [
    'security, no authentication',
    document({}, SECURITY),
    400,
    [/authentication\.enabled: must be written.*`security` of/],
  ],
  ['security of an operation alone', document({}, OPERATION), 400, [/`security` of GET \/a/]],
  ['security that may be left out', document({}, { security: [{ key: [] }, {}] }), 200, []],
  [
    'a scheme without the switch',
    document({ authentication: { securitySchemes: ON.securitySchemes } }),
    400,
    [/the scheme "key" asks for a credential/],
  ],
  ['written out', document({ authentication: { enabled: false } }, SECURITY), 200, [/open although `security`/]],
  ['misspelt', document({ authentification: ON }), 400, [/authentification: did you mean "authentication"/]],
  [
    'a misspelt member',
    document(
      {},
      {},
      {
        middleware: {
          global: { cors: { enabled: true, allowedOrigins: ['https://a.example'], exposedHeadrs: ['X-A'] } },
        },
      },
    ),
    200,
    [/did you mean "exposedHeaders"/],
  ],
  [
    'a misspelt member beside the right ones',
    document({ detailedTracig: { enabled: true } }),
    200,
    [/did you mean "detailedTracing"/],
  ],
  [
    'a certificate that nobody has stored',
    document({ clientCertificates: { enabled: true, allowlist: [CERTIFICATE] } }),
    200,
    [new RegExp(`names certificate ${CERTIFICATE}, which is not stored`)],
  ],
]

test('what a document asks for and lacks is refused or warned of by every call that saves it', async (t) => {
  const world = await startEnvironment(t)
  for (const [name, body, status, words] of CASES) {
    const calls = [
      () => world.gateway.svc('POST', '/svc/apis/oas', body),
      () => world.call('POST', '/api/apis/oas', body),
    ]
    for (const call of calls) {
      const answer = await call()
      assert.equal(answer.status, status, `${name}: ${answer.text}`)
      const { warnings, Warnings, key, ID } = answer.json as Record<string, string> & {
        warnings?: { message: string }[]
        Warnings?: { message: string }[]
      }
      // Of the settings of a node, of which the dashboard of this world has none, another test says more.
      const ofDefinition = (warnings ?? Warnings ?? []).filter(
        ({ message }) => !message.includes('gateway.tls.enabled'),
      )
      const said = status === 200 ? ofDefinition.map(({ message }) => message) : [answer.text.replaceAll('\\', '')]
      assert.equal(said.length, words.length || (status === 200 ? 0 : 1), `${name}: ${answer.text}`)
      for (const [index, pattern] of words.entries()) assert.match(said[index]!, pattern, name)
      if (status === 200) await world.gateway.svc('DELETE', `/svc/apis/${key ?? ID}`)
    }
  }
})

test('a policy for an API that nobody has is taken, with a warning', async (t) => {
  const world = await startEnvironment(t)
  const policy = (id: string) => ({
    ...{ id, name: id, active: true, rate: 1, per: 1 },
    access_rights: { gone: { api_id: 'gone', versions: ['Default'] } },
  })
  const expected = [
    { path: 'access_rights.gone', message: 'no API of the organisation has this id: the right opens nothing yet' },
  ]
  const made = await world.gateway.svc('POST', '/svc/policies', policy('one'))
  assert.deepEqual([made.status, (made.json as JsonObject).warnings], [200, expected])
  const changed = await world.gateway.svc('PUT', '/svc/policies/one', policy('one'))
  assert.deepEqual([changed.status, (changed.json as JsonObject).warnings], [200, expected])
  const stored = await world.ask('POST', '/api/portal/policies', policy('two'))
  assert.deepEqual(stored.Warnings, expected)
  assert.deepEqual((await world.ask('PUT', '/api/portal/policies/two', policy('two'))).Warnings, expected)
})

/** Addresses of key sets, and whether gateways may ask them. */
const KEY_SETS: readonly (readonly [url: string, taken: boolean])[] = [
  ['http://127.0.0.1:9/jwks', false],
  ['http://[::1]/jwks', false],
  ['http://localhost/jwks', false],
  ['http://10.1.2.3/jwks', false],
  ['http://0x7f.1/jwks', false],
  ['http://169.254.169.254/jwks', false],
  ['https://issuer.example/jwks', true],
]

test('an issuer on a private address is refused at save with the setting that allows it', async (t) => {
  for (const allowed of [false, true]) {
    const env = { SVC_WEBHOOKS_ALLOWPRIVATE: String(allowed) }
    const world = await startEnvironment(t, { env, gatewayEnv: env })
    for (const [url, taken] of KEY_SETS)
      for (const place of [
        { jwt_source: url, enable_jwt: true },
        { jwt_jwks_uris: [{ url }], enable_jwt: true },
        { external_oauth: { enabled: true, providers: [{ jwt: { enabled: true, source: url } }] } },
        { external_oauth: { enabled: true, providers: [{ introspection: { enabled: true, url, client_id: 'c' } }] } },
        { notifications: { oauth_on_keychange_url: url, shared_secret: 's' }, use_oauth2: true },
      ])
        for (const open of [false, true]) {
          const body = {
            ...{ api_id: 'jwt', name: 'jwt', active: true, jwt_default_policies: ['p'] },
            proxy: { listen_path: '/jwt/', target_url: UP, strip_listen_path: true },
            ...{ ...place, ...(open && { use_keyless: true }) },
          }
          const [at] = Object.keys(place)
          const words = { classic: at, oas: 'securitySchemes' }
          for (const [form, path, definition] of [
            ['classic', '/svc/apis', body],
            ['oas', '/svc/apis/oas', toOas(body).document],
          ] as const) {
            const answer = await world.gateway.svc('POST', path, definition)
            const where = `${form} ${JSON.stringify(place)} ${open ? 'open' : 'closed'}: ${answer.text}`
            // Nothing asks what a definition without authentication names.
            assert.equal(answer.status, taken || allowed || open ? 200 : 400, where)
            if (answer.status === 400) assert.match(answer.text, new RegExp(`${words[form]}.*webhooks\\.allow_private`))
            else await world.gateway.svc('DELETE', '/svc/apis/jwt')
          }
        }
  }
})
