import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { oauthDefinition } from '../../worlds/flows/oauth-world.ts'
import type { Gatehouse } from './gatehouse.ts'

/** The OAuth APIs: settings of the scheme, as a definition names them. */
const APIS: Readonly<Record<string, Record<string, unknown>>> = {
  opaque: { deviceAuthorization: true },
  // Two workers that refresh at once get the same tokens.
  graceful: { refreshReuseGraceSeconds: 30 },
  jwt: { accessTokenFormat: 'jwt', dpop: 'allowed' },
}
/** Rules by which pages of any origin may call an API. */
const CORS = {
  ...{ enabled: true, allowedOrigins: ['*'], allowedMethods: ['GET'], allowedHeaders: ['Authorization', 'DPoP'] },
  exposedHeaders: ['WWW-Authenticate', 'DPoP-Nonce'],
}
/** An MCP server for apps that know its address and nothing else. */
const MCP = { openRegistration: true, registrationPolicies: ['all'] }

/** Login page, user and administrator of the authorization servers: one HTTP service for the programs. */
export interface Desk {
  readonly url: string
  /** Where clients are sent back to. It answers 200. */
  readonly redirect: string
}

/**
 * Creates the OAuth APIs and serves what the programs need beside them:
 * `GET /login/{api}`: a login page whose user always agrees; `GET /callback`; `POST /device/{api}?user_code=`: the user agrees;
 * `POST /clients/{api}`: registers a client, members as the administration API takes them; `POST /rotate`: the current signing key is retired.
 */
export async function startDesk(gatehouse: Gatehouse, upstream: string, mcpServer: string): Promise<Desk> {
  const server = createServer((request, response) => {
    serve(gatehouse, request, response).catch((error) => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  server.unref()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const [api, options] of Object.entries(APIS)) {
    const authLoginRedirect = `${url}/login/${api}`
    await gatehouse.svc('POST', '/svc/apis/oas', oauthDefinition(upstream, { ...options, authLoginRedirect }, api))
  }
  const pages = oauthDefinition(upstream, { dpop: 'allowed', authLoginRedirect: `${url}/login/browser` }, 'browser')
  Object.assign(pages['x-svc-api-gateway'] as object, { middleware: { global: { cors: CORS } } })
  await gatehouse.svc('POST', '/svc/apis/oas', pages)
  const mcp = oauthDefinition(mcpServer, { ...MCP, authLoginRedirect: `${url}/login/mcp` }, 'mcp')
  Object.assign(mcp['x-svc-api-gateway'] as object, {
    middleware: { mcpTools: { delete_note: { block: { enabled: true } } } },
  })
  await gatehouse.svc('POST', '/svc/apis/oas', mcp)
  const rights = [...Object.keys(APIS), 'browser', 'mcp'].map((id) => [
    id,
    { api_id: id, api_name: id, versions: ['Default'] },
  ])
  const policy = { id: 'all', name: 'all', active: true, rate: 100_000, per: 1, quota_max: -1 }
  await gatehouse.svc('POST', '/svc/policies', { ...policy, access_rights: Object.fromEntries(rights) })
  return { url, redirect: `${url}/callback` }
}

async function serve(gatehouse: Gatehouse, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`)
  const [, what = '', api = ''] = url.pathname.split('/')
  const parameters = { ...Object.fromEntries(url.searchParams), username: 'ada' }
  const redirect = `${url.origin}/callback`
  switch (`${request.method} ${what}`) {
    case 'GET callback':
      response.end('signed in')
      return
    case 'GET login': {
      const { status, text, json } = await gatehouse.authorize(api, parameters)
      const { redirect_to: location } = (json ?? {}) as { redirect_to?: string }
      if (location !== undefined) response.writeHead(303, { location }).end()
      else response.writeHead(status).end(text)
      return
    }
    case 'POST device': {
      const { status, text } = await gatehouse.authorize(api, { ...parameters, decision: 'approve' })
      response.writeHead(status).end(text)
      return
    }
    case 'POST clients':
      return register(gatehouse, { api, redirect, fields: await bodyOf(request) }, response)
    case 'POST rotate':
      await retireSigningKeys(gatehouse)
      response.end('{}')
      return
    default:
      response.writeHead(404).end()
  }
}

async function register(
  { svc }: Gatehouse,
  { api, redirect, fields }: { api: string; redirect: string; fields: Record<string, unknown> },
  response: ServerResponse,
): Promise<void> {
  const client_id = `client-${randomBytes(8).toString('hex')}`
  const secret = fields.auth_method === undefined ? randomBytes(32).toString('base64url') : undefined
  const draft = { api_id: api, client_id, secret, redirect_uri: redirect, policies: ['all'], ...fields }
  await svc('POST', '/svc/oauth/clients/create', draft)
  response.end(JSON.stringify({ client_id, client_secret: secret ?? '' }))
}

/** A new key would sign only after ten minutes; when the current one is retired the next signs at once. */
async function retireSigningKeys({ svc }: Gatehouse): Promise<void> {
  await svc('POST', '/svc/oauth/signing-keys/rotate')
  const { json } = await svc('GET', '/svc/oauth/signing-keys')
  const keys = (Array.isArray(json) ? json : (json as { keys: unknown[] }).keys) as { kid: string; state: string }[]
  for (const { kid, state } of keys) if (state === 'current') await svc('DELETE', `/svc/oauth/signing-keys/${kid}`)
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return (chunks.length === 0 ? null : JSON.parse(Buffer.concat(chunks).toString())) ?? {}
}
