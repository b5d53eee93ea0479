import { call, download, type Envelope } from '../calls/call.ts'

/** One document that an entry changed; null where there was none, or is none any more. */
export interface AuditChange {
  readonly kind: string
  readonly id: string
  readonly before: unknown
  readonly after: unknown
}

/** An entry of the audit log. `changes` and `detail` are there when it is read by itself. */
export interface AuditEntry {
  readonly _id: string
  readonly req_id: string
  readonly timestamp: number
  readonly ip: string
  readonly user: string
  readonly action: string
  readonly method: string
  readonly url: string
  readonly status: number
  readonly diff?: string
  readonly request_dump?: string
  readonly response_dump?: string
  readonly detail?: Readonly<Record<string, unknown>>
  readonly changes?: readonly AuditChange[]
}

/** The filters of the log; '' = all. Dates are days (`2025-01-31`). */
export interface AuditQuery {
  readonly user: string
  readonly action: string
  readonly method: string
  readonly from_date: string
  readonly to_date: string
  readonly p?: number
}

export interface AuditPage {
  readonly audit_logs: readonly AuditEntry[]
  readonly pages: number
}

export const AUDIT_KEY = ['audit'] as const

export function listAudit(query: AuditQuery, signal: AbortSignal): Promise<AuditPage> {
  return call('GET', '/api/audit-logs', { query: { ...query }, signal })
}

export function readAuditEntry(id: string, signal: AbortSignal): Promise<AuditEntry> {
  return call('GET', `/api/audit-logs/${encodeURIComponent(id)}`, { signal })
}

/** A page of the entries that changed one document, newest first; keys and tokens are named by their hash. */
export function listHistory(kind: string, id: string, p: number, signal: AbortSignal): Promise<AuditPage> {
  return call('GET', '/api/audit-logs', { query: { kind, id, p }, signal })
}

/** Undoes what an entry changed. @throws CallError where something has changed it since, or it is not the caller's to change */
export function undoAuditEntry(id: string): Promise<Envelope> {
  return call('POST', `/api/audit-logs/${encodeURIComponent(id)}/undo`)
}

/** All that is asked for, as a file. */
export function downloadAudit(query: AuditQuery, type: 'csv' | 'json'): Promise<Blob> {
  const { p: _page, ...rest } = query
  return download('/api/audit-logs', { query: { ...rest, download: true, type } })
}
