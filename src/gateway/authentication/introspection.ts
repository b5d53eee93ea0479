import { hash } from 'node:crypto'
import type { IntrospectionRules } from '../../model/authentication/external-scheme.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { Log } from '../../model/logs/log.ts'
import { visitorOf } from '../../model/network/visitor.ts'
import type { Clock } from '../../model/time/clock.ts'
import { readStrictObject } from '../../oauth/messages/strict-json.ts'
import { SharedBudget } from '../../runtime/shared-budget.ts'
import { RecentCache } from './recent-cache.ts'

export interface IntrospectionParts {
  readonly clock: Clock
  readonly log: Log
  /** Sends a form and answers the body of a 200, within bounds of size and time. Rejects on failure. */
  readonly post: (url: string, form: string) => Promise<Uint8Array>
}

/** The answer of an issuer about a token (RFC 7662 section 2.2): `active` is true or false. */
export type Introspected = JsonObject

/** Half of what the answers weigh that an API remembers. */
const REMEMBERED_BYTES = 4_194_304
/** An answer weighs at least this: its place and its token's hash. */
const ANSWER_BYTES = 1024
/** Requests to one issuer that may be under way, at most half of them for one address; more are turned away at once. */
const MOST_WAITING = 512
/** Half of the addresses from which tokens came that the issuer called active: a part of the requests is kept for them. */
const KNOWN_ADDRESSES = 4_096

interface Remembered {
  readonly answer: Introspected
  /** Monotonic milliseconds. */
  readonly until: number
}

/** Asks one issuer about its tokens, and keeps the answers as long as the API allows. */
export class Introspection {
  readonly #rules: IntrospectionRules
  readonly #parts: IntrospectionParts
  readonly #answers = new RecentCache<Remembered>(REMEMBERED_BYTES)
  readonly #waiting = new Map<string, Promise<Introspected | undefined>>()
  readonly #places = new SharedBudget(MOST_WAITING)
  readonly #known = new RecentCache<true>(KNOWN_ADDRESSES)

  constructor(rules: IntrospectionRules, parts: IntrospectionParts) {
    this.#rules = rules
    this.#parts = parts
  }

  /**
   * The answer of the issuer about a token that came from `client`; undefined when it did not answer as RFC 7662 says, or too many ask, in all
   * or from this address. Requests that come with the same token while it is asked share the answer.
   */
  ask(token: string, client: string): Introspected | undefined | Promise<Introspected | undefined> {
    const place = hash('sha256', token, 'base64')
    const known = this.#rules.cacheMs > 0 ? this.#answers.get(place) : undefined
    if (known !== undefined && known.until > this.#parts.clock.mono()) return known.answer
    const waiting = this.#waiting.get(place)
    if (waiting !== undefined) return waiting
    const address = visitorOf(client)
    const isKnown = this.#known.get(address) === true
    if (!this.#places.take({ address }, 1, 0, isKnown)) return undefined
    const asked = this.#read(token, place).then((answer) => {
      this.#waiting.delete(place)
      this.#places.giveBack({ address }, 1)
      if (answer?.active === true) this.#known.keep(address, true)
      return answer
    })
    this.#waiting.set(place, asked)
    return asked
  }

  async #read(token: string, place: string): Promise<Introspected | undefined> {
    const { url, clientId, clientSecret, cacheMs } = this.#rules
    const { clock, log, post } = this.#parts
    const { host } = URL.parse(url) ?? { host: '' }
    try {
      const form = new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret })
      const bytes = Buffer.from(await post(url, form.toString()))
      const answer = readStrictObject(bytes)
      if (typeof answer?.active !== 'boolean') {
        log.warn({ host }, 'the introspection endpoint does not say whether a token is active')
        return undefined
      }
      if (cacheMs > 0)
        this.#answers.keep(place, { answer, until: clock.mono() + cacheMs }, Math.max(ANSWER_BYTES, bytes.length))
      return answer
    } catch (cause) {
      log.warn({ host, cause }, 'cannot ask an issuer about a token')
      return undefined
    }
  }
}
