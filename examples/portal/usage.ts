import { type Call, memberOf, type Route } from './call.ts'
import { daysOf, lastDays, usageChart } from './chart.ts'
import { html } from './html.ts'
import { namesOf } from './keys.ts'
import { page } from './layout.ts'
import type { Key } from './shapes.ts'
import type { Answer } from './web.ts'

const SPANS = [7, 30, 90]

export const usageRoutes: readonly Route[] = [{ method: 'GET', path: '/usage', for: 'member', run: showUsage }]

/** Requests of all keys together, or of one. */
async function showUsage(call: Call): Promise<Answer> {
  const { developer } = memberOf(call)
  const { portal, query } = call
  const days = SPANS.find((span) => String(span) === query.get('days')) ?? 30
  const [keys, entries] = await Promise.all([portal.keys(developer.id), portal.entries()])
  const chosen = keys.filter(({ id }) => id === query.get('key'))
  const rows = await portal.usageOfKeys(hashesOf(chosen.length > 0 ? chosen : keys), lastDays(days))
  const name = (key: Key) => `${namesOf(key.policies, entries)}${key.status === 'rotated' ? ' (replaced)' : ''}`
  const spans = SPANS.map(
    (span) => html`<option value="${span}"${span === days ? html` selected` : ''}>${span} days</option>`,
  )
  const options = keys.map(
    (key) => html`<option value="${key.id}"${chosen.includes(key) ? html` selected` : ''}>${name(key)}</option>`,
  )
  const about = chosen.length > 0 ? `Requests with the key for ${name(chosen[0]!)}` : 'Requests with all your keys'
  const content = html`<form method="get" action="/usage" class="row">
<label class="field"><span>Key</span><select name="key"><option value="">All keys</option>${options}</select></label>
<label class="field"><span>Time</span><select name="days">${spans}</select></label>
<button class="quiet">Show</button></form>
${keys.length === 0 ? html`<p class="empty">You have no key yet, so there is nothing to count.</p>` : usageChart(daysOf(rows, days), about)}`
  return { page: page(call, { title: 'Usage', lead: 'What your keys did. Days are those of UTC.', content }) }
}

/** Keys, and those that they replaced, whose requests count as well. */
function hashesOf(keys: readonly Key[]): string[] {
  return [...new Set(keys.flatMap(({ id, rotatedFrom }) => [id, rotatedFrom]))].filter((id) => id !== '')
}
