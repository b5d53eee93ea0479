// A tiny app that wants to use an API for a person: the whole authorization-code journey with PKCE (RFC 7636), `state`, the check
// of `iss` (RFC 9207), a pushed request (RFC 9126) if wanted, a call with the token, and a refresh.
import { hash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Html, html } from './html.ts'
import { page } from './pages.ts'
import { cookieOf, onlyOnce, PageError, readForm, sendElsewhere, sendPage, sendStyle, setCookie } from './web.ts'

export interface AppSettings {
  /** The issuer: address of the API without a slash at its end. */
  readonly issuer: string
  /** The app as it is registered; read when it is needed, since registering needs the app's address. */
  readonly client: () => { readonly id: string; readonly secret: string }
  readonly scope: string
  /** The address that is called with the token, below the issuer. */
  readonly call: string
  /** 0 = any free port. */
  readonly port: number
}

export interface ClientApp {
  readonly url: string
  readonly redirectUri: string
  close(): Promise<void>
}

/** The app's state for one browser. */
interface Journey {
  state: string
  verifier: string
  accessToken: string
  refreshToken: string
}

const COOKIE = 'app'
const TIMEOUT_MS = 10_000
const MAX_JOURNEYS = 1_000

/** Starts the app on loopback. */
export async function startClientApp(settings: AppSettings): Promise<ClientApp> {
  const app = new App(settings)
  const server = createServer((request, response) => void app.answer(request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(settings.port, '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  app.redirectUri = `${url}/callback`
  return {
    url: `${url}/`,
    redirectUri: app.redirectUri,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

class App {
  readonly #settings: AppSettings
  readonly #journeys = new Map<string, Journey>()
  redirectUri = ''

  constructor(settings: AppSettings) {
    this.#settings = settings
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#route(request, response)
    } catch (error) {
      const known = error instanceof PageError ? error : undefined
      if (known === undefined) console.error('app:', error instanceof Error ? error.message : error)
      const { status, title, message } = known ?? new PageError(502, 'Not now', 'The API cannot be reached.')
      if (!response.headersSent) sendPage(response, status, page(title, html`<p>${message}</p>${AGAIN}`))
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.redirectUri)
    const journey = this.#journeys.get(cookieOf(request, COOKIE))
    switch (`${request.method} ${url.pathname}`) {
      case 'GET /style.css':
        return sendStyle(response)
      case 'GET /':
        return sendPage(response, 200, page('A small app', WELCOME))
      case 'GET /start':
        return this.#start(response, url.searchParams.has('pushed'))
      case 'GET /callback':
        return this.#finish(response, journey, onlyOnce(url.searchParams))
      case 'GET /orders':
        return this.#showOrders(response, journey)
      case 'POST /refresh':
        await readForm(request)
        return this.#refresh(response, journey)
      default:
        throw new PageError(404, 'Not found', 'There is no such page.')
    }
  }

  /** Sends the person to the gateway, remembering what the answer must fit. */
  async #start(response: ServerResponse, pushed: boolean): Promise<void> {
    const journey = { state: random(), verifier: random(), accessToken: '', refreshToken: '' }
    const id = random()
    this.#journeys.set(id, journey)
    if (this.#journeys.size > MAX_JOURNEYS) this.#journeys.delete(this.#journeys.keys().next().value!)
    setCookie(response, COOKIE, id, { secure: false })
    const params = new URLSearchParams({
      response_type: 'code',
      client_id: this.#settings.client().id,
      redirect_uri: this.redirectUri,
      scope: this.#settings.scope,
      state: journey.state,
      code_challenge: hash('sha256', journey.verifier, 'base64url'),
      code_challenge_method: 'S256',
    })
    const query = pushed ? await this.#push(params) : params
    sendElsewhere(response, `${this.#settings.issuer}/oauth/authorize?${query}`)
  }

  /** Leaves the parameters at the gateway, so that no browser carries them: what is left is their name. */
  async #push(params: URLSearchParams): Promise<URLSearchParams> {
    const { request_uri: requestUri } = await this.#post('/oauth/par', params)
    return new URLSearchParams({ client_id: this.#settings.client().id, request_uri: String(requestUri) })
  }

  async #finish(
    response: ServerResponse,
    journey: Journey | undefined,
    answer: ReadonlyMap<string, string>,
  ): Promise<void> {
    if (journey === undefined || journey.state === '' || answer.get('state') !== journey.state)
      throw new PageError(400, 'Not asked for', 'This answer belongs to no request of this browser.')
    if (answer.get('iss') !== this.#settings.issuer)
      throw new PageError(400, 'Not asked for', 'This answer comes from another server than the one that was asked.')
    journey.state = ''
    const code = answer.get('code')
    if (code === undefined) {
      const why =
        answer.get('error') === 'access_denied' ? 'You did not allow it.' : `The answer was ${answer.get('error')}.`
      throw new PageError(403, 'No access', why)
    }
    const form = { grant_type: 'authorization_code', code, redirect_uri: this.redirectUri }
    this.#keep(
      journey,
      await this.#post('/oauth/token', new URLSearchParams({ ...form, code_verifier: journey.verifier })),
    )
    sendElsewhere(response, '/orders')
  }

  async #showOrders(response: ServerResponse, journey: Journey | undefined): Promise<void> {
    const { accessToken, refreshToken } = signedIn(journey)
    const answer = await fetch(this.#settings.issuer + this.#settings.call, {
      headers: { Authorization: `Bearer ${accessToken}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const body = await answer.text()
    const more =
      refreshToken === ''
        ? html``
        : html`<form method="post" action="/refresh"><button>Refresh the token</button></form>`
    sendPage(
      response,
      200,
      page(
        'The API answered',
        html`<p>Status ${String(answer.status)}, with the access token <code>${shortened(accessToken)}</code>:</p>
<pre>${body}</pre>${more}${AGAIN}`,
      ),
    )
  }

  async #refresh(response: ServerResponse, journey: Journey | undefined): Promise<void> {
    const known = signedIn(journey)
    const form = { grant_type: 'refresh_token', refresh_token: known.refreshToken }
    this.#keep(known, await this.#post('/oauth/token', new URLSearchParams(form)))
    sendElsewhere(response, '/orders')
  }

  #keep(journey: Journey, tokens: Readonly<Record<string, unknown>>): void {
    journey.accessToken = String(tokens.access_token ?? '')
    journey.refreshToken = String(tokens.refresh_token ?? '')
  }

  /** A call of the authorization server with the app's secret. @throws PageError with the server's reason */
  async #post(path: string, form: URLSearchParams): Promise<Record<string, unknown>> {
    const { id, secret } = this.#settings.client()
    const credentials = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')
    const answer = await fetch(this.#settings.issuer + path, {
      method: 'POST',
      headers: { Authorization: `Basic ${credentials}` },
      body: form,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const body = (await answer.json()) as Record<string, unknown>
    if (!answer.ok) throw new PageError(502, 'Refused', `${body.error}: ${body.error_description ?? ''}`)
    return body
  }
}

const AGAIN: Html = html`<p><a href="/">Begin again</a></p>`
const WELCOME: Html = html`<p>This app shows your orders. They are behind the gateway, so you are asked first.</p>
<p><a href="/start">Show my orders</a></p>
<p><a href="/start?pushed">The same with a pushed request</a></p>`

function signedIn(journey: Journey | undefined): Journey {
  if (journey === undefined || journey.accessToken === '')
    throw new PageError(403, 'Not signed in', 'Begin at the front page.')
  return journey
}

function random(): string {
  return randomBytes(32).toString('base64url')
}

function shortened(token: string): string {
  return `${token.slice(0, 8)}…`
}
