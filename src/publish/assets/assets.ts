import { isDeepStrictEqual } from 'node:util'
import { fault, toFault } from '../../errors/fault.ts'
import type { Asset, AssetDraft } from '../../model/assets/asset.ts'
import { type DocumentId, isDocumentId, newDocumentId } from '../../model/documents/ids.ts'
import type { Json, JsonObject } from '../../model/json/json.ts'
import type { StoredDocument, Where } from '../../store/ports/ports.ts'
import { isDeletedElsewhere } from '../documents/deleted-ids.ts'
import { checkIdsFree } from '../documents/own-ids.ts'
import { auditOf, clockOf, type PublishParts } from '../documents/parts.ts'

const ASSET = 'asset'

/** An asset as it was stored. */
export interface SavedAsset {
  readonly documentId: DocumentId
  readonly asset: Asset
}

/** Stores a new asset; a storage id that is sent is kept where it is free. @throws Fault `asset_taken` (409) */
export async function createAsset(
  parts: PublishParts,
  { orgId, documentId: wanted, draft }: { orgId: string; documentId: Json | undefined; draft: AssetDraft },
  actor: string,
): Promise<SavedAsset> {
  const free =
    isDocumentId(wanted) &&
    (await parts.documents.get(ASSET, wanted)) === undefined &&
    !(await isDeletedElsewhere(parts, ASSET, wanted, orgId))
  const documentId = free ? wanted : newDocumentId(clockOf(parts).wall())
  const asset = assetFrom(parts, { ...draft, id: draft.id || documentId }, orgId)
  await checkIdsFree(parts, ASSET, { orgId, id: asset.id, documentId })
  const put = { op: 'put', kind: ASSET, id: documentId, body: bodyOf(asset), ifRevision: 0 } as const
  try {
    await parts.documents.commit([put], auditOf(parts, actor, 'asset.create', orgId, { id: asset.id }))
  } catch (error) {
    if (toFault(error).code === 'already_exists') throw fault('asset_taken', `Asset ID already exists: '${asset.id}'`)
    throw error
  }
  return { documentId, asset }
}

/** Replaces an asset, which keeps its ids. @throws Fault `revision_conflict` (409) */
export async function updateAsset(
  parts: PublishParts,
  { id: documentId, revision: ifRevision, body: before }: StoredDocument<'asset'>,
  draft: AssetDraft,
  actor: string,
): Promise<SavedAsset> {
  const { id, org_id: orgId } = before
  const written = assetFrom(parts, { ...draft, id }, orgId)
  const { last_updated } = before
  const asset = isDeepStrictEqual({ ...written, last_updated }, before) ? { ...written, last_updated } : written
  const put = { op: 'put', kind: ASSET, id: documentId, body: bodyOf(asset), ifRevision } as const
  await parts.documents.commit([put], auditOf(parts, actor, 'asset.update', orgId, { id }))
  return { documentId, asset }
}

/** Deletes an asset; APIs that were made with it stay as they are. @throws Fault `revision_conflict` (409) */
export async function removeAsset(
  parts: PublishParts,
  { id: documentId, revision: ifRevision, body }: StoredDocument<'asset'>,
  actor: string,
): Promise<void> {
  const audit = auditOf(parts, actor, 'asset.delete', String(body.org_id), { id: String(body.id) })
  await parts.documents.commit([{ op: 'delete', kind: ASSET, id: documentId, ifRevision }], audit)
}

/** An asset by its own id, of those that match, else by its storage id, matching or not; undefined when there is none. */
export async function findAsset(
  { documents }: Pick<PublishParts, 'documents'>,
  where: Where,
  id: string,
): Promise<StoredDocument<'asset'> | undefined> {
  const { rows } = await documents.list(ASSET, { where: { ...where, id }, limit: 1 })
  return rows[0] ?? (isDocumentId(id) ? await documents.get(ASSET, id) : undefined)
}

function assetFrom(parts: PublishParts, draft: AssetDraft, orgId: string): Asset {
  return { ...draft, org_id: orgId, last_updated: new Date(clockOf(parts).wall()).toISOString() }
}

const bodyOf = (asset: Asset): JsonObject => ({ ...asset })
