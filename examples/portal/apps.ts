import { type Call, formToken, memberOf, notFound, type Route } from './call.ts'
import { daysOf, lastDays, usageChart } from './chart.ts'
import { DashboardRefusal, textIn } from './dashboard.ts'
import { type Html, html } from './html.ts'
import { namesOf } from './keys.ts'
import { buttonForm, dateOf, guarded, page, textField } from './layout.ts'
import { showOnce } from './sessions.ts'
import type { App, Entry } from './shapes.ts'
import type { Answer } from './web.ts'

const SHOWN_DAYS = 14
const DAY_S = 86_400

export const appRoutes: readonly Route[] = [
  { method: 'GET', path: '/apps', for: 'member', run: showApps },
  { method: 'GET', path: '/apps/:id', for: 'member', run: (call) => showApp(call) },
  { method: 'POST', path: '/apps/:id/rotate', for: 'member', run: rotate },
  { method: 'POST', path: '/apps/:id/revoke', for: 'member', run: revokeToken },
  { method: 'POST', path: '/apps/:id/revoke-all', for: 'member', run: revokeAll },
  { method: 'POST', path: '/apps/:id/delete', for: 'member', run: remove },
]

async function showApps(call: Call): Promise<Answer> {
  const { apps } = memberOf(call).developer
  const entries = await call.portal.entries()
  const cards = apps.map(
    (app) =>
      html`<li class="card"><h2><a href="/apps/${encodeURIComponent(app.clientId)}">${app.name}</a></h2>${facts(app, entries)}</li>`,
  )
  const offers = entries.filter(({ sort }) => sort === 'app')
  const content = html`${cards.length === 0 ? html`<p class="empty">You have no app yet.</p>` : html`<ul class="cards wide-cards">${cards}</ul>`}
<h2>New app</h2>
${offers.length === 0 ? html`<p>No API takes apps at the moment.</p>` : html`<ul class="plain">${offers.map(({ slug, name }) => html`<li><a href="/apis/${encodeURIComponent(slug)}">An app for ${name}</a></li>`)}</ul>`}`
  return {
    page: page(call, {
      title: 'Apps',
      lead: 'Programs that get tokens by OAuth 2.0, for themselves or for people who allow it.',
      content,
    }),
  }
}

async function showApp(call: Call, problem = ''): Promise<Answer> {
  const app = await appOfMember(call)
  const path = `/apps/${encodeURIComponent(app.clientId)}`
  const { portal } = call
  const [entries, rows] = await Promise.all([portal.entries(), portal.usageOfApp(app.clientId, lastDays(SHOWN_DAYS))])
  const content = html`${facts(app, entries)}
<section aria-labelledby="usage"><h2 id="usage">Requests of the last ${SHOWN_DAYS} days</h2>
${usageChart(daysOf(rows, SHOWN_DAYS), 'Requests of this app')}</section>
<section aria-labelledby="tokens"><h2 id="tokens">Tokens</h2><div class="columns">
<form method="post" action="${path}/revoke" class="panel">${formToken(call)}
${textField('token', 'A token that got lost', html`autocomplete="off" maxlength="8192" required`, 'An access or a refresh token.')}<button>Revoke it</button></form>
<form method="post" action="${path}/revoke-all" class="panel">${formToken(call)}
${textField('client_secret', 'Client secret', html`type="password" autocomplete="off" maxlength="1024" required`, 'All tokens of this app end at once.')}<button>Revoke all tokens</button></form>
</div></section>
<section aria-labelledby="change"><h2 id="change">Change</h2>
${guarded('New secret', 'The old one is good for another day.', buttonForm(call, { action: `${path}/rotate`, label: 'Make a new secret' }))}
${guarded('Delete this app', 'Its tokens end at once. There is no way back.', buttonForm(call, { action: `${path}/delete`, label: 'Delete it' }))}</section>`
  return { page: page(call, { title: app.name, content, problem }), status: problem === '' ? 200 : 400 }
}

async function rotate(call: Call): Promise<Answer> {
  const { session } = memberOf(call)
  const { clientId } = await appOfMember(call)
  const made = await call.portal.rotateSecret(clientId, DAY_S)
  const rows = [
    { label: 'Client id', value: clientId },
    { label: 'Client secret', value: textIn(made, 'secret') },
  ]
  return {
    goTo: showOnce(session, {
      title: 'The new secret',
      rows,
      note: 'The old one is good for another day.',
      next: '/apps',
    }),
  }
}

async function revokeToken(call: Call): Promise<Answer> {
  const { session } = memberOf(call)
  const { clientId } = await appOfMember(call)
  await call.portal.revokeToken(session.portal, clientId, call.form.get('token')?.trim() ?? '')
  session.notice = 'The token is revoked.'
  return { goTo: `/apps/${encodeURIComponent(clientId)}` }
}

async function revokeAll(call: Call): Promise<Answer> {
  const { session } = memberOf(call)
  const { clientId } = await appOfMember(call)
  try {
    await call.portal.revokeAllTokens(session.portal, clientId, call.form.get('client_secret') ?? '')
  } catch (error) {
    if (!(error instanceof DashboardRefusal) || error.status >= 500) throw error
    return showApp(call, error.message)
  }
  session.notice = 'All tokens are revoked.'
  return { goTo: `/apps/${encodeURIComponent(clientId)}` }
}

async function remove(call: Call): Promise<Answer> {
  const { session } = memberOf(call)
  const { clientId } = await appOfMember(call)
  await call.portal.removeApp(clientId)
  session.notice = 'The app is deleted.'
  return { goTo: '/apps' }
}

/** The app that the path names, where it is the member's. @throws PageError 404 also for another member's */
async function appOfMember(call: Call): Promise<App> {
  const app = await call.portal.app(call.params.get('id') ?? '')
  if (app === undefined || app.developerId !== memberOf(call).developer.id) throw notFound('app')
  return app
}

function facts({ clientId, redirectUri, useCase, created, policyId }: App, entries: readonly Entry[]): Html {
  return html`<dl class="facts"><dt>Client id</dt><dd><code>${clientId}</code></dd>
<dt>For</dt><dd>${namesOf([policyId], entries)}</dd>
<dt>Redirect URI</dt><dd><code>${redirectUri}</code></dd>
${useCase === '' ? '' : html`<dt>Purpose</dt><dd>${useCase}</dd>`}
<dt>Made</dt><dd>${dateOf(created)}</dd></dl>`
}
