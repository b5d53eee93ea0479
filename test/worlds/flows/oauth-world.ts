import { FakeClock } from '../../../src/model/time/clock.ts'
import { call } from '../base/client.ts'
import { startTestGateway, TEST_SECRET, type TestGateway, type TestGatewayOptions } from '../base/harness.ts'
import { type Origin, startOrigin } from '../servers/origin.ts'

export const SECRET = 'the-secret-of-the-client-0123456789abcdef'
export const REDIRECT = 'https://client.example/callback'
export const LOGIN_PAGE = 'https://login.example/sign-in'

export interface OAuthWorld {
  readonly gateway: TestGateway
  readonly origin: Origin
  /** Issuer of the API, and the address of its listen path without its last slash. */
  readonly issuer: URL
  readonly clock: FakeClock
  /** Registers a client; more members than `client_id` as the administration API takes them. */
  client(fields: Record<string, unknown>): Promise<string>
  /** A browser that follows the authorization request to the login page: answers the parameters that the page gets. */
  toLoginPage(authorizationUrl: URL): Promise<URLSearchParams>
  /** The login page's own call, with the gateway's secret. */
  login(fields: Record<string, string>): Promise<{ status: number; body: Record<string, unknown> }>
  close(): Promise<void>
}

/**
 * A gateway with one OAuth API at `/orders/`, in today's time because the clients under test read the machine's clock. `options`:
 * settings of the API's OAuth scheme, as a definition names them.
 */
export async function startOAuthWorld(
  options: Record<string, unknown> = {},
  settings: Pick<TestGatewayOptions, 'env' | 'accessLog'> = {},
): Promise<OAuthWorld> {
  const clock = new FakeClock(Date.now())
  const origin = await startOrigin()
  const gateway = await startTestGateway({ clock, ...settings })
  const made = await gateway.svc('POST', '/svc/apis/oas', oauthDefinition(origin.url, options))
  if (made.status !== 200) throw new Error(`the API was refused: ${made.text}`)
  const right = { orders: { api_id: 'orders', api_name: 'orders', versions: ['Default'] } }
  const policy = {
    id: 'orders-policy',
    name: 'p',
    active: true,
    rate: 1000,
    per: 1,
    quota_max: -1,
    access_rights: right,
  }
  await gateway.svc('POST', '/svc/policies', policy)
  const issuer = new URL(`http://127.0.0.1:${gateway.port}/orders`)
  let clients = 0
  return {
    gateway,
    origin,
    issuer,
    clock,
    async client(fields) {
      const client_id = `client-${++clients}`
      const draft = {
        api_id: 'orders',
        client_id,
        secret: SECRET,
        redirect_uri: REDIRECT,
        policies: ['orders-policy'],
        ...fields,
      }
      const answer = await gateway.svc('POST', '/svc/oauth/clients/create', draft)
      if (answer.status !== 200) throw new Error(`the client was refused: ${answer.text}`)
      return client_id
    },
    async toLoginPage(url) {
      const answer = await call(gateway.port, `${url.pathname}${url.search}`)
      if (answer.status !== 307) throw new Error(`authorize answered ${answer.status}: ${answer.text}`)
      const location = new URL(answer.headers.location ?? '')
      if (`${location.origin}${location.pathname}` !== LOGIN_PAGE) throw new Error(`sent to ${location}`)
      return location.searchParams
    },
    async login(fields) {
      const answer = await call(gateway.port, '/orders/svc/oauth/authorize-client', {
        method: 'POST',
        headers: {
          'x-svc-authorization': TEST_SECRET,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams(fields).toString(),
      })
      return { status: answer.status, body: answer.json as Record<string, unknown> }
    },
    async close() {
      await gateway.close()
      await origin.close()
    },
  }
}

/** An OAuth API with the scopes `read` and `write`; `/write` needs `write`. */
export function oauthDefinition(
  upstream: string,
  options: Record<string, unknown>,
  id = 'orders',
): Record<string, unknown> {
  const scopes = { read: 'see orders', write: 'change orders' }
  const relative = { authorizationUrl: 'oauth/authorize', tokenUrl: 'oauth/token', refreshUrl: 'oauth/token', scopes }
  return {
    openapi: '3.0.3',
    info: { title: id, version: '1' },
    paths: {
      '/write': {
        post: { operationId: 'write', security: [{ app: ['write'] }], responses: { 200: { description: 'done' } } },
      },
    },
    components: {
      securitySchemes: {
        app: {
          type: 'oauth2',
          flows: {
            authorizationCode: relative,
            clientCredentials: { tokenUrl: 'oauth/token', scopes },
            password: { tokenUrl: 'oauth/token', scopes },
          },
        },
      },
    },
    security: [{ app: [] }],
    'x-svc-api-gateway': {
      info: { id, name: id, state: { active: true } },
      upstream: { url: upstream },
      server: {
        listenPath: { value: `/${id}/`, strip: true },
        authentication: {
          enabled: true,
          securitySchemes: {
            app: {
              enabled: true,
              header: { enabled: true, name: 'Authorization' },
              allowedAuthorizeTypes: ['code'],
              authLoginRedirect: LOGIN_PAGE,
              refreshToken: true,
              ...options,
            },
          },
        },
      },
    },
  }
}
