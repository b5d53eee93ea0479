import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { accountRoutes } from './account.ts'
import { appRoutes } from './apps.ts'
import type { Call, Member, Route } from './call.ts'
import { catalogueRoutes } from './catalogue.ts'
import { Dashboard, DashboardRefusal } from './dashboard.ts'
import { html } from './html.ts'
import { keyRoutes } from './keys.ts'
import { page } from './layout.ts'
import { PortalCalls } from './portal-calls.ts'
import { requestRoutes } from './requests.ts'
import { isId, newId, Sessions } from './sessions.ts'
import type { PortalSettings } from './settings.ts'
import { signInRoutes } from './sign-in.ts'
import { usageRoutes } from './usage.ts'
import { type Answer, cookieOf, onlyOnce, PageError, readForm, send, sendStyle } from './web.ts'

/** A portal that is listening. */
export interface Portal {
  readonly url: string
  close(): Promise<void>
}

const ROUTES: readonly Route[] = [
  ...signInRoutes,
  ...accountRoutes,
  ...catalogueRoutes,
  ...requestRoutes,
  ...keyRoutes,
  ...appRoutes,
  ...usageRoutes,
]

/** Starts the portal on loopback. */
export async function startPortal(settings: PortalSettings): Promise<Portal> {
  const site = new Site(settings)
  const server = createServer((request, response) => void site.answer(request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(settings.port, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const url = settings.publicUrl === '' ? `http://127.0.0.1:${port}` : settings.publicUrl
  return { url, close: () => closed(server) }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

class Site {
  readonly #portal: PortalCalls
  readonly #sessions = new Sessions()
  readonly #settings: PortalSettings
  readonly #secure: boolean
  readonly #cookie: string

  constructor(settings: PortalSettings) {
    this.#settings = settings
    this.#portal = new PortalCalls(new Dashboard(settings))
    this.#secure = settings.publicUrl.startsWith('https:')
    this.#cookie = this.#secure ? '__Host-portal' : 'portal'
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = request.url ?? '/'
    // behind a host of its own, so that `//elsewhere` is a path as well
    const url = new URL(`http://portal.invalid${target.startsWith('/') ? target : '/'}`)
    if (request.method === 'GET' && url.pathname === '/style.css') return sendStyle(response)
    const known = cookieOf(request, this.#cookie)
    const id = isId(known) ? known : newId()
    if (id !== known) response.appendHeader('Set-Cookie', this.#cookieField(id))
    let call = this.#callOf(request, url, id)
    try {
      call = { ...call, member: await this.#memberOf(id) }
      send(response, await this.#route(request, url, id, call))
    } catch (error) {
      const { status, title, message } = shownError(error)
      if (!response.headersSent)
        send(response, { status, page: page(call, { title, content: html`<p>${message}</p>`, narrow: true }) })
    }
  }

  async #route(request: IncomingMessage, url: URL, id: string, bare: Call): Promise<Answer> {
    const found = routeOf(request.method ?? '', url.pathname)
    if (found === undefined) throw new PageError(404, 'Not found', 'There is no such page.')
    const { route, params } = found
    const form = route.method === 'POST' ? await readForm(request) : new Map<string, string>()
    if (route.method === 'POST') this.#checkSender(request, id, form)
    const { member } = bare
    if (route.for === 'member' && member === undefined) {
      const next = route.method === 'GET' ? bare.address : '/'
      return { goTo: `/sign-in?next=${encodeURIComponent(next)}` }
    }
    let notice = ''
    if (member !== undefined && route.method === 'GET') {
      notice = member.session.notice
      member.session.notice = ''
    }
    return route.run({ ...bare, params, query: onlyOnce(url.searchParams), form, notice })
  }

  /** The developer who has signed in, as long as the dashboard agrees. */
  async #memberOf(id: string): Promise<Member | undefined> {
    const session = this.#sessions.find(id)
    if (session === undefined) return undefined
    if (await this.#portal.isOpen(session.portal))
      return { session, developer: await this.#portal.developer(session.developerId) }
    this.#sessions.end(session)
    return undefined
  }

  /** Refuses forms that are not from a page of ours. @throws PageError 403 */
  #checkSender(request: IncomingMessage, id: string, form: ReadonlyMap<string, string>): void {
    const { origin, host } = request.headers
    const own = this.#settings.publicUrl === '' ? host : new URL(this.#settings.publicUrl).host
    const foreign = origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== own)
    if (foreign || !this.#sessions.isFormToken(id, form.get('form_token') ?? ''))
      throw new PageError(
        403,
        'Not from here',
        'This form is out of date. Go back, load the page again, and try once more.',
      )
  }

  #callOf(request: IncomingMessage, url: URL, id: string): Call {
    const nothing = new Map<string, string>()
    const session = this.#sessions.find(id)
    return {
      ...{ portal: this.#portal, brand: this.#settings.brand, member: undefined, notice: '' },
      ...{ address: url.pathname + url.search, path: url.pathname, params: nothing, query: nothing, form: nothing },
      visitor: visitorOf(request, this.#settings.behindProxy),
      formToken: this.#sessions.formToken(id),
      enter: (developerId, portal) => this.#cookieField(this.#sessions.begin(developerId, portal).id),
      leave: () => {
        if (session !== undefined) this.#sessions.end(session)
        return this.#cookieField(newId())
      },
    }
  }

  #cookieField(value: string): string {
    return `${this.#cookie}=${value}; Path=/; HttpOnly; SameSite=Lax${this.#secure ? '; Secure' : ''}`
  }
}

function routeOf(method: string, path: string): { route: Route; params: Map<string, string> } | undefined {
  const given = path.split('/')
  for (const route of ROUTES) {
    const segments = route.path.split('/')
    if (route.method !== method || segments.length !== given.length) continue
    if (!segments.every((segment, i) => segment.startsWith(':') || segment === given[i])) continue
    const params = new Map<string, string>()
    for (const [i, segment] of segments.entries())
      if (segment.startsWith(':')) params.set(segment.slice(1), decoded(given[i]!))
    return { route, params }
  }
  return undefined
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new PageError(400, 'Not a valid address', 'The address of this page is not well written.')
  }
}

/** The part of an error that visitors may read. Refusals of our own credential are for the operator. */
function shownError(error: unknown): PageError {
  if (error instanceof PageError) return error
  if (error instanceof DashboardRefusal && [400, 404, 409, 429].includes(error.status))
    return new PageError(error.status, error.status === 404 ? 'Not found' : 'That did not work', error.message)
  console.error('portal:', error instanceof Error ? error.message : error)
  return new PageError(502, 'Not now', 'Something went wrong. Try again later.')
}

/** The browser's address: that of the connection, or what a proxy in front of us appended last. */
function visitorOf(request: IncomingMessage, behindProxy: boolean): string {
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)!
    .trim()
  if (behindProxy && /^[0-9A-Fa-f.:]{2,45}$/.test(forwarded)) return forwarded
  return (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '')
}
