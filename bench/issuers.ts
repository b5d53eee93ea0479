import { fileURLToPath } from 'node:url'
import { freePort, PROXY_CORE, type Started, startPinned, waitForPort } from './processes.ts'
import { type Admin, definition, type Product, policy } from './product.ts'
import { progress, show } from './report.ts'
import { type Measured, measureLoad } from './wrk.ts'

export const CONNECTIONS = 64
export const WARM_UP_SECONDS = 5
export const CLIENT = 'bench-client'
const SECRET = 'bench-secret-of-the-client-0123456789'
export const BASIC = `Basic ${Buffer.from(`${CLIENT}:${SECRET}`).toString('base64')}`
export const OAUTH_POLICY = 'policy-oauth'
const FORM = 'grant_type=client_credentials'

/** A call of an authorization server that is made again and again. */
export interface Issuer {
  readonly name: string
  readonly started: Started
  readonly url: string
  readonly path: string
  readonly form: string
}

/** Starts npm `oidc-provider` with its in-memory adapter. */
export async function startPeer(): Promise<Issuer> {
  const port = await freePort()
  const file = fileURLToPath(new URL('oidc-peer.ts', import.meta.url))
  const started = startPinned('oidc-provider', PROXY_CORE, [process.execPath, file, String(port), CLIENT, SECRET], {
    env: { NODE_ENV: 'production' },
  })
  await waitForPort(started, port)
  return { name: 'oidc-provider', started, url: `http://127.0.0.1:${port}`, path: '/token', form: FORM }
}

/** The gateway as an issuer of client-credentials tokens, once it has `addOAuthApi`. */
export function issuerOf(product: Product): Issuer {
  return { name: 'Gatehouse', started: product.started, url: product.url, path: '/oauth-api/oauth/token', form: FORM }
}

/** Makes an API with the OAuth method, and a client of it. */
export async function addOAuthApi(admin: Admin, upstreamPort: number): Promise<void> {
  await admin.call('POST', '/apis/oas', oauthDefinition(upstreamPort))
  // All tokens of a client count together.
  await admin.call('POST', '/policies', { ...policy(OAUTH_POLICY, ['oauth-api']), rate: 10_000_000, per: 1 })
  await admin.call('POST', '/oauth/clients/create', {
    api_id: 'oauth-api',
    client_id: CLIENT,
    secret: SECRET,
    policy_id: OAUTH_POLICY,
    redirect_uri: 'https://client.example/callback',
  })
}

function oauthDefinition(upstreamPort: number): Record<string, unknown> {
  const usual = definition('oauth-api', upstreamPort)
  const extension = usual['x-svc-api-gateway'] as { server: Record<string, unknown> }
  return {
    ...usual,
    components: {
      securitySchemes: {
        app: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'oauth/token', scopes: {} } } },
      },
    },
    security: [{ app: [] }],
    'x-svc-api-gateway': {
      ...extension,
      server: {
        ...extension.server,
        authentication: { enabled: true, securitySchemes: { app: { enabled: true, header: { enabled: true } } } },
      },
    },
  }
}

/** Interleaved rounds after a warm-up of each. */
export async function compareIssuers(
  issuers: readonly Issuer[],
  { seconds, rounds }: { readonly seconds: number; readonly rounds: number },
): Promise<Map<string, Measured[]>> {
  const results = new Map<string, Measured[]>(issuers.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const issuer of issuers) {
      const run = await measure(issuer, round === 0 ? WARM_UP_SECONDS : seconds)
      if (round === 0) continue
      results.get(issuer.name)!.push(run)
      progress(`${issuer.path}: ${issuer.name} ${show(run.perSecond)}/s, ${show(run.cpuMicros, 1)} µs CPU`)
    }
  }
  return results
}

async function measure({ name, started, url, path, form }: Issuer, seconds: number): Promise<Measured> {
  const args = [path, BASIC, form]
  return measureLoad(name, started, { url, seconds, connections: CONNECTIONS, script: 'tokens.lua', args })
}
