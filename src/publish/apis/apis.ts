import { fault } from '../../errors/fault.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { type ApiMetadata, mergeMetadata, metadataOfApi } from '../../model/apis/definition/api-metadata.ts'
import { fillIds } from '../../model/apis/definition/fill-ids.ts'
import { textsOf } from '../../model/apis/definition/members.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import type { Flaw } from '../../model/apis/definition/tree.ts'
import { readingApi, readingNewApi } from '../../model/apis/read/read.ts'
import { withKnownSpelling } from '../../model/apis/schema/member-spelling.ts'
import { type DocumentId, isDocumentId, newApiId, newDocumentId, reservedIdFlaw } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { retryOnConflict } from '../../runtime/retry-on-conflict.ts'
import { inTurns } from '../../runtime/turns.ts'
import type { AuditEntry, Change, Revision, StoredDocument } from '../../store/ports/ports.ts'
import { isDeletedElsewhere } from '../documents/deleted-ids.ts'
import { OPTIMISTIC_LOCK_CONFLICT } from '../documents/optimistic-lock.ts'
import { checkIdsFree } from '../documents/own-ids.ts'
import { auditOf, clockOf, orgOf, type PublishParts, type SecretParts, withLock } from '../documents/parts.ts'
import { isEventQueue } from '../events/events.ts'
import { type Cascade, clientsWithoutApi } from '../oauth-clients/oauth-cascade.ts'
import { definitionWithPolicyIds } from '../policies/policy-ids.ts'
import { idsOf, withIds } from './api-ids.ts'
import { ApiPlan } from './api-plan.ts'
import { addVersion, dropVersion, rebasedDefinitions, type VersionOf } from './api-versions.ts'
import { certificateFlaws } from './certificate-flaws.ts'
import { refuseForbiddenTargets, refuseUnlistedSocket } from './forbidden-targets.ts'
import { checkListenPathFree, type ListenPathRules } from './listen-path.ts'

/** A definition to publish. */
export interface ApiDraft {
  readonly format: ApiDocument['format']
  readonly definition: JsonObject
  /** Given: replaces this API's definition. Otherwise a new API is created. */
  readonly apiId?: string
  /** Of a new API: which other one it is a version of, from the same commit on. */
  readonly version?: VersionOf
  /** The new metadata; absent members stay. */
  readonly metadata?: ApiMetadata
  /** Given: its organisation, whatever the definition says; refusals then name no API of others. */
  readonly orgId?: string
  /** True = store it even where its listen path is taken. The setting of the gateway allows it for everybody. */
  readonly mayCollide?: boolean
  /** With ownership: whether a listen path may overlap that of this API of the organisation. Absent: that of any. */
  readonly mayUse?: ((stored: StoredDocument) => boolean) | undefined
  /** The conversions of an existing API: the other format. */
  readonly mayBecome?: { readonly format?: boolean }
  /** Ids of APIs that are deleted in the same commit. */
  readonly instead?: readonly string[]
  /** Of a copy that is to take over from an API: the storage id of that API. */
  readonly stagedOf?: string
  readonly actor: string
}

export interface PublishedApi {
  readonly id: DocumentId
  readonly document: ApiDocument
  readonly revision: Revision
  /** The parts of it that cannot be checked, and certificates that nobody has stored, where it was read. */
  readonly unchecked?: readonly Flaw[]
}

/** The planned commit. */
interface Prepared {
  readonly id: DocumentId
  readonly document: ApiDocument
  readonly unchecked: readonly Flaw[]
  readonly plan: ApiPlan
  readonly audit: AuditEntry
  readonly clients?: readonly Cascade[]
  /** Takes the turn at the listen path. */
  readonly turn: readonly Change[]
}

/** With `tokens`, rows of tokens that a commit made void are cleaned up at once. */
type ApiParts = PublishParts & Partial<Pick<SecretParts, 'tokens'>>

/**
 * Stores an API, new or as a replacement. Ids that the definition names are kept, missing ones generated.
 * Of two APIs for one listen path only one is stored, from any threads.
 * @throws Fault `definition_invalid`, `definition_unsupported` (400) with the reasons; `id_taken` (409);
 * `already_exists` (409) for the name of a version; `listen_path_taken` (409) naming the API that is there, unless
 * `enable_duplicate_slugs`; `not_found` (404); `query_invalid` (400) for the other format or another id;
 * `version_query_invalid` (422)
 */
export function publishApi(parts: ApiParts, draft: ApiDraft): Promise<PublishedApi> {
  return withLock(parts, () =>
    retryOnConflict(async () => commit(parts, await prepare(parts, draft)), OPTIMISTIC_LOCK_CONFLICT),
  )
}

/** The result of `publishApi`, with the same refusals, without storing it. */
export async function tryApi(
  parts: PublishParts,
  draft: ApiDraft,
): Promise<Required<Pick<PublishedApi, 'document' | 'unchecked'>>> {
  const { document, unchecked } = await prepare(parts, draft)
  return { document, unchecked }
}

/** Further changes with an API. */
export interface Removal {
  readonly apiId: string
  /** True = the APIs that are versions of it go with it, of those that `mayRemove` lets go. Else they stay, on their own. */
  readonly purge?: boolean
  readonly mayRemove?: (stored: StoredDocument) => boolean
  readonly actor: string
}

/**
 * Deletes an API, and takes it out of the versions of others and out of its OAuth clients in the same transaction, which ends
 * their tokens. Keys that name it stay as they are.
 * @throws Fault `not_found` (404), `not_owner` (401) for a version that may not be removed
 */
export function removeApi(parts: SecretParts, removal: Removal): Promise<PublishedApi> {
  return withLock(parts, async () => {
    const stored = await findApi(parts, removal.apiId)
    const document = documentOf(stored.body)
    const versions = removal.purge ? await versionsToGo(parts, stored, removal) : []
    const plan = new ApiPlan(parts.documents)
    const clients: Cascade[] = []
    for (const gone of [stored, ...versions]) {
      plan.remove(gone)
      const { api_id: apiId, org_id: orgId } = documentOf(gone.body)
      clients.push(await clientsWithoutApi(parts, { apiId, orgId }, clockOf(parts).wall()))
    }
    for (const { body } of [stored, ...versions])
      await plan.editBases(String(body.api_id), ({ format, definition }) =>
        dropVersion(format, definition, String(body.api_id)),
      )
    const detail = { api_id: removal.apiId, versions: versions.map(({ body }) => String(body.api_id)) }
    const audit = auditOf(
      parts,
      removal.actor,
      'api.delete',
      document.org_id,
      versions.length > 0 ? detail : { api_id: removal.apiId },
    )
    const changes = [...(await plan.changes()), ...clients.flatMap((each) => each.changes)]
    const revision = await parts.documents.commit(changes, audit)
    for (const each of clients) each.sweep(parts)
    return { id: stored.id, document, revision }
  })
}

/** Changes the metadata of an API, as given or by what is stored; the definition stays. @throws Fault `not_found` (404) */
export function changeMetadata(
  parts: PublishParts,
  apiId: string,
  metadata: ApiMetadata | ((body: JsonObject) => ApiMetadata),
  audit: { readonly actor: string; readonly action: string },
): Promise<PublishedApi> {
  return withLock(parts, async () => {
    const stored = await findApi(parts, apiId)
    const { ownerless: _before, ...rest } = stored.body
    const given = typeof metadata === 'function' ? metadata(stored.body) : metadata
    const body = { ...rest, ...mergeMetadata(metadataOfApi(stored.body), given) }
    const change = { op: 'put', kind: 'api', id: stored.id, body, ifRevision: stored.revision } as const
    const document = documentOf(stored.body)
    const entry = auditOf(parts, audit.actor, audit.action, document.org_id, { api_id: apiId })
    return { id: stored.id, document, revision: await parts.documents.commit([change], entry) }
  })
}

/**
 * Makes a version of an API the base of all its versions, the former base among them.
 * @throws Fault `not_found` (404), `query_invalid` (400) when it is no version of it
 */
export function rebaseApi(
  parts: PublishParts,
  { baseId, nextId, actor }: { readonly baseId: string; readonly nextId: string; readonly actor: string },
): Promise<PublishedApi> {
  return withLock(parts, async () => {
    const [base, next] = [await findApi(parts, baseId), await findApi(parts, nextId)]
    const [baseDocument, nextDocument] = [documentOf(base.body), documentOf(next.body)]
    const swapped = rebasedDefinitions(baseDocument, nextDocument)
    const changedAt = clockOf(parts).wall()
    const plan = new ApiPlan(parts.documents)
    plan.write(base, { ...baseDocument, definition: swapped.base }, { changedAt })
    const document = { ...nextDocument, definition: swapped.next }
    plan.write(next, document, { changedAt })
    const audit = auditOf(parts, actor, 'api.rebase', document.org_id, { api_id: nextId, base_api_id: baseId })
    return { id: next.id, document, revision: await parts.documents.commit(await plan.changes(), audit) }
  })
}

/** Finds an API by its `api_id`. @throws Fault `not_found` (404) */
export async function findApi(parts: PublishParts, apiId: string): Promise<StoredDocument> {
  const stored = await parts.documents.find('api', 'api_id', apiId)
  if (stored === undefined) throw fault('not_found', 'API not found')
  return stored
}

async function commit(parts: ApiParts, prepared: Prepared): Promise<PublishedApi> {
  const { id, document, unchecked, plan, audit, turn, clients = [] } = prepared
  const changes = [...(await plan.changes()), ...turn, ...clients.flatMap((each) => each.changes)]
  const revision = await parts.documents.commit(changes, audit)
  const { documents, tokens, locks } = parts
  if (tokens !== undefined) for (const each of clients) each.sweep({ documents, tokens, locks })
  return { id, document, revision, unchecked }
}

async function prepare(parts: ApiParts, sent: ApiDraft): Promise<Prepared> {
  const draft = { ...sent, definition: withKnownSpelling(sent.format, sent.definition) }
  if (draft.apiId === undefined) return create(parts, draft)
  return replace(parts, draft, await findApi(parts, draft.apiId))
}

async function create(parts: ApiParts, draft: ApiDraft): Promise<Prepared> {
  const named = idsOf(draft.format, draft.definition)
  const apiId = named.apiId || newApiId()
  if (apiId === '.' || apiId === '..')
    throw fault(
      'definition_invalid',
      `the id of an API cannot be "${apiId}": no URL of the management API could name it`,
    )
  const orgId = draft.orgId ?? orgOf(parts, named.orgId)
  await checkFree(parts, apiId, orgId)
  const id = await freeDocumentId(parts, named.documentId, orgId)
  await checkIdsFree(parts, 'api', { orgId, id: apiId, documentId: id })
  const document = await complete(parts, draft, { apiId, orgId, documentId: id })
  const base = draft.version === undefined ? undefined : await baseOf(parts, draft.version)
  const api = await inTurns(readingNewApi(document))
  refuseForbiddenTargets(document, parts.config.webhooks?.allow_private ?? true)
  refuseUnlistedSocket(document, parts.config.gateway.upstream_sockets ?? [])
  const turn = await checkListenPathFree(parts, api, [id], placeRules(parts, draft))
  const plan = new ApiPlan(parts.documents)
  const { metadata, stagedOf } = draft
  plan.add(id, document, api, { metadata, stagedOf, changedAt: clockOf(parts).wall() })
  if (base !== undefined) {
    const before = documentOf(base.body)
    const definition = addVersion(before.format, before.definition, apiId, draft.version!)
    const extended = { ...before, definition }
    plan.write(base, extended, {}, await inTurns(readingApi(extended)))
  }
  const audit = auditOf(parts, draft.actor, 'api.create', orgId, { api_id: apiId, name: document.name })
  const unchecked = [...(api.unchecked ?? []), ...(await certificateFlaws(parts.documents, document))]
  return { id, document, unchecked, plan, audit, turn }
}

async function replace(parts: ApiParts, draft: ApiDraft, stored: StoredDocument): Promise<Prepared> {
  const before = documentOf(stored.body)
  if (before.format !== draft.format && !draft.mayBecome?.format) throw otherFormat(before.format)
  const named = idsOf(draft.format, draft.definition)
  const apiId = before.api_id
  if (named.apiId !== '' && named.apiId !== apiId)
    throw fault(
      'query_invalid',
      `Request APIID does not match that in Definition! For Update operations these must match. (The API is ${apiId}, the definition names ${named.apiId}.)`,
    )
  const orgId = orgStays(draft, before, named.orgId)
  const document = await complete(parts, draft, { apiId, orgId, documentId: stored.id })
  const api = await inTurns(readingNewApi(document))
  refuseForbiddenTargets(document, parts.config.webhooks?.allow_private ?? true)
  refuseUnlistedSocket(document, parts.config.gateway.upstream_sockets ?? [])
  const instead = await Promise.all((draft.instead ?? []).map((id) => findApi(parts, id)))
  const replaced = [stored.id, ...instead.map(({ id }) => id)]
  const turn = await checkListenPathFree(parts, api, replaced, placeRules(parts, draft, stored))
  const changedAt = clockOf(parts).wall()
  const plan = new ApiPlan(parts.documents)
  for (const gone of instead) plan.remove(gone)
  plan.write(stored, document, { metadata: draft.metadata, changedAt }, api)
  const lost = instead.map(({ body }) => documentOf(body))
  const clients: Cascade[] = []
  for (const { api_id, org_id } of lost)
    clients.push(await clientsWithoutApi(parts, { apiId: api_id, orgId: org_id }, changedAt))
  const audit = auditOf(parts, draft.actor, 'api.update', orgId, { api_id: apiId, name: document.name })
  const unchecked = [...(api.unchecked ?? []), ...(await certificateFlaws(parts.documents, document))]
  return { id: stored.id, document, unchecked, plan, audit, clients, turn }
}

/** The organisation that a replaced API belongs to: as before, unless it had none. @throws Fault `query_invalid` (400) naming both */
function orgStays(draft: ApiDraft, before: ApiDocument, named: string): string {
  if (draft.orgId !== undefined) return draft.orgId
  if (before.org_id === '') return named
  if (named === '' || named === before.org_id) return before.org_id
  throw fault(
    'query_invalid',
    `API ${before.api_id} belongs to organisation ${before.org_id} and cannot move to ${named}`,
  )
}

/** A call that speaks of an API in the words of the other format. */
export function otherFormat(format: ApiDocument['format']): Error {
  const hint =
    format === 'oas'
      ? 'the requested API definition is in OpenAPI format, please use /svc/apis/oas/{api}'
      : 'the requested API definition is in classic format, please use /svc/apis/{api}'
  return fault('query_invalid', hint)
}

function placeRules(parts: PublishParts, { mayCollide, mayUse }: ApiDraft, before?: StoredDocument): ListenPathRules {
  return {
    mayCollide: parts.config.gateway.enable_duplicate_slugs || mayCollide === true,
    mayUse,
    placeBefore: before?.body.place,
    before: before && documentOf(before.body),
  }
}

async function checkFree(parts: PublishParts, apiId: string, orgId: string): Promise<void> {
  const reserved = reservedIdFlaw('api', apiId)
  if (reserved !== undefined) throw fault('definition_invalid', `api_id: ${reserved}`)
  if (isEventQueue(apiId)) throw fault('definition_invalid', 'api_id: must not begin as queues of events do')
  const isTaken =
    (await parts.documents.find('api', 'api_id', apiId)) !== undefined ||
    (await isDeletedElsewhere(parts, 'api', apiId, orgId))
  if (isTaken) throw fault('id_taken', `API ${apiId}`)
}

async function complete(
  parts: PublishParts,
  draft: ApiDraft,
  ids: { apiId: string; orgId: string; documentId: string },
): Promise<ApiDocument> {
  const named = await definitionWithPolicyIds(parts, ids.orgId, draft.format, draft.definition)
  const definition = withIds(draft.format, named, ids)
  return { ...fillIds(draft.format, definition, { orgId: ids.orgId }), format: draft.format }
}

async function freeDocumentId(parts: PublishParts, wanted: string, orgId: string): Promise<DocumentId> {
  const isFree =
    isDocumentId(wanted) &&
    (await parts.documents.get('api', wanted)) === undefined &&
    !(await isDeletedElsewhere(parts, 'api', wanted, orgId))
  return isFree ? wanted : newDocumentId(clockOf(parts).wall())
}

async function baseOf(parts: PublishParts, version: VersionOf): Promise<StoredDocument> {
  if (version.name === '') throw fault('version_query_invalid', 'new_version_name is needed')
  const base = await parts.documents.find('api', 'api_id', version.baseApiId)
  if (base === undefined) throw fault('version_query_invalid', `base_api_id: there is no API ${version.baseApiId}`)
  return base
}

/** The versions of an API within its organisation. @throws Fault `not_owner` (401) */
async function versionsToGo(parts: PublishParts, base: StoredDocument, removal: Removal): Promise<StoredDocument[]> {
  const found: StoredDocument[] = []
  const ids = new Set(textsOf(base.body, 'version_ids'))
  for (const id of ids) {
    const version = await parts.documents.find('api', 'api_id', id)
    if (version === undefined || version.id === base.id || version.body.org_id !== base.body.org_id) continue
    if (removal.mayRemove?.(version) === false) throw fault('not_owner')
    found.push(version)
  }
  return found
}
