import { randomBytes } from 'node:crypto'
import { fault } from '../../errors/fault.ts'
import { newDocumentId, reservedIdFlaw } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { checkClientText, readClientFields } from '../../model/oauth-clients/oauth-client-fields.ts'
import { clientKey, withEpoch, withEpochAt } from '../../model/oauth-clients/oauth-registration.ts'
import { DEVELOPER_ID } from '../../model/portal/developers/developer.ts'
import { equalSecrets, newSecret } from '../../model/secrets/secret.ts'
import { maskIn, mergeSecrets } from '../../model/secrets/secret-places.ts'
import { retryOnConflict } from '../../runtime/retry-on-conflict.ts'
import type { Change, Revision, StoredDocument } from '../../store/ports/ports.ts'
import { isDeletedElsewhere } from '../documents/deleted-ids.ts'
import { auditOf, clockOf, withLock } from '../documents/parts.ts'
import { policyIdsIn } from '../policies/policy-ids.ts'
import { changesWithClient } from '../portal/developers/apps-of-developer.ts'
import {
  checkKeyAddress,
  checkRegistration,
  needsSecret,
  newEpoch,
  oauthApisOf,
  type Registration,
  withFields,
  withMarkedRedirects,
} from './oauth-client-draft.ts'
import { apisOfRegistration, clientViewFor } from './oauth-client-lists.ts'
import {
  bodyOf,
  CLIENT_KIND,
  type ClientParts,
  type ClientRef,
  currentSecret,
  policyIn,
  registrationsOf,
  sealSecret,
  storedClient,
} from './oauth-client-parts.ts'
import { sweepSessions } from './oauth-sweep.ts'

export { registeredAt } from '../../model/oauth-clients/oauth-registration.ts'

/** A client as it was stored. */
export interface SavedClient {
  readonly client: OAuthClient
  /** Its current secret in clear; '' when it has none. */
  readonly secret: string
  readonly revision: Revision
}

/** A client to register. */
export interface ClientDraft {
  /** As on the wire: see `readClientFields`; `client_id`, `secret` (or `client_secret`), `api_id`, `api_ids` besides. */
  readonly body: JsonObject
  /** The API that it is registered at, where the caller's path names it. */
  readonly apiId?: string
  /** Organisation of the client, and so of its APIs and policies; what the body names otherwise, and of the first API where it names none. */
  readonly orgId?: string
  /** Of a client that comes from elsewhere: its registration id there; kept where it is free. */
  readonly registrationId?: string
  /** For an update: the APIs that the client is registered at from then on, and its only secret. */
  readonly moved?: { readonly apiIds: readonly string[]; readonly secret: string }
  /** A client without redirect URI is taken: it can use grants without redirect only. */
  readonly redirectOptional?: boolean
  /** The data of dynamic registration with the client; never shown to callers. */
  readonly registration?: JsonObject
  /** Storage id of the developer whose app it is. */
  readonly developer?: string
  /** Further changes of the same transaction as a new client. */
  readonly alongside?: (client: OAuthClient, secret: string) => readonly Change[]
  readonly actor: string
  /** For the audit of a new one; `oauth_client.create` unless given. */
  readonly action?: string
}

const MOST_SECRETS = 5
/** The names of a secret in a body. */
const SECRET_NAMES = ['secret', 'client_secret'] as const

/**
 * Registers a client at one or more OAuth APIs, or once for all OAuth APIs of its first policy. Id and secret are made (256
 * random bits) unless given. An id that is registered at other APIs gets a registration of its own, which shares nothing with those;
 * one that is registered at the same API is refused.
 * @throws Fault `oauth_client_invalid` (400), `query_invalid` (400) for an API or policy that does not exist or fit,
 *   `id_taken` (409)
 */
export function createClient(parts: ClientParts, draft: ClientDraft): Promise<SavedClient> {
  // In turn with deletions of APIs and policies: what was checked is still there when the client is written.
  return withLock(parts, () => create(parts, draft))
}

/** Generated clients send each list that nobody filled: in a new client it says nothing beside the single value. */
function withoutBlankLists(body: JsonObject): JsonObject {
  const said = { ...body }
  for (const [one, list] of [
    ['redirect_uri', 'redirect_uris'],
    ['policy_id', 'policies'],
  ] as const)
    if (body[one] !== undefined && Array.isArray(body[list]) && body[list].length === 0) delete said[list]
  return said
}

async function create(parts: ClientParts, draft: ClientDraft): Promise<SavedClient> {
  const { body } = draft
  const fields = readClientFields(withoutBlankLists(body))
  const clientId = given('client_id', body.client_id) ?? newSecret()
  const reserved = reservedIdFlaw('oauth_client', clientId)
  if (reserved !== undefined) throw fault('oauth_client_invalid', `client_id: ${reserved}`)
  const [sentSecret, other] = SECRET_NAMES.map((name) => given('secret', body[name])).filter(
    (each) => each !== undefined,
  )
  if (other !== undefined && other !== sentSecret)
    throw fault('oauth_client_invalid', 'client_secret: is not the same as secret')
  const registration = await checkRegistration(parts, {
    orgId: draft.orgId ?? textIn(body.org_id),
    apiIds: apiIdsOf(draft),
    policies: fields.policies ?? [],
  })
  const others = await registrationsOf(parts, clientId)
  await checkFree(parts, clientId, registration, others)
  const registrationId = await registrationIdFor(parts, draft, { clientId, registration, others })
  const now = clockOf(parts).wall()
  const client = withFields(blank(clientId, registration, now, body), fields, draft.redirectOptional === true)
  checkKeyAddress(parts, client)
  const secret = needsSecret(client) ? (sentSecret ?? newSecret()) : ''
  const document: OAuthClient = {
    ...client,
    ...(registrationId !== '' && { registration_id: registrationId }),
    secrets: secret === '' ? [] : [{ sealed: sealSecret(parts, clientId, secret), until: 0 }],
    ...(draft.registration && { registration: draft.registration }),
    ...(draft.developer !== undefined && { [DEVELOPER_ID]: draft.developer }),
  }
  const put: Change = { op: 'put', kind: CLIENT_KIND, id: newDocumentId(now), body: bodyOf(document), ifRevision: 0 }
  const changes = [put, ...(draft.alongside?.(document, secret) ?? [])]
  const revision = await commit(parts, changes, draft.actor, draft.action ?? 'oauth_client.create', document)
  return { client: document, secret, revision }
}

/**
 * Replaces redirect URIs, policies, metadata and description of a client; its other members stay unless they are sent (null takes
 * one away). Id, secret and APIs stay. Other policies are in force for the tokens that it has, and end none of them.
 * @throws Fault `not_found` (404), `oauth_client_invalid`, `query_invalid` (400)
 */
export function updateClient(
  parts: ClientParts,
  ref: ClientRef,
  draft: Omit<ClientDraft, 'apiId' | 'orgId'>,
): Promise<SavedClient> {
  return withLock(parts, () => update(parts, ref, draft))
}

async function update(
  parts: ClientParts,
  ref: ClientRef,
  { body, redirectOptional, registration, moved, actor }: Omit<ClientDraft, 'apiId' | 'orgId'>,
): Promise<SavedClient> {
  readClientFields(body)
  const saved = await rewrite(parts, ref, actor, 'oauth_client.update', async (before) => {
    if (moved === undefined) checkUnchanged(parts, before, body)
    const fields = readClientFields(withStoredSecrets(parts, before, body))
    const policies = await policyIdsIn(parts, before.org_id, fields.policies ?? [])
    const byPolicy = before.registered_by_policy !== ''
    const apiIds = moved?.apiIds ?? (byPolicy ? [] : before.api_ids)
    // A client that is registered by a policy stays so while the list has that policy, at any place: its tokens belong to the policy's APIs.
    const registering = policies.filter((id) => byPolicy && id === before.registered_by_policy)
    const ordered = [...new Set([...registering, ...policies])]
    const checked = await checkRegistration(parts, { orgId: before.org_id, apiIds, policies: ordered })
    const added = { ...checked, apiIds: checked.apiIds.filter((apiId) => !before.api_ids.includes(apiId)) }
    if (added.apiIds.length > 0 || checked.byPolicy !== before.registered_by_policy)
      await checkFree(parts, before.client_id, added, await registrationsOf(parts, before.client_id), clientKey(before))
    const client = withFields(before, fields, redirectOptional === true)
    if (client.jwks_uri !== before.jwks_uri) checkKeyAddress(parts, client)
    const left = before.api_ids.filter((apiId) => !checked.apiIds.includes(apiId))
    return {
      ...withEpochAt(
        withSecret(parts, withGivenSecret(parts, client, moved?.secret ?? '')),
        left,
        newEpoch(nowOf(parts)),
      ),
      api_ids: checked.apiIds,
      policies,
      registered_by_policy: checked.byPolicy,
      ...(registration && { registration }),
    }
  })
  if (saved.before.api_epochs !== saved.client.api_epochs) sweepSessions(parts, saved.before, saved.client)
  return saved
}

/** A body in which secrets of free members and of addresses that are blank or masked are the stored ones. @throws Fault `oauth_client_invalid` (400) */
function withStoredSecrets(parts: ClientParts, before: OAuthClient, body: JsonObject): JsonObject {
  const kept = mergeSecrets(body, clientViewFor(parts, before, { withSecret: false }))
  const masked = maskIn(kept)
  if (masked === undefined) return kept
  throw fault(
    'oauth_client_invalid',
    `${masked.join('.')}: contains the mask *** instead of a secret: write the secret itself`,
  )
}

/**
 * Deletes a registration, or with `apiId` takes it out of that API, which deletes one that is for no other. Its tokens, codes and
 * refresh tokens (with `apiId` those of that API) are void afterwards. Returns undefined for an unknown client (at that API).
 */
export async function deleteClient(
  parts: ClientParts,
  ref: ClientRef,
  { apiId, actor }: { readonly apiId?: string; readonly actor: string },
): Promise<Revision | undefined> {
  return retryOnConflict(async () => {
    const stored = await storedClient(parts, ref)
    if (stored === undefined) return undefined
    const client = stored.body
    const rest = apiId === undefined ? [] : client.api_ids.filter((id) => id !== apiId)
    const stays = client.registered_by_policy === '' && rest.length > 0
    if (stays && rest.length === client.api_ids.length) return undefined
    const after = stays && withEpochAt({ ...client, api_ids: rest }, [apiId!], newEpoch(nowOf(parts)))
    const change: Change = after
      ? putOf(stored, after)
      : { op: 'delete', kind: CLIENT_KIND, id: stored.id, ifRevision: stored.revision }
    const held = stays ? [] : await changesWithClient(parts, client, undefined)
    const revision = await commit(parts, [change, ...held], actor, 'oauth_client.delete', client)
    sweepSessions(parts, client, after || undefined)
    return revision
  })
}

/**
 * Gives a client another secret, made or chosen. The old ones are good for `overlapS` seconds more, 0 = no longer.
 * @throws Fault `not_found` (404), `oauth_client_invalid` (400) for a client that has none
 */
export async function rotateClient(
  parts: ClientParts,
  ref: ClientRef,
  { overlapS, secret, actor }: { readonly overlapS: number; readonly secret?: string; readonly actor: string },
): Promise<SavedClient> {
  const next = secret === undefined ? newSecret() : checkClientText('secret', secret)
  return rewrite(parts, ref, actor, 'oauth_client.rotate', (client) => {
    if (!needsSecret(client)) throw fault('oauth_client_invalid', 'the client proves itself without a secret')
    const now = clockOf(parts).wall()
    const end = now + overlapS * 1000
    const older = client.secrets.map((each) => ({
      ...each,
      until: each.until === 0 ? end : Math.min(each.until, end),
    }))
    const still = older.filter(({ until }) => until > now).slice(0, MOST_SECRETS - 1)
    return { ...client, secrets: [{ sealed: sealSecret(parts, client.client_id, next), until: 0 }, ...still] }
  })
}

/**
 * Revokes all tokens, codes and refresh tokens of a registration: they are void with the commit, in any number; their rows are
 * deleted afterwards, in the background. @throws Fault `not_found` (404)
 */
export async function endAllTokens(parts: ClientParts, ref: ClientRef, actor: string): Promise<Revision> {
  const { before, client, revision } = await rewrite(parts, ref, actor, 'oauth_client.end_tokens', (known) =>
    withEpoch(known, newEpoch(nowOf(parts))),
  )
  sweepSessions(parts, before, client)
  return revision
}

/**
 * Rewrites a client with `edit`; retries when another writer was faster.
 * @throws Fault `not_found` (404), `revision_conflict` (409) when others keep changing it
 */
async function rewrite(
  parts: ClientParts,
  ref: ClientRef,
  actor: string,
  action: string,
  edit: (before: OAuthClient) => OAuthClient | Promise<OAuthClient>,
): Promise<SavedClient & { readonly before: OAuthClient }> {
  return retryOnConflict(async () => {
    const stored = await storedClient(parts, ref)
    if (stored === undefined) throw fault('not_found', 'OAuth Client ID not found')
    const before = stored.body
    const client = withMarkedRedirects(before, await edit(before), clockOf(parts).wall())
    const held = await changesWithClient(parts, before, client)
    const revision = await commit(parts, [putOf(stored, client), ...held], actor, action, client)
    return { client, before, secret: currentSecret(parts, client), revision }
  })
}

/**
 * Checks that no other registration of the client id is for one of the APIs; `own`: the key of the one that is changed.
 * @throws Fault `id_taken` (409)
 */
async function checkFree(
  parts: ClientParts,
  clientId: string,
  { orgId, apiIds, byPolicy }: Pick<Registration, 'orgId' | 'apiIds' | 'byPolicy'>,
  all: readonly StoredDocument<'oauth_client'>[],
  own?: string,
): Promise<void> {
  const others = all.filter(({ body }) => body.org_id === orgId && clientKey(body) !== own)
  if (others.length === 0) return
  const wanted =
    byPolicy === '' ? apiIds : [...apiIds, ...(await oauthApisOf(parts, orgId, await policyIn(parts, orgId, byPolicy)))]
  for (const { body } of others) {
    const theirs = await apisOfRegistration(parts, body)
    const isSecondByPolicy = byPolicy !== '' && body.registered_by_policy !== ''
    if (isSecondByPolicy || wanted.some((apiId) => theirs.includes(apiId)))
      throw fault('id_taken', `OAuth client ${clientId}`)
  }
}

/** The id of a new registration among those of its client id, and those that another organisation may put back; empty for the first. */
async function registrationIdFor(
  parts: ClientParts,
  { registrationId }: ClientDraft,
  {
    clientId,
    registration: { orgId, apiIds, byPolicy },
    others,
  }: {
    readonly clientId: string
    readonly registration: Registration
    readonly others: readonly StoredDocument<'oauth_client'>[]
  },
): Promise<string> {
  const place = apiIds[0] ?? byPolicy
  for (const id of [registrationId ?? '', '', place]) {
    if (others.some(({ body }) => (body.registration_id ?? '') === id)) continue
    const key = clientKey({ client_id: clientId, registration_id: id })
    if (!(await isDeletedElsewhere(parts, CLIENT_KIND, key, orgId))) return id
  }
  return `${place}.${randomBytes(8).toString('hex')}`
}

/** Refuses another id or secret: a read can be sent back, and blank is unchanged. @throws Fault `oauth_client_invalid` (400) */
function checkUnchanged(parts: ClientParts, client: OAuthClient, body: JsonObject): void {
  if ((given('client_id', body.client_id) ?? client.client_id) !== client.client_id)
    throw fault('oauth_client_invalid', 'client_id: cannot be changed')
  const current = currentSecret(parts, client)
  for (const name of SECRET_NAMES) {
    const sent = given('secret', body[name])
    if (sent !== undefined && !equalSecrets(sent, current))
      throw fault('oauth_client_invalid', `${name}: is not the current one; rotate the secret to change it`)
  }
}

/** A method that needs a secret generates one where there is none; a method without one deletes it. */
function withSecret(parts: ClientParts, client: OAuthClient): OAuthClient {
  if (!needsSecret(client)) return { ...client, secrets: [] }
  if (client.secrets.length > 0) return client
  return { ...client, secrets: [{ sealed: sealSecret(parts, client.client_id, newSecret()), until: 0 }] }
}

/** With the secret that was sent as the only one; '' or the current one: as it is. */
function withGivenSecret(parts: ClientParts, client: OAuthClient, secret: string): OAuthClient {
  if (secret === '' || !needsSecret(client) || equalSecrets(secret, currentSecret(parts, client))) return client
  return { ...client, secrets: [{ sealed: sealSecret(parts, client.client_id, secret), until: 0 }] }
}

function blank(clientId: string, registration: Registration, now: number, body: JsonObject): OAuthClient {
  const { orgId, apiIds, byPolicy, policies } = registration
  return {
    client_id: clientId,
    org_id: orgId,
    secrets: [],
    redirect_uris: [],
    api_ids: apiIds,
    registered_by_policy: byPolicy,
    policies,
    metadata: {},
    description: '',
    auth_method: 'any',
    token_lifetime: 0,
    epoch: newEpoch(now),
    date_created: textIn(body.date_created) ?? new Date(now).toISOString(),
  }
}

function apiIdsOf({ apiId, body }: ClientDraft): string[] {
  if (apiId !== undefined) return [apiId]
  const list = Array.isArray(body.api_ids) ? (body.api_ids as string[]) : []
  return [...new Set([textIn(body.api_id), ...list].filter((id): id is string => id !== undefined && id !== ''))]
}

/** A text of the caller's choice; undefined when none, or an empty one, was sent. */
function given(name: 'client_id' | 'secret', value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') throw fault('oauth_client_invalid', `${name}: must be a string`)
  return checkClientText(name, value)
}

function nowOf(parts: ClientParts): number {
  return clockOf(parts).wall()
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function putOf(stored: StoredDocument<'oauth_client'>, client: OAuthClient): Change {
  return { op: 'put', kind: CLIENT_KIND, id: stored.id, body: bodyOf(client), ifRevision: stored.revision }
}

/** One transaction with its audit entry, which names ids only. */
function commit(
  parts: ClientParts,
  changes: readonly Change[],
  actor: string,
  action: string,
  { client_id, org_id, api_ids, policies }: OAuthClient,
): Promise<Revision> {
  const detail = { client_id, apis: [...api_ids], policies: [...policies] }
  return parts.documents.commit(changes, auditOf(parts, actor, action, org_id, detail))
}
