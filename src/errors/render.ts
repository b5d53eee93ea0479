import type { Fault } from './fault.ts'

/** The ways in which the product words a refusal. */
export type Dialect = 'gateway' | 'management' | 'envelope' | 'oauth' | 'legacy-oauth'

/** Status of a fault as this installation answers it. */
export function statusOf(fault: Fault, legacyStatuses: boolean): number {
  const { status, legacy } = fault.entry
  return legacyStatuses && legacy !== undefined ? legacy : status
}

/** Status of a fault as the dashboard answers it. */
export function dashboardStatusOf({ entry }: Fault): number {
  return entry.dashboard?.status ?? entry.status
}

/** The text of a fault that a caller may read: the public text, and the detail where the catalogue exposes it. */
export function publicText(fault: Fault): string {
  const { text, expose } = fault.entry
  if (!expose || fault.message === text) return text
  if (expose === 'alone') return fault.message
  return `${text.replace(/\.$/, '')}: ${fault.message}`
}

/** Lines of a refusal: `Retry-After` (RFC 9110 section 10.2.3) where it says how long to wait, `X-Error-Code` where callers act on its code; else ''. */
export function refusalFields({ waitS, entry, code }: Fault): string {
  const wait = waitS === 0 ? '' : `Retry-After: ${waitS}\r\n`
  return entry.coded ? `${wait}X-Error-Code: ${code}\r\n` : wait
}

/**
 * Renders a refusal's JSON body: `gateway` for traffic, `management` for `/svc/` (lower-case keys),
 * `envelope` for the dashboard (capitalised keys), `oauth` for the authorization server (RFC 6749 section 5.2), `legacy-oauth`
 * the same in the incumbent's words. Never a stack, never a cause.
 */
export function renderFault(fault: Fault, dialect: Dialect): string {
  const text = publicText(fault)
  if (dialect === 'gateway') return JSON.stringify({ error: text })
  if (dialect === 'oauth' || dialect === 'legacy-oauth') return renderOauth(fault, text, dialect === 'legacy-oauth')
  if (dialect === 'management') return JSON.stringify({ status: 'error', message: text })
  return JSON.stringify({ Status: 'Error', Message: fault.entry.dashboard?.text ?? text, Meta: null })
}

/** A fault without a name in the standard is temporary or an internal error, unless it refuses the request. */
function renderOauth({ entry }: Fault, text: string, legacy: boolean): string {
  const failed = entry.status === 503 && !legacy ? 'temporarily_unavailable' : 'server_error'
  const own = entry.status >= 500 ? failed : 'invalid_request'
  const error = (legacy ? entry.legacyOauth : undefined) ?? entry.oauth ?? own
  return JSON.stringify({ error, error_description: text })
}
