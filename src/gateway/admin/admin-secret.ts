import type { BlockList } from 'node:net'
import { fault, waitFault } from '../../errors/fault.ts'
import { visitorOf } from '../../model/network/visitor.ts'
import { bearerToken, equalSecrets } from '../../model/secrets/secret.ts'
import type { Clock } from '../../model/time/clock.ts'
import { AdminSecretThrottle } from '../../runtime/admin-secret-throttle.ts'
import type { RecentTables } from '../../runtime/recent-tables.ts'
import type { Fields } from '../../wire/http1/fields.ts'
import { findClientAddress } from '../server/client-address.ts'
import type { Exchange } from '../server/exchange.ts'

/** Secrets that may change while a gateway runs. */
export interface ChangingSecrets {
  /** The values of `X-Svc-Authorization` that are accepted now. */
  readonly secrets: () => readonly string[]
  /** The secrets of scrapers that are accepted now; absent = that of the settings. */
  readonly scraperSecrets?: () => readonly string[]
  /** The initial access tokens of registrations that are accepted now; absent = that of the settings. */
  readonly registrationTokens?: () => readonly string[]
}

export interface SecretGateParts {
  /** Those that are accepted now. */
  readonly secrets: () => readonly string[]
  /** Open the metrics page alone: those that are accepted now; none = scrapers have no secret. */
  readonly scraperSecrets: () => readonly string[]
  /** The words that mean `svc`, that first. */
  readonly words: readonly string[]
  readonly trustedProxies: BlockList | undefined
  readonly clock: Clock
  /** In which failed attempts are counted. */
  readonly tables: RecentTables
}

/** Authorises calls by the gateway secret, on any port and path. One for a node, since it counts failed attempts. */
export class SecretGate {
  readonly #secrets: () => readonly string[]
  readonly #scraperSecrets: () => readonly string[]
  readonly #headers: readonly string[]
  readonly #trustedProxies: BlockList | undefined
  readonly #brake: AdminSecretThrottle

  /** Under an alias that is not configured, a client may still send the secret: alone, after a scheme (`Bearer`), quoted or in a list. */
  readonly #holdsSecret = (name: string, value: string): boolean =>
    this.#headers.includes(name) || this.#secrets().some((secret) => isAmong(secret, value))

  constructor({ secrets, scraperSecrets, words, trustedProxies, clock, tables }: SecretGateParts) {
    this.#secrets = secrets
    this.#scraperSecrets = scraperSecrets
    this.#headers = words.map((word) => `x-${word}-authorization`)
    this.#trustedProxies = trustedProxies
    this.#brake = new AdminSecretThrottle(clock, { tables, name: 'gateway' })
  }

  /** Removes the secret, and that of the dashboard, from fields of a request that is forwarded to an API. */
  hide(fields: Fields): void {
    fields.eraseAdministration(this.#holdsSecret)
  }

  /**
   * True when the request shows the secret, false when it shows none or another one.
   * @throws Fault `request_malformed` when it is given several times, `secret_throttled` (429) where too many wrong ones came
   */
  knows(x: Exchange): boolean {
    const [given, second] = this.#headers.flatMap((header) => x.request.all(header))
    if (second !== undefined)
      throw fault('request_malformed', `${this.#headers[0]} given several times: send one credential`)
    return given !== undefined && given !== '' && this.#isRight(x, given, this.#secrets())
  }

  /**
   * True when the request may read the metrics page: it shows the secret, or that of scrapers as a bearer token. Throws as `knows`.
   */
  knowsScraper(x: Exchange): boolean {
    const [field, second] = x.request.all('authorization')
    const given = second === undefined ? bearerToken(field) : undefined
    const accepted = this.#scraperSecrets()
    if (given === undefined || accepted.length === 0) return this.knows(x)
    return this.#isRight(x, given, accepted)
  }

  #isRight(x: Exchange, given: string, secrets: readonly string[]): boolean {
    // Our own paths are answered before the client is looked for.
    findClientAddress(x, this.#trustedProxies)
    const right = secrets.some((secret) => secret !== '' && equalSecrets(given, secret))
    const waitMs = this.#brake.waitMs(visitorOf(x.clientAddress), right)
    if (waitMs > 0) throw waitFault('secret_throttled', waitMs)
    return right
  }
}

/** True where the text is the secret, or it is a word of it. */
function isAmong(secret: string, value: string): boolean {
  if (secret === '') return false
  const parts = value.split(/[\s,;="']+/).filter(({ length }) => length === secret.length)
  return [value, ...parts].some((part) => equalSecrets(part, secret))
}
