import { fault } from '../../errors/fault.ts'
import type { DocumentId } from '../../model/documents/ids.ts'
import { auditOf, type PublishParts } from '../documents/parts.ts'

/**
 * Sets whether all users of an organisation need a second factor to sign in; open sessions stay.
 * @throws Fault `not_found` (404), `revision_conflict` (409)
 */
export async function requireSecondFactor(
  parts: PublishParts,
  orgId: DocumentId,
  required: boolean,
  actor: string,
): Promise<void> {
  const organisation = await parts.documents.get('organisation', orgId)
  if (organisation === undefined) throw fault('not_found', 'Organisation not found')
  const { id, revision, body } = organisation
  const after = { ...body, require_second_factor: required }
  await parts.documents.commit(
    [{ op: 'put', kind: 'organisation', id, body: after, ifRevision: revision }],
    auditOf(parts, actor, 'Require second factor', orgId, { required }),
  )
}
