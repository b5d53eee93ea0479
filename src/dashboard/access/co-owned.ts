import { isDeepStrictEqual } from 'node:util'
import { fault } from '../../errors/fault.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { member } from '../../model/apis/definition/tree.ts'
import { readApi } from '../../model/apis/read/read.ts'
import { type ReferringKind, referencesOf } from '../../model/documents/references.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { counterIdOf, withHidden } from '../../model/keys/key.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { policyIdsOf } from '../../model/policies/merge-policies.ts'
import { policyApisOf } from '../../model/policies/policy-body.ts'
import type { Session } from '../../model/sessions/session.ts'
import { hexOf } from '../../model/text/hex.ts'
import { versionsOf } from '../../publish/apis/api-versions.ts'
import { bodyOf } from '../../publish/oauth-clients/oauth-client-parts.ts'
import { sessionView } from '../../publish/sessions/quotas.ts'
import type { SessionRow, StoredDocument } from '../../store/ports/ports.ts'
import { withheldFrom } from '../keys/key-shape.ts'
import type { PolicyApis } from '../policies/policy-apis.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import type { Visibility } from './visibility.ts'

/**
 * Refuses what would change or end something for APIs that others own: an owner of some of the APIs that a thing is based on is not
 * alone with it. Says how many are in the way, not which. @throws Fault `shared_with_others` (403)
 */
export function checkSoleOwner(visibility: Visibility, what: string, apiIds: readonly string[]): void {
  const hidden = visibility.hidden(apiIds)
  if (hidden === 0) return
  const apis = hidden === 1 ? '1 API' : `${hidden} APIs`
  throw fault('shared_with_others', `${what} is also for ${apis} that others own: ask an administrator, or them`)
}

/** The same for a key or token. @throws Fault `shared_with_others` (403), `store_away` */
export async function checkSoleKeyOwner(
  parts: Pick<DashboardParts, 'documents' | 'policyApis'>,
  { visibility }: Pick<Call, 'visibility'>,
  row: SessionApis,
): Promise<void> {
  if (!visibility.everything) checkSoleOwner(visibility, 'The key', await apisOfSession(parts, row))
}

/**
 * The one table of what may be shared: for each kind of document that names APIs or policies, what a refusal calls it. Only owners of all
 * the APIs behind such a document may change, delete or act on it, and know its secrets. The others are judged by what they name:
 */
const SHARED: Readonly<Record<ReferringKind, string | undefined>> = {
  policy: 'The policy',
  session: 'The key',
  oauth_client: 'The client',
  key_request: 'The key request',
  portal_documentation: 'The documentation',
  // APIs have their own owners, and `checkForeignVersionsUnchanged`.
  api: undefined,
  api_owners: undefined,
  // Each entry by itself, where the catalogue is saved.
  catalogue: undefined,
  // Each key and app by itself: `holdings.ts`.
  developer: undefined,
  // All that it names must be visible to who changes it: `checkProfileReach`.
  idp_profile: undefined,
}

/** A document of a kind that may be shared. */
type SharedDocument = Pick<StoredDocument, 'kind' | 'body'>

/**
 * Refuses a caller who does not own all the APIs behind one of these documents, or states of one; those of kinds that are not shared
 * pass. @throws Fault `shared_with_others` (403), `store_away`
 */
export async function checkSoleDocumentOwner(
  { policyApis }: Pick<DashboardParts, 'policyApis'>,
  { visibility }: Pick<Call, 'visibility'>,
  shared: readonly SharedDocument[],
  others: readonly string[] = [],
): Promise<void> {
  const what = Object.hasOwn(SHARED, shared[0]?.kind ?? '') ? SHARED[shared[0]!.kind as ReferringKind] : undefined
  if (visibility.everything || what === undefined) return
  const policies = await policyApis.fresh()
  checkSoleOwner(visibility, what, [...others, ...shared.flatMap((document) => apisBehind(policies, document))])
}

/** The APIs that a document is about, by itself or by the policies that it names. */
function apisBehind(policies: PolicyApis, { kind, body }: SharedDocument): string[] {
  const orgId = String(body.org_id ?? '')
  return referencesOf(kind, body).flatMap((named) => {
    if (named.kind === 'api') return [named.id]
    if (named.kind === 'policy') return policies.of(orgId, named.id)
    return named.kind === 'subject' ? [named.id, ...policies.of(orgId, named.id)] : []
  })
}

type SessionApis = Pick<SessionRow, 'orgId' | 'body' | 'apiIds' | 'policyIds'>

/** The same for an OAuth client. @throws Fault `shared_with_others` (403), `store_away` */
export function checkSoleClientOwner(
  parts: Pick<DashboardParts, 'documents' | 'policyApis'>,
  call: Pick<Call, 'visibility'>,
  client: OAuthClient,
): Promise<void> {
  return checkSoleDocumentOwner(parts, call, [clientDocument(client)])
}

/** Says of shared things whether the caller sees all APIs that they are for, and so may change them, and know their secrets. */
export interface SoleOwnership {
  key(row: SessionApis): boolean
  client(client: OAuthClient): boolean
  policy(body: JsonObject): boolean
  /** The same for a document of any kind that may be shared. */
  document(document: SharedDocument): boolean
}

const EVERYTHING: SoleOwnership = { key: () => true, client: () => true, policy: () => true, document: () => true }

/** The objects that a caller owns alone, as of now. @throws Fault `store_away` */
export async function soleOwnership(
  { policyApis }: Pick<DashboardParts, 'policyApis'>,
  { visibility }: Pick<Call, 'visibility'>,
): Promise<SoleOwnership> {
  if (visibility.everything) return EVERYTHING
  const policies = await policyApis.fresh()
  const sees = (apiIds: readonly string[]) => visibility.hidden(apiIds) === 0
  const document: SoleOwnership['document'] = (shared) => sees(apisBehind(policies, shared))
  return {
    key: (row) => sees(sessionApis(policies, row)),
    client: (client) => document(clientDocument(client)),
    policy: (body) => sees(policyApisOf(body)),
    document,
  }
}

/** The APIs that the tokens of a client may have rights on. @throws Fault `store_away` */
export async function apisOfAccess(
  { policyApis }: Pick<DashboardParts, 'policyApis'>,
  client: OAuthClient,
): Promise<string[]> {
  return apisBehind(await policyApis.fresh(), clientDocument(client))
}

function clientDocument(client: OAuthClient): SharedDocument {
  return { kind: 'oauth_client', body: bodyOf(client) }
}

/** The APIs that a key or token has rights on, by itself or by its policies. @throws Fault `store_away` */
export async function apisOfSession(
  { policyApis }: Pick<DashboardParts, 'policyApis'>,
  row: SessionApis,
): Promise<string[]> {
  return sessionApis(await policyApis.fresh(), row)
}

function sessionApis(policies: PolicyApis, { orgId, body, apiIds, policyIds }: SessionApis): string[] {
  const named = new Set([...policyIds, ...policyIdsOf(body as Session)])
  return [...apiIds, ...[...named].flatMap((id) => policies.of(orgId, id))]
}

/** Members of a session that are looked at by themselves, or are counted and dated by us. */
const NOT_SHARED: ReadonlySet<string> = new Set([
  ...['access_rights', 'apply_policies', 'apply_policy_id', 'basic_auth_data', 'org_id'],
  ...['quota_remaining', 'quota_renews', 'last_updated', 'date_created', 'last_check', 'allowance'],
])

/**
 * Refuses a replacement of a key's session by which an API of other owners would lose access rights or policies, or any field would change that
 * applies to all its APIs. Returns whether others own some of them. @throws Fault `shared_with_others` (403)
 */
export async function checkForeignRightsUnchanged(
  parts: DashboardParts,
  call: Pick<Call, 'visibility'>,
  row: SessionRow,
  session: JsonObject,
): Promise<boolean> {
  const { visibility } = call
  if (visibility.everything) return false
  const all = await apisOfSession(parts, row)
  if (visibility.hidden(all) === 0) return false
  const policies = await parts.policyApis.fresh()
  const shown = await sessionView(
    parts,
    row.body,
    row.orgId,
    counterIdOf(row.body, hexOf(row.hash)),
    withheldFrom(visibility),
  )
  const { basic_auth_data: password, ...sent } = session
  const after = withHidden(sent, row.body)
  const given = new Set(policyIdsOf(after as Session))
  const isHidden = (ids: readonly string[]) => visibility.hidden(ids) > 0
  const names = new Set([...Object.keys(row.body), ...Object.keys(after)])
  const isKept =
    (member(password, 'password') ?? '') === '' &&
    row.apiIds.every((id) => !isHidden([id]) || isDeepStrictEqual(rightOn(row.body, id), rightOn(after, id))) &&
    policyIdsOf(row.body).every((id) => given.has(id) || !isHidden(policies.of(row.orgId, id))) &&
    [...names].every(
      (name) =>
        NOT_SHARED.has(name) ||
        isSame(after[name], row.body[name]) ||
        (after[name] !== undefined && isSame(after[name], shown[name])),
    )
  if (!isKept) checkSoleOwner(visibility, 'The key', all)
  return true
}

function rightOn({ access_rights: rights }: JsonObject, apiId: string): Json | undefined {
  return isObject(rights) && Object.hasOwn(rights, apiId) ? rights[apiId] : undefined
}

/** An empty value counts as absent. */
function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return isDeepStrictEqual(saying(a), saying(b))
}

function saying(value: Json | undefined): Json | undefined {
  if (value === null || value === '' || value === 0 || value === false) return undefined
  if (Array.isArray(value)) return value.length === 0 ? undefined : value
  return isObject(value) && Object.keys(value).length === 0 ? undefined : value
}

/**
 * Refuses to take versions of others out of an API, to change how they are asked for, or to delete it (`after` undefined): nobody
 * could ask for them any more, as clients do today.
 * @throws Fault `shared_with_others` (403)
 */
export function checkForeignVersionsUnchanged(
  visibility: Visibility,
  before: JsonObject,
  after: JsonObject | undefined,
): void {
  if (visibility.everything) return
  const was = documentOf(before)
  const all = [...versionsOf(was).versions]
  const others = visibility.hidden(all.map(([, id]) => id))
  if (others === 0) return
  const is = after === undefined ? undefined : documentOf({ ...before, ...after })
  const kept = is && versionsOf(is)
  const lost = all.filter(([name, id]) => kept?.versions.get(name) !== id || kept.name === name)
  const count = (hidden: number) => (hidden === 1 ? '1 version that others own' : `${hidden} versions that others own`)
  const hidden = visibility.hidden(lost.map(([, id]) => id))
  if (hidden > 0)
    throw fault('shared_with_others', `The API has ${count(hidden)}: they must stay, or be moved away by their owners`)
  const [then, now] = [wayToVersions(was), is && wayToVersions(is)]
  if (then !== undefined && now !== undefined && !isDeepStrictEqual(then, now))
    throw fault(
      'shared_with_others',
      `The API has ${count(others)}: its listen path, domain, tags and state, and how a version is asked for, must stay as they are`,
    )
}

/** The version selector of an API's requests; undefined for a definition that cannot be read. */
function wayToVersions(document: ApiDocument) {
  try {
    const { active, internal, listenPath, domain, ignoreCase, tags, versioning } = readApi(document)
    const { location, key, strip, urlPattern } = versioning ?? {}
    return { active, internal, listenPath, domain, ignoreCase, tags, location, key, strip, urlPattern }
  } catch {
    return undefined
  }
}
