import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { Fault } from '../../../src/errors/fault.ts'
import type { GrantType } from '../../../src/model/oauth-clients/grants.ts'
import type { OAuthClient } from '../../../src/model/oauth-clients/oauth-client.ts'
import type { OAuthRules } from '../../../src/model/oauth-clients/oauth-rules.ts'
import { seal } from '../../../src/model/secrets/secret.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import type { Endpoint, OAuthAnswer, OAuthApi, OAuthCall, OAuthParts } from '../../../src/oauth/endpoints/parts.ts'
import { newServerState } from '../../../src/oauth/endpoints/server-state.ts'
import { KeyedMutex } from '../../../src/runtime/keyed-mutex.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Store } from '../../../src/store/ports/ports.ts'

export const ISSUER = 'https://gateway.example/orders'
export const LOGIN = 'https://login.example/start?tenant=a'
export const CALLBACK = 'https://app.example/cb'
export const SECRET = 'the secret of the shop client'
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
/** Of `VERIFIER` (RFC 7636 appendix B). */
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

const ALL_GRANTS: readonly GrantType[] = ['authorization_code', 'client_credentials', 'refresh_token', DEVICE_GRANT]

/** An API with an authorization server; `rules` over those that allow everything and require nothing. */
export function apiWith(rules: Partial<OAuthRules> = {}, apiId = 'orders'): OAuthApi {
  return {
    apiId,
    orgId: 'org',
    name: apiId,
    format: 'oas',
    active: true,
    internal: false,
    expiresAt: undefined,
    listenPath: `/${apiId}/`,
    stripListenPath: true,
    ignoreCase: false,
    domain: '',
    certificates: [],
    clientCertificates: undefined,
    tags: undefined,
    upstream: {
      targets: [{ url: 'http://127.0.0.1:1', weight: 1 }],
      preserveHost: false,
      insecure: false,
      timeoutMs: 0,
    },
    auth: {
      method: 'oauth',
      header: 'authorization',
      query: undefined,
      cookie: undefined,
      strip: false,
      stripHeaders: [],
      stripQueries: [],
      stripCookies: [],
    },
    versioning: undefined,
    rules: {
      expiresAt: undefined,
      overrideTarget: '',
      requestHeaders: undefined,
      responseHeaders: undefined,
      sizeLimitBytes: 0,
      operations: [],
    },
    cors: undefined,
    cache: undefined,
    ip: undefined,
    rateLimit: undefined,
    batches: false,
    modules: undefined,
    contextVariables: false,
    skipRateLimit: false,
    skipQuota: false,
    onStoreFailure: 'refuse',
    keepQuotaOnSave: false,
    sessionLifetimeS: 0,
    record: undefined,
    oauth: {
      grants: new Set(ALL_GRANTS),
      responseTypes: new Set(['code']),
      loginRedirect: LOGIN,
      notifyUrl: '',
      notifySecret: '',
      scopes: new Set(['read', 'write']),
      allowedResources: [],
      openRegistration: false,
      clientIdMetadata: false,
      registrationPolicies: [],
      accessTokenFormat: 'opaque',
      accessTokenType: 'at+jwt',
      signingAlgorithm: 'ES256',
      accessTokenS: 0,
      refreshTokenS: 0,
      codeS: 0,
      refreshReuseGraceS: 0,
      requirePkce: false,
      requirePushedRequests: false,
      dpop: 'allowed',
      mutualTls: 'off',
      ...rules,
    },
  }
}

/** The dependencies of one test of the authorization server's front. */
export interface Front {
  readonly parts: OAuthParts
  readonly store: Store
  readonly clock: FakeClock
  readonly api: OAuthApi
  /** A client of the API, unless `changes` say otherwise: confidential, with one redirect URI and the secret `SECRET`. */
  client(changes?: Partial<OAuthClient>): OAuthClient
  call(endpoint: Endpoint, sent?: Sent): OAuthCall
}

export interface Sent {
  readonly method?: string
  readonly query?: Readonly<Record<string, string>> | string
  readonly form?: Readonly<Record<string, string>> | string
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly administrative?: boolean
  readonly api?: OAuthApi
  readonly clientAddress?: string
  readonly rest?: string
}

/** A memory store, a fake clock, and an API whose rules are `rules`. */
export function front(t: TestContext, rules: Partial<OAuthRules> = {}, registrationToken = ''): Front {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  t.after(() => store.close())
  const clients = new Map<string, OAuthClient>()
  const api = apiWith(rules)
  const sealKey = randomBytes(32)
  const parts: OAuthParts = {
    documents: store.documents,
    tokens: store.tokens,
    outbox: store.outbox,
    clock,
    log: { debug() {}, info() {}, warn() {}, error() {} } as unknown as OAuthParts['log'],
    config: {
      gateway: {
        oauth_token_expire: 3600,
        oauth_refresh_token_expire: 1_209_600,
        oauth_code_expire: 60,
        oauth_assertion_expire: 3600,
        oauth_registration_token: registrationToken,
        hash_keys: true,
      },
      compat: { legacy_statuses: false, vendor_aliases: [] },
    } as OAuthParts['config'],
    sealKey,
    locks: new KeyedMutex(),
    ...newServerState(clock),
    findApi: (apiId) => (apiId === api.apiId ? api : undefined),
    findPolicy: () => undefined,
    findClient: async (clientId) => {
      const known = clients.get(clientId)
      if (known !== undefined) return known
      return (await store.documents.find('oauth_client', 'client_id', clientId))?.body as unknown as OAuthClient
    },
  }
  const client = (changes: Partial<OAuthClient> = {}): OAuthClient => {
    const made = clientWith(sealKey, changes)
    clients.set(made.client_id, made)
    return made
  }
  return { parts, store, clock, api, client, call: (endpoint, sent = {}) => callOf(sent.api ?? api, endpoint, sent) }
}

function clientWith(sealKey: Uint8Array, changes: Partial<OAuthClient>): OAuthClient {
  const id = changes.client_id ?? 'shop'
  const secret = seal(sealKey, SECRET, `oauth_client:${id}`).toString('base64')
  return {
    client_id: id,
    org_id: 'org',
    secrets: changes.auth_method === 'none' ? [] : [{ sealed: secret, until: 0 }],
    redirect_uris: [CALLBACK],
    api_ids: ['orders'],
    registered_by_policy: '',
    policies: [],
    metadata: {},
    description: 'The shop',
    auth_method: 'any',
    token_lifetime: 0,
    epoch: 'epoch-1',
    date_created: '2026-01-01T00:00:00Z',
    ...changes,
  }
}

function callOf(api: OAuthApi, endpoint: Endpoint, sent: Sent): OAuthCall {
  const body = bodyOf(sent)
  const headers = new Map(Object.entries(sent.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
  if (body !== undefined && !headers.has('content-type')) headers.set('content-type', body.type)
  return {
    api,
    endpoint,
    rest: sent.rest ?? '',
    method: sent.method ?? (body === undefined ? 'GET' : 'POST'),
    issuer: ISSUER,
    issuerIsFixed: true,
    ownResources: [ISSUER],
    query: textOf(sent.query ?? ''),
    header: (name) => headers.get(name),
    headers: (name) => (headers.has(name) ? [headers.get(name)!] : []),
    body: async () => Buffer.from(body?.text ?? ''),
    clientAddress: sent.clientAddress ?? '192.0.2.1',
    peerCertificate: '',
    administrative: sent.administrative ?? false,
  }
}

function bodyOf({ form, json }: Sent): { type: string; text: string } | undefined {
  if (json !== undefined)
    return { type: 'application/json', text: typeof json === 'string' ? json : JSON.stringify(json) }
  if (form === undefined) return undefined
  return { type: 'application/x-www-form-urlencoded', text: textOf(form) }
}

function textOf(params: Readonly<Record<string, string>> | string): string {
  return typeof params === 'string' ? params : new URLSearchParams(params).toString()
}

/** The value of a header of an answer; undefined when it is not there. */
export function field(answer: OAuthAnswer, name: string): string | undefined {
  for (const line of answer.fields.split('\r\n')) {
    const colon = line.indexOf(':')
    if (line.slice(0, colon).toLowerCase() === name.toLowerCase()) return line.slice(colon + 1).trim()
  }
  return undefined
}

/** Where an answer redirects to. */
export function locationOf(answer: OAuthAnswer): URL {
  const location = field(answer, 'location')
  assert.ok(location !== undefined, `no Location in ${JSON.stringify(answer)}`)
  return new URL(location)
}

/** For `assert.rejects` and `assert.throws`: a fault of this code, whose text says this. */
export function faultOf(code: string, says = ''): (error: unknown) => boolean {
  return (error) => {
    assert.equal((error as Fault).code, code)
    assert.ok((error as Fault).message.includes(says), (error as Fault).message)
    return true
  }
}

/** Basic credentials of a client. */
export function basic(clientId: string, secret = SECRET): { authorization: string } {
  const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}
