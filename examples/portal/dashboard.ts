/** JSON from outside: every member is checked before it is used. */
export type Json = { readonly [name: string]: unknown }

/** A developer's session at the dashboard, kept on this server. */
export interface PortalSession {
  readonly cookie: string
  readonly csrf: string
}

/** The dashboard's refusal, in words that may be shown. */
export class DashboardRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The caller: the portal itself, a developer's session, or a visitor who has not signed in. */
export type Caller = 'portal' | PortalSession | { readonly visitor: string }

const TIMEOUT_MS = 15_000
const COOKIE = 'portal_session'

/** The way to the dashboard. The API credential stays on this side of it. */
export class Dashboard {
  readonly #url: string
  readonly #credential: string

  constructor({ dashboardUrl, credential }: { readonly dashboardUrl: string; readonly credential: string }) {
    this.#url = dashboardUrl
    this.#credential = credential
  }

  /** Makes a call. `path` begins with a slash, its parts encoded. @throws DashboardRefusal */
  async call(caller: Caller, method: string, path: string, body?: Json): Promise<Json> {
    return (await this.open(caller, method, path, body)).json
  }

  /** Makes a call that may open a session. @throws DashboardRefusal */
  async open(
    caller: Caller,
    method: string,
    path: string,
    body?: Json,
  ): Promise<{ readonly json: Json; readonly cookie: string }> {
    const answer = await fetch(this.#url + path, {
      method,
      headers: { ...this.#headers(caller), ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const json: unknown = await answer.json().catch(() => undefined)
    const read = isJson(json) ? json : {}
    if (!answer.ok)
      throw new DashboardRefusal(answer.status, textIn(read, 'Message') || 'The portal cannot do this now.')
    const set = answer.headers.getSetCookie().map((field) => new RegExp(`^${COOKIE}=([\\w-]+);`).exec(field)?.[1])
    return { json: read, cookie: set.find((value) => value !== undefined) ?? '' }
  }

  #headers(caller: Caller): Record<string, string> {
    if (caller === 'portal') return { Authorization: this.#credential }
    // The dashboard counts failures by address: it must trust this server as a proxy (`dashboard.trusted_proxies`).
    if ('visitor' in caller) return { 'X-Forwarded-For': caller.visitor }
    return { Cookie: `${COOKIE}=${caller.cookie}`, Authorization: caller.csrf }
  }
}

/**
 * A text as one segment of a path. Addresses are tidied before they are sent, and `..` would lead to another call than the one that
 * was meant. @throws DashboardRefusal 404
 */
export function part(text: string): string {
  if (/^(?:\.\.?)?$/.test(text)) throw new DashboardRefusal(404, 'There is no such thing.')
  return encodeURIComponent(text)
}

/** The answer of a call; undefined where nothing is found. Other refusals are passed on. */
export async function orNothing(asked: Promise<Json>): Promise<Json | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof DashboardRefusal && error.status === 404) return undefined
    throw error
  }
}

/** True for an object of JSON. */
export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member as text; '' when it is none. */
export function textIn(json: Json, name: string): string {
  const value = Object.hasOwn(json, name) ? json[name] : undefined
  return typeof value === 'string' ? value : ''
}

/** A member as a number. */
export function numberIn(json: Json, name: string, usual: number): number {
  const value = json[name]
  return typeof value === 'number' ? value : usual
}

/** A member as an object; empty when it is none. */
export function objectIn(json: Json, name: string): Json {
  const value = Object.hasOwn(json, name) ? json[name] : undefined
  return isJson(value) ? value : {}
}

/** The objects of a list. */
export function objectsIn(json: Json, name: string): Json[] {
  const value = json[name]
  return Array.isArray(value) ? value.filter(isJson) : []
}

/** The texts of a list. */
export function textsIn(json: Json, name: string): string[] {
  const value = json[name]
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
