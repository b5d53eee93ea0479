import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ClientMetadata, Provider } from 'oidc-provider'
import { type Answer, type CallOptions, call } from '../base/client.ts'
import { REDIRECT, SECRET, startOAuthWorld } from '../flows/oauth-world.ts'

/** Endpoints that both servers have. */
export type At = 'token' | 'introspect' | 'revoke' | 'par' | 'device' | 'authorize'

export interface CodeWish {
  /** `shop` unless given. */
  readonly clientId?: string
  /** '' = without PKCE. */
  readonly challenge?: string
}

/**
 * One of the two authorization servers. Both know the clients `shop` and `other` (a secret), `app` (public) and `batch` (client
 * credentials only), with `SECRET`, `REDIRECT`, and the scopes `read` and `write`.
 */
export interface Side {
  readonly name: 'gatehouse' | 'oidc-provider'
  send(at: At, options: CallOptions & { readonly query?: string }): Promise<Answer>
  /** Address of an endpoint, as a proof or a client names it. */
  url(at: At): string
  /** A code for `read`, as it comes back to the client when a user has consented. */
  code(wish?: CodeWish): Promise<string>
  close(): Promise<void>
}

const CLIENTS: readonly ClientMetadata[] = [
  { client_id: 'shop', client_secret: SECRET },
  { client_id: 'other', client_secret: SECRET },
  { client_id: 'app', token_endpoint_auth_method: 'none' },
  { client_id: 'batch', client_secret: SECRET, grant_types: ['client_credentials'] },
]
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code'
const OUR_PATHS: Readonly<Record<At, string>> = {
  token: 'token',
  introspect: 'introspect',
  revoke: 'revoke',
  par: 'par',
  device: 'device_authorization',
  authorize: 'authorize',
}

/** The gateway, with everything on. */
export async function startOurs() {
  const world = await startOAuthWorld({ deviceAuthorization: true, dpop: 'allowed' }, { accessLog: true })
  for (const { client_id, client_secret, grant_types } of CLIENTS) {
    await world.client({
      client_id,
      ...(client_secret === undefined ? { secret: undefined, auth_method: 'none' } : {}),
      ...(grant_types !== undefined && { grant_types }),
    })
  }
  const side: Side = {
    name: 'gatehouse',
    send: (at, { query = '', ...options }) =>
      call(world.gateway.port, `/orders/oauth/${OUR_PATHS[at]}${query}`, options),
    url: (at) => `${world.issuer.href}/oauth/${OUR_PATHS[at]}`,
    async code({ clientId = 'shop', challenge = '' } = {}) {
      const url = new URL(side.url('authorize'))
      const pkce = challenge === '' ? {} : { code_challenge: challenge, code_challenge_method: 'S256' }
      const params = { client_id: clientId, response_type: 'code', redirect_uri: REDIRECT, scope: 'read', ...pkce }
      for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
      const carried = await world.toLoginPage(url)
      const { body } = await world.login({ ...Object.fromEntries(carried), username: 'ada' })
      return String(body.code)
    },
    close: () => world.close(),
  }
  return { side, world }
}

/** npm `oidc-provider` in this process: opaque tokens, its in-memory adapter, the same clients. */
export async function startPeer(): Promise<Side> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const provider = quietly(() => providerOn(port))
  server.on('request', provider.callback())
  const paths: Readonly<Record<At, string>> = {
    token: '/token',
    introspect: '/token/introspection',
    revoke: '/token/revocation',
    par: '/request',
    device: '/device/auth',
    authorize: '/auth',
  }
  return {
    name: 'oidc-provider',
    send: (at, { query = '', ...options }) => call(port, `${paths[at]}${query}`, options),
    url: (at) => `http://127.0.0.1:${port}${paths[at]}`,
    async code({ clientId = 'shop', challenge = '' } = {}) {
      const client = (await provider.Client.find(clientId))!
      const grant = new provider.Grant({ accountId: 'ada', clientId })
      grant.addOIDCScope('read write')
      const grantId = await grant.save()
      const code = new provider.AuthorizationCode({
        accountId: 'ada',
        client,
        grantId,
        gty: 'authorization_code',
        redirectUri: REDIRECT,
        scope: 'read',
        ...(challenge !== '' && { codeChallenge: challenge, codeChallengeMethod: 'S256' }),
      })
      return code.save()
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function providerOn(port: number): Provider {
  const grants = ['authorization_code', 'refresh_token', 'client_credentials', DEVICE]
  return new Provider(`http://127.0.0.1:${port}`, {
    clients: CLIENTS.map((client) => ({
      grant_types:
        client.client_secret === undefined ? grants.filter((grant) => grant !== 'client_credentials') : grants,
      response_types: client.grant_types === undefined ? ['code'] : [],
      redirect_uris: client.grant_types === undefined ? [REDIRECT] : [],
      ...client,
    })),
    scopes: ['read', 'write'],
    pkce: { required: (_ctx, client) => client.clientAuthMethod === 'none' },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    findAccount: async (_ctx, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
    renderError: (ctx, out) => {
      ctx.type = 'json'
      ctx.body = out
    },
    cookies: { keys: ['only-for-this-test'] },
    ttl: {
      AccessToken: 3600,
      ClientCredentials: 3600,
      DeviceCode: 600,
      Grant: 3600,
      Interaction: 600,
      RefreshToken: 3600,
    },
    features: {
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: async () => true },
      revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
      deviceFlow: { enabled: true },
      dPoP: { enabled: true },
      pushedAuthorizationRequests: { enabled: true },
      devInteractions: { enabled: false },
    },
  })
}

/** Its advice for production (adapter, keys, `http`) is not meant for a test. */
function quietly<Made>(make: () => Made): Made {
  const { warn } = console
  console.warn = () => {}
  try {
    return make()
  } finally {
    console.warn = warn
  }
}
