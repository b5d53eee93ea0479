import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as oidc from 'openid-client'
import { type OAuthWorld, REDIRECT, startOAuthWorld } from '../worlds/flows/oauth-world.ts'
import { begin, challenged, comeBack, configured, refused, signedIn, use } from '../worlds/flows/openid.ts'

describe('openid-client against an API with JWT access tokens', () => {
  let world: OAuthWorld
  before(async () => {
    world = await startOAuthWorld({ accessTokenFormat: 'jwt', dpop: 'allowed' })
  })
  after(() => world.close())

  it('gets tokens whose claims are those of RFC 9068, and that end like any other', async () => {
    const config = await configured(world)
    assert.ok(config.serverMetadata().jwks_uri)
    const { access_token, refresh_token } = await signedIn(world, config)
    const [header, claims] = access_token
      .split('.')
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
    assert.equal(header.typ, 'at+jwt')
    const keys = (await (await fetch(config.serverMetadata().jwks_uri!)).json()) as {
      keys: { kid: string; d?: string }[]
    }
    assert.ok(keys.keys.some(({ kid }) => kid === header.kid))
    assert.ok(
      keys.keys.every(({ d }) => d === undefined),
      'only public parts are published',
    )
    assert.equal(claims.iss, world.issuer.href)
    assert.equal(claims.client_id, config.clientMetadata().client_id)
    for (const name of ['aud', 'sub', 'exp', 'iat', 'jti']) assert.ok(claims[name] !== undefined, name)
    assert.equal((await use(world, config, access_token)).status, 200)
    const [head, , signature] = access_token.split('.')
    const forged = Buffer.from(JSON.stringify({ ...claims, scope: 'admin' })).toString('base64url')
    await assert.rejects(use(world, config, `${head}.${forged}.${signature}`), challenged('invalid_token'))
    await oidc.tokenRevocation(config, refresh_token!)
    await assert.rejects(use(world, config, access_token), challenged('invalid_token'))
  })

  it('binds tokens to a DPoP key, pushed request and refresh included', async () => {
    const config = await configured(world, { auth_method: 'none', secret: undefined }, oidc.None())
    const DPoP = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair())
    const thief = { DPoP: oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair()) }
    const { url, checks } = await begin(config)
    const pushed = await oidc.buildAuthorizationUrlWithPAR(config, url.searchParams, { DPoP })
    const back = await comeBack(world, pushed)
    await assert.rejects(oidc.authorizationCodeGrant(config, back, checks, undefined, thief), refused('invalid_grant'))
    await assert.rejects(oidc.authorizationCodeGrant(config, back, checks), refused('invalid_grant'))
    const first = await oidc.authorizationCodeGrant(config, back, checks, undefined, { DPoP })
    assert.equal(first.token_type, 'dpop')
    assert.equal((await use(world, config, first.access_token, { DPoP })).status, 200)
    await assert.rejects(use(world, config, first.access_token), challenged('invalid_token', 'dpop'))
    await assert.rejects(use(world, config, first.access_token, thief), challenged('invalid_token', 'dpop'))
    await assert.rejects(oidc.refreshTokenGrant(config, first.refresh_token!, {}, thief), refused('invalid_grant'))
    await assert.rejects(oidc.refreshTokenGrant(config, first.refresh_token!), refused('invalid_grant'))
    const second = await oidc.refreshTokenGrant(config, first.refresh_token!, {}, { DPoP })
    assert.equal((await use(world, config, second.access_token, { DPoP })).status, 200)
  })

  it('takes signed assertions instead of a secret', async () => {
    const { publicKey, privateKey } = await oidc.randomDPoPKeyPair('ES256', { extractable: true })
    const jwk = { ...(await crypto.subtle.exportKey('jwk', publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
    const fields = { secret: undefined, auth_method: 'private_key_jwt', jwks: { keys: [jwk] } }
    const config = await configured(world, fields, oidc.PrivateKeyJwt({ key: privateKey, kid: 'one' }))
    const tokens = await oidc.clientCredentialsGrant(config, { scope: 'read' })
    assert.equal((await use(world, config, tokens.access_token)).status, 200)
    const late: oidc.ModifyAssertionOptions = {
      [oidc.modifyAssertion](_header, claims) {
        claims.exp = 1
      },
    }
    const stale = await configured(world, fields, oidc.PrivateKeyJwt({ key: privateKey, kid: 'one' }, late))
    await assert.rejects(
      oidc.clientCredentialsGrant(stale),
      (thrown: oidc.WWWAuthenticateChallengeError) => thrown.status === 401,
    )
    const refusal = await fetch(config.serverMetadata().token_endpoint!, {
      method: 'POST',
      body: new URLSearchParams({
        ...{ grant_type: 'client_credentials', client_id: config.clientMetadata().client_id },
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: 'no.assertion',
      }),
    })
    assert.deepEqual(await refusal.json(), {
      error: 'invalid_client',
      error_description: 'Client authentication failed: the token does not have three parts',
    })
  })
})

describe('openid-client that registers itself (RFC 7591)', () => {
  const initialAccessToken = 'initial-token-0123456789-0123456789'
  let world: OAuthWorld
  before(async () => {
    world = await startOAuthWorld({}, { env: { SVC_GW_OAUTHREGISTRATIONTOKEN: initialAccessToken } })
  })
  after(() => world.close())

  const register = (metadata: Partial<oidc.ClientMetadata>, token = initialAccessToken) =>
    oidc.dynamicClientRegistration(world.issuer, metadata, undefined, {
      algorithm: 'oauth2',
      execute: [oidc.allowInsecureRequests],
      initialAccessToken: token,
    })

  it('gets an id and a secret, and goes the whole way with them', async () => {
    const config = await register({ redirect_uris: [REDIRECT], client_name: 'Order Desk' })
    const { url, checks } = await begin(config)
    const rights = { orders: { api_id: 'orders', api_name: 'orders', versions: ['Default'] } }
    const back = await comeBack(world, url, { key_rules: JSON.stringify({ access_rights: rights }) })
    const { access_token } = await oidc.authorizationCodeGrant(config, back, checks)
    assert.equal((await use(world, config, access_token)).status, 200)
  })

  it('is refused without the initial token, and with metadata that are not valid', async () => {
    await assert.rejects(register({ redirect_uris: [REDIRECT] }, 'another-token'), challenged('invalid_token'))
    await assert.rejects(register({ redirect_uris: ['http://client.example/'] }), refused('invalid_redirect_uri'))
    await assert.rejects(
      register({ redirect_uris: [REDIRECT], grant_types: ['implicit'] }),
      refused('invalid_client_metadata'),
    )
  })
})
