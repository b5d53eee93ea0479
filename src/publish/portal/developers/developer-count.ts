import { fault } from '../../../errors/fault.ts'
import type { Change } from '../../../store/ports/ports.ts'
import type { SecretParts } from '../../documents/parts.ts'
import { findOrganisation } from '../../organisations/organisations.ts'

/**
 * The change that keeps the number of developers of an organisation right when one comes (1) or goes (-1). It is recounted each
 * time, so that nothing that went wrong before stays wrong. None where there is no organisation document.
 * @throws Fault `developer_quota_reached` (403) when one comes and there are as many as may be already
 */
export async function developerCountChange(parts: SecretParts, orgId: string, by: 1 | -1): Promise<Change[]> {
  const organisation = await findOrganisation(parts, orgId)
  if (organisation === undefined) return []
  const { total } = await parts.documents.list('developer', { where: { org_id: orgId }, limit: 1 })
  const { id, revision, body } = organisation
  const quota = typeof body.developer_quota === 'number' ? body.developer_quota : 0
  if (by > 0 && quota > 0 && total >= quota) throw fault('developer_quota_reached')
  return [{ op: 'put', kind: 'organisation', id, body: { ...body, developer_count: total + by }, ifRevision: revision }]
}
