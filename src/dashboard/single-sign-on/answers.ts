import { toFault } from '../../errors/fault.ts'
import { dashboardStatusOf, publicText } from '../../errors/render.ts'
import type { Answer } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

const HTML = 'text/html; charset=utf-8'

/** Sends the browser on, by GET. */
export function goTo(location: string, cookie?: string): Answer {
  const headers = { location, ...(cookie !== undefined && { 'set-cookie': cookie }) }
  return { status: 303, body: '', type: 'text/plain; charset=utf-8', headers }
}

/** An HTML page without style and script. `body` is markup. */
export function page(status: number, title: string, body: string): Answer {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title>`
  return {
    status,
    type: HTML,
    body: `<!doctype html><html lang="en"><head>${head}</head><body>${body}</body></html>\n`,
  }
}

/**
 * Sends the browser of a refused user to `elsewhere`, else to `sso_custom_login_error_url`, else to our own page.
 * The reason goes to the log. @throws errors that are not refusals
 */
export function refusedSignIn(parts: DashboardParts, call: Call, error: unknown, elsewhere?: string): Answer {
  const fault = toFault(error)
  const { status, log, text } = fault.entry
  if (status >= 500) throw error
  if (log !== 'silent') parts.log[log]({ request_id: call.requestId, code: fault.code, why: fault.message }, text)
  const { sso_custom_login_error_url: custom, sso_custom_login_url: again } = parts.config.dashboard
  const place = elsewhere ?? custom
  if (place !== '') return goTo(place)
  const link = again === '' ? '' : `<p><a href="${escapeHtml(again)}">Sign in again</a></p>`
  const markup = `<h1>Sign-in refused</h1><p>${escapeHtml(publicText(fault))}</p>${link}`
  const shown = page(dashboardStatusOf(fault), 'Sign-in refused', markup)
  return fault.waitS === 0 ? shown : { ...shown, headers: { ...shown.headers, 'retry-after': String(fault.waitS) } }
}

/** Text escaped for markup, attributes included. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}
