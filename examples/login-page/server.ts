import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Accounts } from './accounts.ts'
import { GatewayCalls, GatewayRefusal } from './gateway-calls.ts'
import { consentPage, deviceCodePage, deviceConsentPage, messagePage, signInPage } from './pages.ts'
import type { LoginSettings } from './settings.ts'
import { type ClientInfo, type Question, Visit, Visits } from './visits.ts'
import { cookieOf, onlyOnce, PageError, readForm, sendElsewhere, sendPage, sendStyle, setCookie } from './web.ts'

/** A login page that is listening. */
export interface LoginPage {
  /** The required value of the API's `authLoginRedirect`. */
  readonly url: string
  close(): Promise<void>
}

/** One request and who makes it. */
interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly query: ReadonlyMap<string, string>
  /** The fields of a POST. */
  readonly form: ReadonlyMap<string, string>
  readonly visit: Visit
}

const WRONG = 'Name or password is wrong.'
const LOCKED = 'Too many wrong passwords. Try again in ten minutes.'

/** Starts the login page on loopback. */
export async function startLoginPage(settings: LoginSettings, accounts: Accounts): Promise<LoginPage> {
  const app = new LoginApp(settings, accounts)
  const server = createServer((request, response) => void app.answer(request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(settings.port, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const address = settings.publicUrl === '' ? `http://127.0.0.1:${port}` : settings.publicUrl
  return { url: `${address}/login`, close: () => closed(server) }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

class LoginApp {
  readonly #gateway: GatewayCalls
  readonly #accounts: Accounts
  readonly #visits = new Visits()
  readonly #secure: boolean
  readonly #cookie: string

  constructor(settings: LoginSettings, accounts: Accounts) {
    this.#gateway = new GatewayCalls(settings)
    this.#accounts = accounts
    this.#secure = settings.publicUrl.startsWith('https:')
    this.#cookie = this.#secure ? '__Host-login' : 'login'
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#route(request, response)
    } catch (error) {
      const known = error instanceof PageError ? error : undefined
      if (known === undefined) console.error('login page:', error instanceof Error ? error.message : error)
      const { status, title, message } =
        known ?? new PageError(502, 'Not now', 'Something went wrong. Try again later.')
      if (!response.headersSent) sendPage(response, status, messagePage(title, message))
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://login.invalid')
    const where = `${request.method} ${url.pathname}`
    if (where === 'GET /style.css') return sendStyle(response)
    // The gateway sends browsers here by 307, so one that posted to the gateway posts here too. All we need is in the query.
    if (where === 'POST /login') return sendElsewhere(response, `/login${url.search}`)
    const action = this.#actions.get(where)
    if (action === undefined) throw new PageError(404, 'Not found', 'There is no such page.')
    const known = this.#visits.find(cookieOf(request, this.#cookie))
    const visit = known ?? this.#visits.add(new Visit())
    if (known === undefined) this.#remember(response, visit)
    const form = request.method === 'POST' ? await readForm(request) : new Map<string, string>()
    if (request.method === 'POST') checkSender(request, visit, form)
    await action({ request, response, query: onlyOnce(url.searchParams), form, visit })
  }

  readonly #actions = new Map<string, (call: Call) => Promise<void> | void>([
    ['GET /login', (call) => this.#begin(call)],
    ['GET /continue', (call) => this.#ask(call, call.query.get('question') ?? '')],
    ['POST /sign-in', (call) => this.#signIn(call)],
    ['POST /sign-out', (call) => this.#signOut(call)],
    ['POST /decide', (call) => this.#decide(call)],
    ['POST /device', (call) => this.#showDevice(call)],
    ['POST /device/decide', (call) => this.#decideDevice(call)],
  ])

  /** A browser arrives: from the gateway with an app's request, or by itself to type a device's code. */
  async #begin(call: Call): Promise<void> {
    const clientId = call.query.get('client_id')
    if (clientId === undefined) {
      const userCode = call.query.get('user_code') ?? ''
      return this.#ask(call, call.visit.ask({ is: 'device', userCode }))
    }
    const client = await this.#gateway.client(clientId)
    if (client === undefined) throw new PageError(400, 'Unknown app', 'The app that sent you here is not known.')
    this.#ask(call, call.visit.ask({ is: 'app', client, params: call.query }))
  }

  #ask({ response, visit }: Call, name: string): void {
    const question = visit.question(name)
    if (question === undefined) throw tooLate()
    if (visit.user === undefined) sendPage(response, 200, signInPage(visit, name, nameOf(question), ''))
    else if (question.is === 'device') sendPage(response, 200, deviceCodePage(visit, name, question.userCode, ''))
    else {
      const { client, params } = question
      const scope = params.get('scope') ?? ''
      sendPage(response, 200, consentPage(visit, name, client, scope), formTargets(client, params))
    }
  }

  async #signIn({ response, visit, form }: Call): Promise<void> {
    const name = form.get('question') ?? ''
    const question = visit.question(name)
    if (question === undefined) throw tooLate()
    const user = form.get('name') ?? ''
    if (!(await this.#accounts.check(user, form.get('password') ?? ''))) {
      const problem = this.#accounts.locked(user) ? LOCKED : WRONG
      return sendPage(response, 403, signInPage(visit, name, nameOf(question), problem))
    }
    this.#visits.end(visit)
    this.#remember(response, this.#visits.add(visit.signedIn(user)))
    sendElsewhere(response, `/continue?question=${name}`)
  }

  #signOut({ response, visit }: Call): void {
    this.#visits.end(visit)
    this.#remember(response, this.#visits.add(new Visit()))
    sendPage(response, 200, messagePage('Signed out', 'You can close this page.'))
  }

  async #decide({ response, visit, form }: Call): Promise<void> {
    const user = signedInUser(visit)
    const question = visit.take(form.get('question') ?? '')
    if (question?.is !== 'app') throw tooLate()
    const decision = form.get('decision') === 'allow' ? { allowedBy: user } : 'denied'
    try {
      sendElsewhere(response, await this.#gateway.conclude(question.params, decision))
    } catch (error) {
      if (!(error instanceof GatewayRefusal)) throw error
      if (error.redirectTo !== undefined) return sendElsewhere(response, error.redirectTo)
      throw new PageError(400, 'Not a valid request', error.message)
    }
  }

  async #showDevice({ request, response, visit, form }: Call): Promise<void> {
    signedInUser(visit)
    const name = form.get('question') ?? ''
    if (visit.question(name)?.is !== 'device') throw tooLate()
    const userCode = form.get('user_code') ?? ''
    try {
      const device = await this.#gateway.device(userCode, addressOf(request))
      visit.take(name)
      const decided = visit.ask({ is: 'device', userCode: device.userCode })
      sendPage(response, 200, deviceConsentPage(visit, decided, device))
    } catch (error) {
      if (!(error instanceof GatewayRefusal)) throw error
      sendPage(response, 400, deviceCodePage(visit, name, userCode, error.message))
    }
  }

  async #decideDevice({ request, response, visit, form }: Call): Promise<void> {
    const username = signedInUser(visit)
    const question = visit.take(form.get('question') ?? '')
    if (question?.is !== 'device') throw tooLate()
    const approve = form.get('decision') === 'allow'
    try {
      await this.#gateway.device(question.userCode, addressOf(request), { approve, username })
    } catch (error) {
      if (error instanceof GatewayRefusal) throw new PageError(400, 'Too late', error.message)
      throw error
    }
    const message = approve ? 'Your device is connected. Go on there.' : 'Your device was turned away.'
    sendPage(response, 200, messagePage(approve ? 'Connected' : 'Denied', message))
  }

  #remember(response: ServerResponse, visit: Visit): void {
    setCookie(response, this.#cookie, visit.id, { secure: this.#secure })
  }
}

/** Refuses forms that are not from a page of ours. @throws PageError 403 */
function checkSender(request: IncomingMessage, visit: Visit, form: ReadonlyMap<string, string>): void {
  const { origin, host } = request.headers
  const foreign = origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host)
  if (foreign || !visit.isFormToken(form.get('form_token') ?? ''))
    throw new PageError(403, 'Not from here', 'Go back to the app and begin again.')
}

function signedInUser(visit: Visit): string {
  if (visit.user === undefined) throw new PageError(403, 'Not signed in', 'Go back to the app and begin again.')
  return visit.user
}

function nameOf(question: Question): string {
  return question.is === 'app' ? question.client.name : 'your device'
}

/** Where the app's answer will take the browser: its origin, or the scheme of an app on the person's machine. */
function formTargets(client: ClientInfo, params: ReadonlyMap<string, string>): string[] {
  const uris = [params.get('redirect_uri') ?? '', ...client.redirectUris].filter((uri) => URL.canParse(uri))
  const targets = uris.map((uri) => new URL(uri)).map(({ origin, protocol }) => (origin === 'null' ? protocol : origin))
  return [...new Set(targets)]
}

function addressOf(request: IncomingMessage): string {
  return (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '')
}

function tooLate(): PageError {
  return new PageError(400, 'Too late', 'This page is out of date. Go back to the app and begin again.')
}
