// Flows of OAuth libraries in a page, which ../main.ts calls by name. Each answers what it found, or throws.
import * as oauth from '/oauth4webapi.js'

const { oidc } = globalThis
const SCOPE = 'read write'
const callback = `${location.origin}/callback`

function expect(condition, reason) {
  if (!condition) throw new Error(typeof reason === 'string' ? reason : JSON.stringify(reason))
}

/** Settings of oidc-client-ts, which a page makes again after each journey. */
function manager(issuer, clientId, bindsKey) {
  const dpop = bindsKey && { dpop: { bind_authorization_code: true, store: new oidc.IndexedDbDPoPStore() } }
  return new oidc.UserManager({
    ...{ authority: issuer, client_id: clientId, redirect_uri: callback, scope: SCOPE, ...dpop },
    userStore: new oidc.WebStorageStateStore({ store: sessionStorage }),
  })
}

async function useWith(user, url, users) {
  const proof = user.token_type.toLowerCase() === 'dpop' ? await users.dpopProof(url, user, 'GET') : undefined
  const headers = { authorization: `${user.token_type} ${user.access_token}`, ...(proof && { DPoP: proof }) }
  return (await fetch(url, { headers })).status
}

/** The state of oauth4webapi's journey, which outlives the page. */
const kept = {
  put: (value) => sessionStorage.setItem('kept', JSON.stringify(value)),
  get: () => JSON.parse(sessionStorage.getItem('kept')),
}

async function discover(issuer) {
  const url = new URL(issuer)
  return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, { algorithm: 'oauth2' }))
}

globalThis.flows = {
  /** The page is left meanwhile, so that this does not wait. */
  oidcBegin({ issuer, clientId, bindsKey }) {
    manager(issuer, clientId, bindsKey)
      .signinRedirect()
      .catch(({ message }) => location.assign(`${callback}?failed=${encodeURIComponent(message)}`))
  },

  async oidcEnd({ issuer, clientId, bindsKey, callsApi }) {
    const users = manager(issuer, clientId, bindsKey)
    const user = await users.signinCallback()
    expect(user.scope === SCOPE, user.scope)
    expect((user.token_type.toLowerCase() === 'dpop') === bindsKey, user.token_type)
    if (callsApi) expect((await useWith(user, `${issuer}/things`, users)) === 200, 'the API refuses the token')
    const following = await users.signinSilent()
    expect(following.access_token !== user.access_token, 'there is no other token')
    if (callsApi)
      expect((await useWith(following, `${issuer}/things`, users)) === 200, 'the API refuses the refreshed token')
    await users.revokeTokens()
    if (callsApi) expect((await useWith(following, `${issuer}/things`, users)) === 401, 'a revoked token is still good')
  },

  /** Answers the address of the authorization request. */
  async webapiBegin({ issuer, clientId }) {
    const server = await discover(issuer)
    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    kept.put({ verifier, state })
    const url = new URL(server.authorization_endpoint)
    const challenge = await oauth.calculatePKCECodeChallenge(verifier)
    url.search = new URLSearchParams({
      ...{ client_id: clientId, redirect_uri: callback, response_type: 'code', scope: SCOPE, state },
      ...{ code_challenge: challenge, code_challenge_method: 'S256' },
    }).toString()
    return url.href
  },

  async webapiEnd({ issuer, clientId, bindsKey, callsApi }) {
    const server = await discover(issuer)
    const client = { client_id: clientId }
    const { verifier, state } = kept.get()
    const options = bindsKey ? { DPoP: oauth.DPoP(client, await oauth.generateKeyPair('ES256')) } : {}
    const back = oauth.validateAuthResponse(server, client, new URL(location.href), state)
    const none = oauth.None()
    const asked = await oauth.authorizationCodeGrantRequest(server, client, none, back, callback, verifier, options)
    const first = await oauth.processAuthorizationCodeResponse(server, client, asked)
    expect(first.token_type === (bindsKey ? 'dpop' : 'bearer'), first.token_type)
    const use = async ({ access_token: token }) =>
      (await oauth.protectedResourceRequest(token, 'GET', new URL(`${issuer}/things`), new Headers(), null, options))
        .status
    if (callsApi) expect((await use(first)) === 200, 'the API refuses the token')
    const refreshed = await oauth.refreshTokenGrantRequest(server, client, none, first.refresh_token, options)
    const following = await oauth.processRefreshTokenResponse(server, client, refreshed)
    if (callsApi) expect((await use(following)) === 200, 'the API refuses the refreshed token')
    await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, none, following.refresh_token))
  },

  /** An app that nobody registered. Answers its client id. */
  async webapiRegister({ issuer }) {
    const server = await discover(issuer)
    const grants = { grant_types: ['authorization_code', 'refresh_token'] }
    const metadata = { redirect_uris: [callback], token_endpoint_auth_method: 'none', client_name: 'Page', ...grants }
    const asked = await oauth.dynamicClientRegistrationRequest(server, metadata)
    return (await oauth.processDynamicClientRegistrationResponse(asked)).client_id
  },
}
