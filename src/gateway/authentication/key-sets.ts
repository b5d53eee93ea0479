import { type KeyFamily, pickKeys, readKeySet, type VerifyKey } from '../../model/authentication/jwt-key.ts'
import type { Log } from '../../model/logs/log.ts'
import type { Clock } from '../../model/time/clock.ts'
import { readStrictObject } from '../../oauth/messages/strict-json.ts'

export interface KeySetParts {
  readonly clock: Clock
  readonly log: Log
  /** Reads a key set from a URL for an organisation ('' = an API's), within bounds of size and time. Rejects on failure. */
  readonly fetch: (url: string, orgId: string) => Promise<Uint8Array>
}

/** A set is not read more often than this, whatever tokens name, and while its address fails. */
const AGAIN_MS = 10_000
/** The same where its own time is over, for which a definition may ask. */
const LEAST_FRESH_MS = 1000
/** While its address fails, a set is good for so long beyond its time: a signer that fell away must not shut everybody out at once. */
const STALE_MS = 3_600_000
const SHARED_SETS = 1_024

/** Where keys for a token are looked up. */
export interface KeySource {
  /**
   * Keys that may have signed a token of this `kid` and `alg`, none when the set has no such key; undefined when no key is known at
   * all, because the set could not be read. Waits for at most one reading of each set.
   */
  candidates(kid: string, alg: string): Candidates | Promise<Candidates>
  /** How long, in milliseconds, a signature is not checked again. */
  readonly freshMs: number
  /** Grows when keys were forgotten: what was checked before then counts no longer. */
  readonly generation: number
}

type Candidates = readonly VerifyKey[] | undefined

/** The one key of a definition. A `kid` cannot choose where there is no choice. */
export function oneKey(key: VerifyKey): KeySource {
  const keys = [key]
  const none: readonly VerifyKey[] = []
  return {
    freshMs: Number.POSITIVE_INFINITY,
    generation: 0,
    candidates: (_kid, alg) => (key.algorithms.includes(alg) ? keys : none),
  }
}

/** Several sets as one: each is asked, in order, until one has a key. */
export function allOf(sources: readonly KeySource[]): KeySource {
  if (sources.length === 1) return sources[0]!
  return {
    freshMs: Math.min(...sources.map(({ freshMs }) => freshMs)),
    get generation() {
      return sources.reduce((sum, { generation }) => sum + generation, 0)
    },
    async candidates(kid, alg) {
      let known: Candidates
      for (const source of sources) {
        const found = await source.candidates(kid, alg)
        if (found !== undefined && found.length > 0) return found
        known ??= found
      }
      return known
    },
  }
}

/** The key sets of others that this node knows, each once for all who take what is signed with it. */
export class KeySets {
  readonly #parts: KeySetParts
  readonly #sets = new Map<string, KeySet>()

  constructor(parts: KeySetParts) {
    this.#parts = parts
  }

  /** The set at an address. Read with the first token, not now. `orgId`: each organisation has its own, as its readings are bounded. */
  at(url: string, family: KeyFamily | '', freshMs: number, orgId = ''): KeySource {
    const name = `${family} ${freshMs} ${orgId} ${url}`
    const fetch = () => this.#parts.fetch(url, orgId)
    const made = this.#sets.get(name) ?? new KeySet({ ...this.#parts, fetch }, url, family, freshMs)
    this.#sets.delete(name)
    this.#sets.set(name, made)
    // APIs keep theirs; only later ones read it themselves.
    if (this.#sets.size > SHARED_SETS) this.#sets.delete(this.#sets.keys().next().value!)
    return made
  }

  /** Forgets all keys: each set is read again with the next token. */
  forget(): void {
    for (const set of this.#sets.values()) set.forget()
  }
}

type KeySetOptions = Omit<KeySetParts, 'fetch'> & { readonly fetch: () => Promise<Uint8Array> }

class KeySet implements KeySource {
  readonly freshMs: number
  readonly #parts: KeySetOptions
  readonly #url: string
  readonly #family: KeyFamily | ''
  generation = 0
  #keys: readonly VerifyKey[] = []
  #readAt = Number.NEGATIVE_INFINITY
  #triedAt = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined

  constructor(parts: KeySetOptions, url: string, family: KeyFamily | '', freshMs: number) {
    this.#parts = parts
    this.#url = url
    this.#family = family
    this.freshMs = freshMs
  }

  candidates(kid: string, alg: string): Candidates | Promise<Candidates> {
    const now = this.#parts.clock.mono()
    const age = now - this.#readAt
    const hasFailed = this.#readAt < this.#triedAt
    if (age >= this.freshMs)
      this.#readAgain(now, hasFailed ? AGAIN_MS : Math.min(AGAIN_MS, Math.max(LEAST_FRESH_MS, this.freshMs)))
    const isKnown = age < this.freshMs + STALE_MS
    if (isKnown && this.#names(kid)) return pickKeys(this.#keys, kid, alg)
    // A key that nobody knows may be a new one: the set is read again, once for all who wait.
    this.#readAgain(now, AGAIN_MS)
    if (this.#reading === undefined) return isKnown ? pickKeys(this.#keys, kid, alg) : undefined
    return this.#reading.then(() => {
      const known = this.#parts.clock.mono() - this.#readAt < this.freshMs + STALE_MS
      return known ? pickKeys(this.#keys, kid, alg) : undefined
    })
  }

  forget(): void {
    this.generation++
    this.#readAt = Number.NEGATIVE_INFINITY
    this.#triedAt = Number.NEGATIVE_INFINITY
  }

  /** True when reading the set again would add nothing for this `kid`: a set without names has no key that a new name could mean. */
  #names(kid: string): boolean {
    if (kid === '' || this.#keys.some((key) => key.kid === kid)) return true
    return this.#keys.length > 0 && this.#keys.every((key) => key.kid === '')
  }

  /** Reads the set, unless another request does or has just tried to. */
  #readAgain(now: number, everyMs: number): void {
    if (this.#reading !== undefined || now - this.#triedAt < everyMs) return
    this.#triedAt = now
    this.#reading = this.#read().finally(() => {
      this.#reading = undefined
    })
  }

  async #read(): Promise<void> {
    const { clock, fetch, log } = this.#parts
    const { generation } = this
    try {
      const set = readStrictObject(Buffer.from(await fetch()))
      const keys = set && readKeySet(set, this.#family)
      if (keys === undefined) {
        log.warn({ host: hostOf(this.#url) }, 'the JWKS URL does not return a key set')
        return
      }
      // An answer to a request from before `forget` may be the state to be forgotten.
      if (generation !== this.generation) return
      this.#keys = keys
      this.#readAt = clock.mono()
    } catch (cause) {
      log.warn({ host: hostOf(this.#url), cause }, 'cannot read a key set')
    }
  }
}

/** Addresses may hold secrets in their path or query. */
function hostOf(url: string): string {
  return URL.parse(url)?.host ?? ''
}
