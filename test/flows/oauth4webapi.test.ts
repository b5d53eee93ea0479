import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as oauth from 'oauth4webapi'
import { type OAuthWorld, REDIRECT, SECRET, startOAuthWorld } from '../worlds/flows/oauth-world.ts'

// Every flow by a client library that nobody of this project wrote: it checks what answers must hold, and throws.

const PLAIN = { [oauth.allowInsecureRequests]: true }

/** The library's configuration of one registered client. */
interface Party {
  readonly as: oauth.AuthorizationServer
  readonly client: oauth.Client
  readonly auth: oauth.ClientAuth
}

async function party(world: OAuthWorld, fields: Record<string, unknown> = {}): Promise<Party> {
  const client_id = await world.client(fields)
  const found = await oauth.discoveryRequest(world.issuer, { algorithm: 'oauth2', ...PLAIN })
  const as = await oauth.processDiscoveryResponse(world.issuer, found)
  return { as, client: { client_id }, auth: oauth.ClientSecretBasic(SECRET) }
}

/** A signed-in user consents; answers the parameters that come back to the client, checked (RFC 9207 too). */
async function consent(world: OAuthWorld, { as, client }: Party, params: Record<string, string>) {
  const url = new URL(as.authorization_endpoint!)
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
  const carried = await world.toLoginPage(url)
  const { status, body } = await world.login({ ...Object.fromEntries(carried), username: 'ada' })
  assert.equal(status, 200, JSON.stringify(body))
  const back = new URL(String(body.redirect_to))
  assert.equal(`${back.origin}${back.pathname}`, REDIRECT)
  return oauth.validateAuthResponse(as, client, back, params.state ?? oauth.expectNoState)
}

/** An authorization-code journey up to the checked token answer. */
async function codeJourney(
  world: OAuthWorld,
  one: Party,
  more: Record<string, string> = {},
  options: { DPoP?: oauth.DPoPHandle } = {},
) {
  const verifier = oauth.generateRandomCodeVerifier()
  const params = {
    client_id: one.client.client_id,
    response_type: 'code',
    redirect_uri: REDIRECT,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state: oauth.generateRandomState(),
    scope: 'read write',
    ...more,
  }
  const back = await consent(world, one, params)
  const answer = await oauth.authorizationCodeGrantRequest(one.as, one.client, one.auth, back, REDIRECT, verifier, {
    ...PLAIN,
    ...options,
  })
  return oauth.processAuthorizationCodeResponse(one.as, one.client, answer)
}

const protectedUrl = (world: OAuthWorld, path = '/things') => new URL(`${world.issuer.href}${path}`)

describe('oauth4webapi against an API with opaque tokens', () => {
  let world: OAuthWorld
  before(async () => {
    world = await startOAuthWorld({ deviceAuthorization: true })
  })
  after(() => world.close())

  it('goes the whole way with a code and PKCE, and calls the API', async () => {
    const one = await party(world)
    const tokens = await codeJourney(world, one)
    assert.equal(tokens.token_type, 'bearer')
    assert.equal(tokens.scope, 'read write')
    assert.ok(tokens.refresh_token)
    const answer = await oauth.protectedResourceRequest(
      tokens.access_token,
      'GET',
      protectedUrl(world),
      undefined,
      undefined,
      PLAIN,
    )
    assert.equal(answer.status, 200)
    assert.equal(world.origin.seen.at(-1)?.target, '/things')
  })

  it('refuses a code with another verifier', async () => {
    const one = await party(world)
    const params = {
      client_id: one.client.client_id,
      response_type: 'code',
      redirect_uri: REDIRECT,
      code_challenge: await oauth.calculatePKCECodeChallenge(oauth.generateRandomCodeVerifier()),
      code_challenge_method: 'S256',
    }
    const back = await consent(world, one, params)
    const other = oauth.generateRandomCodeVerifier()
    const answer = await oauth.authorizationCodeGrantRequest(one.as, one.client, one.auth, back, REDIRECT, other, PLAIN)
    await assert.rejects(
      oauth.processAuthorizationCodeResponse(one.as, one.client, answer),
      (error: oauth.ResponseBodyError) => error.error === 'invalid_grant' && error.status === 400,
    )
  })

  it('tells the client when the user refuses', async () => {
    const one = await party(world)
    const url = new URL(one.as.authorization_endpoint!)
    const params = { client_id: one.client.client_id, response_type: 'code', redirect_uri: REDIRECT, state: 'st' }
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
    const carried = await world.toLoginPage(url)
    const { body } = await world.login({ ...Object.fromEntries(carried), error: 'access_denied' })
    assert.throws(
      () => oauth.validateAuthResponse(one.as, one.client, new URL(String(body.redirect_to)), 'st'),
      (error: oauth.AuthorizationResponseError) => error.error === 'access_denied',
    )
  })

  it('issues client credentials without a refresh token, and enforces the scope of an operation', async () => {
    const one = await party(world)
    const narrow = await credentials(one, { scope: 'read' })
    assert.equal(narrow.refresh_token, undefined)
    await assert.rejects(
      oauth.protectedResourceRequest(
        narrow.access_token,
        'POST',
        protectedUrl(world, '/write'),
        undefined,
        undefined,
        PLAIN,
      ),
      (error: oauth.WWWAuthenticateChallengeError) =>
        error.status === 403 && error.cause[0]?.parameters.error === 'insufficient_scope',
    )
    const wide = await credentials(one, { scope: 'read write' })
    const answer = await oauth.protectedResourceRequest(
      wide.access_token,
      'POST',
      protectedUrl(world, '/write'),
      undefined,
      undefined,
      PLAIN,
    )
    assert.equal(answer.status, 200)
  })

  it('refreshes once: the old tokens end, and a second use ends the family', async () => {
    const one = await party(world)
    const first = await codeJourney(world, one)
    const second = await refreshed(one, first.refresh_token!)
    assert.notEqual(second.refresh_token, first.refresh_token)
    await assert.rejects(use(world, first.access_token), challenged('invalid_token'))
    assert.equal((await use(world, second.access_token)).status, 200)
    await assert.rejects(refreshed(one, first.refresh_token!), refusedWith('invalid_grant'))
    await assert.rejects(use(world, second.access_token), challenged('invalid_token'))
    await assert.rejects(refreshed(one, second.refresh_token!), refusedWith('invalid_grant'))
  })

  it('revokes a token for the very next request, and introspects it before and after', async () => {
    const one = await party(world)
    const { access_token } = await credentials(one, { scope: 'read' })
    const before = await introspected(one, access_token)
    assert.equal(before.active, true)
    assert.equal(before.client_id, one.client.client_id)
    assert.equal(before.scope, 'read')
    const answer = await oauth.revocationRequest(one.as, one.client, one.auth, access_token, PLAIN)
    await oauth.processRevocationResponse(answer)
    await assert.rejects(use(world, access_token), challenged('invalid_token'))
    assert.deepEqual(await introspected(one, access_token), { active: false })
  })

  it('takes pushed authorization requests', async () => {
    const one = await party(world)
    const verifier = oauth.generateRandomCodeVerifier()
    const params = new URLSearchParams({
      client_id: one.client.client_id,
      response_type: 'code',
      redirect_uri: REDIRECT,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      scope: 'read',
    })
    const pushed = await oauth.pushedAuthorizationRequest(one.as, one.client, one.auth, params, PLAIN)
    const { request_uri } = await oauth.processPushedAuthorizationResponse(one.as, one.client, pushed)
    const back = await consent(world, one, { client_id: one.client.client_id, request_uri })
    const answer = await oauth.authorizationCodeGrantRequest(
      one.as,
      one.client,
      one.auth,
      back,
      REDIRECT,
      verifier,
      PLAIN,
    )
    const tokens = await oauth.processAuthorizationCodeResponse(one.as, one.client, answer)
    assert.equal(tokens.scope, 'read')
  })

  it('lets a device wait for its user', async () => {
    const one = await party(world)
    const asked = await oauth.deviceAuthorizationRequest(one.as, one.client, one.auth, { scope: 'read' }, PLAIN)
    const device = await oauth.processDeviceAuthorizationResponse(one.as, one.client, asked)
    const poll = async () => {
      const answer = await oauth.deviceCodeGrantRequest(one.as, one.client, one.auth, device.device_code, PLAIN)
      return oauth.processDeviceCodeResponse(one.as, one.client, answer)
    }
    await assert.rejects(poll(), refusedWith('authorization_pending'))
    await assert.rejects(poll(), refusedWith('slow_down'))
    const decided = await world.login({ user_code: device.user_code, decision: 'approve', username: 'ada' })
    assert.equal(decided.status, 200, JSON.stringify(decided.body))
    world.clock.advance(30_000)
    const tokens = await poll()
    assert.equal(tokens.scope, 'read')
    assert.equal((await use(world, tokens.access_token)).status, 200)
    await assert.rejects(poll(), refusedWith('invalid_grant'))
  })

  it('refuses a client with a wrong secret by 401 and a challenge', async () => {
    const one = await party(world)
    const wrong = { ...one, auth: oauth.ClientSecretBasic('not-the-secret-of-the-client-at-all') }
    await assert.rejects(credentials(wrong, {}), (error: oauth.WWWAuthenticateChallengeError) => {
      return error.status === 401 && error.cause[0]?.scheme === 'basic'
    })
  })
})

describe('oauth4webapi against an API with JWT access tokens and DPoP', () => {
  let world: OAuthWorld
  before(async () => {
    world = await startOAuthWorld({ accessTokenFormat: 'jwt', dpop: 'allowed' })
  })
  after(() => world.close())

  it('validates the access token by the published keys (RFC 9068)', async () => {
    const one = await party(world)
    const { access_token } = await codeJourney(world, one)
    const request = new Request(protectedUrl(world), { headers: { authorization: `Bearer ${access_token}` } })
    const claims = await oauth.validateJwtAccessToken(one.as, request, world.issuer.href, PLAIN)
    assert.equal(claims.client_id, one.client.client_id)
    assert.equal(claims.scope, 'read write')
    assert.equal((await use(world, access_token)).status, 200)
    const gone = await oauth.revocationRequest(one.as, one.client, one.auth, access_token, PLAIN)
    await oauth.processRevocationResponse(gone)
    await assert.rejects(use(world, access_token), challenged('invalid_token'))
  })

  it('binds tokens to a DPoP key from the code to the call, and refuses them without', async () => {
    const one = await party(world)
    const pair = await oauth.generateKeyPair('ES256')
    const DPoP = oauth.DPoP(one.client, pair)
    const tokens = await codeJourney(world, one, { dpop_jkt: await DPoP.calculateThumbprint() }, { DPoP })
    assert.equal(tokens.token_type, 'dpop')
    const answer = await oauth.protectedResourceRequest(
      tokens.access_token,
      'GET',
      protectedUrl(world),
      undefined,
      undefined,
      { DPoP, ...PLAIN },
    )
    assert.equal(answer.status, 200)
    await assert.rejects(use(world, tokens.access_token), (error: oauth.WWWAuthenticateChallengeError) => {
      return error.status === 401
    })
    const other = oauth.DPoP(one.client, await oauth.generateKeyPair('ES256'))
    await assert.rejects(
      oauth.protectedResourceRequest(tokens.access_token, 'GET', protectedUrl(world), undefined, undefined, {
        DPoP: other,
        ...PLAIN,
      }),
      (error: oauth.WWWAuthenticateChallengeError) => error.status === 401,
    )
  })

  it('authenticates a client by a signed assertion (RFC 7523)', async () => {
    const { publicKey, privateKey } = await oauth.generateKeyPair('ES256', { extractable: true })
    const jwk = { ...(await crypto.subtle.exportKey('jwk', publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
    const one = await party(world, { secret: undefined, auth_method: 'private_key_jwt', jwks: { keys: [jwk] } })
    const signed = { ...one, auth: oauth.PrivateKeyJwt({ key: privateKey, kid: 'one' }) }
    const tokens = await credentials(signed, { scope: 'read' })
    assert.equal((await use(world, tokens.access_token)).status, 200)
    const stranger = await oauth.generateKeyPair('ES256')
    const forged = { ...one, auth: oauth.PrivateKeyJwt({ key: stranger.privateKey, kid: 'one' }) }
    await assert.rejects(credentials(forged, {}))
  })
})

async function credentials({ as, client, auth }: Party, params: Record<string, string>) {
  const answer = await oauth.clientCredentialsGrantRequest(as, client, auth, new URLSearchParams(params), PLAIN)
  return oauth.processClientCredentialsResponse(as, client, answer)
}

async function refreshed({ as, client, auth }: Party, token: string) {
  const answer = await oauth.refreshTokenGrantRequest(as, client, auth, token, PLAIN)
  return oauth.processRefreshTokenResponse(as, client, answer)
}

async function introspected({ as, client, auth }: Party, token: string) {
  const answer = await oauth.introspectionRequest(as, client, auth, token, PLAIN)
  return oauth.processIntrospectionResponse(as, client, answer)
}

function use(world: OAuthWorld, token: string): Promise<Response> {
  return oauth.protectedResourceRequest(token, 'GET', protectedUrl(world), undefined, undefined, PLAIN)
}

/** Matches the challenge of a protected API. */
function challenged(error: string) {
  return (thrown: oauth.WWWAuthenticateChallengeError) =>
    thrown.status === 401 && thrown.cause.some(({ parameters }) => parameters.error === error)
}

/** Matches a refusal of the token endpoint. */
function refusedWith(error: string) {
  return (thrown: oauth.ResponseBodyError) => thrown.error === error && thrown.status === 400
}
