import { fault } from '../../errors/fault.ts'
import type { AuditQuery } from '../../store/ports/ports.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { documentsAsked } from './documents-named.ts'

const DAY_MS = 86_400_000

/**
 * The audit log query of a call: of the caller's organisation alone. @throws Fault `query_invalid` (400) for no date, or half of a document's
 * name
 */
export async function auditQueryOf(
  parts: DashboardParts,
  call: Pick<Call, 'query' | 'actor' | 'visibility'>,
): Promise<AuditQuery> {
  const orgId = call.actor?.orgId ?? ''
  const texts = ['user', 'action', 'ip', 'method', 'url'] as const
  const given = texts.map((name) => [name, call.query(name)] as const).filter(([, value]) => value !== '')
  const status = call.query('status')
  const from = dayOf(call, 'from_date')
  const to = dayOf(call, 'to_date')
  const wrote = await documentsAsked(parts, call)
  return {
    ...(orgId !== '' && { orgId }),
    ...Object.fromEntries(given),
    ...(status !== '' && { status: Number(status) }),
    ...(from !== undefined && { from }),
    // The last day counts whole.
    ...(to !== undefined && { to: to + DAY_MS }),
    ...(wrote !== undefined && { wrote }),
  }
}

/** The start of the day (UTC) that a query names. */
function dayOf(call: Pick<Call, 'query'>, name: string): number | undefined {
  const text = call.query(name)
  if (text === '') return undefined
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(at) || at < 0 || !new Date(at).toISOString().startsWith(text))
    throw fault('query_invalid', `${name} must be a date such as 2025-01-31`)
  return at
}
