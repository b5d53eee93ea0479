import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { FakeClock } from '../../../src/model/time/clock.ts'
import type { Answer } from '../base/client.ts'
import { startTestGateway, TEST_SECRET } from '../base/harness.ts'
import { LOGIN_PAGE, oauthDefinition, REDIRECT, SECRET } from '../flows/oauth-world.ts'
import { type Origin, startOrigin } from '../servers/origin.ts'

/** Verifier of every code that `code` asks for, and its challenge. */
export const VERIFIER = 'v'.repeat(43)
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')
export const PKCE = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
export const DEVICE_GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code'
export const INITIAL_TOKEN = 'the-initial-access-token-of-the-installation'
/** Another resource that the API `audience` gives tokens for. */
export const OTHER_RESOURCE = 'https://reports.example.test/v1'
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource'
export const SERVER_METADATA_PATH = '/.well-known/oauth-authorization-server'
const PUBLIC_ADDRESS = 'https://api.example.test/gw'
const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Members of a JSON answer. */
// biome-ignore lint/suspicious/noExplicitAny: a check reads whatever the product answers, and says what it must be
export type Members = Record<string, any>
/** Parameters of a request; undefined = left out, several where it is a list. */
export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>

export interface Sent {
  /** The client that proves who it is by Basic; undefined = none does. */
  readonly as?: string | undefined
  readonly secret?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Without `?`. */
  readonly query?: string
  /** Content type of the body. */
  readonly type?: string
}

/** For a request of a client that does not authenticate by Basic. */
export const NOBODY: Sent = { as: undefined }

/** An authorization server under test, with the API that it protects. */
export interface Served {
  readonly issuer: string
  /** Registers a confidential client, with `SECRET` and `REDIRECT` unless `fields` say otherwise, and answers its id. */
  client(fields?: Members): Promise<string>
  publicClient(fields?: Members): Promise<string>
  /** A request below the listen path. */
  send(path: string, sent?: Sent & { readonly body?: string }): Promise<Answer>
  /** A request at any path of the gateway. */
  at(path: string, sent?: Sent & { readonly body?: string }): Promise<Answer>
  /** A form to an endpoint below `/oauth/`. */
  post(endpoint: string, form?: Fields | string, sent?: Sent): Promise<Answer>
  /** The address of an endpoint, as metadata and proofs name it. */
  url(endpoint: string): string
  metadata(): Promise<Members>
  authorize(fields: Fields, more?: string): Promise<Answer>
  /** Parameters that the login page gets; the request must be good. */
  page(fields: Fields): Promise<URLSearchParams>
  login(fields: Fields): Promise<Members>
  /** Where the browser comes back to the client once the user has agreed. */
  comeBack(clientId: string, fields?: Fields): Promise<URL>
  code(clientId: string, fields?: Fields): Promise<string>
  /** The parameters by which the client learns of a refusal; it must come by a redirect. */
  refusal(fields: Fields): Promise<URLSearchParams>
  /** Exchanges a code; absent `code` = a fresh one. */
  exchange(clientId: string, form?: Fields, sent?: Sent): Promise<Answer>
  /** The members of a good token answer. */
  tokens(clientId: string, fields?: Fields, form?: Fields, sent?: Sent): Promise<Members>
  credentials(clientId: string, form?: Fields, sent?: Sent): Promise<Answer>
  refresh(clientId: string, token: string, form?: Fields, sent?: Sent): Promise<Answer>
  introspect(token: string): Promise<Members>
  device(clientId: string, form?: Fields, sent?: Sent): Promise<Members>
  /** Calls the protected API with a token. */
  use(token: string, sent?: Sent & { readonly path?: string }): Promise<Answer>
}

/** One gateway with the APIs that the checks need. Time is a fake clock; it only goes forward. */
export interface ConformanceWorld {
  readonly clock: FakeClock
  readonly origin: Origin
  /** Opaque tokens, every grant, DPoP allowed, registration with an initial token. */
  readonly main: Served
  /** JWT access tokens. */
  readonly jwt: Served
  /** JWT access tokens with RS256. */
  readonly rsa: Served
  /** DPoP required. */
  readonly proved: Served
  /** Pushed requests and PKCE required, no password grant. */
  readonly strict: Served
  /** Gives tokens for `OTHER_RESOURCE` too. */
  readonly audience: Served
  /** Takes tokens in the query parameter `access_token` too. */
  readonly inQuery: Served
  /** No scopes, no refresh tokens, no DPoP, no device grant, open registration. */
  readonly plain: Served
  /** A call of the administration API. */
  svc(method: string, path: string, body?: unknown): Promise<Answer>
  close(): Promise<void>
}

/** Starts the gateway and its APIs. Its clock begins with today, as proofs are dated. */
export async function startConformanceWorld(): Promise<ConformanceWorld> {
  const clock = new FakeClock(Date.now())
  const origin = await startOrigin()
  const env = { SVC_GW_PUBLICURL: PUBLIC_ADDRESS, SVC_GW_OAUTHREGISTRATIONTOKEN: INITIAL_TOKEN }
  const gateway = await startTestGateway({ clock, env })
  let clients = 0

  async function serve(id: string, options: Members, change: (definition: Members) => void = () => {}) {
    const definition: Members = oauthDefinition(origin.url, options, id)
    change(definition)
    await made(gateway.svc('POST', '/svc/apis/oas', definition))
    const right = { [id]: { api_id: id, api_name: id, versions: ['Default'] } }
    const limits = { active: true, rate: 1_000_000, per: 1, quota_max: -1, access_rights: right }
    await made(gateway.svc('POST', '/svc/policies', { id, name: id, ...limits }))
    const register = async (fields: Members) => {
      const usual = { api_id: id, client_id: `${id}-${++clients}`, redirect_uri: REDIRECT, policies: [id] }
      const draft = { ...usual, ...fields }
      await made(gateway.svc('POST', '/svc/oauth/clients/create', draft))
      return draft.client_id
    }
    const at: Served['at'] = (
      path,
      { as, secret = SECRET, method = 'GET', headers = {}, query = '', type, body } = {},
    ) =>
      gateway.call(query === '' ? path : `${path}?${query}`, {
        method,
        headers: {
          ...(type !== undefined && { 'content-type': type }),
          ...(as !== undefined && { authorization: basicFor(as, secret) }),
          ...headers,
        },
        ...(body !== undefined && { body }),
      })
    const page = async (fields: Fields) => {
      const answer = await served.authorize(fields)
      assert.equal(answer.status, 307, answer.headers.location ?? answer.text)
      const location = new URL(answer.headers.location!)
      assert.equal(`${location.origin}${location.pathname}`, LOGIN_PAGE)
      return location.searchParams
    }
    const served: Served = {
      issuer: `${PUBLIC_ADDRESS}/${id}`,
      client: (fields = {}) => register({ secret: SECRET, ...fields }),
      publicClient: (fields = {}) => register({ auth_method: 'none', ...fields }),
      at,
      send: (path, sent) => at(`/${id}${path}`, sent),
      post: (endpoint, form = {}, sent = {}) =>
        at(`/${id}/oauth/${endpoint}`, { method: 'POST', type: FORM_TYPE, body: formOf(form), ...sent }),
      url: (endpoint) => `${PUBLIC_ADDRESS}/${id}/oauth/${endpoint}`,
      metadata: async () => membersOf(await at(`/${id}${SERVER_METADATA_PATH}`)),
      authorize: (fields, more = '') =>
        at(`/${id}/oauth/authorize`, { query: formOf({ response_type: 'code', ...fields }) + more }),
      page,
      async login(fields) {
        const headers = { 'x-svc-authorization': TEST_SECRET }
        const path = `/${id}/svc/oauth/authorize-client`
        return membersOf(await at(path, { method: 'POST', headers, type: FORM_TYPE, body: formOf(fields) }))
      },
      async comeBack(clientId, fields = {}) {
        const { username = 'ada', allow, ...asked } = fields
        const carried = await page({ client_id: clientId, ...PKCE, ...asked })
        const scope = allow === undefined ? {} : { scope: allow }
        const { redirect_to } = await served.login({ ...listsOf(carried), username, ...scope })
        return new URL(redirect_to)
      },
      async code(clientId, fields) {
        const code = (await served.comeBack(clientId, fields)).searchParams.get('code')
        assert.ok(code, 'the login page got a code')
        return code
      },
      async refusal(fields) {
        const answer = await served.authorize({ state: 'st', ...fields })
        assert.equal(answer.status, 303, answer.headers.location ?? answer.text)
        const { location = '' } = answer.headers
        assert.ok(location.startsWith(REDIRECT), location)
        return new URL(location).searchParams
      },
      async exchange(clientId, form = {}, sent = {}) {
        const code = 'code' in form ? {} : { code: await served.code(clientId) }
        const all = { grant_type: 'authorization_code', code_verifier: VERIFIER, ...code, ...form }
        return served.post('token', all, { as: clientId, ...sent })
      },
      async tokens(clientId, fields = {}, form = {}, sent = {}) {
        return good(await served.exchange(clientId, { code: await served.code(clientId, fields), ...form }, sent))
      },
      credentials: (clientId, form = {}, sent = {}) =>
        served.post('token', { grant_type: 'client_credentials', ...form }, { as: clientId, ...sent }),
      refresh: (clientId, token, form = {}, sent = {}) =>
        served.post('token', { grant_type: 'refresh_token', refresh_token: token, ...form }, { as: clientId, ...sent }),
      introspect: async (token) => good(await served.post('introspect', { token }, { as: await served.client() })),
      device: async (clientId, form = {}, sent = {}) =>
        good(await served.post('device_authorization', form, { as: clientId, ...sent })),
      use: (token, { path = '/things', headers = {}, ...sent } = {}) =>
        at(`/${id}${path}`, { ...sent, headers: { authorization: `Bearer ${token}`, ...headers } }),
    }
    return served
  }

  const every = { deviceAuthorization: true, dpop: 'allowed' }
  return {
    clock,
    origin,
    main: await serve('orders', every),
    jwt: await serve('ledger', { ...every, accessTokenFormat: 'jwt' }),
    rsa: await serve('rsa', { accessTokenFormat: 'jwt', accessTokenSigningAlgorithm: 'RS256' }),
    proved: await serve('vault', { dpop: 'required' }),
    strict: await serve('strict', { requirePushedAuthorizationRequests: true, requirePkce: true }, withoutPasswords),
    audience: await serve('wide', { allowedResources: [OTHER_RESOURCE], accessTokenFormat: 'jwt' }),
    inQuery: await serve('feeds', { query: { enabled: true, name: 'access_token' } }),
    plain: await serve('plain', { refreshToken: false, dpop: 'off', openRegistration: true }, withoutScopes),
    svc: (method, path, body) => gateway.svc(method, path, body),
    async close() {
      await gateway.close()
      await origin.close()
    },
  }
}

function withoutPasswords(definition: Members): void {
  delete definition.components.securitySchemes.app.flows.password
}

function withoutScopes(definition: Members): void {
  delete definition.paths['/write']
  for (const flow of Object.values<Members>(definition.components.securitySchemes.app.flows)) flow.scopes = {}
}

async function made(asked: Promise<Answer>): Promise<void> {
  const answer = await asked
  assert.equal(answer.status, 200, answer.text)
}

function basicFor(clientId: string, secret: string): string {
  return `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64')}`
}

/** A form, percent-encoded; parameters of undefined are left out. */
export function formOf(fields: Fields | string): string {
  if (typeof fields === 'string') return fields
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) for (const each of [value ?? []].flat()) form.append(name, each)
  return form.toString()
}

function listsOf(params: URLSearchParams): Fields {
  return Object.fromEntries([...params.keys()].map((name) => [name, params.getAll(name)]))
}

/** The members of an answer in JSON, of whatever status. */
export function membersOf(answer: Answer): Members {
  assert.match(answer.headers['content-type'] ?? '', /^application\/json/)
  return answer.json as Members
}

/** The members of an answer with status 200. */
export function good(answer: Answer): Members {
  assert.equal(answer.status, 200, answer.text)
  return membersOf(answer)
}

/** That an endpoint refused, with this status and error code in JSON. */
export function refused(answer: Answer, error: string, status = 400): Members {
  const members = membersOf(answer)
  assert.deepEqual([answer.status, members.error], [status, error], answer.text)
  return members
}

/** All challenges of an answer, as one text. */
export function challengesOf(answer: Answer): string {
  return [answer.headers['www-authenticate'] ?? []].flat().join(', ')
}

/** A key of a client, with its public half as proofs show it and its thumbprint (RFC 7638). */
export interface HolderKey {
  readonly privateKey: KeyObject
  readonly jwk: Members
  readonly thumbprint: string
}

export function newHolderKey(): HolderKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { crv, kty, x, y } = publicKey.export({ format: 'jwk' }) as Members
  const thumbprint = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
  return { privateKey, jwk: { crv, kty, x, y }, thumbprint }
}

/** A compact JWT with ES256. Members of undefined are left out. */
export function signedJwt(header: Members, claims: Members, key: KeyObject): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${encode(header)}.${encode(claims)}`
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

/** A DPoP proof for a POST to an address, right but for what is given. */
export function proofFor(
  world: Pick<ConformanceWorld, 'clock'>,
  url: string,
  key: HolderKey,
  claims: Members = {},
  header: Members = {},
): string {
  const usual = { jti: randomUUID(), htm: 'POST', htu: url, iat: Math.floor(world.clock.wall() / 1000) }
  return signedJwt({ typ: 'dpop+jwt', alg: 'ES256', jwk: key.jwk, ...header }, { ...usual, ...claims }, key.privateKey)
}

/** The `ath` of a proof for a token (RFC 9449 section 4.2). */
export const hashOfToken = (token: string): string => createHash('sha256').update(token).digest('base64url')

/** The claims of a JWT, not verified. */
export function claimsOf(jwt: string): { readonly header: Members; readonly claims: Members } {
  const [header, claims] = jwt.split('.').map((part) => Buffer.from(part, 'base64url').toString())
  return { header: JSON.parse(header!), claims: JSON.parse(claims!) }
}

/** The number of bits that a text of base64url or hexadecimal digits can hold. */
export function bitsOf(text: string): number {
  return text.length * (/^[0-9a-f]+$/.test(text) ? 4 : 6)
}

/** How binding the sentence of an RFC is (RFC 2119); 'states' for one that defines without such a word. */
export type Level =
  | 'MUST'
  | 'MUST NOT'
  | 'REQUIRED'
  | 'SHALL'
  | 'SHALL NOT'
  | 'SHOULD'
  | 'SHOULD NOT'
  | 'RECOMMENDED'
  | 'NOT RECOMMENDED'
  | 'MAY'
  | 'OPTIONAL'
  | 'states'

/** One statement of an RFC, and the check of it. */
export interface ConformanceRow {
  readonly section: string
  readonly level: Level
  readonly says: string
  /** Of a statement that is not followed, or that does not apply: why. The check then shows what happens. */
  readonly decided?: string
  readonly check: (world: ConformanceWorld) => Promise<void>
}

/** The rows of one RFC. */
export interface Conformance {
  readonly rfc: number
  readonly title: string
  readonly rows: readonly ConformanceRow[]
}
