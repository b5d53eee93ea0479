import { Fault, fault, waitFault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { visitorOf } from '../../model/network/visitor.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import type { OAuthRules } from '../../model/oauth-clients/oauth-rules.ts'
import { equalSecrets, hashKey, newSecret } from '../../model/secrets/secret.ts'
import { currentSecret, registrationAt } from '../../publish/oauth-clients/oauth-client-parts.ts'
import {
  createClient,
  deleteClient,
  registeredAt,
  type SavedClient,
  updateClient,
} from '../../publish/oauth-clients/oauth-clients.ts'
import type { OAuthAnswer, OAuthCall, OAuthParts } from '../endpoints/parts.ts'
import { emptyAnswer, jsonAnswer } from '../messages/answer.ts'
import { endpointUrl } from '../messages/endpoint-url.ts'
import { readStrictObject } from '../messages/strict-json.ts'
import { metadataOfClient, readMetadata, readOpenMetadata } from './client-metadata.ts'
import { isOpenlyRegistered } from './clients.ts'

const LIMIT_BYTES = 65_536
const BEARER = /^bearer +([\x21-\x7e][\x20-\x7e]*)$/i
/** Ours to say: a client that sends one changes nothing with it (RFC 7592 section 2.2). */
const NOT_SENT = [
  'registration_access_token',
  'registration_client_uri',
  'client_id_issued_at',
  'client_secret_expires_at',
]
/** Compared with when there is nothing to compare with, so that it takes the same time. */
const NOBODYS = hashKey(newSecret()).toString('hex')

/**
 * Dynamic registration of clients at one API (RFC 7591): POST with the initial access token `gateway.oauth_registration_token`
 * answers 201 with the client, its secret, and a token that reads (GET), replaces (PUT) and deletes (DELETE) it at
 * `registration_client_uri` (RFC 7592). That token is kept as its hash. An API with `openRegistration` takes clients without that initial
 * token too, for grants that a person allows: 20 an hour from one address, updates of such clients among them. While the setting is empty, all of it answers 404 at other APIs.
 * Clients get the `registrationPolicies` of the API; without any an administrator gives them some, or the login page gives `key_rules`.
 * @throws Fault `not_found`, `method_not_allowed`, `oauth_too_many_tries` (429), `oauth_invalid_metadata`, `oauth_invalid_redirect`, `oauth_invalid_request`, `oauth_too_large` (413)
 */
export async function register(parts: OAuthParts, call: OAuthCall): Promise<OAuthAnswer> {
  const initial = parts.registrationTokens?.() ?? [parts.config.gateway.oauth_registration_token]
  if (initial.every((token) => token === '') && !call.api.oauth.openRegistration) throw fault('not_found')
  if (call.rest === '' || call.rest === '/') return create(parts, call, initial)
  const token = bearerOf(call)
  const client = await managedClient(parts, call, token)
  if (client === undefined) return unauthorised(call)
  if (call.method === 'GET') return answer(parts, call, client, token)
  if (call.method === 'PUT') return replace(parts, call, client, token)
  if (call.method !== 'DELETE') throw fault('method_not_allowed')
  await deleteClient(parts, client, { apiId: call.api.apiId, actor: actorOf(client.client_id) })
  return emptyAnswer(204)
}

async function create(parts: OAuthParts, call: OAuthCall, initial: readonly string[]): Promise<OAuthAnswer> {
  const rules = call.api.oauth
  const sent = bearerOf(call)
  const isOpen = rules.openRegistration && call.header('authorization') === undefined
  if (!isOpen) {
    if (sent === '') return unauthorised(call)
    const isRight = initial.some((token) => token !== '' && equalSecrets(sent, token))
    const waitMs = parts.registrationBrake.waitMs(visitorOf(call.clientAddress), isRight)
    if (waitMs > 0) throw waitFault('oauth_too_many_tries', waitMs)
    if (!isRight) return unauthorised(call)
  }
  if (call.method !== 'POST') throw fault('method_not_allowed')
  const body = readBy(isOpen, await readJson(call), rules)
  if (isOpen) takeOpenRegistration(parts, call)
  const token = newSecret()
  const clientId = newSecret()
  const registration = {
    api_id: call.api.apiId,
    token_hash: hashKey(token).toString('hex'),
    issued_at: Math.floor(parts.clock.wall() / 1000),
    ...(isOpen && { open: true }),
  }
  const { client } = await publishing(
    createClient(parts, {
      body: { ...body, client_id: clientId, policies: [...rules.registrationPolicies] },
      apiId: call.api.apiId,
      orgId: call.api.orgId,
      redirectOptional: true,
      registration,
      actor: actorOf(clientId),
    }),
  )
  return answer(parts, call, client, token, 201)
}

function readBy(isOpen: boolean, sent: JsonObject, rules: OAuthRules): JsonObject {
  return isOpen ? readOpenMetadata(sent, rules) : readMetadata(sent, rules)
}

/** Strangers write to the store: each registration or update counts for their address. @throws Fault `oauth_too_many_tries` (429) */
function takeOpenRegistration({ openRegistrations }: OAuthParts, { clientAddress }: OAuthCall): void {
  const waitMs = openRegistrations.tryBegin(visitorOf(clientAddress))
  if (waitMs > 0) throw waitFault('oauth_too_many_tries', waitMs)
}

/** Replaces all metadata: what is not sent is gone (RFC 7592 section 2.2). Policies and what else administrators gave stays. */
async function replace(parts: OAuthParts, call: OAuthCall, client: OAuthClient, token: string): Promise<OAuthAnswer> {
  const sent = await readJson(call)
  if (sent.client_id !== client.client_id) throw fault('oauth_invalid_request', 'client_id is missing, or another one')
  const strange = NOT_SENT.find((name) => Object.hasOwn(sent, name))
  if (strange !== undefined) throw fault('oauth_invalid_request', `${strange} cannot be sent`)
  if (sent.client_secret !== undefined && !isCurrentSecret(parts, client, sent.client_secret))
    throw fault('oauth_invalid_request', 'client_secret is not the current one')
  const { policies, metadata } = client
  const isOpen = isOpenlyRegistered(client)
  const body = { ...readBy(isOpen, sent, call.api.oauth), policies: [...policies], metadata }
  if (isOpen) takeOpenRegistration(parts, call)
  const change = { body, redirectOptional: true, actor: actorOf(client.client_id) }
  const saved = await publishing(updateClient(parts, client, change))
  return answer(parts, call, saved.client, token)
}

function answer(parts: OAuthParts, call: OAuthCall, client: OAuthClient, token: string, status = 200): OAuthAnswer {
  const secret = currentSecret(parts, client)
  const { issued_at: issuedAt } = registrationOf(client)
  return jsonAnswer(status, {
    client_id: client.client_id,
    client_id_issued_at: issuedAt,
    ...(secret !== '' && { client_secret: secret, client_secret_expires_at: 0 }),
    registration_access_token: token,
    registration_client_uri: `${endpointUrl(call.issuer, 'register')}/${encodeURIComponent(client.client_id)}`,
    ...metadataOfClient(client, call.api.oauth),
  })
}

/** The client that the path names, where it was registered here and this is its token. */
async function managedClient(parts: OAuthParts, call: OAuthCall, token: string): Promise<OAuthClient | undefined> {
  const stored = await registrationAt(parts, idOf(call.rest), call.api)
  const client = stored?.body
  const { api_id: apiId, token_hash: hash } = registrationOf(client)
  const fits = equalSecrets(hashKey(token).toString('hex'), typeof hash === 'string' ? hash : NOBODYS)
  if (client === undefined || !fits || apiId !== call.api.apiId) return undefined
  return registeredAt(client, call.api, (id) => parts.findPolicy(client.org_id, id)) ? client : undefined
}

/** The id in `/<client_id>`; '' when it cannot be one. */
function idOf(rest: string): string {
  try {
    return decodeURIComponent(rest.replace(/^\//, '').replace(/\/$/, ''))
  } catch {
    return ''
  }
}

function registrationOf(client: OAuthClient | undefined): JsonObject {
  return (client?.registration ?? {}) as JsonObject
}

function isCurrentSecret(parts: OAuthParts, client: OAuthClient, sent: unknown): boolean {
  const secret = currentSecret(parts, client)
  return typeof sent === 'string' && secret !== '' && equalSecrets(sent, secret)
}

/** RFC 6750 section 3: no `error` where no token was sent. */
function unauthorised(call: OAuthCall): OAuthAnswer {
  const challenge = bearerOf(call) === '' ? 'Bearer' : 'Bearer error="invalid_token"'
  const body = {
    error: 'invalid_token',
    error_description: 'The access token is missing, unknown, or of another client',
  }
  return jsonAnswer(401, body, `WWW-Authenticate: ${challenge}\r\n`)
}

function bearerOf(call: OAuthCall): string {
  return BEARER.exec(call.header('authorization') ?? '')?.[1] ?? ''
}

function actorOf(clientId: string): string {
  return `registration:${clientId}`
}

async function readJson(call: OAuthCall): Promise<JsonObject> {
  const type = (call.header('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
  if (type !== 'application/json') throw fault('oauth_invalid_metadata', 'the body must be application/json')
  const bytes = await call.body(LIMIT_BYTES).catch((error) => {
    if (error instanceof Fault && error.code === 'body_too_large')
      throw fault('oauth_too_large', `the body is larger than ${LIMIT_BYTES} bytes`)
    throw error
  })
  const value = readStrictObject(Buffer.from(bytes))
  if (value === undefined)
    throw fault('oauth_invalid_metadata', 'the body must be a JSON object, no member named twice')
  return value
}

/** Turns refusals of `publish` into those of client metadata. */
async function publishing(saved: Promise<SavedClient>): Promise<SavedClient> {
  try {
    return await saved
  } catch (error) {
    const refused = error instanceof Fault && (error.code === 'oauth_client_invalid' || error.code === 'query_invalid')
    throw refused ? fault('oauth_invalid_metadata', error.message, error) : error
  }
}
