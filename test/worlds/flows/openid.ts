import assert from 'node:assert/strict'
import * as oidc from 'openid-client'
import { type OAuthWorld, REDIRECT, SECRET } from './oauth-world.ts'

/** The parameters of a client's request, and what it must remember until the user comes back. */
interface Journey {
  readonly url: URL
  readonly checks: oidc.AuthorizationCodeGrantChecks
}

/** Registers a client and lets the library find the rest out. */
export async function configured(
  world: OAuthWorld,
  fields: Record<string, unknown> = {},
  auth = oidc.ClientSecretBasic(SECRET),
) {
  const client_id = await world.client(fields)
  return oidc.discovery(world.issuer, client_id, undefined, auth, {
    algorithm: 'oauth2',
    execute: [oidc.allowInsecureRequests],
  })
}

/** An authorization request of the client with PKCE and state; `more` parameters win. */
export async function begin(config: oidc.Configuration, more: Record<string, string> = {}): Promise<Journey> {
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier()
  const expectedState = oidc.randomState()
  const params = {
    redirect_uri: REDIRECT,
    scope: 'read write',
    state: expectedState,
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    ...more,
  }
  return { url: oidc.buildAuthorizationUrl(config, params), checks: { pkceCodeVerifier, expectedState } }
}

/** The user signs in and consents; answers where the browser is sent. */
export async function comeBack(world: OAuthWorld, url: URL, fields: Record<string, string> = {}): Promise<URL> {
  const carried = await world.toLoginPage(url)
  const { status, body } = await world.login({ ...Object.fromEntries(carried), username: 'ada', ...fields })
  assert.equal(status, 200, JSON.stringify(body))
  return new URL(String(body.redirect_to))
}

/** A whole code journey up to the checked token answer. */
export async function signedIn(
  world: OAuthWorld,
  config: oidc.Configuration,
  more: Record<string, string> = {},
  options = {},
) {
  const { url, checks } = await begin(config, more)
  return oidc.authorizationCodeGrant(config, await comeBack(world, url), checks, undefined, options)
}

const at = (world: OAuthWorld, path = '/things') => new URL(`${world.issuer.href}${path}`)

/** Calls the protected API; the library throws when it is challenged. */
export function use(world: OAuthWorld, config: oidc.Configuration, token: string, options: oidc.DPoPOptions = {}) {
  return oidc.fetchProtectedResource(config, token, at(world), 'GET', undefined, undefined, options)
}

/** Matches a refusal by the authorization server. */
export function refused(error: string, status = 400) {
  return (thrown: oidc.ResponseBodyError) => {
    assert.equal(thrown.error, error, `${thrown}`)
    assert.equal(thrown.status, status)
    return true
  }
}

/** Matches what the library itself finds wrong. */
export function distrusted(message: RegExp) {
  return (thrown: oidc.ClientError) => {
    assert.ok(thrown instanceof oidc.ClientError, `${thrown}`)
    assert.match(`${thrown.message} ${(thrown.cause as Error | undefined)?.message}`, message)
    return true
  }
}

/** Matches a 401 of the protected API with this error. */
export function challenged(error: string, scheme = 'bearer') {
  return (thrown: oidc.WWWAuthenticateChallengeError) => {
    assert.equal(thrown.status, 401, `${thrown}`)
    assert.ok(
      thrown.cause.some((each) => each.scheme === scheme && each.parameters.error === error),
      JSON.stringify(thrown.cause),
    )
    return true
  }
}
