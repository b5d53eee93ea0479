import assert from 'node:assert/strict'
import { createHash, createHmac, createPublicKey, randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type Answer, call } from '../../worlds/base/client.ts'
import { TEST_SECRET } from '../../worlds/base/harness.ts'
import { LOGIN_PAGE, type OAuthWorld, REDIRECT, SECRET, startOAuthWorld } from '../../worlds/flows/oauth-world.ts'
import { newProofKey, proofOf } from '../../worlds/gateway/oauth-proofs.ts'
import { as, bodyOf } from '../../worlds/oauth/negative-requests.ts'

// Attacks of RFC 9700 section 4 that no other test plays through. docs/explanation/oauth-security.md says which test shows which.

const FORM = 'application/x-www-form-urlencoded'
const VERIFIER = 'the-verifier-of-the-honest-client-0123456789'
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')

/** Posts a form to a path of the API; as client `shop` unless `authorization` says otherwise. */
function post(world: OAuthWorld, path: string, form: Record<string, string>, headers: Record<string, string> = {}) {
  return call(world.gateway.port, `/orders/${path}`, {
    method: 'POST',
    headers: { authorization: as('shop'), 'content-type': FORM, ...headers },
    body: new URLSearchParams(form).toString(),
  })
}

/** Opens the authorization endpoint as a browser does. */
function browse(world: OAuthWorld, params: Record<string, string>): Promise<Answer> {
  const all = { client_id: 'shop', response_type: 'code', redirect_uri: REDIRECT, state: 'st', ...params }
  return call(world.gateway.port, `/orders/oauth/authorize?${new URLSearchParams(all)}`)
}

/** A code, and the query of the redirect that brings it. */
async function consent(world: OAuthWorld, params: Record<string, string> = {}): Promise<URLSearchParams> {
  const answer = await browse(world, params)
  assert.equal(answer.status, 307, answer.text)
  const { body } = await world.login({
    ...Object.fromEntries(new URL(answer.headers.location!).searchParams),
    username: 'ada',
  })
  return new URL(String(body.redirect_to)).searchParams
}

function exchange(world: OAuthWorld, code: string, form: Record<string, string> = {}, headers = {}) {
  return post(
    world,
    'oauth/token',
    { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, ...form },
    headers,
  )
}

function refused(answer: Answer, error: string, status = 400): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(bodyOf(answer).error, error)
}

describe('an attacker', () => {
  let world: OAuthWorld
  before(async () => {
    const env = { SVC_GW_OAUTHREGISTRATIONTOKEN: 'initial-token-0123456789-0123456789' }
    world = await startOAuthWorld({ deviceAuthorization: true, accessTokenFormat: 'jwt', dpop: 'allowed' }, { env })
    await world.client({ client_id: 'shop' })
    await world.client({ client_id: 'app', secret: undefined, auth_method: 'none' })
    await world.client({ client_id: 'evil', redirect_uri: 'https://evil.example/callback' })
  })
  after(() => world.close())

  for (const redirect_uri of [
    'https://evil.example/callback',
    'https://client.example.evil.example/callback',
    'https://client.example@evil.example/callback',
    'https://client.example:444/callback',
    'http://client.example/callback',
    'https://CLIENT.example/callback',
    'https://client.example/callback/',
    'https://client.example/callback?next=https://evil.example',
    'https://client.example/callback#fragment',
    'https://client.example/x/../callback',
    'https://client.example/%63allback',
    '//client.example/callback',
    'https://client.example\\@evil.example/callback',
    'javascript:alert(1)',
    ' https://client.example/callback',
  ])
    test(`cannot lead a code to ${JSON.stringify(redirect_uri)} (4.1)`, async () => {
      const asked = await browse(world, { redirect_uri })
      refused(asked, 'invalid_request')
      assert.equal(asked.headers.location, undefined)
      const concluded = await world.login({ client_id: 'shop', response_type: 'code', redirect_uri, username: 'ada' })
      assert.equal(concluded.status, 400)
      assert.equal(concluded.body.redirect_to, undefined)
      refused(await post(world, 'oauth/par', { response_type: 'code', redirect_uri }), 'invalid_request')
    })

  test('cannot make the server redirect before client and address are known (4.11.2)', async () => {
    for (const params of [{ client_id: 'nobody' }, { client_id: 'evil' }, { client_id: '' }] as Record<
      string,
      string
    >[]) {
      const answer = await browse(world, { ...params, scope: 'no such scope' })
      assert.equal(answer.status, 400)
      assert.equal(answer.headers.location, undefined)
    }
  })

  test('cannot choose the login page', async () => {
    const more = {
      authLoginRedirect: 'https://evil.example',
      login: 'https://evil.example',
      next: 'https://evil.example',
    }
    const { headers } = await browse(world, more)
    const { origin, pathname } = new URL(headers.location!)
    assert.equal(origin + pathname, LOGIN_PAGE)
  })

  test('cannot inject a stolen code into a session of their own (4.5)', async () => {
    const stolen = (await consent(world, { code_challenge: CHALLENGE, code_challenge_method: 'S256' })).get('code')!
    refused(
      await exchange(world, stolen, { code_verifier: 'the-verifier-of-the-attackers-session-0123456' }),
      'invalid_grant',
    )
    refused(await exchange(world, stolen), 'invalid_grant')
    refused(await exchange(world, stolen, { code_verifier: CHALLENGE }), 'invalid_grant')
    refused(await exchange(world, stolen, { code_verifier: VERIFIER }, { authorization: as('evil') }), 'invalid_grant')
    const anonymous = { client_id: 'app', code_verifier: VERIFIER }
    const bare = await call(world.gateway.port, '/orders/oauth/token', {
      method: 'POST',
      headers: { 'content-type': FORM },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: stolen,
        redirect_uri: REDIRECT,
        ...anonymous,
      }).toString(),
    })
    refused(bare, 'invalid_grant')
    assert.equal(
      (await exchange(world, stolen, { code_verifier: VERIFIER })).status,
      200,
      'the honest client is not hurt',
    )
  })

  test('cannot push a code of their own into the session of somebody else (4.7)', async () => {
    // made without PKCE, or with the attacker's challenge: the victim's client sends its own verifier
    const bare = (await consent(world)).get('code')!
    refused(await exchange(world, bare, { code_verifier: VERIFIER }), 'invalid_grant')
    const theirs = createHash('sha256').update('x'.repeat(43)).digest('base64url')
    const own = (await consent(world, { code_challenge: theirs, code_challenge_method: 'S256' })).get('code')!
    refused(await exchange(world, own, { code_verifier: VERIFIER }), 'invalid_grant')
  })

  test('cannot change the state that a client checks (4.7)', async () => {
    const state = 'a "state" + & = % \u00e9 \u{1f600} <script>'
    const back = await consent(world, { state })
    assert.deepEqual(back.getAll('state'), [state])
    assert.deepEqual(back.getAll('iss'), [world.issuer.href])
    assert.equal(back.getAll('code').length, 1)
  })

  test('cannot take PKCE out of a request (4.8)', async () => {
    // stripped on the way: the verifier of the honest client then has nothing to fit
    const stripped = (await consent(world)).get('code')!
    refused(await exchange(world, stripped, { code_verifier: VERIFIER }), 'invalid_grant')
    for (const params of [
      { code_challenge: VERIFIER, code_challenge_method: 'plain' },
      { code_challenge: VERIFIER },
      { code_challenge_method: 'S256' },
      { client_id: 'app' },
    ] as Record<string, string>[]) {
      const answer = await browse(world, params)
      assert.equal(answer.status, 303)
      const back = new URL(answer.headers.location!).searchParams
      assert.equal(back.get('error'), 'invalid_request')
      assert.equal(back.has('code'), false)
    }
  })

  test('gets no posted form sent on to a client (4.12)', async () => {
    const params = { client_id: 'shop', response_type: 'code', redirect_uri: REDIRECT, state: 'st' }
    const secrets = { client_secret: SECRET, password: 'x', code_verifier: VERIFIER, key_rules: '{}', username: 'root' }
    const faulty = await post(world, 'oauth/authorize', { ...params, ...secrets, scope: 'unknown' })
    assert.equal(faulty.status, 303, 'to the client: a GET')
    const good = await post(world, 'oauth/authorize', { ...params, ...secrets })
    assert.equal(good.status, 307, 'to the login page, which its operator trusts')
    const location = new URL(good.headers.location!)
    assert.equal(location.origin + location.pathname, LOGIN_PAGE)
    assert.deepEqual(
      [...location.searchParams.keys()].sort(),
      Object.keys(params).sort(),
      'and no secret in its address',
    )
  })

  test('finds no token in any address, and none in a fragment or a page (4.3, 4.6, 4.17)', async () => {
    for (const params of [
      { response_type: 'token' },
      { response_type: 'code token' },
      { response_type: 'id_token token' },
      { response_mode: 'fragment' },
      { response_mode: 'web_message' },
      { response_mode: 'form_post' },
    ] as Record<string, string>[]) {
      const { status, headers } = await browse(world, params)
      assert.equal(status, 303)
      const back = new URL(headers.location!)
      assert.equal(back.hash, '')
      assert.ok(back.searchParams.has('error') && !back.searchParams.has('access_token'))
    }
    assert.deepEqual([...(await consent(world)).keys()].sort(), ['code', 'iss', 'state'])
  })

  test('learns nothing from a Referer, and can frame or keep nothing (4.2, 4.3, 4.16)', async () => {
    const answers = [
      await browse(world, {}),
      await browse(world, { scope: 'unknown' }),
      await browse(world, { client_id: 'x' }),
    ]
    answers.push(await exchange(world, 'x'), await post(world, 'oauth/introspect', { token: 'x' }))
    for (const { headers, status } of answers) {
      assert.equal(headers['referrer-policy'], 'no-referrer', String(status))
      assert.equal(headers['x-frame-options'], 'DENY')
      assert.match(headers['content-security-policy'] as string, /frame-ancestors 'none'/)
      assert.match(headers['cache-control']!, /no-store/)
    }
  })

  test('cannot speak for a proxy: issuer and certificate are of the connection (4.13)', async () => {
    const forged = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example;proto=https',
      'x-ssl-client-cert': 'MIIB',
      'x-client-cert': 'MIIB',
      'client-cert': ':MIIB:',
    }
    const { json } = await call(world.gateway.port, '/orders/.well-known/oauth-authorization-server', {
      headers: forged,
    })
    assert.equal((json as { issuer: string }).issuer, world.issuer.href)
    const asked = await post(world, 'oauth/token', { grant_type: 'client_credentials' }, forged)
    const told = await post(world, 'oauth/introspect', { token: bodyOf(asked).access_token! })
    assert.equal((told.json as { cnf?: unknown }).cnf, undefined)
  })

  test('cannot register as a client that is called like a user (4.15)', async () => {
    const made = await call(world.gateway.port, '/orders/oauth/register', {
      method: 'POST',
      headers: { authorization: 'Bearer initial-token-0123456789-0123456789', 'content-type': 'application/json' },
      body: JSON.stringify({
        client_id: 'ada',
        sub: 'ada',
        redirect_uris: [REDIRECT],
        grant_types: ['authorization_code'],
      }),
    })
    assert.equal(made.status, 201, made.text)
    assert.notEqual(bodyOf(made).client_id, 'ada')
    const token = bodyOf(await post(world, 'oauth/token', { grant_type: 'client_credentials' })).access_token!
    const told = bodyOf(await post(world, 'oauth/introspect', { token }))
    assert.equal(told.username, undefined, 'a token of a client names no user')
  })

  test('cannot make an access token, nor change one (4.10)', async () => {
    const token = bodyOf(await post(world, 'oauth/token', { grant_type: 'client_credentials', scope: 'read' }))
      .access_token!
    const use = (text: string) => world.gateway.call('/orders/things', { headers: { authorization: `Bearer ${text}` } })
    assert.equal((await use(token)).status, 200)
    const [head, claims, signature] = token.split('.') as [string, string, string]
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const wider = encode({ ...JSON.parse(Buffer.from(claims, 'base64url').toString()), scope: 'read write' })
    const { keys } = (await world.gateway.call('/orders/oauth/jwks')).json as { keys: { kid: string }[] }
    const pem = createPublicKey({ key: keys[0] as never, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    const hs = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: keys[0]!.kid })}.${claims}`
    for (const forged of [
      `${head}.${wider}.${signature}`,
      `${encode({ alg: 'none', typ: 'at+jwt' })}.${claims}.`,
      `${hs}.${createHmac('sha256', pem).update(hs).digest('base64url')}`,
      `${token}=`,
      `${head}.${claims}.${signature.slice(0, -1)}`,
      ` ${token} x`,
    ])
      assert.equal((await use(forged)).status, 401, forged.slice(-20))
  })

  test('cannot use a bound token that was overheard together with its proof (4.9, 4.10)', async () => {
    const key = newProofKey()
    const nowMs = world.clock.wall()
    const tokenUrl = `${world.issuer.href}/oauth/token`
    const dpop = proofOf(key, { htm: 'POST', htu: tokenUrl, nowMs })
    const asked = await post(world, 'oauth/token', { grant_type: 'client_credentials' }, { dpop })
    const token = bodyOf(asked).access_token!
    const use = (proof: string, path = '/things', method = 'GET') =>
      world.gateway.call(`/orders${path}`, { method, headers: { authorization: `DPoP ${token}`, dpop: proof } })
    const about = (path: string, htm = 'GET') => ({
      htm,
      htu: world.issuer.href + path,
      nowMs,
      token,
      jti: randomUUID(),
    })
    const overheard = proofOf(key, about('/things'))
    assert.equal((await use(overheard)).status, 200)
    assert.equal((await use(overheard)).status, 401, 'again')
    assert.equal((await use(proofOf(key, about('/things')), '/others')).status, 401, 'elsewhere')
    assert.equal((await use(proofOf(key, about('/things')), '/things', 'DELETE')).status, 401, 'otherwise')
    assert.equal((await use(proofOf(newProofKey(), about('/things')))).status, 401, 'by another key')
    assert.equal((await use(proofOf(key, { ...about('/things'), token: 'another' }))).status, 401, 'for another token')
    refused(await post(world, 'oauth/token', { grant_type: 'client_credentials' }, { dpop }), 'invalid_dpop_proof')
  })

  test('is not the login page without its secret', async () => {
    const params = { client_id: 'shop', response_type: 'code', redirect_uri: REDIRECT, username: 'ada' }
    for (const headers of [{}, { 'x-svc-authorization': '' }, { 'x-svc-authorization': `${TEST_SECRET}x` }] as Record<
      string,
      string
    >[]) {
      const answer = await post(world, 'svc/oauth/authorize-client', params, headers)
      assert.equal(answer.status, 403)
      assert.doesNotMatch(answer.text, /code|redirect/)
    }
  })
})
