import { foldCase } from '../../model/text/fold.ts'
import type { Millis } from '../../model/time/clock.ts'
import type { AuditEntry, AuditQuery, AuditRequest } from '../ports/ports.ts'
import { bodyText, wellFormed, wholeNumber } from './cells.ts'

/** An audit entry as a row: `user`, `method`, `path`, `ip` and `status` are what it is searched by. */
export interface PreparedAudit {
  readonly actor: string
  readonly action: string
  readonly orgId: string
  readonly at: Millis
  readonly text: string
  /** The request as JSON; '' = none. */
  readonly request: string
  /** Folded: of the request, else the actor. */
  readonly user: string
  readonly method: string
  /** URL of the request up to its query. */
  readonly path: string
  readonly ip: string
  /** 0 = no request. */
  readonly status: number
}

/** The conditions on an audit row; undefined members are no condition. Values as `PreparedAudit` has them. */
export interface PreparedAuditQuery {
  readonly orgId: string | undefined
  readonly action: string | undefined
  readonly method: string | undefined
  readonly ip: string | undefined
  readonly status: number | undefined
  /** Parts. */
  readonly user: string | undefined
  readonly path: string | undefined
  readonly from: Millis
  readonly to: Millis
  readonly wrote: AuditQuery['wrote']
}

/** The most characters of bodies that are kept of one commit. */
export const AUDIT_BODY_CHARACTERS = 16_000_000

/** Checks and copies an audit entry. @throws Fault `internal` for a malformed one */
export function prepareAudit(entry: AuditEntry): PreparedAudit {
  const request = entry.request && copyRequest(entry.request)
  return {
    actor: wellFormed(entry.actor),
    action: wellFormed(entry.action),
    orgId: wellFormed(entry.orgId),
    at: wholeNumber(entry.at),
    text: bodyText(entry.detail),
    request: request === undefined ? '' : JSON.stringify(request),
    user: foldCase(request === undefined || request.user === '' ? wellFormed(entry.actor) : request.user),
    method: request?.method.toUpperCase() ?? '',
    path: pathOf(request?.url ?? ''),
    ip: request?.ip ?? '',
    status: request?.status ?? 0,
  }
}

/** Checks and copies what is asked for; '' asks for nothing, but as `orgId`. @throws Fault `internal` for a malformed one */
export function prepareAuditQuery(query: AuditQuery): PreparedAuditQuery {
  const given = (text: string | undefined) => (text === undefined || text === '' ? undefined : wellFormed(text))
  const user = given(query.user)
  const url = given(query.url)
  const path = url === undefined ? '' : pathOf(url)
  return {
    orgId: query.orgId === undefined ? undefined : wellFormed(query.orgId),
    action: given(query.action),
    method: given(query.method)?.toUpperCase(),
    ip: given(query.ip),
    status: query.status === undefined ? undefined : wholeNumber(query.status),
    user: user === undefined ? undefined : foldCase(user),
    path: path === '' ? undefined : path,
    from: query.from === undefined ? 0 : wholeNumber(query.from),
    to: query.to === undefined ? Number.MAX_SAFE_INTEGER : wholeNumber(query.to),
    wrote: query.wrote && { kind: wellFormed(query.wrote.kind), ids: query.wrote.ids.map(wellFormed) },
  }
}

/** Id of an audit row: 8 hex digits of its second, then 16 of its number, so that ids sort by age. */
export function auditId(row: number, at: Millis): string {
  const seconds = Math.floor(at / 1000) % 2 ** 32
  return seconds.toString(16).padStart(8, '0') + row.toString(16).padStart(16, '0')
}

/** The number in the id of an audit row; undefined for anything else. Whether the second is right is for the caller to see. */
export function auditNumber(id: string): number | undefined {
  if (!/^[0-9a-f]{24}$/.test(id)) return undefined
  const row = Number.parseInt(id.slice(8), 16)
  return Number.isSafeInteger(row) ? row : undefined
}

function copyRequest(request: AuditRequest): AuditRequest {
  return {
    id: wellFormed(request.id),
    method: wellFormed(request.method),
    url: wellFormed(request.url),
    ip: wellFormed(request.ip),
    user: wellFormed(request.user),
    status: wholeNumber(request.status),
  }
}

function pathOf(url: string): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}
