import { type Call, formToken, memberOf, notFound, type Route } from './call.ts'
import { daysOf, lastDays, usageChart } from './chart.ts'
import { textIn } from './dashboard.ts'
import { type Html, html, when } from './html.ts'
import { buttonForm, dateOf, guarded, page, secondsOf } from './layout.ts'
import { showOnce } from './sessions.ts'
import type { Entry, Key, Quota } from './shapes.ts'
import { type Answer, PageError } from './web.ts'

const OVERLAPS: ReadonlyMap<string, string> = new Map([
  ['0', 'ends at once'],
  ['3600', 'is good for another hour'],
  ['86400', 'is good for another day'],
  ['604800', 'is good for another week'],
])
const SHOWN_DAYS = 14
const STATUS = { active: 'Active', inactive: 'Switched off', expired: 'Expired', rotated: 'Replaced' } as Record<
  string,
  string
>

export const keyRoutes: readonly Route[] = [
  { method: 'GET', path: '/keys', for: 'member', run: showKeys },
  { method: 'GET', path: '/keys/:id', for: 'member', run: showKey },
  { method: 'POST', path: '/keys/:id/rotate', for: 'member', run: rotate },
  { method: 'POST', path: '/keys/:id/revoke', for: 'member', run: revoke },
]

async function showKeys(call: Call): Promise<Answer> {
  const { developer } = memberOf(call)
  const { portal } = call
  const [keys, wishes, entries] = await Promise.all([
    portal.keys(developer.id),
    portal.waiting(developer.id),
    portal.entries(),
  ])
  const cards = keys.map(
    (
      key,
    ) => html`<li class="card key"><h2><a href="/keys/${key.id}">${namesOf(key.policies, entries)}</a> ${badge(key)}</h2>
${facts(key)}${key.quotas.map(quotaBar)}</li>`,
  )
  const waiting = wishes.map(
    (wish) => html`<li class="card"><h3>${namesOf(wish.policies, entries)} <span class="tag warm">Waits</span></h3>
<p>You asked on ${dateOf(wish.created)}.</p>
${buttonForm(call, { action: `/requests/${wish.id}/withdraw`, label: 'Withdraw' })}</li>`,
  )
  const content = html`${cards.length === 0 ? html`<p class="empty">You have no key yet. <a href="/">See what there is.</a></p>` : html`<ul class="cards wide-cards">${cards}</ul>`}
${when(waiting.length > 0, () => html`<h2>Requests</h2><ul class="cards">${waiting}</ul>`)}`
  return { page: page(call, { title: 'Keys', lead: 'What your programs send to our APIs.', content }) }
}

async function showKey(call: Call): Promise<Answer> {
  const key = await keyOfMember(call)
  const { portal } = call
  const ids = key.rotatedFrom === '' ? [key.id] : [key.id, key.rotatedFrom]
  const [entries, rows] = await Promise.all([portal.entries(), portal.usageOfKeys(ids, lastDays(SHOWN_DAYS))])
  const content = html`${facts(key)}${key.quotas.map(quotaBar)}
<section aria-labelledby="usage"><h2 id="usage">Requests of the last ${SHOWN_DAYS} days</h2>
${usageChart(daysOf(rows, SHOWN_DAYS), 'Requests with this key')}</section>
<section aria-labelledby="change"><h2 id="change">Change</h2>
${when(key.status === 'active', () => rotation(call, key))}
${guarded('Revoke this key', 'Programs that use it are turned away at once. There is no way back.', buttonForm(call, { action: `/keys/${key.id}/revoke`, label: 'Revoke it' }))}</section>`
  return {
    page: page(call, {
      title: namesOf(key.policies, entries),
      lead: html`<p class="lead">${badge(key)} Key <code>${key.id.slice(0, 12)}…</code></p>`,
      content,
    }),
  }
}

async function rotate(call: Call): Promise<Answer> {
  const { session, developer } = memberOf(call)
  const key = await keyOfMember(call)
  const overlap = call.form.get('overlap') ?? ''
  if (!OVERLAPS.has(overlap)) throw new PageError(400, 'That did not work', 'Choose for how long the old key is good.')
  const made = await call.portal.rotateKey(developer.id, key.id, Number(overlap))
  const until = textIn(made, 'valid_until')
  const note =
    until === '' ? 'The old key has ended.' : `The old key is good until ${until.slice(0, 16).replace('T', ' ')} UTC.`
  const rows = [{ label: 'Key', value: textIn(made, 'RawKey') }]
  return { goTo: showOnce(session, { title: 'Your new key', rows, note, next: '/keys' }) }
}

async function revoke(call: Call): Promise<Answer> {
  const { session, developer } = memberOf(call)
  const key = await keyOfMember(call)
  await call.portal.revokeKey(developer.id, key.id)
  session.notice = 'The key is revoked.'
  return { goTo: '/keys' }
}

/** The key that the path names. That of another developer is not found: the dashboard checks the owner. @throws PageError 404 */
async function keyOfMember(call: Call): Promise<Key> {
  const key = await call.portal.key(memberOf(call).developer.id, call.params.get('id') ?? '')
  if (key === undefined) throw notFound('key')
  return key
}

/** The names of policies in the catalogue. */
export function namesOf(policies: readonly string[], entries: readonly Entry[]): string {
  const names = policies.map((id) => entries.find(({ policyId }) => policyId === id)?.name ?? id)
  return names.join(', ') || 'Key'
}

function rotation(call: Call, { id }: Key): Html {
  const options = [...OVERLAPS].map(
    ([seconds, words]) =>
      html`<option value="${seconds}"${seconds === '86400' ? html` selected` : ''}>${words}</option>`,
  )
  return html`<form method="post" action="/keys/${id}/rotate" class="row">${formToken(call)}
<label class="field"><span>Get a new key. The old one</span><select name="overlap">${options}</select></label>
<button>Rotate</button></form>`
}

function facts({ created, expires, lastUsed, validUntil }: Key): Html {
  return html`<dl class="facts"><dt>Made</dt><dd>${dateOf(created)}</dd>
<dt>Last used</dt><dd>${dateOf(lastUsed)}</dd>
${validUntil === '' ? html`<dt>Expires</dt><dd>${secondsOf(expires)}</dd>` : html`<dt>Good until</dt><dd>${dateOf(validUntil)}</dd>`}</dl>`
}

function badge({ status }: Key): Html {
  return html`<span class="tag ${status}">${STATUS[status] ?? status}</span>`
}

function quotaBar({ api, max, left, renews }: Quota): Html {
  const used = max - left
  const words = `${used.toLocaleString('en-GB')} of ${max.toLocaleString('en-GB')} requests used`
  return html`<div class="quota"><p>${when(api !== '', () => html`${api}: `)}${words}${when(renews > 0, () => html`, anew on ${secondsOf(renews)}`)}</p>
<progress class="${left === 0 ? 'out' : 'some'}" max="${max}" value="${used}" aria-label="${words}"></progress></div>`
}
