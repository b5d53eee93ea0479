import { randomBytes } from 'node:crypto'
import { fault } from '../../errors/fault.ts'
import { isForClient } from '../../model/oauth-clients/grants.ts'
import {
  CLIENT_REQUIREMENTS,
  type ClientRequirement,
  type OAuthClient,
} from '../../model/oauth-clients/oauth-client.ts'
import type { ClientFields } from '../../model/oauth-clients/oauth-client-fields.ts'
import { hasRightsOn } from '../../model/oauth-clients/oauth-registration.ts'
import type { Policy } from '../../model/sessions/session.ts'
import type { Millis } from '../../model/time/clock.ts'
import { isPrivateTarget } from '../../model/webhooks/hook.ts'
import { PRIVATE_TARGET } from '../apis/forbidden-targets.ts'
import { findPolicy, policyIdsIn } from '../policies/policy-ids.ts'
import { type ClientApi, type ClientParts, clientApiOf, policyIn } from './oauth-client-parts.ts'

/** Where a client is registered, and what its tokens may do. */
export interface Registration {
  readonly orgId: string
  readonly apiIds: readonly string[]
  /** Registered at the OAuth APIs of this policy; '' = one by one. */
  readonly byPolicy: string
  readonly policies: readonly string[]
}

/** A text that no client has had before: what its tokens carry. */
export function newEpoch(now: Millis): string {
  return `${now.toString(36)}.${randomBytes(12).toString('base64url')}`
}

/**
 * Checks that APIs and policies exist and fit together: every API has the OAuth method, and of several policies at least one
 * gives rights on each of them. Without APIs those of the first policy are used. `orgId`: their organisation; objects of others
 * count as missing. Undefined for callers of no organisation: then the first API decides.
 * @throws Fault `query_invalid` (400) "API doesn't exist", "API is not OAuth2", "Policy doesn't exist"; `oauth_client_invalid` (400)
 */
export async function checkRegistration(
  parts: ClientParts,
  wanted: {
    readonly orgId: string | undefined
    readonly apiIds: readonly string[]
    readonly policies: readonly string[]
  },
): Promise<Registration> {
  const { apiIds, policies: named } = wanted
  if (apiIds.length === 0 && named.length === 0) throw fault('oauth_client_invalid', 'api_id or policy_id is missing')
  const places = await Promise.all(apiIds.map((apiId) => oauthApi(parts, apiId, wanted.orgId)))
  const orgId = wanted.orgId ?? places[0]?.orgId ?? (await orgOfPolicy(parts, named[0]!))
  if (places.some((place) => place.orgId !== orgId))
    throw fault('oauth_client_invalid', 'the APIs belong to different organisations')
  const policies = await policyIdsIn(parts, orgId, named)
  const known = await Promise.all(policies.map((id) => policyIn(parts, orgId, id)))
  if (known.some((policy) => policy === undefined)) throw fault('query_invalid', "Policy doesn't exist")
  if (apiIds.length > 0) {
    checkRights(apiIds, known)
    return { orgId, apiIds: [...new Set(apiIds)], byPolicy: '', policies }
  }
  if ((await oauthApisOf(parts, orgId, known[0])).length === 0) throw fault('query_invalid', 'API is not OAuth2')
  return { orgId, apiIds: [], byPolicy: policies[0]!, policies }
}

/** The OAuth APIs of an organisation that a policy has rights on. */
export async function oauthApisOf(parts: ClientParts, orgId: string, policy: Policy | undefined): Promise<string[]> {
  const found: string[] = []
  for (const apiId of Object.keys(policy?.access_rights ?? {})) {
    const place = await clientApiOf(parts, apiId)
    if (place?.oauth === true && place.orgId === orgId) found.push(apiId)
  }
  return found
}

/** Finds an API that has clients. @throws Fault `query_invalid` (400) when the organisation has none, or its method is another */
async function oauthApi(parts: ClientParts, apiId: string, orgId: string | undefined): Promise<ClientApi> {
  const place = await clientApiOf(parts, apiId)
  if (place === undefined || (orgId !== undefined && place.orgId !== orgId))
    throw fault('query_invalid', "API doesn't exist")
  if (!place.oauth) throw fault('query_invalid', 'API is not OAuth2')
  return place
}

/** The members that a body may change, over those of `before`. @throws Fault `oauth_client_invalid` when they do not go together */
export function withFields(before: OAuthClient, fields: ClientFields, redirectOptional: boolean): OAuthClient {
  const redirects = fields.redirect_uris ?? []
  if (redirects.length === 0 && !redirectOptional) throw fault('oauth_client_invalid', 'redirect_uri: is missing')
  const {
    jwks,
    jwks_uri,
    certificate,
    grant_types,
    scope,
    dpop_bound_access_tokens: _dpop,
    tls_client_certificate_bound_access_tokens: _certificates,
    require_pushed_authorization_requests: _pushed,
    ...rest
  } = before
  const client: OAuthClient = {
    ...rest,
    ...fields.extra,
    redirect_uris: redirects,
    metadata: fields.metadata ?? {},
    description: fields.description ?? '',
    auth_method: fields.auth_method ?? before.auth_method,
    token_lifetime: fields.token_lifetime ?? before.token_lifetime,
    // A key set replaces its address, and the other way round.
    ...kept('jwks', unlessReplaced(fields.jwks, fields.jwks_uri), jwks),
    ...kept('jwks_uri', unlessReplaced(fields.jwks_uri, fields.jwks), jwks_uri),
    ...kept('certificate', fields.certificate || (fields.certificate === undefined ? undefined : null), certificate),
    ...kept('grant_types', fields.grant_types, grant_types),
    ...kept('scope', fields.scope || (fields.scope === undefined ? undefined : null), scope),
    ...requirementsOf(before, fields),
  }
  checkMethod(client)
  return client
}

/**
 * Refuses an address of a key set that gateways of this installation do not ask: in a private network, or without TLS, where anybody on the
 * way could put in keys. @throws Fault `oauth_client_invalid`
 */
export function checkKeyAddress({ config }: Pick<ClientParts, 'config'>, { jwks_uri: address }: OAuthClient): void {
  if (address === undefined || (config?.webhooks?.allow_private ?? true)) return
  if (!/^https:/i.test(address)) throw fault('oauth_client_invalid', 'jwks_uri: must be an https address')
  if (isPrivateTarget(address)) throw fault('oauth_client_invalid', `jwks_uri: ${PRIVATE_TARGET}`)
}

function requirementsOf(before: OAuthClient, { requirements }: ClientFields): Pick<OAuthClient, ClientRequirement> {
  return Object.assign({}, ...CLIENT_REQUIREMENTS.map((name) => kept(name, requirements[name], before[name])))
}

/** The client with a mark at each redirect URI that `before` has not: see `redirect_since`. */
export function withMarkedRedirects(before: OAuthClient, client: OAuthClient, now: Millis): OAuthClient {
  const { redirect_since: _before, ...rest } = client
  const known = new Map(Object.entries(before.redirect_since ?? {}))
  const since = client.redirect_uris.flatMap((uri): [string, string][] => {
    const mark = before.redirect_uris.includes(uri) ? known.get(uri) : newEpoch(now)
    return mark === undefined ? [] : [[uri, mark]]
  })
  return since.length === 0 ? rest : { ...rest, redirect_since: Object.fromEntries(since) }
}

/** True for clients that prove themselves by a secret. */
export function needsSecret({ auth_method: method }: Pick<OAuthClient, 'auth_method'>): boolean {
  return method === 'any' || method === 'client_secret_basic' || method === 'client_secret_post'
}

function kept<T>(name: string, sent: T | null | undefined, before: T | undefined): { [name: string]: T } {
  const value = sent === undefined ? before : sent
  return value === undefined || value === null ? {} : { [name]: value }
}

/** The sent value of one of two members that exclude each other; null where only the other one has a value. */
function unlessReplaced<T>(sent: T | null | undefined, other: unknown): T | null | undefined {
  return sent === undefined && other != null ? null : sent
}

function checkMethod({ auth_method: method, jwks, jwks_uri, certificate, grant_types: grants }: OAuthClient): void {
  if (method === 'private_key_jwt' && jwks === undefined && jwks_uri === undefined)
    throw fault('oauth_client_invalid', 'jwks: is missing, and private_key_jwt needs it or jwks_uri')
  if (method === 'tls_client_auth' && certificate === undefined)
    throw fault('oauth_client_invalid', 'certificate: is missing, and tls_client_auth needs it')
  // RFC 6749 section 4.4: anyone who knows the id of a public client could act as that client.
  const confidential = grants?.find(isForClient)
  if (method === 'none' && confidential !== undefined)
    throw fault('oauth_client_invalid', `grant_types: a client without authentication cannot use ${confidential}`)
}

function checkRights(apiIds: readonly string[], policies: readonly (Policy | undefined)[]): void {
  if (policies.length === 0) return
  const bare = apiIds.find((apiId) => !policies.some((policy) => hasRightsOn(policy, apiId)))
  if (bare !== undefined) throw fault('oauth_client_invalid', `policies: none of them gives rights on API ${bare}`)
}

async function orgOfPolicy(parts: ClientParts, id: string): Promise<string> {
  const stored = await findPolicy(parts, id)
  if (stored === undefined) throw fault('query_invalid', "Policy doesn't exist")
  return stored.body.org_id ?? ''
}
