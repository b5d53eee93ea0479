import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { toOas } from '../../../src/model/apis/convert/convert.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { classicApi } from '../../worlds/gateway/admin-fixtures.ts'
import { base64, claims, compact, es, hs, hsToken, NOW_S, SECRET, signer } from '../../worlds/gateway/jwt-fixtures.ts'
import { challengesOf } from '../../worlds/gateway/oauth-fixtures.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

const FORMATS = ['classic', 'oas'] as const
type Format = (typeof FORMATS)[number]

/** An issuer that is asked about tokens; `says` is its answer to each. */
interface Asked extends Origin {
  says: (token: string) => JsonObject | string
  status: number
}

async function issuer(t: TestContext): Promise<Asked> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const made: Asked = Object.assign(origin, { says: () => ({ active: true, sub: 'ann' }), status: 200 })
  origin.script = ({ body }, response) => {
    const answer = made.says(new URLSearchParams(body).get('token') ?? '')
    response.writeHead(made.status, { 'content-type': 'application/json' })
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  }
  return made
}

async function world(t: TestContext, env: Record<string, string> = { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' }) {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({ env })
  t.after(() => gate.close())
  let number = 0
  return {
    gate,
    origin,
    /** Publishes an API with this issuer; its answer, and calls to it. */
    async publish(format: Format, provider: JsonObject, more: JsonObject = {}) {
      const id = `x${++number}`
      const definition = classicApi(id, `/${id}/`, {
        ...{ api_id: id, use_keyless: false, external_oauth: { enabled: true, providers: [provider] } },
        proxy: { listen_path: `/${id}/`, target_url: origin.url, strip_listen_path: true },
        ...more,
      })
      const answer = await (format === 'classic'
        ? gate.svc('POST', '/svc/apis', definition)
        : gate.svc('POST', '/svc/apis/oas', toOas(definition).document))
      const warnings = ((answer.json as JsonObject).warnings ?? []) as { path: string }[]
      return {
        id,
        ...{ status: answer.status, text: answer.text, warned: warnings.map(({ path }) => path) },
        call: (credential = '', path = 'a') =>
          gate.call(`/${id}/${path}`, { headers: credential === '' ? {} : { authorization: credential } }),
      }
    },
  }
}

const bySecret = (more: JsonObject = {}): JsonObject => ({
  jwt: { enabled: true, signing_method: 'hmac', source: base64(SECRET), ...more },
})

for (const format of FORMATS) {
  describe(`${format}: tokens that are checked by their signature`, () => {
    test('a good one is let in, whatever policies there are; any other is refused', async (t) => {
      const { publish, origin } = await world(t)
      const { call, status, text } = await publish(format, bySecret(), { strip_auth_data: true })
      assert.equal(status, 200, text)
      assert.equal((await call(`Bearer ${hsToken()}`)).status, 200)
      assert.equal(origin.seen.at(-1)!.headers.authorization, undefined)
      assert.equal((await call(hsToken())).status, 200)
      const good = { exp: NOW_S + 60 }
      for (const [name, token] of Object.entries({
        'another secret': compact({ alg: 'HS256' }, claims(), hs(Buffer.alloc(64, 'x'))),
        'no signature': compact({ alg: 'none' }, claims(), () => Buffer.alloc(0)),
        expired: hsToken(claims({ exp: NOW_S - 1 })),
        early: hsToken(claims({ nbf: NOW_S + 60 })),
        'from the future': hsToken(claims({ iat: NOW_S + 60 })),
        endless: hsToken({ sub: 'ann' }),
        nobody: hsToken(good),
        'an empty name': hsToken({ ...good, sub: '' }),
        garbage: 'a.b.c',
        'no token at all': 'x',
      }))
        assert.equal((await call(`Bearer ${token}`)).status, 401, name)
      const missing = await call()
      assert.equal(missing.status, 401)
      assert.equal(challengesOf(missing), 'Bearer realm="oauth"')
      const other = await call('Basic YW5uOmNvcnJlY3QgaG9yc2U=')
      assert.deepEqual([other.status, challengesOf(other)], [401, 'Bearer realm="oauth"'], 'no error to name')
    })

    test('keys may be PEM, or a key set at an address, in base64 too', async (t) => {
      const { publish } = await world(t)
      const own = signer('ES256', 'a')
      const keys = await issuer(t)
      keys.says = () => ({ keys: [own.jwk] })
      const token = `Bearer ${compact({ alg: 'ES256', kid: 'a' }, claims(), es(own.privateKey))}`
      const forged = `Bearer ${compact({ alg: 'ES256', kid: 'a' }, claims(), es(signer('ES256', 'a').privateKey))}`
      for (const source of [base64(own.pem), `${keys.url}/jwks`, base64(`${keys.url}/jwks`)]) {
        const { call, text } = await publish(format, { jwt: { enabled: true, signing_method: 'ecdsa', source } })
        assert.equal((await call(token)).status, 200, text)
        assert.equal((await call(forged)).status, 401)
        assert.equal((await call(`Bearer ${hsToken()}`)).status, 401)
      }
      keys.status = 500
      const { call } = await publish(format, {
        jwt: { enabled: true, signing_method: 'ecdsa', source: `${keys.url}/other` },
      })
      assert.equal((await call(token)).status, 503)
    })

    test('clocks, identity and weaker choices are those of the definition', async (t) => {
      const { publish, gate } = await world(t)
      const skews = { issued_at_validation_skew: 5, not_before_validation_skew: 6, expires_at_validation_skew: 7 }
      const { call } = await publish(format, bySecret({ ...skews, identity_base_field: 'user.id' }))
      const status = async (more: JsonObject) => (await call(`Bearer ${hsToken(claims(more))}`)).status
      for (const [claim, edge] of [
        ['iat', 5],
        ['nbf', 6],
      ] as const) {
        assert.equal(await status({ [claim]: NOW_S + edge }), 200, claim)
        assert.equal(await status({ [claim]: NOW_S + edge + 1 }), 401, claim)
      }
      assert.equal(await status({ exp: NOW_S - 6 }), 200)
      assert.equal(await status({ exp: NOW_S - 7 }), 401)
      assert.equal(await status({ user: { id: 'bob' } }), 200)
      assert.equal(await status({ user: { id: '' } }), 401)
      assert.equal(await status({ user: {} }), 200, 'its sub')
      const weak = await publish(format, bySecret({ source: base64('short') }))
      assert.equal(weak.status, 400)
      assert.match(weak.text, /at least 32 bytes/)
      const chosen = { source: base64('short'), allow_short_secrets: true, disable_expires_at_validation: true }
      const taken = await publish(format, bySecret(chosen))
      assert.equal(taken.status, 200, taken.text)
      assert.equal(taken.warned.length, 2)
      assert.equal(
        (await taken.call(`Bearer ${compact({ alg: 'HS512' }, { sub: 'ann' }, hs(Buffer.from('short'), 'sha512'))}`))
          .status,
        200,
      )
      gate.clock.advance(1000)
    })
  })

  describe(`${format}: tokens that their issuer is asked about`, () => {
    const asking = ({ url }: Origin, more: JsonObject = {}): JsonObject => ({
      introspection: { enabled: true, url: `${url}/introspect`, client_id: 'me', client_secret: 's3cr&t=+', ...more },
    })

    test('the issuer decides, and gets the token with our credentials', async (t) => {
      const { publish, gate } = await world(t)
      const from = await issuer(t)
      const answers: Record<string, [JsonObject | string, number]> = {
        good: [{ active: true, sub: 'ann' }, 200],
        'good for a while': [{ active: true, sub: 'ann', exp: NOW_S + 60 }, 200],
        'named otherwise': [{ active: true, user: 'bob' }, 200],
        inactive: [{ active: false, sub: 'ann' }, 401],
        'run out': [{ active: true, sub: 'ann', exp: NOW_S }, 401],
        'an end that is a text': [{ active: true, sub: 'ann', exp: `${NOW_S + 60}` }, 401],
        'an end that never comes': ['{"active":true,"sub":"ann","exp":1e999}', 401],
        'an end that is null': [{ active: true, sub: 'ann', exp: null }, 401],
        nobody: [{ active: true }, 401],
        'a refresh token of Gatehouse or Hydra': [{ active: true, sub: 'ann', token_use: 'refresh_token' }, 401],
        'a refresh token by its type': [{ active: true, sub: 'ann', token_type: 'refresh_token' }, 401],
        'a refresh token of Keycloak': [{ active: true, sub: 'ann', typ: 'Refresh' }, 401],
        'an offline token': [{ active: true, sub: 'ann', typ: 'Offline' }, 401],
        'an ID token': [{ active: true, sub: 'ann', token_use: 'id' }, 401],
        'an access token that says so': [{ active: true, sub: 'ann', token_use: 'access', token_type: 'Bearer' }, 200],
        'an empty name': [{ active: true, sub: '' }, 401],
        bound: [{ active: true, sub: 'ann', cnf: { jkt: 'A'.repeat(43) } }, 401],
        'no word of it': [{ sub: 'ann' }, 503],
        'a text': [{ active: 'true', sub: 'ann' }, 503],
        'a number': [{ active: 1, sub: 'ann' }, 503],
        'no JSON': ['active', 503],
        'a list': ['[true]', 503],
        twice: ['{"active":false,"active":true,"sub":"ann"}', 503],
        'too much': [{ active: true, sub: 'ann', x: 'x'.repeat(100_000) }, 503],
      }
      from.says = (token) => answers[token]![0]
      const { call, text } = await publish(format, asking(from, { identity_base_field: 'user' }))
      for (const [token, [, status]] of Object.entries(answers))
        assert.equal((await call(`Bearer ${token}`)).status, status, `${token} ${text}`)
      const { method, target, headers, body } = from.seen[0]!
      assert.deepEqual(
        [method, target, headers['content-type']],
        ['POST', '/introspect', 'application/x-www-form-urlencoded'],
      )
      const form = { token: 'good', client_id: 'me', client_secret: 's3cr&t=+' }
      assert.deepEqual(Object.fromEntries(new URLSearchParams(body)), form)
      assert.equal(from.seen.length, Object.keys(answers).length)
      for (const status of [201, 302, 401, 500]) {
        from.status = status
        assert.equal((await call('Bearer good')).status, 503, String(status))
      }
      assert.equal((await call()).status, 401)
      assert.ok(!JSON.stringify(gate.log).includes('s3cr'))
      await from.close()
      assert.equal((await call('Bearer good')).status, 503)
    })

    test('an issuer gets no credential of another scheme', async (t) => {
      const { publish } = await world(t)
      const from = await issuer(t)
      const { call } = await publish(format, asking(from))
      for (const credential of ['Basic YW5uOmNvcnJlY3QgaG9yc2U=', 'Digest username="ann"', 'Negotiate abc']) {
        const answer = await call(credential)
        assert.deepEqual([answer.status, challengesOf(answer)], [401, 'Bearer realm="oauth"'], credential)
      }
      assert.equal(from.seen.length, 0)
    })

    test('answers are kept for their time, and not beyond the life of the token', async (t) => {
      const { publish, gate } = await world(t)
      const from = await issuer(t)
      const cached = await publish(format, asking(from, { cache: { enabled: true, timeout: 10 } }))
      from.says = (token) => ({ active: token !== 'no', sub: 'ann', ...(token === 'short' && { exp: NOW_S + 5 }) })
      const statuses = async (token: string) => [
        (await cached.call(`Bearer ${token}`)).status,
        (await cached.call(`Bearer ${token}`)).status,
      ]
      assert.deepEqual(await statuses('yes'), [200, 200])
      assert.deepEqual(await statuses('no'), [401, 401])
      assert.deepEqual(await statuses('short'), [200, 200])
      assert.equal(from.seen.length, 3)
      gate.clock.advance(5_000)
      assert.deepEqual(await statuses('short'), [401, 401])
      assert.equal(from.seen.length, 3)
      from.says = () => ({ active: false })
      gate.clock.advance(4_999)
      assert.deepEqual(await statuses('yes'), [200, 200])
      gate.clock.advance(1)
      assert.deepEqual(await statuses('yes'), [401, 401])
      assert.equal(from.seen.length, 4)
      for (const cache of [undefined, { enabled: false, timeout: 10 }, { enabled: true, timeout: 0 }]) {
        const { call, warned } = await publish(format, asking(from, cache === undefined ? {} : { cache }))
        const before: number = from.seen.length
        for (let i = 0; i < 3; i++) assert.equal((await call('Bearer x')).status, 401)
        assert.equal(from.seen.length, before + 3)
        assert.equal(warned.length, cache?.enabled === true ? 1 : 0)
      }
    })

    test('an address in the network is not asked, unless the administrator allows it', async (t) => {
      const from = await issuer(t)
      const { publish, gate } = await world(t)
      const { id } = await publish(format, asking(from))
      // It was stored while that was allowed.
      const strict = await startTestGateway({ store: gate.store })
      t.after(() => strict.close())
      assert.equal((await strict.call(`/${id}/a`, { headers: { authorization: 'Bearer x' } })).status, 503)
      assert.equal(from.seen.length, 0)
      assert.equal((await (await world(t, {})).publish(format, asking(from))).status, 400)
    })
  })

  test(`${format}: an issuer that cannot be used is refused, what has no effect is reported`, async (t) => {
    const { publish } = await world(t)
    const cases: [JsonObject, RegExp][] = [
      [{ jwt: { enabled: false } }, /providers\[0\]: must enable/],
      [{ jwt: { enabled: true } }, /source: must hold a key/],
      [
        { jwt: { enabled: true, source: 'https://idp.example/jwks', signing_method: 'hmac' } },
        /signing_?[mM]ethod: must not be/,
      ],
      [{ introspection: { enabled: true } }, /introspection\.url: is missing/],
      [bySecret({ new_check: true }), /new_check: a member that nothing here knows/],
    ]
    for (const [provider, says] of cases) {
      const { status, text } = await publish(format, provider)
      assert.equal(status, 400, text)
      assert.match(text, says)
    }
    const both = { ...bySecret(), introspection: { enabled: true, url: 'https://idp.example/' } }
    const { warned, call, text } = await publish(format, both, {
      external_oauth: { enabled: true, providers: [both, bySecret()] },
    })
    assert.deepEqual(
      warned.map((path) => path.replace(/^.*providers\b/, '')),
      ['[1]', '[0].introspection'],
      text,
    )
    assert.equal((await call(`Bearer ${hsToken()}`)).status, 200)
  })
}

test('scopes that a document asks of such tokens are reported as unchecked', async (t) => {
  const { gate, origin } = await world(t)
  const definition = classicApi('S', '/s/', {
    ...{ api_id: 's', use_keyless: false, external_oauth: { enabled: true, providers: [bySecret()] } },
    proxy: { listen_path: '/s/', target_url: origin.url },
  })
  const document = toOas(definition).document as JsonObject
  const [name] = Object.keys((document.security as JsonObject[])[0]!)
  document.security = [{ [name!]: ['read'] }]
  const answer = await gate.svc('POST', '/svc/apis/oas', document)
  assert.equal(answer.status, 200, answer.text)
  const [warning] = (answer.json as { warnings: { path: string; message: string }[] }).warnings
  assert.match(`${warning!.path} ${warning!.message}`, /^security\[0\].* scopes of another issuer are not checked/)
})

test('unknown tokens from one address do not keep another from the issuer', async (t) => {
  const { publish, gate } = await world(t)
  const from = await issuer(t)
  const { id } = await publish('oas', {
    introspection: { enabled: true, url: `${from.url}/introspect`, client_id: 'me', client_secret: 's' },
  })
  from.script = () => {}
  let refused = 0
  const send = (token: string, localAddress: string) => {
    const socket = connect({ port: gate.port, host: '127.0.0.1', localAddress })
    t.after(() => socket.destroy())
    socket.on('error', () => {}).on('data', (data) => (refused += String(data).startsWith('HTTP/1.1 503') ? 1 : 0))
    socket.write(`GET /${id}/a HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  }
  const tokens = () => from.seen.map(({ body }) => new URLSearchParams(body).get('token'))
  for (let i = 0; i < 300; i++) send(`unknown-${i}`, '127.0.0.2')
  await eventually('all are asked about, or refused', () => tokens().length + refused === 300)
  assert.ok(refused > 0)
  send('another', '127.0.0.3')
  await eventually('the other is asked about', () => tokens().includes('another'))
})
