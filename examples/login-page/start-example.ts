// Everything that the example needs, in one process: an upstream, a gateway with a data folder of its own, the login page, an
// API with an authorization server, a registered app, and the app.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAll } from '../../src/compose.ts'
import { loadConfig } from '../../src/config/load.ts'
import { startEcho } from '../../src/process/sample.ts'
import { Accounts } from './accounts.ts'
import { startClientApp } from './client-page.ts'
import { startLoginPage } from './server.ts'
import { secretInFile } from './settings.ts'

/** The running servers, and where they listen. */
export interface Example {
  readonly appUrl: string
  readonly loginUrl: string
  /** Address of the API without a slash at its end. */
  readonly issuer: string
  readonly gatewayUrl: string
  /** The gateway's secret. */
  readonly secret: string
  readonly client: { readonly id: string; readonly secret: string }
  stop(): Promise<void>
}

export interface ExampleOptions {
  /** 0 = any free port. */
  readonly gatewayPort: number
  readonly loginPort: number
  readonly appPort: number
}

/** People who may sign in. */
export const PEOPLE = [
  { name: 'ada', password: 'engine-1843' },
  { name: 'grace', password: 'moth-1947' },
] as const

const API_ID = 'orders'
const LISTEN_PATH = '/orders/'
const SCOPE = 'orders:read orders:write'

/** Starts it all, in the order in which one part needs the other. @throws Error when a port is taken */
export async function startExample({ gatewayPort, loginPort, appPort }: ExampleOptions): Promise<Example> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-example-'))
  const closers: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    const echo = await startEcho(0)
    closers.push(() => echo.close())
    const gateway = await startAll(loadConfig({ env: gatewayEnvironment(folder, gatewayPort), cwd: folder }))
    closers.push(() => gateway.stop())
    const gatewayUrl = `http://127.0.0.1:${gateway.gateway.port}`
    const secret = secretInFile(join(folder, 'secrets.json'))

    const accounts = new Accounts()
    for (const { name, password } of PEOPLE) await accounts.add(name, password)
    const apiUrl = gatewayUrl + LISTEN_PATH
    const settings = { adminUrl: gatewayUrl, apiUrl, apiId: API_ID, secret, port: loginPort, publicUrl: '' }
    const loginPage = await startLoginPage(settings, accounts)
    closers.push(() => loginPage.close())

    let client = { id: '', secret: '' }
    const issuer = apiUrl.slice(0, -1)
    const app = await startClientApp({ issuer, client: () => client, scope: SCOPE, call: '/today', port: appPort })
    closers.push(() => app.close())

    const svc = adminCalls(gatewayUrl, secret)
    await svc('/svc/apis/oas', definition(`http://127.0.0.1:${echo.port}`, loginPage.url))
    await svc('/svc/policies', POLICY)
    const made = await svc('/svc/oauth/clients/create', {
      description: 'Order Desk',
      api_id: API_ID,
      policy_id: POLICY.id,
      redirect_uri: app.redirectUri,
    })
    client = { id: String(made.client_id), secret: String(made.secret) }
    return { appUrl: app.url, loginUrl: loginPage.url, issuer, gatewayUrl, secret, client, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function gatewayEnvironment(folder: string, port: number): Record<string, string> {
  return {
    SVC_STORAGE_PATH: folder,
    SVC_GW_LISTENHOST: '127.0.0.1',
    SVC_GW_LISTENPORT: String(port),
    // what tokens name as their issuer; with a port that is not known yet, the address of each request
    ...(port !== 0 && { SVC_GW_PUBLICURL: `http://127.0.0.1:${port}` }),
    SVC_GW_ACCESSLOG: 'false',
    SVC_DB_LISTENHOST: '127.0.0.1',
    SVC_DB_LISTENPORT: '0',
    SVC_SAMPLE: 'false',
    SVC_LOG_LEVEL: 'warn',
  }
}

/** The rights of the app's tokens: 60 requests a minute. */
const POLICY = {
  id: 'order-desk',
  name: 'Order Desk',
  active: true,
  rate: 60,
  per: 60,
  access_rights: { [API_ID]: { api_id: API_ID, versions: ['Default'] } },
}

function definition(upstream: string, loginUrl: string): object {
  const scopes = { 'orders:read': 'See orders', 'orders:write': 'Place and change orders' }
  const addresses = { tokenUrl: '/oauth/token', refreshUrl: '/oauth/token' }
  const flows = { authorizationCode: { authorizationUrl: '/oauth/authorize', ...addresses, scopes } }
  const scheme = {
    enabled: true,
    allowedAuthorizeTypes: ['code'],
    authLoginRedirect: loginUrl,
    refreshToken: true,
    deviceAuthorization: true,
  }
  return {
    openapi: '3.0.3',
    info: { title: 'Orders', version: '1' },
    paths: {},
    components: { securitySchemes: { oauth: { type: 'oauth2', flows } } },
    security: [{ oauth: [] }],
    'x-svc-api-gateway': {
      info: { id: API_ID, name: 'Orders', state: { active: true } },
      upstream: { url: upstream },
      server: {
        listenPath: { value: LISTEN_PATH, strip: true },
        authentication: { enabled: true, stripAuthorizationData: true, securitySchemes: { oauth: scheme } },
      },
    },
  }
}

function adminCalls(gatewayUrl: string, secret: string) {
  return async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(gatewayUrl + path, {
      method: 'POST',
      headers: { 'X-Svc-Authorization': secret },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`)
    return JSON.parse(text) as Record<string, unknown>
  }
}
