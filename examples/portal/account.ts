import { type Call, formToken, memberOf, type Route } from './call.ts'
import { DashboardRefusal, textIn } from './dashboard.ts'
import { type Html, html } from './html.ts'
import { guarded, page, textField } from './layout.ts'
import type { Answer } from './web.ts'

const WRONG = 'This is not your password.'

export const accountRoutes: readonly Route[] = [
  { method: 'GET', path: '/account', for: 'member', run: (call) => ({ page: accountPage(call) }) },
  { method: 'POST', path: '/account/password', for: 'member', run: changePassword },
  { method: 'POST', path: '/account/delete', for: 'member', run: deleteAccount },
]

/** Another password ends all sessions of the developer, this one too. */
async function changePassword(call: Call): Promise<Answer> {
  const { developer } = memberOf(call)
  try {
    await call.portal.checkPassword(developer.email, call.form.get('password') ?? '')
    await call.portal.setPassword(developer.id, call.form.get('new_password') ?? '')
  } catch (error) {
    return { page: accountPage(call, problemOf(error)), status: 400 }
  }
  return { goTo: '/sign-in', cookie: call.leave() }
}

async function deleteAccount(call: Call): Promise<Answer> {
  const { developer } = memberOf(call)
  try {
    await call.portal.checkPassword(developer.email, call.form.get('password') ?? '')
  } catch (error) {
    return { page: accountPage(call, problemOf(error)), status: 400 }
  }
  await call.portal.removeDeveloper(developer.id)
  return { goTo: '/', cookie: call.leave() }
}

function problemOf(error: unknown): string {
  if (!(error instanceof DashboardRefusal) || error.status >= 500) throw error
  return error.status === 401 ? WRONG : error.message
}

function accountPage(call: Call, problem = ''): Html {
  const { developer } = memberOf(call)
  const rows = Object.keys(developer.fields).map(
    (name) => html`<dt>${name}</dt><dd>${textIn(developer.fields, name)}</dd>`,
  )
  const password = textField(
    'password',
    'Your password',
    html`type="password" autocomplete="current-password" required`,
  )
  const end = html`<form method="post" action="/account/delete">${formToken(call)}${password}<button class="danger">Delete my account</button></form>`
  const content = html`<dl class="facts"><dt>Email address</dt><dd>${developer.email}</dd>${rows}</dl>
<section aria-labelledby="password"><h2 id="password">Another password</h2>
<form method="post" action="/account/password" class="panel">${formToken(call)}
${password}
${textField('new_password', 'New password', html`type="password" autocomplete="new-password" required`, 'You sign in anew with it, everywhere.')}
<button>Change the password</button>
</form></section>
<section aria-labelledby="leave"><h2 id="leave">Leave</h2>
${guarded('Delete this account', 'All your keys and apps stop working at once. There is no way back.', end)}</section>`
  return page(call, { title: 'Account', content, problem, narrow: true })
}
