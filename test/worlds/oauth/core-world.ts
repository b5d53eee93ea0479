import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { LogFields } from '../../../src/model/logs/log.ts'
import type { OAuthClient } from '../../../src/model/oauth-clients/oauth-client.ts'
import type { OAuthRules } from '../../../src/model/oauth-clients/oauth-rules.ts'
import { type SealKey, seal } from '../../../src/model/secrets/secret.ts'
import type { Policy } from '../../../src/model/sessions/session.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { ClientCache } from '../../../src/oauth/clients/client-cache.ts'
import { standaloneMark } from '../../../src/oauth/endpoints/login-page.ts'
import type { Endpoint, OAuthApi, OAuthCall, OAuthParts } from '../../../src/oauth/endpoints/parts.ts'
import { AuthorizationServer } from '../../../src/oauth/endpoints/server.ts'
import { newServerState } from '../../../src/oauth/endpoints/server-state.ts'
import { makeCode } from '../../../src/oauth/tokens/code.ts'
import type { CodeBody } from '../../../src/oauth/tokens/tickets.ts'
import { KeyedMutex } from '../../../src/runtime/keyed-mutex.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import { type Adapter, adapters } from '../../contract/adapters.ts'
import { apiWith, basic, CALLBACK, CHALLENGE, ISSUER, SECRET } from './front-fixtures.ts'

/** The stores that the core is tested on. */
export const STORES: readonly Adapter[] = adapters.filter(({ name }) => name === 'memory' || name === 'sqlite')

/** The answer to the caller of an endpoint. */
export interface Got {
  readonly status: number
  readonly body: JsonObject
  readonly fields: string
}

export interface Sending {
  readonly form?: Readonly<Record<string, string>> | string
  readonly json?: unknown
  /** Values of fields by lower-case name; several where it is a list. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly method?: string
  readonly api?: OAuthApi
  readonly peerCertificate?: string
  readonly bytes?: Uint8Array
}

/** An authorization server over a store, with a fake clock. */
export interface World {
  readonly parts: OAuthParts
  readonly store: Store
  readonly clock: FakeClock
  readonly api: OAuthApi
  readonly policies: Map<string, Policy>
  readonly apis: Map<string, OAuthApi>
  readonly log: { readonly fields: LogFields; readonly message: string }[]
  /** Stores a client, new or again. Unless changed: id `shop`, secret `SECRET`, policy `plan`, at API `orders`. */
  putClient(changes?: Partial<OAuthClient>): Promise<OAuthClient>
  deleteClient(clientId: string): Promise<void>
  ask(endpoint: Endpoint, sending?: Sending): Promise<Got>
  /** Asks the token endpoint as `shop`, or as the client of the headers. */
  token(form: Readonly<Record<string, string>>, sending?: Sending): Promise<Got>
  /** An authorization code of a client, with PKCE and a redirect URI unless changed. */
  code(client: OAuthClient, changes?: Partial<CodeBody>): Promise<string>
  /** The answer of introspection to the resource server `watcher`. */
  look(token: unknown): Promise<JsonObject>
}

export interface WorldOptions {
  readonly rules?: Partial<OAuthRules>
  readonly legacy?: boolean
  /** Together with the clock that it goes by. */
  readonly store?: Store
  readonly clock?: FakeClock
}

/** Opens a world over one of the stores. */
export async function openWorld(t: TestContext, adapter: Adapter, options: WorldOptions = {}): Promise<World> {
  const clock = options.clock ?? new FakeClock()
  const store = options.store ?? (await adapter.open(t, clock))
  const api = apiWith({ grants: new Set(EVERY_GRANT), ...options.rules })
  const apis = new Map([[api.apiId, api]])
  const policies = new Map<string, Policy>([['plan', planOf(['orders'])]])
  const cache = new ClientCache(store.documents, store.feed)
  const log: World['log'] = []
  const note = (fields: LogFields, message: string) => void log.push({ fields, message })
  const sealKey = randomBytes(32)
  const parts: OAuthParts = {
    documents: store.documents,
    tokens: store.tokens,
    outbox: store.outbox,
    clock,
    log: { debug: note, info: note, warn: note, error: note },
    config: {
      gateway: {
        oauth_token_expire: 3600,
        oauth_refresh_token_expire: 1_209_600,
        oauth_code_expire: 60,
        oauth_assertion_expire: 3600,
        oauth_registration_token: '',
        hash_keys: true,
      },
      compat: { legacy_statuses: options.legacy ?? false, vendor_aliases: [] },
    },
    sealKey,
    locks: new KeyedMutex(),
    ...newServerState(clock),
    findApi: (apiId) => apis.get(apiId),
    findPolicy: (orgId, policyId) => (orgId === 'org' ? policies.get(policyId) : undefined),
    findClient: (clientId, api) => cache.find(clientId, api),
  }
  const server = new AuthorizationServer(parts)

  const stored = (clientId: string) => store.documents.find('oauth_client', 'client_id', clientId)
  const putClient = async (changes: Partial<OAuthClient> = {}) => {
    const client = clientOf(sealKey, changes)
    const id = (await stored(client.client_id))?.id ?? newDocumentId()
    const body = client as unknown as JsonObject
    await store.documents.commit([{ op: 'put', kind: 'oauth_client', id, body }], undefined)
    return client
  }
  const ask = async (endpoint: Endpoint, sending: Sending = {}): Promise<Got> => {
    const answer = await server.answer(callOf(sending.api ?? api, endpoint, sending))
    return {
      status: answer.status,
      body: answer.body === '' ? {} : (JSON.parse(answer.body) as JsonObject),
      fields: answer.fields,
    }
  }
  await putClient({ client_id: 'watcher', policies: [] })
  return {
    parts,
    store,
    clock,
    api,
    policies,
    apis,
    log,
    putClient,
    async deleteClient(clientId) {
      const id = (await stored(clientId))?.id
      if (id !== undefined) await store.documents.commit([{ op: 'delete', kind: 'oauth_client', id }], undefined)
    },
    ask,
    token: (form, sending = {}) => ask('token', { headers: basic('shop'), ...sending, form }),
    code: (client, changes = {}) =>
      makeCode(parts, api, client, {
        epoch: client.epoch,
        redirect_uri: CALLBACK,
        challenge: CHALLENGE,
        scope: '',
        jkt: '',
        username: '',
        ...standaloneMark(client),
        ...changes,
      }),
    async look(token) {
      const form = { token: String(token) }
      return (await ask('introspect', { headers: basic('watcher'), form })).body
    },
  }
}

const EVERY_GRANT = ['authorization_code', 'client_credentials', 'password', 'refresh_token'] as const

/** A policy of the organisation with rights on some APIs. */
export function planOf(apiIds: readonly string[], changes: Partial<Policy> = {}): Policy {
  const rights = apiIds.map((apiId) => [apiId, { api_id: apiId, versions: ['Default'] }])
  return { id: 'plan', org_id: 'org', access_rights: Object.fromEntries(rights), ...changes }
}

/** A sealed secret of a client, as its document holds it. */
export function sealedFor(sealKey: SealKey, clientId: string, secret: string): string {
  return seal(sealKey, secret, `oauth_client:${clientId}`).toString('base64')
}

function clientOf(sealKey: SealKey, changes: Partial<OAuthClient>): OAuthClient {
  const id = changes.client_id ?? 'shop'
  const open = changes.auth_method === 'none' || changes.auth_method === 'tls_client_auth'
  return {
    client_id: id,
    org_id: 'org',
    secrets: open ? [] : [{ sealed: sealedFor(sealKey, id, SECRET), until: 0 }],
    redirect_uris: [CALLBACK],
    api_ids: ['orders'],
    registered_by_policy: '',
    policies: ['plan'],
    metadata: {},
    description: '',
    auth_method: 'any',
    token_lifetime: 0,
    epoch: 'epoch-1',
    date_created: '2026-01-01T00:00:00Z',
    ...changes,
  }
}

function callOf(api: OAuthApi, endpoint: Endpoint, sending: Sending): OAuthCall {
  const { form, json } = sending
  const text = json === undefined ? formText(form ?? '') : JSON.stringify(json)
  const type = json === undefined ? 'application/x-www-form-urlencoded' : 'application/json'
  const given = { 'content-type': type, ...sending.headers }
  const fields = new Map(
    Object.entries(given).map(([name, value]) => [name, typeof value === 'string' ? [value] : value]),
  )
  return {
    api,
    endpoint,
    rest: '',
    method: sending.method ?? 'POST',
    issuer: ISSUER,
    issuerIsFixed: true,
    ownResources: [ISSUER],
    query: '',
    header: (name) => fields.get(name)?.[0],
    headers: (name) => fields.get(name) ?? [],
    body: async () => sending.bytes ?? Buffer.from(text),
    clientAddress: '192.0.2.1',
    peerCertificate: sending.peerCertificate ?? '',
    administrative: false,
  }
}

function formText(form: Readonly<Record<string, string>> | string): string {
  return typeof form === 'string' ? form : new URLSearchParams(form).toString()
}
