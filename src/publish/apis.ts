import { fault, toFault } from '../errors/fault.ts'
import { fillIds } from '../model/api/fill-ids.ts'
import { documentOf, placeOf, storedBody } from '../model/api/place.ts'
import { readApi } from '../model/api/read.ts'
import { collides } from '../model/api/template.ts'
import type { Api, ApiDocument } from '../model/api.ts'
import { type DocumentId, isDocumentId, newApiId, newDocumentId } from '../model/ids.ts'
import type { JsonObject } from '../model/json.ts'
import type { Change, Revision, StoredDocument } from '../store/ports.ts'
import { idsOf, withIds } from './api-ids.ts'
import { addVersion, dropVersion, type VersionOf } from './api-versions.ts'
import { inTurn } from './in-turn.ts'
import { auditOf, clockOf, orgOf, type PublishParts } from './parts.ts'

/** A definition that somebody wants served. */
export interface ApiDraft {
  readonly format: ApiDocument['format']
  readonly definition: JsonObject
  /** Given: takes the place of this API's definition. Else a new API is made. */
  readonly apiId?: string
  /** Of a new API: which other one it is a version of, from the same commit on. */
  readonly version?: VersionOf
  readonly actor: string
}

export interface PublishedApi {
  readonly id: DocumentId
  readonly document: ApiDocument
  readonly revision: Revision
}

/**
 * Stores an API, new or in the place of its definition before. Ids that the definition names are kept, missing ones filled in.
 * One call at a time per process, so that of two APIs for one listen path only one gets through.
 * @throws Fault `definition_invalid`, `definition_unsupported` (400) with the reasons; `already_exists` (409) for an `api_id` in
 * use; `listen_path_taken` (409) naming the API that is there, unless `enable_duplicate_slugs`; `not_found` (404);
 * `query_invalid` (400) for the other format or another id; `version_query_invalid` (422)
 */
export function publishApi(parts: PublishParts, draft: ApiDraft): Promise<PublishedApi> {
  return inTurn(parts.documents, async () => {
    if (draft.apiId === undefined) return create(parts, draft)
    return replace(parts, draft, await findApi(parts, draft.apiId))
  })
}

/**
 * Deletes an API, and takes it out of the versions of others in the same transaction. Keys that name it stay as they are.
 * @throws Fault `not_found` (404)
 */
export function removeApi(parts: PublishParts, apiId: string, actor: string): Promise<PublishedApi> {
  return inTurn(parts.documents, async () => {
    const stored = await findApi(parts, apiId)
    const document = documentOf(stored.body)
    const changes: Change[] = [{ op: 'delete', kind: 'api', id: stored.id }]
    for (const base of await basesOf(parts, apiId)) {
      const { format, definition } = documentOf(base.body)
      if (base.id !== stored.id) changes.push(rewrite(base, dropVersion(format, definition, apiId)))
    }
    const audit = auditOf(parts, actor, 'api.delete', document.org_id, { api_id: apiId })
    return { id: stored.id, document, revision: await parts.documents.commit(changes, audit) }
  })
}

/** Finds an API by its `api_id`. @throws Fault `not_found` (404) */
export async function findApi(parts: PublishParts, apiId: string): Promise<StoredDocument> {
  const stored = await parts.documents.find('api', 'api_id', apiId)
  if (stored === undefined) throw fault('not_found', 'API not found')
  return stored
}

/** The APIs that have this one as a version. */
export async function basesOf(parts: PublishParts, apiId: string): Promise<readonly StoredDocument[]> {
  const { rows } = await parts.documents.list('api', { where: { version_ids: apiId }, limit: 100 })
  return rows
}

async function create(parts: PublishParts, draft: ApiDraft): Promise<PublishedApi> {
  const named = idsOf(draft.format, draft.definition)
  const apiId = named.apiId || newApiId()
  if ((await parts.documents.find('api', 'api_id', apiId)) !== undefined) throw fault('already_exists', `API ${apiId}`)
  const id = await freeDocumentId(parts, named.documentId)
  const document = complete(draft, { apiId, orgId: orgOf(parts, named.orgId), documentId: id })
  const base = draft.version === undefined ? undefined : await baseOf(parts, draft.version)
  const api = readApi(document)
  await checkPlace(parts, api, id)
  const changes: Change[] = [{ op: 'put', kind: 'api', id, body: storedBody(document, api), ifRevision: 0 }]
  if (base !== undefined) {
    const { format, definition } = documentOf(base.body)
    changes.push(rewrite(base, addVersion(format, definition, apiId, draft.version!)))
  }
  const audit = auditOf(parts, draft.actor, 'api.create', document.org_id, { api_id: apiId, name: document.name })
  return { id, document, revision: await parts.documents.commit(changes, audit) }
}

async function replace(parts: PublishParts, draft: ApiDraft, stored: StoredDocument): Promise<PublishedApi> {
  const before = documentOf(stored.body)
  if (before.format !== draft.format) throw otherFormat(before.format)
  const named = idsOf(draft.format, draft.definition)
  if (named.apiId !== '' && named.apiId !== before.api_id) {
    throw fault(
      'query_invalid',
      'Request APIID does not match that in Definition! For Update operations these must match.',
    )
  }
  const orgId = named.orgId || before.org_id
  const document = complete(draft, { apiId: before.api_id, orgId, documentId: stored.id })
  const api = readApi(document)
  await checkPlace(parts, api, stored.id)
  const body = storedBody(document, api)
  const audit = auditOf(parts, draft.actor, 'api.update', document.org_id, {
    api_id: before.api_id,
    name: document.name,
  })
  const put = { op: 'put', kind: 'api', id: stored.id, body, ifRevision: stored.revision } as const
  return { id: stored.id, document, revision: await parts.documents.commit([put], audit) }
}

/** A call that speaks of an API in the words of the other format. */
export function otherFormat(format: ApiDocument['format']): Error {
  const hint =
    format === 'oas'
      ? 'the requested API definition is in OpenAPI format, please use /svc/apis/oas/{api}'
      : 'the requested API definition is in classic format, please use /svc/apis/{api}'
  return fault('query_invalid', hint)
}

function complete(draft: ApiDraft, ids: { apiId: string; orgId: string; documentId: string }): ApiDocument {
  const definition = withIds(draft.format, draft.definition, ids)
  return { ...fillIds(draft.format, definition, { orgId: ids.orgId }), format: draft.format }
}

async function freeDocumentId(parts: PublishParts, wanted: string): Promise<DocumentId> {
  if (isDocumentId(wanted) && (await parts.documents.get('api', wanted)) === undefined) return wanted
  return newDocumentId(clockOf(parts).wall())
}

async function baseOf(parts: PublishParts, version: VersionOf): Promise<StoredDocument> {
  if (version.name === '') throw fault('version_query_invalid', 'new_version_name is needed')
  const base = await parts.documents.find('api', 'api_id', version.baseApiId)
  if (base === undefined) throw fault('version_query_invalid', `base_api_id: there is no API ${version.baseApiId}`)
  return base
}

function rewrite(stored: StoredDocument, definition: JsonObject): Change {
  const document = { ...documentOf(stored.body), definition }
  const body = storedBody(document, readApi(document))
  return { op: 'put', kind: 'api', id: stored.id, body, ifRevision: stored.revision }
}

/**
 * The paths of the product itself are refused when a definition is read, but for those that depend on settings.
 * @throws Fault `listen_path_taken` naming what stands where this API wants to be
 */
async function checkPlace(parts: PublishParts, api: Api, id: DocumentId): Promise<void> {
  const [first = '', ...more] = api.listenPath
    .toLowerCase()
    .split('/')
    .filter((segment) => segment !== '')
  const own = (first === 'metrics' && more.length === 0) || parts.config.compat.vendor_aliases.includes(first)
  if (own) throw fault('listen_path_taken', `/${first} is answered by the gateway itself`)
  const place = placeOf(api)
  if (place === undefined || parts.config.gateway.enable_duplicate_slugs) return
  const { rows } = await parts.documents.list('api', { where: { place }, limit: 1000 })
  for (const row of rows) {
    if (row.id === id) continue
    const other = readable(row)
    if (other === undefined || !collides(api, other)) continue
    throw fault('listen_path_taken', `${api.listenPath} is the listen path of API ${other.apiId} (${other.name})`)
  }
}

/** A stored definition that cannot be read any more holds no place. */
function readable(row: StoredDocument): Api | undefined {
  try {
    return readApi(documentOf(row.body))
  } catch (error) {
    if (toFault(error).code === 'internal') throw error
    return undefined
  }
}
