import { type Call, formToken, memberOf, type Route } from './call.ts'
import { DashboardRefusal } from './dashboard.ts'
import { type Html, html } from './html.ts'
import { page, textField } from './layout.ts'
import type { Rules } from './shapes.ts'
import { type Answer, ownPath, PageError } from './web.ts'

/** The prefix of fields of a sign-up: its form has `email` and `password` as well. */
const FIELD = 'field:'

export const signInRoutes: readonly Route[] = [
  { method: 'GET', path: '/sign-in', for: 'everybody', run: (call) => showSignIn(call) },
  { method: 'POST', path: '/sign-in', for: 'everybody', run: signIn },
  { method: 'POST', path: '/sign-out', for: 'member', run: signOut },
  { method: 'GET', path: '/sign-up', for: 'everybody', run: (call) => showSignUp(call) },
  { method: 'POST', path: '/sign-up', for: 'everybody', run: signUp },
  { method: 'GET', path: '/forgotten', for: 'everybody', run: (call) => ({ page: forgottenPage(call) }) },
  { method: 'POST', path: '/forgotten', for: 'everybody', run: forgotten },
  // where the links of mails lead
  { method: 'GET', path: '/portal/reset-password', for: 'everybody', run: (call) => ({ page: resetPage(call) }) },
  { method: 'POST', path: '/portal/reset-password', for: 'everybody', run: resetPassword },
]

function showSignIn(call: Call, problem = ''): Answer {
  if (call.member !== undefined) return { goTo: '/' }
  const next = ownPath(call.form.get('next') ?? call.query.get('next'))
  return { page: signInPage(call, next, problem), status: problem === '' ? 200 : 403 }
}

async function signIn(call: Call): Promise<Answer> {
  const { portal, form, visitor } = call
  const [email = '', password = ''] = [form.get('email')?.trim(), form.get('password')]
  const { orgId } = await portal.rules()
  try {
    const session = await portal.signIn(visitor, { email, password, orgId })
    const developer = await portal.developerByEmail(email)
    return { goTo: ownPath(form.get('next')), cookie: call.enter(developer.id, session) }
  } catch (error) {
    return showSignIn(call, refusalOf(error))
  }
}

async function signOut(call: Call): Promise<Answer> {
  await call.portal.signOut(memberOf(call).session.portal)
  return { goTo: '/', cookie: call.leave() }
}

async function showSignUp(call: Call, problem = ''): Promise<Answer> {
  if (call.member !== undefined) return { goTo: '/' }
  const rules = await call.portal.rules()
  if (rules.signUpOff) throw new PageError(403, 'No sign-up', 'This portal does not take new accounts by itself.')
  return { page: signUpPage(call, rules, problem), status: problem === '' ? 200 : 400 }
}

async function signUp(call: Call): Promise<Answer> {
  const { portal, form, visitor } = call
  const rules = await portal.rules()
  const fields: Record<string, string> = { Name: form.get('name')?.trim() ?? '' }
  for (const { name } of rules.signUpFields) fields[name] = form.get(FIELD + name)?.trim() ?? ''
  const { orgId: org_id } = rules
  const sent = { email: form.get('email')?.trim() ?? '', password: form.get('password') ?? '', fields, org_id }
  try {
    const { developerId, session } = await portal.signUp(visitor, sent)
    if (session === undefined) return { goTo: '/sign-in' }
    return { goTo: '/', cookie: call.enter(developerId, session) }
  } catch (error) {
    return showSignUp(call, refusalOf(error))
  }
}

async function forgotten(call: Call): Promise<Answer> {
  const { portal, form, visitor } = call
  const { orgId } = await portal.rules()
  await portal.forgot(visitor, form.get('email')?.trim() ?? '', orgId)
  const content = html`<p>If there is an account with this address, a mail with a link is on its way. The link works once, for a few minutes.</p>
<p><a href="/portal/reset-password">I have the link</a></p>`
  return { page: page(call, { title: 'Look into your mail', content, narrow: true }) }
}

async function resetPassword(call: Call): Promise<Answer> {
  const { portal, form, visitor } = call
  // The whole link, or its part behind `#`: that part of an address never reaches a server by itself.
  const token = (form.get('link') ?? '').trim().split('#').at(-1)!
  try {
    await portal.resetPassword(visitor, token, form.get('password') ?? '')
  } catch (error) {
    return { page: resetPage(call, refusalOf(error)), status: 400 }
  }
  const content = html`<p>Your password is changed. <a href="/sign-in">Sign in</a> with it.</p>`
  return { page: page(call, { title: 'Password changed', content, narrow: true }) }
}

/** The text of a refusal for the form; other errors are passed on. */
function refusalOf(error: unknown): string {
  if (error instanceof DashboardRefusal && error.status < 500) return error.message
  throw error
}

function signInPage(call: Call, next: string, problem: string): Html {
  const email = call.form.get('email') ?? ''
  const content = html`<form method="post" action="/sign-in" class="panel">${formToken(call)}
<input type="hidden" name="next" value="${next}">
${textField('email', 'Email address', html`type="email" value="${email}" autocomplete="username" maxlength="254" required`)}
${textField('password', 'Password', html`type="password" autocomplete="current-password" required`)}
<button>Sign in</button>
</form>
<p class="aside"><a href="/forgotten">Forgotten your password?</a></p>
<p class="aside">New here? <a href="/sign-up">Sign up</a></p>`
  return page(call, { title: 'Sign in', content, problem, narrow: true })
}

function signUpPage(call: Call, { signUpFields }: Rules, problem: string): Html {
  const given = (name: string) => call.form.get(name) ?? ''
  const more = signUpFields.map(({ name, needed }) =>
    textField(FIELD + name, name, html`value="${given(FIELD + name)}" maxlength="4096" ${needed ? 'required' : ''}`),
  )
  const content = html`<form method="post" action="/sign-up" class="panel">${formToken(call)}
${textField('name', 'Your name', html`value="${given('name')}" autocomplete="name" maxlength="200" required`)}
${textField('email', 'Email address', html`type="email" value="${given('email')}" autocomplete="username" maxlength="254" required`)}
${textField('password', 'Password', html`type="password" autocomplete="new-password" required`, 'At least 6 characters. A few words are better than one.')}
${more}
<button>Sign up</button>
</form>
<p class="aside">You have an account? <a href="/sign-in">Sign in</a></p>`
  return page(call, { title: 'Sign up', content, problem, narrow: true })
}

function forgottenPage(call: Call): Html {
  const content = html`<form method="post" action="/forgotten" class="panel">${formToken(call)}
${textField('email', 'Email address', html`type="email" autocomplete="username" maxlength="254" required`)}
<button>Send me a link</button>
</form>
<p class="aside"><a href="/sign-in">Back to sign-in</a></p>`
  const lead = 'We send you a link by which you set another password. Until then the old one stays good.'
  return page(call, { title: 'Forgotten password', lead, content, narrow: true })
}

function resetPage(call: Call, problem = ''): Html {
  const link = call.form.get('link') ?? ''
  const content = html`<form method="post" action="/portal/reset-password" class="panel">${formToken(call)}
${textField('link', 'Link of the mail', html`value="${link}" autocomplete="off" maxlength="2048" required`, 'Copy it here from the mail, or from the address line of your browser.')}
${textField('password', 'New password', html`type="password" autocomplete="new-password" required`)}
<button>Set the password</button>
</form>`
  return page(call, { title: 'Set a new password', content, problem, narrow: true })
}
