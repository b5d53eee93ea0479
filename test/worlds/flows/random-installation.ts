import fc from 'fast-check'
import { EXTENSION } from '../../../src/model/apis/definition/members.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined, rights } from '../base/definitions.ts'
import type { Environment } from './moves-world.ts'

/** Text that differs from run to run, and looks like placeholders at times. */
const somePart = fc.constantFrom('a', 'Zz9', `\${env:HOME}`, `\${kept}`, '$sealed:v1:x', '$$', 'ü', '***')
const someText = fc.array(somePart, { minLength: 1, maxLength: 3 }).map((parts) => `s-${parts.join('')}`)
const someToken = fc.stringMatching(/^[A-Za-z0-9]{16,24}$/)
const someUrl = someToken.map((secret) => `https://up.example/y?api_key=${secret}&page=1`)
/** Fields of requests and answers; one name can be there several times. */
const someFields = fc.array(
  fc.record({
    name: fc.constantFrom('Set-Cookie', 'Authorization', 'X-Api-Key', 'X-Plain', 'Cookie'),
    value: someToken,
  }),
  { minLength: 1, maxLength: 4 },
)
const someFieldMap = someFields.map((fields) => Object.fromEntries(fields.map(({ name, value }) => [name, value])))
const someSecrets = fc.record(
  { password: someText, client_secret: someText, note: someText, list: fc.array(fc.record({ token: someText })) },
  { requiredKeys: ['password'] },
)
const names = fc.constantFrom(
  ...[
    'con',
    'nul',
    'aux.v1',
    'com1',
    'lpt9.x',
    'a.',
    'a..',
    'Orders',
    'orders',
    'ORDERS',
    'prn-2',
    'x_y',
    'c.0a1b2c3d',
  ],
)

/** One definition in OpenAPI format with some of everything that holds a secret. */
const someOas = fc
  .record({
    upstreamUrl: someUrl,
    targets: fc.option(fc.array(someUrl, { minLength: 1, maxLength: 3 })),
    tests: fc.option(fc.array(fc.record({ url: someUrl, headers: someFieldMap, body: someText }), { maxLength: 2 })),
    handlers: fc.option(fc.array(fc.record({ url: someUrl, headers: someFields }), { minLength: 1, maxLength: 2 })),
    added: fc.option(someFields),
    answered: fc.option(someFields),
    mock: fc.option(someFields),
    rewrite: fc.option(someUrl),
    config: fc.option(someSecrets),
    keyed: fc.constantFrom('none', 'hmac', 'jwt', 'oauth', 'introspection'),
    jwt: fc.constantFrom('hmac', 'rsa'),
    secret: someToken,
    errors: fc.option(someFieldMap),
  })
  .map((draft) => (id: string) => oasOf(id, draft))

interface OasDraft {
  readonly upstreamUrl: string
  readonly targets: readonly string[] | null
  readonly tests: readonly JsonObject[] | null
  readonly handlers: readonly JsonObject[] | null
  readonly added: JsonObject[] | null
  readonly answered: JsonObject[] | null
  readonly mock: JsonObject[] | null
  readonly rewrite: string | null
  readonly config: JsonObject | null
  readonly keyed: string
  readonly jwt: string
  readonly secret: string
  readonly errors: JsonObject | null
}

function oasOf(id: string, draft: OasDraft): JsonObject {
  const { upstreamUrl, targets, tests, handlers, added, answered, mock, rewrite, config, errors } = draft
  const document = defined({
    id,
    path: `/${encodeURIComponent(id)}-oas/`,
    url: upstreamUrl,
    upstream: {
      ...(targets !== null && {
        loadBalancing: { enabled: true, targets: targets.map((url) => ({ url, weight: 1 })) },
      }),
      ...(tests !== null && {
        uptimeTests: { enabled: false, tests: tests.map((test) => ({ method: 'POST', ...test })) },
      }),
    },
    server: {
      ...(handlers !== null && {
        eventHandlers: handlers.map((each) => {
          return { enabled: true, trigger: 'QuotaExceeded', type: 'webhook', method: 'POST', ...each }
        }),
      }),
    },
    global: {
      ...(added !== null && { transformRequestHeaders: { enabled: true, add: added } }),
      ...(answered !== null && { transformResponseHeaders: { enabled: true, add: answered } }),
      ...(config !== null && { pluginConfig: { data: { enabled: true, value: config } } }),
    },
    paths: { '/x': { get: { operationId: 'one', responses: {} }, post: { operationId: 'two', responses: {} } } },
    operations: {
      one: {
        ...(mock !== null && {
          mockResponse: { enabled: true, code: 200, body: 'x', headers: mock },
        }),
        ...(added !== null && { transformRequestHeaders: { enabled: true, add: added } }),
      },
      two: { ...(rewrite !== null && { urlRewrite: { enabled: true, pattern: '/x', rewriteTo: rewrite } }) },
    },
  })
  const extension = document[EXTENSION] as JsonObject
  if (errors !== null)
    extension.errorOverrides = { enabled: true, value: { 500: [{ response: { statusCode: 503, headers: errors } }] } }
  return { ...document, ...authenticationOf(draft, extension) }
}

function authenticationOf({ keyed, jwt, secret }: OasDraft, extension: JsonObject): JsonObject {
  const place = { header: { enabled: true, name: 'Authorization' } }
  const secure = (scheme: JsonObject, declared: JsonObject) => {
    const server = extension.server as JsonObject
    server.authentication = { enabled: true, securitySchemes: { own: { enabled: true, ...scheme } } }
    return { components: { securitySchemes: { own: declared } }, security: [{ own: [] }] }
  }
  if (keyed === 'jwt')
    return secure(
      {
        ...place,
        signingMethod: jwt,
        source: jwt === 'hmac' ? Buffer.from(secret.repeat(3)).toString('base64') : 'https://keys.example/jwks',
        identityBaseField: 'sub',
        defaultPolicies: ['gold'],
      },
      { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    )
  if (keyed === 'oauth')
    return secure(
      {
        ...place,
        allowedAuthorizeTypes: ['code'],
        authLoginRedirect: 'https://login.example/sign-in',
        notifications: { onKeyChangeUrl: `https://hooks.example/keys?token=${secret}`, sharedSecret: secret },
      },
      { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'oauth/token', scopes: {} } } },
    )
  if (keyed === 'introspection')
    return secure(
      {
        ...place,
        providers: [
          {
            introspection: {
              ...{ enabled: true, url: 'https://issuer.example/introspect', identityBaseField: 'sub' },
              ...{ clientId: 'gateway', clientSecret: secret },
            },
          },
        ],
      },
      { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://issuer.example/token', scopes: {} } } },
    )
  return {}
}

const someClassic = fc
  .record({
    url: someUrl,
    targets: fc.option(fc.array(someUrl, { minLength: 1, maxLength: 3 })),
    checks: fc.option(fc.array(fc.record({ url: someUrl, headers: someFieldMap, body: someText }), { maxLength: 2 })),
    handler: fc.option(fc.record({ target_path: someUrl, header_map: someFieldMap })),
    headers: fc.option(someFieldMap),
    config: fc.option(someSecrets),
    jwt: fc.option(someToken),
    rewrite: fc.option(someUrl),
  })
  .map((draft) => (id: string): JsonObject => {
    const { url, targets, checks, handler, headers, config, jwt, rewrite } = draft
    const edit = { path: '/x', method: 'GET' }
    const meta = { method: 'POST', ...handler }
    return classic(id, `/${encodeURIComponent(id)}-classic/`, url, {
      proxy: {
        ...{ listen_path: `/${encodeURIComponent(id)}-classic/`, target_url: url, strip_listen_path: true },
        ...(targets !== null && { enable_load_balancing: true, target_list: targets }),
      },
      ...(checks !== null && { uptime_tests: { check_list: checks.map((check) => ({ method: 'POST', ...check })) } }),
      ...(handler !== null && {
        event_handlers: {
          events: { QuotaExceeded: [{ handler_name: 'eh_web_hook_handler', handler_meta: meta }] },
        },
      }),
      ...(config !== null && { config_data: config }),
      ...(jwt !== null && {
        ...{ use_keyless: false, enable_jwt: true, jwt_signing_method: 'hmac', jwt_identity_base_field: 'sub' },
        ...{ jwt_source: Buffer.from(jwt.repeat(3)).toString('base64'), jwt_default_policies: ['gold'] },
      }),
      version_data: {
        not_versioned: true,
        versions: {
          Default: {
            name: 'Default',
            use_extended_paths: true,
            ...(headers !== null && { global_headers: headers, global_response_headers: headers }),
            extended_paths: {
              ...(headers !== null && {
                transform_headers: [{ ...edit, add_headers: headers, act_on: false }],
                transform_response_headers: [{ ...edit, add_headers: headers, act_on: false }],
              }),
              ...(rewrite !== null && { url_rewrites: [{ ...edit, match_pattern: '/x', rewrite_to: rewrite }] }),
            },
          },
        },
      },
    })
  })

const someSession = fc.record(
  {
    meta_data: someSecrets,
    alias: someText,
    hmac_enabled: fc.constant(true),
    hmac_string: someToken,
    tags: fc.array(someText, { maxLength: 2 }),
    rate: fc.constantFrom(5, 10),
    per: fc.constantFrom(1, 60),
  },
  { requiredKeys: [] },
)

/** An installation: some objects of every kind, with secrets wherever there can be one. */
export const someInstallation = fc.record({
  oas: fc.uniqueArray(fc.tuple(names, someOas), { maxLength: 4, selector: ([name]) => name }),
  classics: fc.uniqueArray(fc.tuple(names, someClassic), { maxLength: 4, selector: ([name]) => name }),
  hooks: fc.uniqueArray(fc.record({ name: names, target_path: someUrl, header_map: someFieldMap, secret: someToken }), {
    maxLength: 2,
    selector: ({ name }) => name,
  }),
  policies: fc.uniqueArray(fc.record({ id: names, meta_data: someSecrets }), {
    maxLength: 3,
    selector: ({ id }) => id,
  }),
  clients: fc.uniqueArray(fc.record({ client_id: names, metadata: someSecrets }), {
    maxLength: 3,
    selector: ({ client_id }) => client_id,
  }),
  keys: fc.array(fc.record({ session: someSession, custom: fc.option(someToken) }), { maxLength: 4 }),
  users: fc.uniqueArray(fc.tuple(names, someToken), { maxLength: 2, selector: ([name]) => name }),
  portal: fc.record({ mail_options: someSecrets, dcr_options: someSecrets }, { requiredKeys: [] }),
  entry: fc.option(fc.record({ config: someSecrets, fields: fc.record({ password: someText, note: someText }) })),
})

/** Puts an installation into a dashboard. @throws Error for an object that is refused */
export async function install({ ask }: Pick<Environment, 'ask'>, made: Installation): Promise<void> {
  await ask('POST', '/api/apis/oas', defined({ id: 'base', url: 'https://up.example', keyIn: 'Authorization' }))
  const gold = { name: 'Gold', access_rights: rights('base'), rate: 5, per: 60 }
  await ask('POST', '/api/portal/policies', { id: 'gold', ...gold })
  for (const [name, definition] of made.oas) await ask('POST', '/api/apis/oas', definition(`${name}-o`))
  for (const [name, api] of made.classics) await ask('POST', '/api/apis', { api_definition: api(name) })
  for (const hook of made.hooks) await ask('POST', '/api/hooks', { method: 'POST', ...hook })
  for (const policy of made.policies) await ask('POST', '/api/portal/policies', { ...gold, name: policy.id, ...policy })
  const documents = made.oas.map(([name, definition]) => [`${name}-o`, definition(name)] as const)
  const [server] = documents.find(([, document]) => JSON.stringify(document).includes('authLoginRedirect')) ?? []
  if (server !== undefined)
    for (const client of made.clients)
      await ask('POST', `/api/apis/oauth/${encodeURIComponent(server)}`, {
        ...{ redirect_uri: 'https://app.example/cb', secret: `secret-of-${client.client_id}-0123456789abcdef` },
        ...client,
      })
  for (const [at, { session, custom }] of made.keys.entries()) {
    const path = custom === null ? '/api/keys' : `/api/keys/${custom}${at}`
    await ask('POST', path, { apply_policies: ['gold'], ...session })
  }
  for (const [name, password] of made.users)
    await ask('POST', `/api/apis/keys/basic/${name}`, {
      apply_policies: ['gold'],
      basic_auth_data: { password: `${password}-A1` },
    })
  await ask('PUT', '/api/portal/configuration', { ...made.portal, email: 'help@a.example' })
  if (made.entry !== null)
    await ask('PUT', '/api/portal/catalogue', {
      apis: [{ name: 'Gold', policy_id: 'gold', show: true, ...made.entry }],
    })
}

export type Installation = typeof someInstallation extends fc.Arbitrary<infer Value> ? Value : never
