import { readApiDocument } from './api-document.ts'
import { apiDocumentation } from './api-page.ts'
import { type Call, notFound, type Route } from './call.ts'
import { type Html, html, when } from './html.ts'
import { page } from './layout.ts'
import { markdown } from './markdown.ts'
import { requestForm } from './request-form.ts'
import type { Entry } from './shapes.ts'
import type { Answer } from './web.ts'

const SORTS = { key: 'API key', app: 'OAuth app', open: 'Open to all' } as const

export const catalogueRoutes: readonly Route[] = [
  { method: 'GET', path: '/', for: 'everybody', run: showCatalogue },
  { method: 'GET', path: '/apis/:slug', for: 'everybody', run: showEntry },
]

async function showCatalogue(call: Call): Promise<Answer> {
  if (await isClosed(call)) return { goTo: '/sign-in' }
  const entries = await call.portal.entries()
  const cards = entries.map(
    (entry) => html`<li class="card"><h2><a href="${addressOf(entry)}">${entry.name}</a></h2>
<p>${entry.summary}</p><p class="tags">${tags(entry)}</p></li>`,
  )
  const lead =
    call.member === undefined
      ? 'Read what there is. To get a key, sign up: it takes a minute.'
      : 'Choose one, read how it works, get your key.'
  const content = cards.length === 0 ? html`<p>Nothing is offered yet.</p>` : html`<ul class="cards">${cards}</ul>`
  return { page: page(call, { title: 'APIs', lead, content }) }
}

async function showEntry(call: Call): Promise<Answer> {
  if (await isClosed(call)) return { goTo: `/sign-in?next=${encodeURIComponent(call.address)}` }
  const entry = await entryNamed(call, call.params.get('slug') ?? '')
  return entryAnswer(call, entry)
}

/** The page of an entry; also after a request that was refused. */
export async function entryAnswer(call: Call, entry: Entry, problem = ''): Promise<Answer> {
  const found = entry.documentation === '' ? undefined : await call.portal.documentation(entry.documentation)
  const access = await requestForm(call, entry)
  const content = html`<p class="tags">${tags(entry)}</p>
<div class="split"><div class="main">
${when(entry.description !== '', () => markdown(entry.description, 1))}
${found === undefined ? '' : html`<section aria-labelledby="documentation"><h2 id="documentation">Documentation</h2>${documentationOf(found)}</section>`}
</div>
<aside class="panel" aria-labelledby="access"><h2 id="access">Access</h2>${access}</aside></div>`
  return {
    page: page(call, { title: entry.name, lead: entry.summary, content, problem }),
    status: problem === '' ? 200 : 400,
    // where a request sends the browser on
    formTargets: URL.canParse(entry.redirectTo) ? [new URL(entry.redirectTo).origin] : [],
  }
}

/** An entry of the catalogue by its name in addresses. @throws PageError 404 */
export async function entryNamed({ portal }: Pick<Call, 'portal'>, slug: string): Promise<Entry> {
  const entry = (await portal.entries()).find((each) => each.slug === slug)
  if (entry === undefined) throw notFound('API')
  return entry
}

/** Address of the page of an entry. */
export function addressOf({ slug }: Pick<Entry, 'slug'>): string {
  return `/apis/${encodeURIComponent(slug)}`
}

async function isClosed({ portal, member }: Call): Promise<boolean> {
  return member === undefined && (await portal.rules()).catalogueForMembers
}

function tags({ sort, approval }: Entry): Html {
  const approved = when(sort !== 'open' && approval, () => html` <span class="tag warm">On approval</span>`)
  return html`<span class="tag">${SORTS[sort]}</span>${approved}`
}

function documentationOf({ type, text }: { readonly type: string; readonly text: string }): Html {
  if (type === 'swagger_custom_url' && /^https?:\/\//i.test(text.trim()))
    return html`<p><a href="${text.trim()}" rel="noopener noreferrer">The documentation is elsewhere</a></p>`
  const document = type === 'swagger' ? readApiDocument(text) : undefined
  if (document !== undefined) return apiDocumentation(document)
  if (type === 'markdown') return markdown(text, 2)
  return html`<pre tabindex="0"><code>${text}</code></pre>`
}
