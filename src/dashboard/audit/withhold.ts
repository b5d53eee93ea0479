import type { JsonObject } from '../../model/json/json.ts'
import { policyIdsOf } from '../../model/policies/merge-policies.ts'
import { entriesOf } from '../../model/portal/catalogue/catalogue.ts'
import { requestedPolicies } from '../../model/portal/key-requests/key-request.ts'
import type { Session } from '../../model/sessions/session.ts'
import { apisOf } from '../../publish/audit/undo-restore.ts'
import type { AuditChange, AuditRow } from '../../store/ports/ports.ts'
import { findPolicyDocument, seesDocumented, seesSession } from '../access/owned.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { ownsState } from './owned-state.ts'

type Reader = Pick<Call, 'visibility' | 'actor'>

/** Replaces the data of an entry about documents of other owners. */
const WITHHELD = { withheld: true } as const

/**
 * Entries as a caller may read them. Readers of the log see who did what and when; with ownership on, the documents of what
 * others own stay theirs.
 */
export async function* withheldBatches(
  parts: DashboardParts,
  reader: Reader,
  batches: AsyncIterable<AuditRow[]>,
): AsyncIterable<AuditRow[]> {
  for await (const batch of batches) yield await withheldRows(parts, reader, batch)
}

/** The same of some entries. */
export async function withheldRows(
  parts: DashboardParts,
  reader: Reader,
  rows: readonly AuditRow[],
): Promise<AuditRow[]> {
  if (reader.visibility.everything) return [...rows]
  const shown: AuditRow[] = []
  for (const row of rows) {
    const isSeen = await mayRead(parts, reader, row)
    shown.push(isSeen ? withoutDumps(row) : { ...row, changes: [], detail: WITHHELD })
  }
  return shown
}

/** Request and response may be about anything: lists of others, too. */
function withoutDumps(row: AuditRow): AuditRow {
  const { request_dump: _request, response_dump: _response, ...detail } = row.detail
  return { ...row, detail }
}

async function mayRead(parts: DashboardParts, reader: Reader, { changes }: AuditRow): Promise<boolean> {
  for (const change of changes) if (!(await seesChange(parts, reader, change))) return false
  return true
}

/** By the newest state that the entry knows. */
async function seesChange(parts: DashboardParts, { visibility, actor }: Reader, change: AuditChange): Promise<boolean> {
  const { kind, before, after, session } = change
  const body = after ?? before ?? {}
  const orgId = actor?.orgId ?? ''
  const look = { parts, visibility, orgId }
  switch (kind) {
    case 'api': {
      const apiId = String(body.api_id ?? '')
      // Of one that is gone those read who owned it last.
      return visibility.apiId(apiId) || (visibility.anyApi([apiId]) && actor !== undefined && ownsState(actor, body))
    }
    case 'policy':
      return visibility.anyApi(apisOf(kind, body))
    case 'oauth_client':
      return seesSession(look, { apiIds: apisOf(kind, body), policyIds: textsIn([body.registered_by_policy]) })
    case 'session':
      return seesSession(look, session ?? { apiIds: apisOf(kind, body), policyIds: policyIdsOf(body as Session) })
    case 'key_request':
      return seesAPolicy(parts, { visibility, orgId }, requestedPolicies(body))
    case 'portal_documentation':
      return seesDocumented(parts, visibility, orgId, String(body.api_id ?? ''))
    case 'catalogue':
      return seesEntries(parts, { visibility, orgId }, [...entriesOf(before ?? {}), ...entriesOf(after ?? {})])
    default:
      return true
  }
}

const textsIn = (values: readonly unknown[]) =>
  values.filter((value) => typeof value === 'string' && value !== '') as string[]

type Look = Pick<Call, 'visibility'> & { readonly orgId: string }

async function seesAPolicy(
  parts: DashboardParts,
  { visibility, orgId }: Look,
  ids: readonly string[],
): Promise<boolean> {
  for (const id of ids) {
    const policy = await findPolicyDocument(parts.documents, orgId, id)
    if (policy !== undefined && visibility.policy(policy)) return true
  }
  return ids.length === 0
}

async function seesEntries(
  { documents }: DashboardParts,
  { visibility, orgId }: Look,
  entries: readonly JsonObject[],
): Promise<boolean> {
  for (const { policy_id, api_id } of entries) {
    const policy = policy_id ? await findPolicyDocument(documents, orgId, String(policy_id)) : undefined
    if (policy !== undefined && !visibility.policy(policy)) return false
    const named = [String(api_id ?? ''), ...visibility.apisOfDeletedPolicy(String(policy_id ?? ''))]
    if (policy === undefined && !visibility.anyApi(named)) return false
  }
  return true
}
