import { fault } from '../../errors/fault.ts'
import { findCertificate } from '../../publish/certificates/certificates.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

const FINGERPRINT = /^[0-9a-f]{64}$/

/**
 * The certificate that the path names by its id, or by its fingerprint alone.
 * @throws Fault `not_found` (404) with `missing`, `certificate_not_owned` (400) for an id of another organisation, taken or not
 */
export async function readableCertificate(
  parts: DashboardParts,
  call: Call,
  missing = 'Certificate with given SHA256 fingerprint not found',
): Promise<StoredDocument> {
  const id = call.param('id')
  const orgId = call.actor?.orgId ?? ''
  const found = await findCertificate(parts, FINGERPRINT.test(id) ? orgId + id : id)
  if (found !== undefined && call.visibility.org(found)) return found
  const own = id.startsWith(orgId) && FINGERPRINT.test(id.slice(orgId.length))
  if (found === undefined && (own || FINGERPRINT.test(id) || orgId === '')) throw fault('not_found', missing)
  throw fault('certificate_not_owned')
}
