import { type Call, formToken } from './call.ts'
import { type Html, html, when } from './html.ts'
import { dateOf, textField } from './layout.ts'
import type { Entry } from './shapes.ts'

/** The prefix of fields that the portal asks for: a form has fields of our own as well. */
export const FIELD = 'field:'

/** The offer of an entry to the person who looks at it: a form, or the access that they have already. */
export async function requestForm(call: Call, entry: Entry): Promise<Html> {
  const { member, portal } = call
  if (entry.sort === 'open') return html`<p>This API asks for no key. Just call it.</p>`
  if (member === undefined)
    return html`<p>To get ${wanted(entry)} you need an account.</p>
<p><a class="button" href="/sign-in?next=${encodeURIComponent(call.address)}">Sign in</a></p>
<p class="hint">Or <a href="/sign-up">sign up</a>.</p>`
  const { developer } = member
  const [keys, wishes] = await Promise.all([portal.keys(developer.id), portal.waiting(developer.id)])
  const key = keys.find(({ policies, status }) => policies.includes(entry.policyId) && status !== 'rotated')
  if (key !== undefined)
    return html`<p>You have a key for this API.</p><p><a class="button" href="/keys/${key.id}">Open it</a></p>`
  const wish = wishes.find(({ policies }) => policies.includes(entry.policyId))
  if (wish !== undefined)
    return html`<p>You asked on ${dateOf(wish.created)}. Somebody is looking at it.</p><p><a href="/keys">Your requests</a></p>`
  return emptyForm(call, entry)
}

function emptyForm(call: Call, entry: Entry): Html {
  const given = (name: string) => call.form.get(name) ?? ''
  const asked = entry.fields.map(({ name, needed }) =>
    textField(FIELD + name, name, html`value="${given(FIELD + name)}" maxlength="4096" ${needed ? 'required' : ''}`),
  )
  return html`<form method="post" action="/apis/${encodeURIComponent(entry.slug)}/request">${formToken(call)}
${when(
  entry.sort === 'app',
  () => html`${textField('app_name', 'Name of your app', html`value="${given('app_name')}" maxlength="200" required`)}
${textField('redirect_uri', 'Redirect URI', html`type="url" value="${given('redirect_uri')}" maxlength="2000" placeholder="https://app.example/callback" required`, 'Where people come back to after they allowed your app.')}
${textField('use_case', 'What it is for', html`value="${given('use_case')}" maxlength="2000"`)}`,
)}
${asked}
<button>${entry.approval ? 'Ask for' : 'Get'} ${wanted(entry)}</button>
${when(entry.approval, () => html`<p class="hint">Somebody looks at your request first. You get a mail.</p>`)}
</form>`
}

const wanted = ({ sort }: Entry) => (sort === 'app' ? 'an app' : 'a key')
