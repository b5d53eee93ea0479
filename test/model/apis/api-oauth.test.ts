import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Fault } from '../../../src/errors/fault.ts'
import { listingWarnings } from '../../../src/model/apis/check/definition-warnings.ts'
import { toClassic, toOas } from '../../../src/model/apis/convert/convert.ts'
import { EXTENSION } from '../../../src/model/apis/definition/members.ts'
import { getAt, putAt } from '../../../src/model/apis/definition/tree.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import type { OAuthRules } from '../../../src/model/oauth-clients/oauth-rules.ts'
import { atOnce } from '../../../src/model/threads/paused-work.ts'
import { OPERATION, read } from '../../worlds/model/api-expected.ts'
import { classic, oauth } from '../../worlds/model/api-samples.ts'

const RULES: OAuthRules = {
  grants: new Set(['authorization_code', 'client_credentials', 'refresh_token']),
  responseTypes: new Set(['code']),
  loginRedirect: 'https://login.example.org/start',
  notifyUrl: 'https://app.example.org/hook',
  notifySecret: 's3',
  scopes: new Set(),
  accessTokenFormat: 'opaque',
  accessTokenType: 'at+jwt',
  signingAlgorithm: 'ES256',
  accessTokenS: 0,
  refreshTokenS: 0,
  codeS: 0,
  refreshReuseGraceS: 0,
  allowedResources: [],
  openRegistration: false,
  clientIdMetadata: false,
  registrationPolicies: [],
  requirePkce: false,
  requirePushedRequests: false,
  dpop: 'off',
  mutualTls: 'off',
}

const META = {
  allowed_access_types: ['authorization_code', 'client_credentials', 'refresh_token'],
  allowed_authorize_types: ['code'],
  auth_login_redirect: 'https://login.example.org/start',
}

const NOTIFICATIONS = { oauth_on_keychange_url: 'https://app.example.org/hook', shared_secret: 's3' }

function classicOAuth(meta: JsonObject = {}, members: JsonObject = {}): JsonObject {
  return classic({ use_oauth2: true, oauth_meta: { ...META, ...meta }, notifications: NOTIFICATIONS, ...members })
}

/** A document with settings in its scheme, and scopes that both flows declare. */
function oasOAuth(settings: JsonObject = {}, members: JsonObject = {}): JsonObject {
  const document: JsonObject = { ...oauth(), ...members }
  for (const [name, value] of Object.entries(settings)) {
    putAt(document, [EXTENSION, 'server', 'authentication', 'securitySchemes', 'oa', name], value)
  }
  const scopes = { read: 'reads', write: 'writes' }
  for (const flow of ['authorizationCode', 'clientCredentials']) {
    putAt(document, ['components', 'securitySchemes', 'oa', 'flows', flow, 'scopes'], { ...scopes })
  }
  return document
}

const SCOPED = { ...RULES, scopes: new Set(['read', 'write']) }

/** Our own settings: classic name, name in the extension, value, and what it is read as. */
const OWN: readonly [classic: string, oas: string, value: Json, read: Partial<OAuthRules>][] = [
  ['access_token_format', 'accessTokenFormat', 'jwt', { accessTokenFormat: 'jwt' }],
  ['access_token_type', 'accessTokenType', 'JWT', { accessTokenType: 'JWT' }],
  ['access_token_signing_algorithm', 'accessTokenSigningAlgorithm', 'RS256', { signingAlgorithm: 'RS256' }],
  ['access_token_lifetime', 'accessTokenLifetime', 300, { accessTokenS: 300 }],
  ['refresh_token_lifetime', 'refreshTokenLifetime', 86_400, { refreshTokenS: 86_400 }],
  ['authorization_code_lifetime', 'authorizationCodeLifetime', 30, { codeS: 30 }],
  ['refresh_reuse_grace_seconds', 'refreshReuseGraceSeconds', 10, { refreshReuseGraceS: 10 }],
  [
    'allowed_resources',
    'allowedResources',
    ['https://a.example/b', 'c'],
    { allowedResources: ['https://a.example/b', 'c'] },
  ],
  ['open_registration', 'openRegistration', true, { openRegistration: true }],
  ['client_id_metadata', 'clientIdMetadata', true, { clientIdMetadata: true }],
  ['registration_policies', 'registrationPolicies', ['p', 'q'], { registrationPolicies: ['p', 'q'] }],
  ['require_pkce', 'requirePkce', true, { requirePkce: true }],
  [
    'require_pushed_authorization_requests',
    'requirePushedAuthorizationRequests',
    true,
    { requirePushedRequests: true },
  ],
  ['dpop', 'dpop', 'required', { dpop: 'required' }],
  ['mutual_tls', 'mutualTls', 'allowed', { mutualTls: 'allowed' }],
  [
    'device_authorization',
    'deviceAuthorization',
    true,
    { grants: new Set([...RULES.grants, 'urn:ietf:params:oauth:grant-type:device_code']) },
  ],
]

describe('what an authorization server is read as', () => {
  test('classic', () => {
    const api = read('classic', classicOAuth())
    assert.deepEqual(api.oauth, RULES)
    assert.equal(api.auth?.method, 'oauth')
  })

  test('OpenAPI', () => {
    const api = read('oas', oauth())
    assert.deepEqual(api.oauth, RULES)
    assert.equal(api.auth?.method, 'oauth')
    assert.equal(api.auth?.header, 'authorization')
  })

  for (const [classicName, oasName, value, expected] of OWN) {
    test(`${classicName} and ${oasName}`, () => {
      assert.deepEqual(read('classic', classicOAuth({ [classicName]: value })).oauth, { ...RULES, ...expected })
      assert.deepEqual(read('oas', oasOAuth({ [oasName]: value })).oauth, { ...SCOPED, ...expected })
      const { document, carried } = toOas(classicOAuth({ [classicName]: value }))
      const at = [EXTENSION, 'server', 'authentication', 'securitySchemes', 'oauth', oasName]
      assert.deepEqual(getAt(document, at), value)
      assert.deepEqual(carried, [])
      assert.deepEqual(getAt(toClassic(document).definition, ['oauth_meta', classicName]), value)
    })
  }

  test('where a token is read and taken out', () => {
    const api = read(
      'oas',
      oasOAuth({
        header: { enabled: false, name: 'X-Token' },
        query: { enabled: true, name: 't' },
        cookie: { enabled: true, name: 'c' },
      }),
    )
    const { header, query, cookie, stripHeaders, stripQueries, stripCookies } = api.auth!
    assert.deepEqual([header, query, cookie], [undefined, 't', 'c'])
    assert.deepEqual([stripHeaders, stripQueries, stripCookies], [['x-token'], ['t'], ['c']])
  })

  test('a definition without the method has no authorization server', () => {
    assert.equal(read('classic', classic({ oauth_meta: META })).oauth, undefined)
    assert.equal(read('classic', classicOAuth({}, { use_keyless: true })).oauth, undefined)
  })

  test('response types that are not listed at all follow the grants; an empty list allows none', () => {
    const types = (meta: JsonObject) => [...read('classic', classicOAuth(meta)).oauth!.responseTypes]
    assert.deepEqual(types({ allowed_authorize_types: null }), ['code'])
    assert.deepEqual(types({ allowed_authorize_types: [] }), [])
    assert.deepEqual(types({ allowed_authorize_types: ['token'] }), [])
    assert.deepEqual(types({ allowed_authorize_types: ['code', 'token'] }), ['code'])
    assert.deepEqual(types({ allowed_access_types: ['password'], allowed_authorize_types: ['code'] }), [])
  })
})

describe('scopes of operations', () => {
  const document = oasOAuth(
    {},
    {
      security: [{ oa: ['read'] }],
      paths: {
        '/a': {
          get: { responses: {} },
          put: { responses: {}, security: [{ oa: ['write', 'read'] }, { oa: ['write'], other: [] }] },
          delete: { responses: {}, security: [] },
          post: { responses: {}, security: [{ other: ['x'] }] },
          patch: { responses: {}, security: [{ oa: [] }] },
        },
        '/b/{id}': { get: { responses: {}, security: [{ oa: ['write'] }] } },
      },
    },
  )

  test('are read from `security`, of the operation or of the document', () => {
    const api = read('oas', document)
    assert.deepEqual(api.auth?.scopes, [['read']])
    assert.deepEqual(
      api.rules.operations.flatMap(({ method, path, scopes }) =>
        scopes === undefined ? [] : [[method, path, scopes]],
      ),
      [
        ['PUT', '/a', [['write', 'read'], ['write']]],
        ['DELETE', '/a', []],
        ['PATCH', '/a', []],
        ['GET', '/b/{id}', [['write']]],
      ],
    )
  })

  test('are served the same from the classic form, which names them in lists of its own', () => {
    const { definition, lost } = toClassic(document)
    assert.deepEqual(lost, [])
    assert.deepEqual(getAt(definition, ['oauth_meta', 'default_scopes']), [['read']])
    assert.deepEqual(getAt(definition, ['version_data', 'versions', 'Default', 'extended_paths', 'oauth_scopes']), [
      { path: '/a', method: 'PUT', scopes: [['write', 'read'], ['write']] },
      { path: '/a', method: 'DELETE', scopes: [] },
      { path: '/a', method: 'PATCH', scopes: [] },
      { path: '/b/{id}', method: 'GET', scopes: [['write']] },
    ])
    assert.deepEqual({ ...read('classic', definition), format: 'oas' }, read('oas', document))
    assert.deepEqual(toOas(definition).document, document)
  })

  test('of a classic definition become `security`', () => {
    const lists = { oauth_scopes: [{ path: '/a', method: 'GET', scopes: [['read'], ['write']] }] }
    const { document: made, carried } = toOas(
      classicOAuth(
        { scopes: { read: 'r', write: '' }, default_scopes: [['read'], ['write']] },
        {
          version_data: {
            not_versioned: true,
            versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths: lists } },
          },
        },
      ),
    )
    assert.deepEqual(carried, [])
    assert.deepEqual(made.security, [{ oauth: ['read'] }, { oauth: ['write'] }])
    assert.deepEqual(getAt(made, ['paths', '/a', 'get', 'security']), [{ oauth: ['read'] }, { oauth: ['write'] }])
    const flow = ['components', 'securitySchemes', 'oauth', 'flows', 'clientCredentials', 'scopes']
    assert.deepEqual(getAt(made, flow), { read: 'r', write: '' })
    assert.deepEqual(read('oas', made).rules.operations, [
      { ...OPERATION, method: 'GET', path: '/a', scopes: [['read'], ['write']] },
    ])
  })

  test('an edit of the classic form reaches the document', () => {
    const { definition } = toClassic(document)
    putAt(definition, ['oauth_meta', 'default_scopes'], [['write']])
    putAt(definition, ['oauth_meta', 'scopes'], { write: 'w', more: 'm', read: 'r' })
    putAt(
      definition,
      ['version_data', 'versions', 'Default', 'extended_paths', 'oauth_scopes'],
      [{ path: '/a', method: 'PUT', scopes: [['more']] }],
    )
    const { document: made } = toOas(definition)
    assert.deepEqual(made.security, [{ oa: ['write'] }])
    assert.deepEqual(getAt(made, ['paths', '/a', 'put', 'security']), [{ oa: ['more'] }])
    assert.deepEqual([...read('oas', made).oauth!.scopes], ['write', 'more', 'read'])
  })

  test('of an API without the OAuth method are not asked for', () => {
    const other = structuredClone(document) as JsonObject
    putAt(other, ['components', 'securitySchemes', 'key'], { type: 'apiKey', in: 'header', name: 'K' })
    putAt(other, ['security'], [{ oa: ['read'] }, { key: [] }])
    putAt(other, [EXTENSION, 'server', 'authentication', 'securitySchemes'], {
      oa: { enabled: false },
      key: { enabled: true },
    })
    const api = read('oas', other)
    assert.equal(api.auth?.method, 'token')
    assert.equal(api.auth?.scopes, undefined)
    assert.equal(api.oauth, undefined)
  })
})

describe('refused definitions name the place', () => {
  const scheme = `${EXTENSION}.server.authentication.securitySchemes.oa`
  const onlyClient = { clientCredentials: { tokenUrl: '/oauth/token', scopes: {} } }
  const CODE = { authorizationUrl: '/oauth/authorize', tokenUrl: '/oauth/token', scopes: {} }
  const withFlows = (flows: JsonObject) => {
    const document = oauth()
    putAt(document, ['components', 'securitySchemes', 'oa', 'flows'], flows)
    return document
  }
  const cases: readonly [string, 'classic' | 'oas', JsonObject, RegExp][] = [
    [
      'a login page without a scheme',
      'classic',
      classicOAuth({ auth_login_redirect: 'login/' }),
      /^oauth_meta\.auth_login_redirect: must be an absolute URL of http/,
    ],
    [
      'a login page that is a script',
      'classic',
      classicOAuth({ auth_login_redirect: 'javascript://x/' }),
      /^oauth_meta\.auth_login_redirect: must be an absolute URL of http/,
    ],
    [
      'a login page with a fragment',
      'oas',
      oasOAuth({ authLoginRedirect: 'https://l/#a' }),
      /\.authLoginRedirect: must not have a fragment/,
    ],
    [
      'a webhook of another scheme',
      'oas',
      oasOAuth({ notifications: { onKeyChangeUrl: 'ftp://x/' } }),
      /\.onKeyChangeUrl: must be an absolute URL of http/,
    ],
    [
      'an unknown format of tokens',
      'oas',
      oasOAuth({ accessTokenFormat: 'paseto' }),
      /\.accessTokenFormat: must be one of/,
    ],
    [
      'a symmetric algorithm',
      'oas',
      oasOAuth({ accessTokenSigningAlgorithm: 'HS256' }),
      /\.accessTokenSigningAlgorithm: must be one of/,
    ],
    [
      'a life of no length',
      'classic',
      classicOAuth({ access_token_lifetime: -1 }),
      /^oauth_meta\.access_token_lifetime: must be at least 0/,
    ],
    [
      'a code that lives for long',
      'classic',
      classicOAuth({ authorization_code_lifetime: 601 }),
      /authorization_code_lifetime: must be at most 600/,
    ],
    [
      'a long grace',
      'oas',
      oasOAuth({ refreshReuseGraceSeconds: 301 }),
      /refreshReuseGraceSeconds: must be at most 300/,
    ],
    ['an unknown binding rule', 'classic', classicOAuth({ dpop: 'yes' }), /^oauth_meta\.dpop: must be one of/],
    [
      'an unknown grant',
      'classic',
      classicOAuth({ allowed_access_types: ['magic'] }),
      /^oauth_meta\.allowed_access_types\[0\]: must be one of/,
    ],
    [
      'an unknown response type',
      'oas',
      oasOAuth({ allowedAuthorizeTypes: ['code', 'id_token'] }),
      new RegExp(`^${scheme}\\.allowedAuthorizeTypes\\[1\\]: must be one of`),
    ],
    [
      'an unknown response type',
      'classic',
      classicOAuth({ allowed_authorize_types: ['x'] }),
      /^oauth_meta\.allowed_authorize_types\[0\]: must be one of/,
    ],
    [
      'a scope that is two words',
      'classic',
      classicOAuth({ scopes: { 'a b': '' } }),
      /^oauth_meta\.scopes\["a b"\]: must be named/,
    ],
    [
      'a default scope that no flow declares',
      'oas',
      oasOAuth({}, { security: [{ oa: ['admin'] }] }),
      /^security\[0\]\.oa\[0\]: is a scope that no flow declares/,
    ],
    [
      'a scope of an operation that no flow declares',
      'oas',
      oasOAuth({}, { paths: { '/a': { get: { security: [{ oa: ['read', 'admin'] }] } } } }),
      /^paths\["\/a"\]\.get\.security\[0\]\.oa\[1\]: is a scope that no flow declares/,
    ],
    [
      'a default scope that the definition does not declare',
      'classic',
      classicOAuth({ default_scopes: [['admin']] }),
      /^oauth_meta\.default_scopes\[0\]\[0\]: is a scope that no flow declares/,
    ],
    [
      'a scope of an operation that the definition does not declare',
      'classic',
      classicOAuth(
        {},
        {
          version_data: {
            not_versioned: true,
            versions: {
              v: {
                use_extended_paths: true,
                extended_paths: { oauth_scopes: [{ path: '/a', method: 'GET', scopes: [['x']] }] },
              },
            },
          },
        },
      ),
      /^version_data\.versions\.v\.extended_paths\.oauth_scopes\[0\]\.scopes\[0\]\[0\]: is a scope that no flow declares/,
    ],
  ]
  for (const [name, format, definition, says] of cases) {
    test(`${format}: ${name}`, () => {
      assert.throws(
        () => read(format, definition),
        (error) => error instanceof Fault && error.code === 'definition_invalid' && says.test(error.message),
      )
    })
  }

  const warned = (format: 'classic' | 'oas', definition: JsonObject) =>
    atOnce(listingWarnings({ format, definition })).filter(({ message }) => message.startsWith('has no effect'))

  test('notifications without a grant that is announced are warned of', () => {
    const announced = (all: readonly { path: string }[]) => all.filter(({ path }) => /^notifications/.test(path))
    const only = classicOAuth({ allowed_access_types: ['client_credentials', 'refresh_token'] })
    assert.ok(read('classic', only).oauth)
    assert.deepEqual(
      announced(warned('classic', only)).map(({ path }) => path),
      ['notifications.oauth_on_keychange_url'],
    )
    assert.ok(read('oas', withFlows(onlyClient)).oauth)
    assert.match(warned('oas', withFlows(onlyClient))[0]!.path, /\.notifications\.onKeyChangeUrl$/)
    for (const more of [
      { allowed_access_types: ['client_credentials', 'password'] },
      { allowed_access_types: ['client_credentials'], device_authorization: true },
    ])
      assert.deepEqual(announced(warned('classic', classicOAuth(more))), [])
  })

  test('the implicit grant is warned of', () => {
    const types = { allowed_access_types: ['authorization_code', '__implicit'] }
    assert.deepEqual(
      warned('classic', classicOAuth(types)).map(({ path }) => path),
      ['oauth_meta.allowed_access_types[1]'],
    )
    const flows = {
      ...onlyClient,
      authorizationCode: CODE,
      implicit: { authorizationUrl: '/oauth/authorize', scopes: {} },
    }
    assert.match(warned('oas', withFlows(flows))[0]!.path, /flows\.implicit$/)
  })

  test('the auth token beside OAuth: both must be met, and the key gives the session', () => {
    const { auth, oauth } = read('classic', classicOAuth({}, { use_standard_auth: true }))
    assert.deepEqual(
      auth?.alternatives?.map((group) => group.map(({ method }) => method)),
      [['oauth', 'token']],
    )
    assert.equal(auth?.method, 'token')
    assert.ok(oauth)
  })
})
