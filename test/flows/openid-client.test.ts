import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as oidc from 'openid-client'
import { LOGIN_PAGE, type OAuthWorld, REDIRECT, SECRET, startOAuthWorld } from '../worlds/flows/oauth-world.ts'
import { begin, challenged, comeBack, configured, distrusted, refused, signedIn, use } from '../worlds/flows/openid.ts'

// The library that most Node applications sign their users in with, as they use it: it refuses everything that a standard forbids.

describe('openid-client against an API with opaque tokens', () => {
  let world: OAuthWorld
  before(async () => {
    world = await startOAuthWorld({ deviceAuthorization: true })
  })
  after(() => world.close())

  it('discovers what the API offers, and all of it on the issuer', async () => {
    const config = await configured(world)
    const metadata = config.serverMetadata()
    assert.equal(metadata.issuer, world.issuer.href)
    // Of an issuer that follows the request; test/flows/issuers.test.ts has the others.
    assert.equal(metadata.authorization_response_iss_parameter_supported, false)
    assert.ok(metadata.supportsPKCE())
    assert.equal(metadata.supportsPKCE('plain'), false)
    const endpoints = Object.entries(metadata).filter(([name]) => name.endsWith('_endpoint'))
    assert.deepEqual(endpoints.map(([name]) => name).sort(), [
      'authorization_endpoint',
      'device_authorization_endpoint',
      'introspection_endpoint',
      'pushed_authorization_request_endpoint',
      'revocation_endpoint',
      'token_endpoint',
    ])
    for (const [, url] of endpoints) assert.ok(String(url).startsWith(`${world.issuer.href}/oauth/`), String(url))
  })

  it('does not find one API at the issuer of another', async () => {
    const elsewhere = new URL(`${world.issuer.origin}/orders/more`)
    await assert.rejects(
      oidc.discovery(elsewhere, 'anybody', undefined, undefined, {
        algorithm: 'oauth2',
        execute: [oidc.allowInsecureRequests],
      }),
    )
  })

  for (const [method, auth] of [
    ['client_secret_basic', oidc.ClientSecretBasic(SECRET)],
    ['client_secret_post', oidc.ClientSecretPost(SECRET)],
  ] as const)
    it(`gets tokens for a code with PKCE, by ${method}, and calls the API`, async () => {
      const config = await configured(world, { auth_method: method }, auth)
      const tokens = await signedIn(world, config)
      assert.equal(tokens.token_type, 'bearer')
      assert.equal(tokens.scope, 'read write')
      assert.equal(tokens.expires_in, 3600)
      assert.ok(tokens.refresh_token)
      assert.equal((await use(world, config, tokens.access_token)).status, 200)
      assert.equal(world.origin.seen.at(-1)?.target, '/things')
    })

  it('serves a public client, whose refresh tokens turn over', async () => {
    const config = await configured(world, { auth_method: 'none', secret: undefined }, oidc.None())
    const first = await signedIn(world, config)
    const second = await oidc.refreshTokenGrant(config, first.refresh_token!)
    assert.notEqual(second.refresh_token, first.refresh_token)
    await assert.rejects(use(world, config, first.access_token), challenged('invalid_token'))
    assert.equal((await use(world, config, second.access_token)).status, 200)
    await assert.rejects(oidc.clientCredentialsGrant(config), refused('unauthorized_client'))
  })

  it('sends a public client without PKCE back to its own address with the reason', async () => {
    const config = await configured(world, { auth_method: 'none', secret: undefined }, oidc.None())
    const params = { redirect_uri: REDIRECT, scope: 'read', state: 'st' }
    const answer = await fetch(oidc.buildAuthorizationUrl(config, params), { redirect: 'manual' })
    assert.equal(answer.status, 303)
    const back = new URL(answer.headers.get('location')!)
    await assert.rejects(
      oidc.authorizationCodeGrant(config, back, { expectedState: 'st' }),
      (thrown: oidc.AuthorizationResponseError) => thrown.error === 'invalid_request',
    )
  })

  it('refuses a code with the verifier of another journey, or without one', async () => {
    const config = await configured(world)
    for (const other of [{ pkceCodeVerifier: oidc.randomPKCECodeVerifier() }, {}]) {
      const { url, checks } = await begin(config)
      const { pkceCodeVerifier: _own, ...rest } = checks
      const back = await comeBack(world, url)
      await assert.rejects(oidc.authorizationCodeGrant(config, back, { ...rest, ...other }), refused('invalid_grant'))
    }
  })

  it('ends what a code gave when the code comes again', async () => {
    const config = await configured(world)
    const { url, checks } = await begin(config)
    const back = await comeBack(world, url)
    const tokens = await oidc.authorizationCodeGrant(config, back, checks)
    await assert.rejects(oidc.authorizationCodeGrant(config, back, checks), refused('invalid_grant'))
    await assert.rejects(use(world, config, tokens.access_token), challenged('invalid_token'))
    await assert.rejects(oidc.refreshTokenGrant(config, tokens.refresh_token!), refused('invalid_grant'))
  })

  it('names its issuer in every answer to a browser, so that a client sees a mix-up (RFC 9207)', async () => {
    const config = await configured(world)
    const { url, checks } = await begin(config)
    const back = await comeBack(world, url)
    assert.equal(back.searchParams.get('iss'), world.issuer.href)
    const mixed = new URL(back)
    mixed.searchParams.set('iss', 'https://attacker.example')
    await assert.rejects(oidc.authorizationCodeGrant(config, mixed, checks), distrusted(/"iss"/))
    await oidc.authorizationCodeGrant(config, back, checks)
  })

  it('names its issuer in refusals too', async () => {
    const config = await configured(world)
    const { url, checks } = await begin(config)
    const denied = await comeBack(world, url, { error: 'access_denied', error_description: 'not today' })
    await assert.rejects(
      oidc.authorizationCodeGrant(config, denied, checks),
      (thrown: oidc.AuthorizationResponseError) => {
        assert.equal(thrown.error, 'access_denied')
        assert.equal(thrown.error_description, 'not today')
        return true
      },
    )
    denied.searchParams.set('iss', 'https://attacker.example')
    await assert.rejects(oidc.authorizationCodeGrant(config, denied, checks), distrusted(/"iss"/))
  })

  it('gives client credentials, with no more scope than the API has', async () => {
    const config = await configured(world)
    const tokens = await oidc.clientCredentialsGrant(config, { scope: 'read' })
    assert.equal(tokens.refresh_token, undefined)
    assert.equal(tokens.scope, 'read')
    await assert.rejects(oidc.clientCredentialsGrant(config, { scope: 'read admin' }), refused('invalid_scope'))
    await assert.rejects(oidc.genericGrantRequest(config, 'urn:example:other', {}), refused('unsupported_grant_type'))
  })

  it('refreshes with a narrower scope, never with a wider one', async () => {
    const config = await configured(world)
    const first = await signedIn(world, config, { scope: 'read' })
    const wider = oidc.refreshTokenGrant(config, first.refresh_token!, { scope: 'read write' })
    await assert.rejects(wider, refused('invalid_scope'))
    const other = await configured(world)
    await assert.rejects(oidc.refreshTokenGrant(other, first.refresh_token!), refused('invalid_grant'))
    assert.equal((await oidc.refreshTokenGrant(config, first.refresh_token!)).scope, 'read')
  })

  it('introspects and revokes; whoever revokes a refresh token ends the access token too', async () => {
    const config = await configured(world)
    const tokens = await signedIn(world, config)
    const told = await oidc.tokenIntrospection(config, tokens.access_token)
    assert.equal(told.active, true)
    assert.equal(told.username, 'ada')
    assert.equal(told.iss, world.issuer.href)
    assert.equal((await oidc.tokenIntrospection(config, tokens.refresh_token!)).active, true)
    await oidc.tokenRevocation(config, tokens.refresh_token!, { token_type_hint: 'access_token' })
    for (const token of [tokens.access_token, tokens.refresh_token!])
      assert.deepEqual(await oidc.tokenIntrospection(config, token), { active: false })
    await assert.rejects(use(world, config, tokens.access_token), challenged('invalid_token'))
    await oidc.tokenRevocation(config, 'never-was-a-token')
  })

  it('takes a pushed request, once, and of its own client only', async () => {
    const config = await configured(world)
    const { url, checks } = await begin(config)
    const pushed = await oidc.buildAuthorizationUrlWithPAR(config, url.searchParams)
    assert.deepEqual([...pushed.searchParams.keys()].sort(), ['client_id', 'request_uri'])
    const stolen = new URL(pushed)
    stolen.searchParams.set('client_id', await world.client({}))
    assert.equal((await fetch(stolen, { redirect: 'manual' })).status, 400)
    const tokens = await oidc.authorizationCodeGrant(config, await comeBack(world, pushed), checks)
    assert.equal(tokens.scope, 'read write')
    const again = await fetch(pushed, { redirect: 'manual' })
    assert.equal(again.status, 400)
    assert.equal(((await again.json()) as { error: string }).error, 'invalid_request_uri')
  })

  it('refuses to take a faulty request by push', async () => {
    const config = await configured(world)
    const foreign = { redirect_uri: 'https://attacker.example/cb', scope: 'read' }
    await assert.rejects(oidc.buildAuthorizationUrlWithPAR(config, foreign), refused('invalid_request'))
    const plain = { redirect_uri: REDIRECT, code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' }
    await assert.rejects(oidc.buildAuthorizationUrlWithPAR(config, plain), refused('invalid_request'))
  })

  it('refuses a wrong secret by 401 and a challenge that the library understands', async () => {
    const config = await configured(world, {}, oidc.ClientSecretBasic('another-secret-that-is-long-enough'))
    for (const asked of [oidc.clientCredentialsGrant(config), oidc.tokenIntrospection(config, 'x')])
      await assert.rejects(asked, (thrown: oidc.WWWAuthenticateChallengeError) => {
        assert.equal(thrown.status, 401, `${thrown}`)
        assert.equal(thrown.cause[0]?.scheme, 'basic')
        return true
      })
  })
})

describe('openid-client as a device', () => {
  let world: OAuthWorld
  before(async () => {
    world = await startOAuthWorld({ deviceAuthorization: true })
  })
  after(() => world.close())

  /** Before the library's nth poll the gateway's clock advances by the device's wait, and `before(n)` runs. */
  async function device(waitedS: number, before: (poll: number, userCode: string) => Promise<unknown> | undefined) {
    const config = await configured(world)
    const asked = await oidc.initiateDeviceAuthorization(config, { scope: 'read' })
    assert.equal(asked.verification_uri, LOGIN_PAGE)
    assert.equal(asked.interval, 5)
    let polls = 0
    config[oidc.customFetch] = async (url, options) => {
      world.clock.advance(waitedS * 1000)
      await before(++polls, asked.user_code)
      return fetch(url, options as RequestInit)
    }
    const tokens = oidc.pollDeviceAuthorizationGrant(config, { ...asked, interval: 0.001 })
    return { config, tokens, polls: () => polls }
  }
  const decide = (decision: string) => (poll: number, user_code: string) =>
    poll === 3 ? world.login({ user_code, decision, username: 'ada' }) : undefined

  it('polls until the user has decided', async () => {
    const { tokens, polls } = await device(5, decide('approve'))
    assert.equal((await tokens).scope, 'read')
    assert.equal(polls(), 3)
  })

  it('is told when the user refuses', async () => {
    const { tokens } = await device(5, decide('deny'))
    await assert.rejects(tokens, refused('access_denied'))
  })

  it('is told when the code has lapsed', async () => {
    const { tokens, polls } = await device(250, () => undefined)
    await assert.rejects(tokens, refused('expired_token'))
    assert.equal(polls(), 3)
  })
})
