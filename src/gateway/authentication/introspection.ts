import { hash } from 'node:crypto'
import type { IntrospectionRules } from '../../model/authentication/external-scheme.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { Log } from '../../model/logs/log.ts'
import type { Clock } from '../../model/time/clock.ts'
import { readStrictObject } from '../../oauth/messages/strict-json.ts'
import { RecentCache } from './recent-cache.ts'

export interface IntrospectionParts {
  readonly clock: Clock
  readonly log: Log
  /** Sends a form and answers the body of a 200, within bounds of size and time. Rejects on failure. */
  readonly post: (url: string, form: string) => Promise<Uint8Array>
}

/** The answer of an issuer about a token (RFC 7662 section 2.2): `active` is true or false. */
export type Introspected = JsonObject

/** Half of the answers that an API remembers. */
const REMEMBERED = 4_096
/** Requests to one issuer that may be under way; more are turned away at once. */
const MOST_WAITING = 256

interface Remembered {
  readonly answer: Introspected
  /** Monotonic milliseconds. */
  readonly until: number
}

/** Asks one issuer about its tokens, and keeps the answers as long as the API allows. */
export class Introspection {
  readonly #rules: IntrospectionRules
  readonly #parts: IntrospectionParts
  readonly #answers = new RecentCache<Remembered>(REMEMBERED)
  readonly #waiting = new Map<string, Promise<Introspected | undefined>>()

  constructor(rules: IntrospectionRules, parts: IntrospectionParts) {
    this.#rules = rules
    this.#parts = parts
  }

  /**
   * The answer of the issuer about a token; undefined when it did not answer as RFC 7662 says, or too many ask. Requests that come with the same
   * token while it is asked share the answer.
   */
  ask(token: string): Introspected | undefined | Promise<Introspected | undefined> {
    const place = hash('sha256', token, 'base64')
    const known = this.#rules.cacheMs > 0 ? this.#answers.get(place) : undefined
    if (known !== undefined && known.until > this.#parts.clock.mono()) return known.answer
    const waiting = this.#waiting.get(place)
    if (waiting !== undefined) return waiting
    if (this.#waiting.size >= MOST_WAITING) return undefined
    const asked = this.#read(token, place).finally(() => this.#waiting.delete(place))
    this.#waiting.set(place, asked)
    return asked
  }

  async #read(token: string, place: string): Promise<Introspected | undefined> {
    const { url, clientId, clientSecret, cacheMs } = this.#rules
    const { clock, log, post } = this.#parts
    const { host } = URL.parse(url) ?? { host: '' }
    try {
      const form = new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret })
      const answer = readStrictObject(Buffer.from(await post(url, form.toString())))
      if (typeof answer?.active !== 'boolean') {
        log.warn({ host }, 'the introspection endpoint does not say whether a token is active')
        return undefined
      }
      if (cacheMs > 0) this.#answers.keep(place, { answer, until: clock.mono() + cacheMs })
      return answer
    } catch (cause) {
      log.warn({ host, cause }, 'cannot ask an issuer about a token')
      return undefined
    }
  }
}
