import type { Configuration } from 'openid-client'
import type { Clock, MonoMillis } from '../../model/time/clock.ts'
import type { IdpMetadata } from './saml-metadata.ts'

interface Entry<Value> {
  readonly value: Promise<Value>
  readonly until: MonoMillis
}

const KEEP_MS = 3_600_000
/** A failure is remembered too, so that callers who come in numbers do not become as many requests elsewhere. */
const KEEP_FAILURE_MS = 5000
const MOST = 200

/** A fetched value, cached for an hour; concurrent callers share one fetch. */
class TimedCache<Value> {
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry<Value>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get(key: string, fetch: () => Promise<Value>): Promise<Value> {
    const known = this.#entries.get(key)
    if (known !== undefined && this.#clock.mono() < known.until) return known.value
    const value = fetch()
    this.#keep(key, value, KEEP_MS)
    value.catch(() => this.#keep(key, value, KEEP_FAILURE_MS))
    return value
  }

  #keep(key: string, value: Promise<Value>, forMs: number): void {
    this.#entries.delete(key)
    this.#entries.set(key, { value, until: this.#clock.mono() + forMs })
    if (this.#entries.size > MOST) this.#entries.delete(this.#entries.keys().next().value!)
  }
}

/** Metadata that identity providers publish, by the version of the identity profile that names them. */
export class ProviderCaches {
  readonly oidc: TimedCache<Configuration>
  readonly saml: TimedCache<IdpMetadata>

  constructor(clock: Clock) {
    this.oidc = new TimedCache(clock)
    this.saml = new TimedCache(clock)
  }
}
