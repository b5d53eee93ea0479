import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { classic } from '../../worlds/base/definitions.ts'
import { TEST_SECRET } from '../../worlds/base/harness.ts'
import { oauthApi, startPlain, startWorld } from '../../worlds/gateway/oauth-fixtures.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const AUTHORIZE = 'response_type=code&client_id=app&redirect_uri=https%3A%2F%2Fapp.example.org%2Fcb&state=s'

/** The paths of metadata: that of RFC 8414, and that of OpenID Connect, where several libraries look alone. */
const WELL_KNOWN = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']

describe('where the endpoints are', () => {
  test('below the listen path and below the id of the API, with and without a slash at the end', async (t) => {
    const world = await startWorld(t)
    const { gateway } = world
    await world.publish(oauthApi(world.origin.url, { id: 'one', path: '/bill/' }))
    await world.policy('p', ['one'])
    await world.client('app', { api_id: 'one', policies: ['p'] })
    const table: readonly [string, string, string | undefined, number][] = [
      ['GET', `/oauth/authorize?${AUTHORIZE}`, undefined, 307],
      ['GET', `/oauth/authorize/?${AUTHORIZE}`, undefined, 307],
      ['POST', '/oauth/authorize', AUTHORIZE, 307],
      ['PUT', '/oauth/authorize', undefined, 405],
      ['GET', '/oauth/token', undefined, 405],
      ['POST', '/oauth/token', 'grant_type=client_credentials', 401],
      ['POST', '/oauth/token/', 'grant_type=client_credentials', 401],
      ['POST', '/oauth/revoke', 'token=x', 401],
      ['POST', '/oauth/revoke_all', 'client_id=app&client_secret=wrong', 401],
      ['POST', '/oauth/introspect', 'token=x', 401],
      ['POST', '/oauth/par', AUTHORIZE, 401],
      ['GET', '/oauth/jwks', undefined, 200],
      ...WELL_KNOWN.map((path): [string, string, undefined, number] => ['GET', path, undefined, 200]),
      ['POST', '/svc/oauth/authorize-client', AUTHORIZE, 403],
    ]
    for (const prefix of ['/bill', '/one']) {
      for (const [method, path, body, status] of table) {
        const options = body === undefined ? { method } : { method, body, headers: FORM }
        const answer = await gateway.call(prefix + path, options)
        assert.equal(answer.status, status, `${method} ${prefix}${path}: ${answer.text}`)
        if (!path.includes('well-known') && !path.includes('jwks'))
          assert.match(answer.headers['cache-control'] ?? '', /no-store/, `${method} ${prefix}${path}`)
        assert.ok(answer.headers['x-request-id'])
      }
    }
    // no slash at the end of these: they are paths of the upstream, which asks for a token
    for (const path of ['/oauth/revoke/', '/oauth/revoke_all/', '/oauth/other', '/oauth', '/oauth/token/x']) {
      const answer = await gateway.call(`/bill${path}`, { method: 'POST' })
      assert.deepEqual([answer.status, answer.json], [401, { error: 'Authorization field missing' }], path)
    }
    assert.equal((await gateway.call('/one/x')).status, 404)
    assert.equal(world.origin.seen.length, 0)
  })

  test("an API without the method has none: such paths are its upstream's", async (t) => {
    const world = await startWorld(t)
    await world.gateway.svc('POST', '/svc/apis', classic('open', '/open/', world.origin.url))
    await world.gateway.svc('POST', '/svc/apis', classic('root', '/', world.origin.url))
    const paths = [
      '/open/oauth/token',
      '/open/oauth/authorize',
      ...WELL_KNOWN.flatMap((at) => [`/open${at}`, at, `${at}/open`]),
      '/oauth/token',
    ]
    for (const path of paths) assert.equal((await world.gateway.call(path)).status, 200, path)
    assert.deepEqual(
      world.origin.seen.map(({ target }) => target),
      paths.map((path) => path.replace('/open/', '/')),
    )
  })

  test('the authorization server of an API at the root of a domain', async (t) => {
    const world = await startWorld(t)
    const domain = { customDomain: { enabled: true, name: 'id.example.org' } }
    await world.publish(oauthApi(world.origin.url, { id: 'a', path: '/', server: domain }))
    const port = world.gateway.port
    for (const path of WELL_KNOWN.flatMap((at) => [at, `${at}/`])) {
      const answer = await world.gateway.call(path, { headers: { host: `ID.example.org:${port}` } })
      assert.equal((answer.json as { issuer: string }).issuer, `http://id.example.org:${port}`, path)
      assert.equal((await world.gateway.call(path)).status, 404)
    }
  })

  test('the document of OpenID Connect has all members that its Discovery requires (section 3)', async (t) => {
    const world = await startWorld(t)
    const required = ['issuer', 'authorization_endpoint', 'token_endpoint', 'jwks_uri', 'response_types_supported']
    const beside = [
      ...['subject_types_supported', 'id_token_signing_alg_values_supported'],
      ...['request_parameter_supported', 'request_uri_parameter_supported'],
    ]
    for (const format of ['opaque', 'jwt']) {
      await world.publish(oauthApi(world.origin.url, { id: format, settings: { accessTokenFormat: format } }))
      const read = async (path: string) => (await world.gateway.call(path)).json as Record<string, unknown>
      const [, openid = ''] = WELL_KNOWN
      for (const path of [`/${format}${openid}`, `${openid}/${format}`]) {
        const document = await read(path)
        for (const name of [...required, ...beside]) assert.ok(name in document, `${path} has no ${name}`)
        const keys = await read(new URL(String(document.jwks_uri)).pathname)
        assert.ok(Array.isArray(keys.keys))
        const others = Object.entries(document).filter(([name]) => name !== 'jwks_uri' && !beside.includes(name))
        const { jwks_uri, ...plain } = await read(path.replace(openid, WELL_KNOWN[0]!))
        assert.deepEqual(Object.fromEntries(others), plain)
      }
    }
  })

  test('a client registration has its id in the path', async (t) => {
    const world = await startPlain(t)
    const answer = await world.gateway.call('/a/oauth/register/some-client')
    assert.notEqual((answer.json as { error: string }).error, 'Authorization field missing')
  })
})

describe('the issuer', () => {
  const issuerAt = async (world: Awaited<ReturnType<typeof startPlain>>, path: string, headers = {}) => {
    const answer = await world.gateway.call(path, { headers })
    assert.equal(answer.status, 200, answer.text)
    return (answer.json as { issuer: string }).issuer
  }
  const paths = WELL_KNOWN.flatMap((at) => [`/a${at}`, `${at}/a`])

  test('is scheme and host of the request, which a warning speaks of', async (t) => {
    const world = await startPlain(t)
    for (const path of [...paths, ...WELL_KNOWN.map((at) => `${at}/a/`)]) {
      assert.equal(await issuerAt(world, path), `http://127.0.0.1:${world.gateway.port}/a`)
      assert.equal(await issuerAt(world, path, { host: 'api.example.org' }), 'http://api.example.org/a')
      const forged = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
      assert.equal(await issuerAt(world, path, { host: 'api.example.org', ...forged }), 'http://api.example.org/a')
    }
    const warnings = world.gateway.log.filter(({ message }) => message.includes('issuer'))
    assert.equal(warnings.length, 1)
    assert.equal(warnings[0]!.level, 'warn')
    assert.match(warnings[0]!.message, /gateway\.public_url/)
  })

  test('is told by trusted proxies', async (t) => {
    const world = await startPlain(t, {}, { env: { SVC_GW_TRUSTEDPROXIES: '127.0.0.1' } })
    const told = { 'x-forwarded-host': 'api.example.org', 'x-forwarded-proto': 'https' }
    for (const path of paths) assert.equal(await issuerAt(world, path, told), 'https://api.example.org/a')
  })

  test('is the public address where one is set, whatever the request names', async (t) => {
    const world = await startPlain(t, {}, { env: { SVC_GW_PUBLICURL: 'https://api.example.org/gw/' } })
    for (const path of paths) {
      assert.equal(await issuerAt(world, path, { host: 'evil.example' }), 'https://api.example.org/gw/a')
    }
    assert.deepEqual(
      world.gateway.log.filter(({ message }) => message.includes('issuer')),
      [],
    )
  })

  test('of a path with placeholders is that of the request', async (t) => {
    const world = await startPlain(t, { path: '/t/{tenant}/' })
    const port = world.gateway.port
    for (const at of WELL_KNOWN) {
      assert.equal(await issuerAt(world, `/t/x${at}`), `http://127.0.0.1:${port}/t/x`)
      assert.equal(await issuerAt(world, `${at}/t/y`), `http://127.0.0.1:${port}/t/y`)
    }
  })

  test('an unknown path behind the well-known one is no metadata', async (t) => {
    const world = await startPlain(t)
    for (const at of WELL_KNOWN)
      for (const path of ['/nothing', '/a/x', 'a'])
        assert.equal((await world.gateway.call(at + path)).status, 404, at + path)
  })
})

describe('calls of the authorization server are no traffic of the API', () => {
  test('no limit, no address list, no hit', async (t) => {
    const world = await startPlain(t, {
      rateLimit: { enabled: true, rate: 1, per: '1h' },
      server: { ipAccessControl: { enabled: true, block: ['127.0.0.1'] } },
      global: { trafficLogs: { enabled: true }, requestSizeLimit: { enabled: true, value: 1 } },
    })
    for (let i = 0; i < 3; i++) await world.token('/a/', 'app')
    assert.equal((await world.get('/a/x', await world.token('/a/', 'app'))).status, 403)
    await world.gateway.gateway.stop()
    const rows = await world.gateway.store.hits.sum({ fromHour: 0, toHour: 1e6, limit: 100 })
    assert.deepEqual(
      rows.map(({ status, count }) => [status, count]),
      [[403, 1]],
    )
  })

  test('but its CORS rules apply to the public ones', async (t) => {
    const world = await startPlain(t, {
      global: { cors: { enabled: true, allowedOrigins: ['https://app.example.org'], allowedMethods: ['POST'] } },
    })
    const origin = { origin: 'https://app.example.org' }
    const preflight = await world.gateway.call('/a/oauth/token', {
      method: 'OPTIONS',
      headers: { ...origin, 'access-control-request-method': 'POST' },
    })
    assert.equal(preflight.status, 204)
    assert.equal(preflight.headers['access-control-allow-origin'], 'https://app.example.org')
    const metadata = await world.gateway.call('/.well-known/oauth-authorization-server/a', { headers: origin })
    assert.equal(metadata.headers['access-control-allow-origin'], 'https://app.example.org')
    const closed = await world.gateway.call('/a/svc/oauth/authorize-client', { method: 'POST', headers: origin })
    assert.equal(closed.headers['access-control-allow-origin'], undefined)
  })

  test('explain says who answers, and does nothing', async (t) => {
    const world = await startPlain(t)
    for (const url of ['/a/oauth/token', '/.well-known/oauth-authorization-server/a', '/a/oauth/jwks']) {
      const answer = await world.gateway.svc('POST', '/svc/explain', { method: 'POST', url, headers: {} })
      const explained = answer.json as { result: unknown; steps: { detail: string }[] }
      assert.deepEqual(explained.result, { outcome: 'answered' }, url)
      assert.match(explained.steps.at(-1)!.detail, /^the authorization server of the API answers here/)
    }
  })
})

describe('the whole code flow', () => {
  for (const word of ['svc', 'acme']) {
    test(`by the word ${word}`, async (t) => {
      const world = await startPlain(t, {}, { env: { SVC_COMPAT_VENDORALIASES: 'acme' } })
      const { gateway } = world
      const login = await gateway.call(`/a/oauth/authorize?${AUTHORIZE}`)
      assert.equal(login.status, 307)
      assert.ok(login.headers.location?.startsWith('https://login.example.org/start?'))
      const path = `/a/${word}/oauth/authorize-client`
      const headers = { ...FORM, [`x-${word}-authorization`]: TEST_SECRET }
      const wrong = await gateway.call(path, {
        method: 'POST',
        headers: { ...headers, [`x-${word}-authorization`]: 'wrong' },
        body: AUTHORIZE,
      })
      assert.equal(wrong.status, 403)
      const allowed = await gateway.call(path, { method: 'POST', headers, body: AUTHORIZE })
      assert.equal(allowed.status, 200, allowed.text)
      const { code } = allowed.json as { code: string }
      const tokens = await world.ask('/a/', 'app', {
        grant_type: 'authorization_code',
        code,
        redirect_uri: 'https://app.example.org/cb',
      })
      assert.equal(tokens.status, 200, tokens.text)
      const { access_token: access, refresh_token: refresh } = tokens.json as Record<string, string>
      assert.equal((await world.get('/a/x', access!)).status, 200)
      const again = await world.ask('/a/', 'app', { grant_type: 'refresh_token', refresh_token: refresh! })
      assert.equal(again.status, 200, again.text)
      assert.equal((await world.get('/a/x', access!)).status, 401)
      assert.equal((await world.get('/a/x', (again.json as Record<string, string>).access_token!)).status, 200)
    })
  }
})

test('a JWT access token has the type of its API, is found, and refused once it is revoked', async (t) => {
  for (const type of ['', 'at+jwt', 'JWT']) {
    const world = await startPlain(t, { settings: { accessTokenFormat: 'jwt', accessTokenType: type } })
    const token = await world.token('/a/', 'app')
    const [head = '', ...others] = token.split('.')
    assert.equal(others.length, 2)
    assert.equal((JSON.parse(Buffer.from(head, 'base64url').toString()) as { typ: string }).typ, type || 'at+jwt')
    assert.equal((await world.get('/a/x', token)).status, 200)
    const ended = await world.gateway.call('/a/oauth/revoke', {
      method: 'POST',
      headers: { ...FORM, authorization: `Basic ${Buffer.from('app:secret-of-app').toString('base64')}` },
      body: new URLSearchParams({ token }).toString(),
    })
    assert.equal(ended.status, 200)
    assert.equal((await world.get('/a/x', token)).status, 401, type)
  }
})
