import { fault, toFault } from '../../../errors/fault.ts'
import { type DocumentId, newDocumentId } from '../../../model/documents/ids.ts'
import { asJson, type JsonObject } from '../../../model/json/json.ts'
import { readPage } from '../../../model/portal/settings/portal-page.ts'
import type { Change, StoredDocument } from '../../../store/ports/ports.ts'
import { auditOf, clockOf, type PublishParts } from '../../documents/parts.ts'

const KIND = 'portal_page'

/** Stores a new page. @throws Fault `portal_invalid` (400), `portal_taken` (409) for a slug in use, or a second home page */
export async function createPage(
  parts: PublishParts,
  { orgId, sent, actor }: { readonly orgId: string; readonly sent: JsonObject; readonly actor: string },
): Promise<DocumentId> {
  const id = newDocumentId(clockOf(parts).wall())
  await save(parts, { op: 'put', kind: KIND, id, body: { ...readPage(sent), org_id: orgId }, ifRevision: 0 }, actor)
  return id
}

/** Replaces a page. @throws Fault as `createPage`, `revision_conflict` (409) */
export async function updatePage(
  parts: PublishParts,
  { id, revision, body: before }: StoredDocument,
  sent: JsonObject,
  actor: string,
): Promise<void> {
  const body = { ...readPage(sent), org_id: before.org_id! }
  await save(parts, { op: 'put', kind: KIND, id, body, ifRevision: revision }, actor)
}

/** Deletes a page. @throws Fault `revision_conflict` (409) */
export async function removePage(
  parts: PublishParts,
  { id, revision, body }: StoredDocument,
  actor: string,
): Promise<void> {
  const audit = auditOf(parts, actor, `${KIND}.delete`, String(body.org_id), { id })
  await parts.documents.commit([{ op: 'delete', kind: KIND, id, ifRevision: revision }], audit)
}

async function save(parts: PublishParts, put: Change & { op: 'put' }, actor: string): Promise<void> {
  const body = asJson(put.body)
  const did = put.ifRevision === 0 ? 'create' : 'update'
  const audit = auditOf(parts, actor, `${KIND}.${did}`, String(body.org_id), { id: put.id })
  try {
    await parts.documents.commit([put], audit)
  } catch (error) {
    if (toFault(error).code !== 'already_exists') throw error
    const other = await parts.documents.find(KIND, 'homepage_of', String(body.org_id))
    const second = body.is_homepage === true && other !== undefined && other.id !== put.id
    throw fault('portal_taken', second ? `Page ${other.id} is the home page` : 'There is a page with this slug', error)
  }
}
