import { type Call, formToken, memberOf, notFound, type Route } from './call.ts'
import { entryAnswer, entryNamed } from './catalogue.ts'
import { DashboardRefusal, type Json, textIn } from './dashboard.ts'
import { html } from './html.ts'
import { page } from './layout.ts'
import { FIELD } from './request-form.ts'
import { type Shown, showOnce } from './sessions.ts'
import type { Entry } from './shapes.ts'
import { type Answer, PageError } from './web.ts'

export const requestRoutes: readonly Route[] = [
  { method: 'POST', path: '/apis/:slug/request', for: 'member', run: request },
  { method: 'POST', path: '/requests/:id/withdraw', for: 'member', run: withdraw },
  { method: 'GET', path: '/shown/:name', for: 'member', run: showOnceOnly },
  // where the links of mails lead
  { method: 'GET', path: '/portal/requests/:id/collect', for: 'member', run: askToCollect },
  { method: 'POST', path: '/portal/requests/:id/collect', for: 'member', run: collect },
]

/** Requests a key or an app. Without approval it is shown at once, and only then. */
async function request(call: Call): Promise<Answer> {
  const { session, developer } = memberOf(call)
  const entry = await entryNamed(call, call.params.get('slug') ?? '')
  let made: Json
  try {
    made = await call.portal.submit(wishFor(call, entry, developer.id))
  } catch (error) {
    if (!(error instanceof DashboardRefusal) || error.status >= 500) throw error
    return entryAnswer(call, entry, error.message)
  }
  const redirectTo = textIn(made, 'redirect_to')
  if (redirectTo !== '' && URL.canParse(redirectTo)) return { goTo: new URL(redirectTo).href }
  const shown = accessShown(made, entry.name)
  if (shown !== undefined) return { goTo: showOnce(session, shown) }
  session.notice = `Your request for ${entry.name} is on its way. You get a mail when it is decided.`
  return { goTo: '/keys' }
}

function wishFor({ form }: Call, entry: Entry, developerId: string): Json {
  const fields: Record<string, string> = {}
  for (const { name } of entry.fields) fields[name] = form.get(FIELD + name)?.trim() ?? ''
  const wish = { by_user: developerId, apply_policies: [entry.policyId], version: 'v2' }
  if (entry.sort !== 'app') return { ...wish, fields }
  const about = { oauth_app_description: form.get('app_name') ?? '', oauth_use_case: form.get('use_case') ?? '' }
  return {
    ...wish,
    fields: { ...fields, ...about },
    oauth_info: { redirect_uri: form.get('redirect_uri')?.trim() ?? '' },
  }
}

async function withdraw(call: Call): Promise<Answer> {
  const { session, developer } = memberOf(call)
  const wish = await call.portal.wish(call.params.get('id') ?? '')
  if (wish === undefined || wish.developerId !== developer.id || wish.approved) throw notFound('request')
  await call.portal.withdraw(wish.id)
  session.notice = 'The request is withdrawn.'
  return { goTo: '/keys' }
}

/** The key of a request is made only when its developer asks for it: mail programs that open links collect nothing. */
async function askToCollect(call: Call): Promise<Answer> {
  const { session } = memberOf(call)
  const id = call.params.get('id') ?? ''
  if (!(await call.portal.isCollectable(session.portal, id))) throw notFound('request that waits for you')
  const content = html`<form method="post" action="/portal/requests/${encodeURIComponent(id)}/collect">${formToken(call)}
<input type="hidden" name="code" value="${call.query.get('code') ?? ''}"><button>Show it to me</button></form>`
  return {
    page: page(call, {
      title: 'Your request is approved',
      lead: 'You see what you asked for once. Have a safe place ready.',
      content,
      narrow: true,
    }),
  }
}

async function collect(call: Call): Promise<Answer> {
  const { session } = memberOf(call)
  const made = await call.portal.collect(session.portal, call.params.get('id') ?? '', call.form.get('code') ?? '')
  const shown = accessShown(made, '')
  if (shown === undefined) throw notFound('request that waits for you')
  return { goTo: showOnce(session, shown) }
}

function showOnceOnly(call: Call): Answer {
  const { session } = memberOf(call)
  const name = call.params.get('name') ?? ''
  const shown = session.shown.get(name)
  session.shown.delete(name)
  if (shown === undefined) throw new PageError(404, 'Shown before', 'This was shown once, and is not kept.')
  const content = html`<dl class="secrets">${shown.rows.map(({ label, value }) => html`<dt>${label}</dt><dd><code tabindex="0">${value}</code></dd>`)}</dl>
<p>${shown.note}</p><p><a class="button" href="${shown.next}">Done, I have it</a></p>`
  const lead = html`<p class="problem once">Copy it now. When you leave this page it is gone.</p>`
  return { page: page(call, { title: shown.title, lead, content, narrow: true }) }
}

/** The view of new access; undefined when there is none. */
function accessShown(made: Json, about: string): Shown | undefined {
  const suffix = about === '' ? '' : ` for ${about}`
  const [key, clientId] = [textIn(made, 'RawKey'), textIn(made, 'client_id')]
  if (key !== '')
    return {
      title: `Your key${suffix}`,
      rows: [{ label: 'Key', value: key }],
      note: 'Send it as the header Authorization of every request.',
      next: '/keys',
    }
  if (clientId === '') return undefined
  const rows = [
    { label: 'Client id', value: clientId },
    { label: 'Client secret', value: textIn(made, 'secret') },
  ]
  return { title: `Your app${suffix}`, rows, note: 'Your app proves with both who it is.', next: '/apps' }
}
