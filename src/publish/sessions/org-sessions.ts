import { fault } from '../../errors/fault.ts'
import { newDocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { checkSession } from '../../model/sessions/session.ts'
import type { Revision, StoredDocument } from '../../store/ports/ports.ts'
import { auditOf, clockOf, type PublishParts } from '../documents/parts.ts'

/** The counter of an organisation's quota and rate: what the gateway takes permits from. */
function orgCounterId(orgId: string): string {
  return `org|${orgId}`
}

/**
 * Stores the session that limits a whole organisation, new or as a replacement. `resetQuota` resets its quota.
 * @throws Fault `key_invalid` (400), `revision_conflict` (409)
 */
export async function saveOrgSession(
  parts: PublishParts,
  { orgId, session, resetQuota, actor }: { orgId: string; session: JsonObject; resetQuota: boolean; actor: string },
): Promise<{ session: JsonObject; revision: Revision; created: boolean }> {
  if (orgId === '' || orgId.length > 256) throw fault('key_invalid', 'an organisation must be named')
  const checked = checkSession(session, 'limits')
  const stored = await find(parts, orgId)
  const now = clockOf(parts).wall()
  const body: JsonObject = {
    ...checked,
    org_id: orgId,
    date_created: stored?.body.date_created ?? new Date(now).toISOString(),
    last_updated: String(Math.floor(now / 1000)),
  }
  const id = stored?.id ?? newDocumentId(now)
  const created = stored === undefined
  const audit = auditOf(parts, actor, created ? 'org_session.create' : 'org_session.update', orgId, { org_id: orgId })
  const put = { op: 'put', kind: 'org_session', id, body, ifRevision: stored?.revision ?? 0 } as const
  const revision = await parts.documents.commit([put], audit)
  if (resetQuota) await parts.counters.resetQuota(orgCounterId(orgId))
  return { session: body, revision, created }
}

/** Ends the limits of an organisation. @throws Fault `not_found` (404) */
export async function removeOrgSession(parts: PublishParts, orgId: string, actor: string): Promise<Revision> {
  const stored = await findOrgSession(parts, orgId)
  const audit = auditOf(parts, actor, 'org_session.delete', orgId, { org_id: orgId })
  const revision = await parts.documents.commit([{ op: 'delete', kind: 'org_session', id: stored.id }], audit)
  await parts.counters.resetQuota(orgCounterId(orgId))
  return revision
}

/** The session that limits an organisation. @throws Fault `not_found` (404) */
export async function findOrgSession(parts: PublishParts, orgId: string): Promise<StoredDocument> {
  const stored = await find(parts, orgId)
  if (stored === undefined) throw fault('not_found', 'Org not found')
  return stored
}

function find(parts: PublishParts, orgId: string) {
  return parts.documents.find('org_session', 'org_id', orgId)
}
