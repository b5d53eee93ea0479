import { type Fault, fault } from '../../errors/fault.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { epochAt } from '../../model/oauth-clients/oauth-registration.ts'
import type { OAuthRules } from '../../model/oauth-clients/oauth-rules.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import { findClient } from '../clients/clients.ts'
import { redirectOf, sinceOf } from '../clients/redirect-uri.ts'
import { MAY_REPEAT } from '../messages/form.ts'
import { withQuery } from '../messages/with-query.ts'
import { readChallenge } from '../proofs/pkce.ts'
import { consumeTicket } from '../tokens/families.ts'
import { type ResourceCall, readResources } from '../tokens/resources.ts'
import { readScope } from '../tokens/scopes.ts'
import type { RequestBody } from '../tokens/tickets.ts'
import type { OAuthCall, OAuthParts } from './parts.ts'

/** The prefix of a pushed request's URI (RFC 9126 section 2.2), before 256 random bits. */
export const REQUEST_URN = 'urn:ietf:params:oauth:request_uri:'
/** Longest state and longest query that is carried to the login page, form-encoded: proxies and browsers take both. */
const MAX_STATE = 4096
const MAX_CARRIED = 8192
const THUMBPRINT = /^[A-Za-z0-9_-]{43}$/
/**
 * Never stored with a request and never passed to the login page, even if sent: secrets, and parameters that only the login
 * page itself may set at `authorize-client`: a page that returns all parameters would otherwise set them for its visitor.
 */
const NEVER_CARRIED = new Set([
  ...['client_secret', 'secret', 'client_assertion', 'client_assertion_type', 'password', 'code_verifier'],
  ...['key_rules', 'username', 'error', 'error_description', 'user_code', 'decision', 'user_address'],
])

/** Parameters by name. A form fits. */
export interface Params {
  /** @throws Fault `oauth_invalid_request` when it is repeated */
  get(name: string): string | undefined
  /** All values of one that may be repeated. */
  all(name: string): readonly string[]
  names(): Iterable<string>
}

/** A request whose client and redirect URI are known to be good, so that faults in the rest may go back to the client. */
export interface OpenRequest {
  readonly client: OAuthClient
  readonly redirectUri: string
  /** The `state` that every response to the client repeats; '' = none, or one that cannot be repeated. */
  readonly state: string
  readonly params: Params
  /** Hash of the ticket of the pushed request, to be used up by what comes of it. */
  readonly ticket: Uint8Array | undefined
}

/** An authorization request, checked. */
export interface RequestDetails {
  readonly scope: string
  /** '' = none. */
  readonly challenge: string
  /** Thumbprint of the DPoP key that the code is bound to (RFC 9449 section 10); '' = none. */
  readonly jkt: string
  /** Resources that tokens are asked for (RFC 8707); [] = none is named. */
  readonly resources: readonly string[]
}

/**
 * Finds client and redirect URI of an authorization request, and its parameters if it was pushed before: then those alone
 * count and the other parameters are not read (RFC 9101 section 6.3). `stage` is the accepted type of `request_uri`.
 * A pushed request whose redirect URI has been removed, re-added or not, is used up; others are not yet.
 * @throws Fault `oauth_unknown_client`, `oauth_invalid_request`, `oauth_request_uri_unusable`: none of them may redirect
 */
export async function openRequest(
  parts: OAuthParts,
  call: OAuthCall,
  form: Params,
  stage: RequestBody['stage'],
): Promise<OpenRequest> {
  const clientId = form.get('client_id') ?? ''
  if (clientId === '') throw fault('oauth_invalid_request', 'client_id is missing')
  const documents = stage === 'pushed' ? parts.clientDocuments : undefined
  const client = await (documents?.find(parts, call, clientId) ?? findClient(parts, clientId, call.api))
  if (client === undefined) throw fault('oauth_unknown_client')
  const requestUri = form.get('request_uri') ?? ''
  if (!requestUri.startsWith(REQUEST_URN)) return openWith(client, form, undefined)
  const hash = hashKey(requestUri)
  const { params, since } = await pushedRequest(parts, call, client, hash, stage)
  try {
    const open = openWith(client, params, hash)
    if (sinceOf(client, open.redirectUri) !== since) throw fault('oauth_request_uri_unusable')
    return open
  } catch (error) {
    await consumeTicket(parts, { hash, sort: 'request' })
    throw error
  }
}

/** `checkPushed` and `checkRequest`: a pushed request that fails now, because its scope or something else was withdrawn, is used up. */
export async function checkOpen(parts: OAuthParts, open: OpenRequest, call: ResourceCall): Promise<RequestDetails> {
  try {
    checkPushed(open, call.api.oauth)
    return checkRequest(open, call)
  } catch (error) {
    if (open.ticket !== undefined) await consumeTicket(parts, { hash: open.ticket, sort: 'request' })
    throw error
  }
}

/** The same for parameters of a client that is known. @throws Fault `oauth_invalid_request` */
export function openWith(client: OAuthClient, params: Params, ticket: Uint8Array | undefined): OpenRequest {
  const redirectUri = redirectOf(client, params.get('redirect_uri'))
  return { client, redirectUri, state: repeatable(params), params, ticket }
}

/**
 * Checks the rest of a request: response type and mode, state, scope, PKCE, DPoP key, and that no parameter is repeated.
 * @throws Fault `oauth_invalid_request`, `oauth_unsupported_response`, `oauth_unauthorized_client`, `oauth_invalid_scope`,
 * `oauth_invalid_target`, `oauth_request_unsupported`, `oauth_request_uri_unsupported`: reported to the client
 */
export function checkRequest({ client, params }: OpenRequest, call: ResourceCall): RequestDetails {
  const rules = call.api.oauth
  const carried = withQuery('', carriedParams(params))
  if (carried.length > MAX_CARRIED) throw fault('oauth_invalid_request', `the request is longer than ${MAX_CARRIED}`)
  if (isTooLong(params.get('state'))) throw fault('oauth_invalid_request', `state is longer than ${MAX_STATE}`)
  if (params.get('request') !== undefined) throw fault('oauth_request_unsupported')
  if (params.get('request_uri') !== undefined) throw fault('oauth_request_uri_unsupported')
  checkResponse(client, params, rules)
  return {
    scope: readScope(params.get('scope'), client, rules),
    challenge: readChallenge(params, client, rules),
    jkt: readThumbprint(params, rules),
    resources: readResources(params, call),
  }
}

/** Refuses a request that was not pushed, where the API wants all to be, or the client its own (RFC 9126 sections 5 and 6). @throws Fault `oauth_invalid_request` */
function checkPushed({ client, ticket }: OpenRequest, rules: OAuthRules): void {
  const isRequired = rules.requirePushedRequests || client.require_pushed_authorization_requests === true
  if (ticket === undefined && isRequired)
    throw fault('oauth_invalid_request', 'authorization requests must be pushed to oauth/par')
}

/** Every parameter of a request that may be carried on, in its order. @throws Fault `oauth_invalid_request` when one is repeated that may not be */
export function carriedParams(params: Params): [name: string, value: string][] {
  const carried: [string, string][] = []
  for (const name of params.names()) {
    if (NEVER_CARRIED.has(name)) continue
    if (MAY_REPEAT.has(name)) for (const value of params.all(name)) carried.push([name, value])
    const value = MAY_REPEAT.has(name) ? undefined : params.get(name)
    if (value !== undefined) carried.push([name, value])
  }
  return carried
}

/** Parameters as a ticket stores them: one that may be repeated as the list of its values, of others the last counts. */
export function storedParams(params: Iterable<readonly [name: string, value: string]>): JsonObject {
  const stored = new Map<string, string | string[]>()
  for (const [name, value] of params) {
    const before = MAY_REPEAT.has(name) ? (stored.get(name) ?? []) : undefined
    stored.set(name, before === undefined ? value : [...before, value])
  }
  return Object.fromEntries(stored)
}

/** Reads `dpop_jkt` (RFC 9449 section 10); '' = none, or DPoP is off. @throws Fault `oauth_invalid_request` */
export function readThumbprint(params: Params, rules: Pick<OAuthRules, 'dpop'>): string {
  const jkt = params.get('dpop_jkt') ?? ''
  if (jkt === '' || rules.dpop === 'off') return ''
  if (!THUMBPRINT.test(jkt)) throw fault('oauth_invalid_request', 'dpop_jkt must be the SHA-256 thumbprint of a key')
  return jkt
}

/** Where the browser takes a success: the redirect URI with what is given, `state` and `iss` (RFC 9207). */
export function successAddress(open: OpenRequest, issuer: string, code: string): string {
  return withQuery(open.redirectUri, [
    ['code', code],
    ['state', open.state === '' ? undefined : open.state],
    ['iss', issuer === '' ? undefined : issuer],
  ])
}

/** Where the browser takes a failure (RFC 6749 section 4.1.2.1): `error`, its description, `state` and `iss`. */
export function failureAddress(open: OpenRequest, issuer: string, error: string, description: string): string {
  return withQuery(open.redirectUri, [
    ['error', error],
    ['error_description', description === '' ? undefined : description],
    ['state', open.state === '' ? undefined : open.state],
    ['iss', issuer === '' ? undefined : issuer],
  ])
}

/** The name of a fault in the standard; undefined for internal errors, which the client does not see. */
export function errorName(refusal: Fault): string | undefined {
  return refusal.entry.oauth
}

function checkResponse(client: OAuthClient, params: Params, rules: OAuthRules): void {
  const type = params.get('response_type') ?? ''
  if (type === '') throw fault('oauth_invalid_request', 'response_type is missing')
  if (type !== 'code' || !rules.responseTypes.has('code') || !rules.grants.has('authorization_code'))
    throw fault('oauth_unsupported_response')
  if (client.grant_types !== undefined && !client.grant_types.includes('authorization_code'))
    throw fault('oauth_unauthorized_client')
  const mode = params.get('response_mode') ?? 'query'
  if (mode !== 'query') throw fault('oauth_invalid_request', 'response_mode must be query')
}

async function pushedRequest(
  parts: OAuthParts,
  call: OAuthCall,
  client: OAuthClient,
  hash: Uint8Array,
  stage: RequestBody['stage'],
): Promise<{ readonly params: Params; readonly since: string }> {
  const ticket = await parts.tokens.getTicket(hash)
  if (ticket === undefined || ticket.sort !== 'request' || ticket.claimedAt !== 0)
    throw fault('oauth_request_uri_unusable')
  if (ticket.apiId !== call.api.apiId || ticket.clientId !== client.client_id) throw fault('oauth_request_uri_unusable')
  const { epoch, params, since, ...body } = ticket.body
  if (epoch !== epochAt(client, call.api.apiId) || body.stage !== stage || !isObject(params))
    throw fault('oauth_request_uri_unusable')
  const values = new Map(Object.entries(params).map(([name, value]) => [name, [value].flat().map(String)]))
  const read: Params = {
    get: (name) => values.get(name)?.[0],
    all: (name) => values.get(name) ?? [],
    names: () => values.keys(),
  }
  return { params: read, since: typeof since === 'string' ? since : '' }
}

function repeatable(params: Params): string {
  try {
    const state = params.get('state') ?? ''
    return isTooLong(state) ? '' : state
  } catch {
    // a repeated state is refused by `checkRequest`; which of them to repeat, nobody can say
    return ''
  }
}

function isTooLong(state: string | undefined): boolean {
  return state !== undefined && (state.length > MAX_STATE || withQuery('', [['', state]]).length - 2 > MAX_STATE)
}
