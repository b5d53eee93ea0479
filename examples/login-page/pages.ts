import type { WaitingDevice } from './gateway-calls.ts'
import { type Html, html } from './html.ts'
import type { ClientInfo, Visit } from './visits.ts'

/** The meaning of scopes, in the words of the person who is asked. A scope that is missing here is shown by its name. */
const SCOPES = new Map([
  ['orders:read', 'See your orders'],
  ['orders:write', 'Place and change orders for you'],
])

/** A whole page. There is no script in any of them, and the policy that is sent along allows none. */
export function page(title: string, content: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`
}

/** Asks who the person is. `problem`: why the last try failed; '' = first try. */
export function signInPage(visit: Visit, question: string, app: string, problem: string): Html {
  return page(
    'Sign in',
    html`<p>to continue to <strong>${app}</strong></p>
${problem === '' ? '' : html`<p class="problem" role="alert">${problem}</p>`}
<form method="post" action="/sign-in">
${hidden(visit, question)}
<label>Name <input name="name" autocomplete="username" autocapitalize="none" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button>
</form>`,
  )
}

/** Asks whether an app may have what it asks for. */
export function consentPage(visit: Visit, question: string, client: ClientInfo, scope: string): Html {
  return page(
    `${client.name} asks for access`,
    html`${wishes(client.name, scope)}
<form method="post" action="/decide">
${hidden(visit, question)}
<button name="decision" value="allow">Allow</button>
<button name="decision" value="deny" class="quiet">Deny</button>
</form>
${whoIsThere(visit)}`,
  )
}

/** Asks for the code that a device shows. */
export function deviceCodePage(visit: Visit, question: string, userCode: string, problem: string): Html {
  return page(
    'Connect a device',
    html`<p>Type the code that your device shows.</p>
${problem === '' ? '' : html`<p class="problem" role="alert">${problem}</p>`}
<form method="post" action="/device">
${hidden(visit, question)}
<label>Code <input name="user_code" value="${userCode}" autocomplete="off" autocapitalize="characters" maxlength="20" required autofocus></label>
<button>Continue</button>
</form>
${whoIsThere(visit)}`,
  )
}

/** Asks whether a device may have what it asks for. The code is shown, to be compared (RFC 8628 section 5.4). */
export function deviceConsentPage(visit: Visit, question: string, device: WaitingDevice): Html {
  return page(
    `${device.name} asks for access`,
    html`<p>Allow this only if you started it yourself, and your device shows the code <strong class="code">${device.userCode}</strong>.</p>
${wishes(device.name, device.scope)}
<form method="post" action="/device/decide">
${hidden(visit, question)}
<button name="decision" value="allow">Allow</button>
<button name="decision" value="deny" class="quiet">Deny</button>
</form>
${whoIsThere(visit)}`,
  )
}

/** A final message. */
export function messagePage(title: string, message: string): Html {
  return page(title, html`<p>${message}</p>`)
}

function wishes(app: string, scope: string): Html {
  const scopes = scope.split(' ').filter((each) => each !== '')
  if (scopes.length === 0) return html`<p><strong>${app}</strong> wants to know that you are there. Nothing more.</p>`
  return html`<p><strong>${app}</strong> wants to:</p>
<ul>${scopes.map((each) => html`<li>${SCOPES.get(each) ?? each}</li>`)}</ul>`
}

function hidden(visit: Visit, question: string): Html {
  return html`<input type="hidden" name="form_token" value="${visit.formToken}">
<input type="hidden" name="question" value="${question}">`
}

function whoIsThere(visit: Visit): Html {
  return html`<form method="post" action="/sign-out" class="who">
<input type="hidden" name="form_token" value="${visit.formToken}">
<span>Signed in as ${visit.user ?? ''}.</span> <button class="link">Sign out</button>
</form>`
}
