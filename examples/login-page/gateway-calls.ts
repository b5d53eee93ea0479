import type { LoginSettings } from './settings.ts'
import type { ClientInfo } from './visits.ts'

/** A device that waits for its user (RFC 8628). */
export interface WaitingDevice {
  readonly userCode: string
  readonly name: string
  readonly scope: string
}

/** The gateway's refusal, in words for the person. `redirectTo`: where the app learns of it. */
export class GatewayRefusal extends Error {
  readonly redirectTo: string | undefined

  constructor(message: string, redirectTo?: string) {
    super(message)
    this.redirectTo = redirectTo
  }
}

/**
 * The parameters of an authorization request. Only these are handed back: a request may carry anything else, for example a `username` or
 * `key_rules` of its own, which would then look as if this page had set them.
 */
const REQUEST_PARAMS = [
  ...['response_type', 'response_mode', 'client_id', 'redirect_uri', 'scope', 'state', 'nonce'],
  ...['code_challenge', 'code_challenge_method', 'dpop_jkt'],
]
const TIMEOUT_MS = 10_000

/** The calls that an identity server makes. They carry the gateway's secret, so they are made from here, never by a browser. */
export class GatewayCalls {
  readonly #settings: LoginSettings

  constructor(settings: LoginSettings) {
    this.#settings = settings
  }

  /** Reads the registration of an app; undefined when the API knows no such app. */
  async client(clientId: string): Promise<ClientInfo | undefined> {
    const { adminUrl, apiId } = this.#settings
    const path = `/svc/oauth/clients/${encodeURIComponent(apiId)}/${encodeURIComponent(clientId)}`
    const { status, body } = await this.#send(adminUrl + path)
    if (status === 404) return undefined
    if (status !== 200) throw new GatewayRefusal('The gateway cannot be asked at the moment.')
    const uris = Array.isArray(body.redirect_uris) ? body.redirect_uris : [body.redirect_uri]
    return {
      clientId,
      name: textOf(body.description) || clientId,
      redirectUris: uris.map(textOf).filter((uri) => uri !== ''),
    }
  }

  /**
   * Ends an authorization: the app gets a code for what this person allowed, or learns that they refused.
   * Returns where the browser goes next. @throws GatewayRefusal
   */
  async conclude(
    params: ReadonlyMap<string, string>,
    decision: { readonly allowedBy: string } | 'denied',
  ): Promise<string> {
    const form = new URLSearchParams()
    for (const name of REQUEST_PARAMS) {
      const value = params.get(name)
      if (value !== undefined) form.set(name, value)
    }
    // A pushed request (RFC 9126) is named, not repeated. The scope that was shown still goes along: nothing else was allowed.
    const requestUri = params.get('request_uri')
    if (requestUri !== undefined) form.set('request_uri', requestUri)
    if (decision === 'denied') form.set('error', 'access_denied')
    else form.set('username', decision.allowedBy)
    const { status, body } = await this.#send(`${this.#settings.apiUrl}svc/oauth/authorize-client`, form)
    const redirectTo = textOf(body.redirect_to)
    if (status === 200 && redirectTo !== '') return redirectTo
    throw new GatewayRefusal(textOf(body.error_description) || 'This request is not valid.', redirectTo || undefined)
  }

  /**
   * Shows or decides what a device asks for. `userAddress` makes the gateway count wrong codes per person.
   * @throws GatewayRefusal for a code that nobody waits with
   */
  async device(
    userCode: string,
    userAddress: string,
    decision?: { readonly approve: boolean; readonly username: string },
  ): Promise<WaitingDevice> {
    const form = new URLSearchParams({ user_code: userCode, user_address: userAddress })
    if (decision !== undefined) form.set('decision', decision.approve ? 'approve' : 'deny')
    if (decision?.approve === true) form.set('username', decision.username)
    const { status, body } = await this.#send(`${this.#settings.apiUrl}svc/oauth/authorize-client`, form)
    if (status !== 200) throw new GatewayRefusal(textOf(body.error_description) || 'No device waits with this code.')
    return {
      userCode: textOf(body.user_code),
      name: textOf(body.description) || textOf(body.client_id),
      scope: textOf(body.scope),
    }
  }

  async #send(url: string, form?: URLSearchParams): Promise<{ status: number; body: Record<string, unknown> }> {
    const answer = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      headers: { 'X-Svc-Authorization': this.#settings.secret },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(form !== undefined && { body: form }),
    })
    const body: unknown = await answer.json().catch(() => undefined)
    return {
      status: answer.status,
      body: typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {},
    }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
