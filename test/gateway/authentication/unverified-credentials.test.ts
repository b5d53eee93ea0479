import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { hashSync } from 'bcryptjs'
import { type AuthMethod, SCHEMES } from '../../../src/model/authentication/schemes.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { type Pairs, sendExactly, VERSIONS } from '../../worlds/gateway/exact-fields.ts'
import { base64, claims, hsToken, SECRET } from '../../worlds/gateway/jwt-fixtures.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'
import { Client, statusOf } from '../../worlds/wire/raw.ts'

// Credentials of a method that did not identify the client are unverified: no upstream gets them.

type Place = 'header' | 'query' | 'cookie'
const PLACES: readonly Place[] = ['header', 'query', 'cookie']

const AUTH_METHODS = SCHEMES.map(({ method }) => method)
/** How each method is switched on. A method that is added to the product has to be added here. */
const SWITCHES: Readonly<Record<AuthMethod, { readonly config: string; readonly on: JsonObject }>> = {
  token: { config: 'authToken', on: { use_standard_auth: true } },
  oauth: { config: 'oauth', on: { use_oauth2: true, oauth_meta: { allowed_access_types: ['client_credentials'] } } },
  external: {
    config: 'externalOAuth',
    on: {
      external_oauth: {
        enabled: true,
        providers: [{ jwt: { enabled: true, signing_method: 'hmac', source: base64(SECRET) } }],
      },
    },
  },
  jwt: {
    config: 'jwt',
    on: { enable_jwt: true, jwt_signing_method: 'hmac', jwt_source: base64(SECRET), jwt_default_policies: ['p'] },
  },
  basic: { config: 'basic', on: { use_basic_auth: true } },
  hmac: { config: 'hmac', on: { enable_signature_checking: true } },
}

const DATE = new Date(1_700_000_000_000).toUTCString()
const VICTIM = 'forged-victim'
const JWT_OF_VICTIM = `${base64('{"alg":"none"}')}.${base64(JSON.stringify({ sub: VICTIM }))}.`

/** A client without a credential of a method; every value is wrong. */
const FORGED: Readonly<Record<AuthMethod, string>> = {
  token: `key-of-${VICTIM}`,
  oauth: `Bearer token-of-${VICTIM}`,
  external: `Bearer ${JWT_OF_VICTIM}`,
  jwt: `Bearer ${JWT_OF_VICTIM}`,
  basic: `Basic ${base64(`${VICTIM}:x`)}`,
  hmac: `Signature keyId="${VICTIM}",algorithm="hmac-sha256",headers="date",signature="${base64('x'.repeat(20))}"`,
}
/** Fields that belong to a method, besides its places. */
const BESIDE: Readonly<Record<AuthMethod, Pairs>> = {
  token: [['DPoP', `proof-of-${VICTIM}`]],
  oauth: [['DPoP', `proof-of-${VICTIM}`]],
  external: [['DPoP', `proof-of-${VICTIM}`]],
  jwt: [['DPoP', `proof-of-${VICTIM}`]],
  basic: [],
  hmac: [
    ['Signature-Input', `sig1=("@method");keyid="${VICTIM}"`],
    ['Signature', `sig1=:${base64(VICTIM)}:`],
    ['Content-Digest', `sha-256=:${base64(VICTIM)}:`],
    ['Digest', `sha-256=${base64(VICTIM)}`],
  ],
}
const FORGERIES = [VICTIM, base64(VICTIM), base64(`${VICTIM}:x`), JWT_OF_VICTIM]

const headerOf = (method: AuthMethod) => `X-Of-${method}`
const bareOf = (method: AuthMethod) => `of_${method}`

interface World {
  readonly gate: TestGateway
  readonly origin: Origin
  /** The credential of a method that an API takes, for a request of this target. */
  good(method: AuthMethod, api: string, target: string): string
  publish(id: string, methods: readonly (readonly AuthMethod[])[], more?: JsonObject, auth?: JsonObject): Promise<void>
  ready(): Promise<void>
}

async function world(t: TestContext, env: Record<string, string> = {}): Promise<World> {
  const origin = await startOrigin()
  const gate = await startTestGateway({ env: { SVC_GW_ALLOWUNDERSCOREFIELDS: 'true', ...env } })
  t.after(async () => {
    await gate.close()
    await origin.close()
  })
  const made = async (method: string, path: string, body: JsonObject) => {
    const answer = await gate.svc(method, path, body)
    assert.equal(answer.status, 200, answer.text)
    return answer.json as JsonObject
  }
  const ids: string[] = []
  const tokens = new Map<string, string>()
  const withOAuth: string[] = []
  let key = ''
  return {
    gate,
    origin,
    async publish(id, alternatives, more = {}, auth = {}) {
      const methods = [...new Set(alternatives.flat())]
      const config = (method: AuthMethod): JsonObject => ({
        auth_header_name: headerOf(method),
        ...{ use_param: true, param_name: bareOf(method), use_cookie: true, cookie_name: bareOf(method) },
        ...auth,
        ...(method === 'token' && auth.use_param === false && { use_certificate: true }),
        name: method,
      })
      const definition = classic(id, `/${id}/`, origin.url, {
        use_keyless: false,
        ...Object.assign({}, ...methods.map((method) => SWITCHES[method].on)),
        auth_configs: Object.fromEntries(methods.map((method) => [SWITCHES[method].config, config(method)])),
        security_processing_mode: 'compliant',
        security_requirements: alternatives as JsonObject[string],
        version_data: {
          not_versioned: true,
          versions: {
            Default: {
              ...{ name: 'Default', use_extended_paths: true },
              extended_paths: { ignored: [{ path: '/free', method: 'GET' }] },
            },
          },
        },
        ...more,
      })
      await made('POST', '/svc/apis', definition)
      ids.push(id)
      if (methods.includes('oauth')) withOAuth.push(id)
    },
    async ready() {
      const access_rights = rightsOn(...ids)
      await made('POST', '/svc/policies', { id: 'p', active: true, access_rights })
      const session = { access_rights, hmac_enabled: true, hmac_string: 'secret' }
      key = String((await made('POST', '/svc/keys/create', session)).key)
      await made('POST', '/svc/keys/ann', { access_rights, basic_auth_data: { password: hashSync('horse', 4) } })
      for (const id of withOAuth) {
        const client = { client_id: `app-${id}`, secret: 'secret-of-app', redirect_uri: 'https://app.example/cb' }
        await made('POST', '/svc/oauth/clients/create', { ...client, api_id: id, policies: ['p'] })
        const asked = await gate.call(`/${id}/oauth/token`, {
          method: 'POST',
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            authorization: `Basic ${base64(`app-${id}:secret-of-app`)}`,
          },
          body: 'grant_type=client_credentials',
        })
        assert.equal(asked.status, 200, asked.text)
        tokens.set(id, String((asked.json as JsonObject).access_token))
      }
    },
    good(method, api, target) {
      if (method === 'token') return key
      if (method === 'oauth') return `Bearer ${tokens.get(api)}`
      if (method === 'jwt' || method === 'external') return `Bearer ${hsToken(claims())}`
      if (method === 'basic') return `Basic ${base64('ann:horse')}`
      const text = `(request-target): get ${target}\ndate: ${DATE}`
      const signature = createHmac('sha256', 'secret').update(text).digest('base64')
      return `Signature keyId="${key}",algorithm="hmac-sha256",headers="(request-target) date",signature="${signature}"`
    },
  }
}

/** A request of these credentials, in these places. */
interface Asked {
  readonly target: string
  readonly fields: Pairs
}

/** `given`: the text, the name of the header, that of the parameter or cookie. */
function asked(path: string, given: readonly (readonly [place: Place, text: string, header: string, bare: string])[]) {
  const query = ['a=1']
  const cookies = ['b=2']
  const fields: (readonly [string, string])[] = [['Date', DATE]]
  for (const [place, text, header, bare] of given) {
    if (place === 'header') fields.push([header, text])
    else if (place === 'query') query.push(`${bare}=${encodeURIComponent(text)}`)
    else cookies.push(`${bare}=${text}`)
  }
  fields.push(['Cookie', cookies.join('; ')])
  return { target: `${path}?${query.join('&')}`, fields } satisfies Asked
}

/** Everything that the upstream got with the last request. */
function seen({ origin }: World): string {
  const { target, rawHeaders } = origin.seen.at(-1)!
  return `${decodeURIComponent(target)} ${rawHeaders.join('\n')}`
}

const pairs = AUTH_METHODS.flatMap((a, i) => AUTH_METHODS.slice(i + 1).map((b) => [a, b] as const))
const placesOf = (method: AuthMethod, header: string, bare: string, text: string) =>
  PLACES.map((place) => [place, text, header, bare] as const).filter(
    ([place]) => method !== 'hmac' || place !== 'cookie',
  )

test('of two methods, the credential of the one that was not checked goes to no upstream', async (t) => {
  const at = await world(t)
  const rows = pairs.flatMap(([a, b]) => [false, true].map((strip) => ({ a, b, strip, id: `${a}-${b}-${strip}` })))
  for (const { a, b, strip, id } of rows)
    await at.publish(id, [[a], [b]], { strip_auth_data: strip, enable_batch_request_support: true })
  await at.ready()
  let turn = 0
  for (const { a, b, strip, id } of rows) {
    for (const [valid, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const path = `/${id}/x`
      for (const forged of placesOf(other, headerOf(other), bareOf(other), FORGED[other])) {
        turn++
        const place = valid === 'hmac' ? 'header' : PLACES[turn % 3]!
        const build = (text: string) =>
          asked(path, [[place, text, headerOf(valid), bareOf(valid)], forged] as Parameters<typeof asked>[1])
        // A signature covers the query, which is the same for any signature in the header.
        const text = at.good(valid, id, build('').target)
        const bare = place === 'header' || valid === 'basic' ? text : text.replace(/^Bearer /, '')
        const { target, fields } = build(bare)
        const all: Pairs = [...fields, ...besideOf(valid, other)]
        const version = VERSIONS[turn % 2]!
        const label = `${id} HTTP/${version}: ${valid} in ${place}, forged ${other} in ${forged[0]}`
        assert.equal((await sendExactly(at.gate.port, version, { path: target, fields: all })).status, 200, label)
        const told = seen(at)
        for (const forgery of FORGERIES) assert.ok(!told.includes(forgery), `${label}: ${told}`)
        assert.equal(told.includes(bare), !strip, `${label}: ${told}`)
        assert.match(told, /a=1/, label)
        assert.match(told, /b=2/, label)
      }
    }
    // Without authentication no credential was checked, so stripped ones are not forwarded. A part of a batch is a separate request.
    const place = PLACES[turn % 3]!
    const { target, fields } = asked(`/${id}/free`, [
      [place, FORGED[a], headerOf(a), bareOf(a)],
      [place, FORGED[b], headerOf(b), bareOf(b)],
    ])
    const all: Pairs = [...fields, ...BESIDE[a], ...BESIDE[b]]
    assert.equal((await sendExactly(at.gate.port, '1.1', { path: target, fields: all })).status, 200)
    assert.equal(
      FORGERIES.some((forgery) => seen(at).includes(forgery)),
      !strip,
      `${id} free: ${seen(at)}`,
    )
    const part = { method: 'GET', relative_url: target.slice(`/${id}/`.length), headers: Object.fromEntries(all) }
    const body = JSON.stringify({ requests: [part] })
    const batch = await at.gate.call(`/${id}/svc/batch/`, { method: 'POST', body })
    assert.equal((batch.json as { code: number }[] | undefined)?.[0]?.code, 200, batch.text)
    assert.equal(
      FORGERIES.some((forgery) => seen(at).includes(forgery)),
      !strip,
      `${id} batch: ${seen(at)}`,
    )
  }
})

/** Fields of the other method that are none of the one that is checked. */
function besideOf(valid: AuthMethod, other: AuthMethod): Pairs {
  const own = new Set(BESIDE[valid].map(([name]) => name))
  return BESIDE[other].filter(([name]) => !own.has(name))
}

test('all methods of an AND are verified, also those that share a place', async (t) => {
  const at = await world(t)
  await at.publish('and', [['token', 'basic'], ['jwt']])
  await at.publish('and-strip', [['token', 'basic'], ['jwt']], { strip_auth_data: true })
  await at.publish('shared', [['basic'], ['jwt']], {}, { auth_header_name: 'Authorization' })
  await at.ready()
  const [key, login, jwt] = [at.good('token', '', ''), at.good('basic', '', ''), at.good('jwt', '', '')]
  const send = async (path: string, fields: Pairs) => {
    assert.equal((await sendExactly(at.gate.port, '1.1', { path, fields })).status, 200)
    const told = seen(at)
    assert.ok(!FORGERIES.some((forgery) => told.includes(forgery)), told)
    return [key, login, jwt].map((text) => told.includes(text))
  }
  const both: Pairs = [
    ['X-Of-token', key],
    ['X-Of-basic', login],
    ['x_of_jwt', FORGED.jwt],
  ]
  assert.deepEqual(await send('/and/x', both), [true, true, false])
  assert.deepEqual(await send('/and-strip/x', both), [false, false, false])
  // The key is valid, and its alternative is not met: what the API asks beside it was not checked.
  const half: Pairs = [
    ['X-Of-token', key],
    ['X-Of-basic', FORGED.basic],
    ['X-Of-jwt', jwt],
  ]
  assert.deepEqual(await send('/and/x', half), [false, false, true])
  for (const text of [login, jwt])
    assert.deepEqual(await send('/shared/x', [['Authorization', text]]), [false, text === login, text === jwt])
})

test('other places of a method are unverified under every name that upstreams accept', async (t) => {
  const at = await world(t)
  const names = { auth_header_name: 'X-My-Key', param_name: 'my.key', cookie_name: 'my.key' }
  await at.publish('one', [['token']], {}, names)
  await at.publish('signed', [['hmac']], {}, { use_param: false, use_cookie: false })
  await at.ready()
  const key = at.good('token', '', '')
  let passed = 0
  const rows: readonly (readonly [query: string, fields: Pairs])[] = [
    ['my.key%5B%5D=forged-victim', [['X-My-Key', key]]],
    ['b=1&MY_KEY=forged-victim', [['X-My-Key', key]]],
    ['b=1;+my.key=forged-victim', [['X-My-Key', key]]],
    [
      'a=1',
      [
        ['X-My-Key', key],
        ['Cookie', 'b=2; my_key=forged-victim'],
      ],
    ],
    [
      'a=1',
      [
        ['X-My-Key', key],
        ['Cookie', 'b=2; my.key[]=forged-victim'],
      ],
    ],
    [`my.key=${key}`, [['X_My-Key', 'forged-victim']]],
  ]
  for (const [query, fields] of rows) {
    const { status } = await sendExactly(at.gate.port, '1.1', { path: `/one/x?${query}`, fields })
    if (status === 200) passed++
    else assert.equal(status, 400)
    assert.ok(status !== 200 || !seen(at).includes(VICTIM), seen(at))
  }
  assert.ok(passed > 0)
  const target = '/signed/x'
  const fields: Pairs = [['Date', DATE], ['X-Of-hmac', at.good('hmac', '', target)], ...BESIDE.hmac.slice(0, 2)]
  assert.equal((await sendExactly(at.gate.port, '1.1', { path: target, fields })).status, 200)
  assert.ok(!FORGERIES.some((forgery) => seen(at).includes(forgery)), seen(at))
  assert.ok(seen(at).includes('Signature keyId='), seen(at))
})

test('an internal API passes on verified credentials of the API before it, and no others', async (t) => {
  const at = await world(t)
  await at.publish('inside', [['token'], ['jwt']], { internal: true })
  const to = { proxy: { listen_path: '/open/', target_url: 'svc://inside/', strip_listen_path: true } }
  const keyed = { proxy: { listen_path: '/keyed/', target_url: 'svc://inside/', strip_listen_path: true } }
  await at.publish('keyed', [['token'], ['basic']], keyed)
  const opened = await at.gate.svc('POST', '/svc/apis', classic('open', '/open/', '', to))
  assert.equal(opened.status, 200, opened.text)
  await at.ready()
  const key = at.good('token', '', '')
  for (const place of PLACES) {
    const all = (valid: string) =>
      asked('/PATH/x', [
        [place, valid, headerOf('token'), bareOf('token')],
        [place, FORGED.jwt, headerOf('jwt'), bareOf('jwt')],
        ['header', FORGED.basic, headerOf('basic'), ''],
      ])
    for (const [api, valid] of [
      ['open', FORGED.token],
      ['keyed', key],
      ['keyed', ''],
    ] as const) {
      const { target, fields } = all(valid || FORGED.token)
      const path = target.replace('PATH', api).replace('/x', valid === '' ? '/free' : '/x')
      assert.equal((await sendExactly(at.gate.port, '1.1', { path, fields })).status, 200)
      const told = seen(at).replace(api === 'open' || valid === '' ? FORGED.basic : '', '')
      assert.ok(!FORGERIES.some((forgery) => told.includes(forgery)), `${api} ${place}: ${told}`)
      assert.equal(told.includes(key), valid === key, `${api} ${place}: ${told}`)
    }
  }
})

test('no rewrite puts one into what goes on; what no method of the API reads is for the upstream', async (t) => {
  const at = await world(t)
  const triggers = ['X-Jwt', 'x_jwt', 'Cookie'].map((name, i) => ({
    condition: 'any',
    rules: [{ in: 'header', name, pattern: '^(.*forged.*)$' }],
    rewriteTo: `/triggered/$svc_context.trigger-${i}-${name.replaceAll('-', '_')}-0`,
  }))
  const jwt = { source: base64(SECRET), signingMethod: 'hmac', defaultPolicies: ['p'] }
  const definition = defined({
    ...{ id: 'r', url: at.origin.url, keyIn: 'Authorization' },
    authentication: {
      securityProcessingMode: 'compliant',
      securitySchemes: {
        key: { enabled: true },
        person: {
          ...jwt,
          header: { enabled: true, name: 'X-Jwt' },
          cookie: { enabled: true, name: 'jwt' },
          enabled: true,
        },
      },
    },
    paths: { '/read': { get: { operationId: 'read' } }, '/free': { get: { operationId: 'free' } } },
    operations: {
      read: { urlRewrite: { enabled: true, pattern: '^(.*)$', rewriteTo: '$1', triggers } },
      free: { ignoreAuthentication: { enabled: true } },
    },
  })
  const { securitySchemes } = definition.components as { securitySchemes: JsonObject }
  securitySchemes.person = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }
  definition.security = [{ key: [] }, { person: [] }]
  const made = await at.gate.svc('POST', '/svc/apis/oas', definition)
  assert.equal(made.status, 200, made.text)
  const access_rights = rightsOn('r')
  assert.equal((await at.gate.svc('POST', '/svc/policies', { id: 'p', active: true, access_rights })).status, 200)
  const { key } = (await at.gate.svc('POST', '/svc/keys/create', { access_rights })).json as { key: string }
  for (const forged of [
    ['X-Jwt', VICTIM],
    ['Cookie', `jwt=${VICTIM}`],
  ] as const) {
    const fields: Pairs = [['Authorization', key], forged]
    assert.equal((await sendExactly(at.gate.port, '1.1', { path: '/r/read', fields })).status, 200)
    assert.ok(!seen(at).includes(VICTIM), seen(at))
  }
  for (const text of ['Basic theirs', 'Bearer theirs', 'theirs']) {
    const fields: Pairs = [['Authorization', text]]
    assert.equal((await sendExactly(at.gate.port, '1.1', { path: '/r/free', fields })).status, 200)
    assert.ok(seen(at).includes('theirs'), text)
  }
})

test('of a caller who is known by a certificate no field tells of another', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-unverified-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [server, ann] = [makeCertificate('gateway.example'), makeCertificate('ann')]
  writeFileSync(join(folder, 'cert.pem'), server.cert)
  writeFileSync(join(folder, 'key.pem'), server.key)
  const at = await world(t, {
    SVC_GW_TLS_ENABLED: 'true',
    SVC_GW_TLS_LISTENPORT: '0',
    SVC_GW_TLS_CERTFILE: join(folder, 'cert.pem'),
    SVC_GW_TLS_KEYFILE: join(folder, 'key.pem'),
  })
  await at.publish('c', [['token'], ['jwt']], {}, { use_param: false, use_cookie: false })
  await at.ready()
  const session = { access_rights: rightsOn('c'), certificate: ann.fingerprint }
  assert.equal((await at.gate.svc('POST', '/svc/keys/create', session)).status, 200)
  const names = ['x_of-token', 'X-Of-jwt', 'Client-Cert', 'client_cert_chain', 'X-Client-Cert', 'X-SSL-Client-DN']
  const more = ['SSL_Client_Verify', 'X-Forwarded-Client-Cert', 'X-Forwarded-Tls-Client-Cert-Info', 'DPoP']
  const socket = await Client.connect(at.gate.gateway.tlsPort!, {
    rejectUnauthorized: false,
    cert: ann.cert,
    key: ann.key,
  })
  const lines = [...names, ...more].map((name) => `${name}: forged-victim\r\n`).join('')
  assert.equal(statusOf(await socket.ask(`GET /c/x HTTP/1.1\r\nHost: a\r\n${lines}\r\n`)), 200)
  socket.destroy()
  assert.ok(!seen(at).includes(VICTIM), seen(at))
})
