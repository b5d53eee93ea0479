import { type DocumentId, newDocumentId } from '../../../model/documents/ids.ts'
import type { DocumentationDraft } from '../../../model/portal/catalogue/catalogue.ts'
import type { StoredDocument } from '../../../store/ports/ports.ts'
import { auditOf, clockOf, type PublishParts } from '../../documents/parts.ts'

const KIND = 'portal_documentation'
const TEXT = 'portal_documentation_text'

/** Stores documentation of an API, its text apart from what lists show. */
export async function createDocumentation(
  parts: PublishParts,
  { orgId, draft, actor }: { readonly orgId: string; readonly draft: DocumentationDraft; readonly actor: string },
): Promise<DocumentId> {
  const now = clockOf(parts).wall()
  const id = newDocumentId(now)
  const { documentation, api_id, doc_type } = draft
  const body = { org_id: orgId, api_id, doc_type, date_created: new Date(now).toISOString() }
  await parts.documents.commit(
    [
      { op: 'put', kind: KIND, id, body, ifRevision: 0 },
      { op: 'put', kind: TEXT, id, body: { org_id: orgId, documentation }, ifRevision: 0 },
    ],
    auditOf(parts, actor, `${KIND}.create`, orgId, { id, api_id }),
  )
  return id
}

/** The text of a documentation, base64; '' when it is gone. */
export async function documentationText(parts: Pick<PublishParts, 'documents'>, id: DocumentId): Promise<string> {
  const stored = await parts.documents.get(TEXT, id)
  return typeof stored?.body.documentation === 'string' ? stored.body.documentation : ''
}

/** Deletes documentation; entries of the catalogue that name it have none from then on. @throws Fault `revision_conflict` (409) */
export async function removeDocumentation(
  parts: PublishParts,
  { id, revision, body }: StoredDocument,
  actor: string,
): Promise<void> {
  await parts.documents.commit(
    [
      { op: 'delete', kind: KIND, id, ifRevision: revision },
      { op: 'delete', kind: TEXT, id },
    ],
    auditOf(parts, actor, `${KIND}.delete`, String(body.org_id), { id }),
  )
}
