import { type Call, formToken } from './call.ts'
import { type Html, html, when } from './html.ts'

const PLACES = [
  { path: '/', name: 'APIs' },
  { path: '/keys', name: 'Keys' },
  { path: '/apps', name: 'Apps' },
  { path: '/usage', name: 'Usage' },
  { path: '/account', name: 'Account' },
] as const

/** The parts of a page. `lead`: the text below its title. */
export interface PageParts {
  readonly title: string
  readonly lead?: Html | string
  readonly content: Html
  /** The flaw of the form that was sent before. */
  readonly problem?: string
  readonly narrow?: boolean
}

/** A whole page. There is no script in any of them, and the policy that is sent along allows none. */
export function page(call: Call, { title, lead = '', content, problem = '', narrow = false }: PageParts): Html {
  const shownLead = typeof lead === 'string' ? html`<p class="lead">${lead}</p>` : lead
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${call.brand}</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><div class="inner">
<a class="brand" href="/">${mark()}<span>${call.brand}</span></a>
${navigation(call)}
</div></header>
<main id="content" class="${narrow ? 'narrow' : 'wide'}">
${when(call.notice !== '', () => html`<p class="notice" role="status">${call.notice}</p>`)}
<h1>${title}</h1>
${lead === '' ? '' : shownLead}
${when(problem !== '', () => html`<p class="problem" role="alert">${problem}</p>`)}
${content}
</main>
<footer><div class="inner">Built on the portal calls of Gatehouse.</div></footer>
</body>
</html>
`
}

/** A text field with its label. `more`: further attributes. */
export function textField(name: string, label: string, more: Html = html``, hint = ''): Html {
  const id = `field-${name.replace(/[^A-Za-z0-9]+/g, '-')}`
  if (hint === '') return html`<label class="field"><span>${label}</span><input name="${name}" ${more}></label>`
  return html`<div class="field"><label for="${id}">${label}</label><input id="${id}" name="${name}" aria-describedby="${id}-hint" ${more}>
<p class="hint" id="${id}-hint">${hint}</p></div>`
}

/** A form with one button, for what is done with one click. */
export function buttonForm(
  call: Call,
  {
    action,
    label,
    quiet = true,
    fields = {},
  }: { action: string; label: string; quiet?: boolean; fields?: Readonly<Record<string, string>> },
): Html {
  const hidden = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  return html`<form method="post" action="${action}">${formToken(call)}${hidden}<button${quiet ? html` class="quiet"` : ''}>${label}</button></form>`
}

/** Puts an act that cannot be undone behind a first click. */
export function guarded(label: string, warning: string, form: Html): Html {
  return html`<details class="guarded"><summary>${label}</summary><div><p>${warning}</p>${form}</div></details>`
}

/** A date as people read it; '' = never. */
export function dateOf(text: string): Html {
  const at = new Date(text)
  if (text === '' || Number.isNaN(at.getTime())) return html`never`
  const written = at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
  const time = at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' })
  return html`<time datetime="${at.toISOString()}">${written}, ${time} UTC</time>`
}

/** A time in Unix seconds as people read it; 0 = never. */
export function secondsOf(seconds: number): Html {
  return seconds === 0 ? html`never` : dateOf(new Date(seconds * 1000).toISOString())
}

function navigation(call: Call): Html {
  const link = (path: string, name: string) => {
    const here = path === '/' ? call.path === '/' || call.path.startsWith('/apis/') : call.path.startsWith(path)
    return html`<li><a href="${path}"${here ? html` aria-current="page"` : ''}>${name}</a></li>`
  }
  if (call.member === undefined)
    return html`<nav aria-label="Main" class="guest"><ul>${link('/', 'APIs')}</ul>
<ul class="end">${link('/sign-in', 'Sign in')}<li><a class="button" href="/sign-up">Sign up</a></li></ul></nav>`
  return html`<nav aria-label="Main"><ul>${PLACES.map(({ path, name }) => link(path, name))}</ul>
<ul class="end"><li>${buttonForm(call, { action: '/sign-out', label: 'Sign out' })}</li></ul></nav>`
}

function mark(): Html {
  return html`<svg viewBox="0 0 24 24" width="26" height="26" aria-hidden="true"><path d="M3 22V10a9 9 0 0 1 18 0v12h-5V11a4 4 0 0 0-8 0v11z"/></svg>`
}
