import { setTimeout as wait } from 'node:timers/promises'
import { type Fault, fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { trimTrailing } from '../../model/text/trim-trailing.ts'

const TIMEOUT_MS = 300_000
const TRIES = 3
const RETRY_MS = 300
/** Of calls that a dashboard refuses because there were too many in a minute. */
const MOST_WAITS = 5
const LONGEST_WAIT_S = 60

/** The answer of a dashboard. */
export interface ApiResponse {
  readonly status: number
  readonly json: Json | undefined
  /** Of `Retry-After`: seconds after which the call may be made again; 0 = it says nothing. */
  readonly waitS?: number
}

/** A dashboard as anybody calls it: over HTTP, with the credential of one of its users. */
export class DashboardApi {
  readonly #base: string
  readonly #secret: string
  readonly #stop: AbortSignal | undefined

  /** @throws Fault `option_invalid` for what is no address */
  constructor({ url, secret, stop }: { readonly url: string; readonly secret: string; readonly stop?: AbortSignal }) {
    const parsed = URL.canParse(url) ? new URL(url) : undefined
    if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
      throw fault('option_invalid', `--dashboard: ${url} is no http or https address`)
    if (!/^[\x21-\x7e]+$/.test(secret))
      throw fault('option_invalid', '--secret: is no credential that a header can carry')
    this.#base = parsed.origin + trimTrailing(parsed.pathname, '/')
    this.#secret = secret
    this.#stop = stop
  }

  /** Reads; tried again where nobody answers. @throws Fault `dashboard_away`, `dashboard_refused` with what the dashboard says */
  async get(path: string): Promise<JsonObject> {
    const { json } = accepted('GET', path, await this.ask('GET', path))
    if (!isObject(json)) throw fault('dashboard_refused', `GET ${path}: the answer is no JSON object`)
    return json
  }

  /** Reads what may not be there: undefined then. */
  async find(path: string): Promise<JsonObject | undefined> {
    const response = await this.ask('GET', path)
    // APIs, webhooks and others that are not there are answered with 400.
    if (response.status === 404 || response.status === 400) return undefined
    const { json } = accepted('GET', path, response)
    return isObject(json) ? json : undefined
  }

  /** Writes, once: what may have been done is not done again. @throws Fault as `get` */
  async send(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: JsonObject): Promise<JsonObject> {
    const { json } = accepted(method, path, await this.ask(method, path, body))
    return isObject(json) ? json : {}
  }

  /** Sends one call and returns the response, whatever its status. @throws Fault `dashboard_away` */
  async ask(method: string, path: string, body?: JsonObject): Promise<ApiResponse> {
    let waits = 0
    for (let tries = 1; ; tries++) {
      try {
        const response = await this.#once(method, path, body)
        if (response.status === 429 && (response.waitS ?? 0) > 0 && waits++ < MOST_WAITS) {
          // Refused before anything was done.
          await wait(response.waitS! * 1000)
          tries--
          continue
        }
        const away = response.status === 502 || response.status === 503
        if (!away || method !== 'GET' || tries === TRIES) return response
      } catch (error) {
        if (method !== 'GET' || tries === TRIES || this.#stop?.aborted) throw this.#away(error)
      }
      await wait(RETRY_MS * tries)
    }
  }

  async #once(method: string, path: string, body: JsonObject | undefined): Promise<ApiResponse> {
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    const answer = await fetch(this.#base + path, {
      method,
      headers: {
        authorization: this.#secret,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: timeout,
    })
    const text = await answer.text()
    const waitS = Math.min(Number(answer.headers.get('retry-after') ?? 0) || 0, LONGEST_WAIT_S)
    try {
      return { status: answer.status, json: JSON.parse(text) as Json, waitS }
    } catch {
      return { status: answer.status, json: undefined, waitS }
    }
  }

  #away(error: unknown): Fault {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const why = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : String(cause)
    return fault('dashboard_away', `no dashboard answers at ${this.#base} (${why})`, error)
  }
}

function accepted(method: string, path: string, response: ApiResponse): ApiResponse {
  if (response.status < 300) return response
  const message = isObject(response.json) ? String(response.json.Message ?? response.json.message ?? '') : ''
  const [plain = path] = path.split('?')
  const hint = response.status === 401 ? '; is --secret the API credential of an active user?' : ''
  throw fault(
    'dashboard_refused',
    `${method} ${plain} was answered with ${response.status}: ${message || 'no message'}${hint}`,
  )
}

/** A part of a path. */
export function segment(text: string): string {
  return encodeURIComponent(text)
}

/** The query that names some objects of a list by their ids; '' for all. */
export function idsQuery(ids: readonly string[] | undefined): string {
  if (ids === undefined) return ''
  return `?ids=${encodeURIComponent(ids.map((id) => encodeURIComponent(id)).join(','))}`
}

/** Does the work for every item, a few at a time, and stops at the first that fails. Answers in the order of the items. */
export async function eachOf<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length)
  let next = 0
  const failed: { error?: unknown } = {}
  const hand = async () => {
    while (next < items.length && !('error' in failed)) {
      const at = next++
      try {
        results[at] = await work(items[at]!)
      } catch (error) {
        if (!('error' in failed)) failed.error = error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, hand))
  if ('error' in failed) throw failed.error
  return results
}
