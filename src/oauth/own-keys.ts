import type { KeyObject } from 'node:crypto'
import type { Awaitable, Documents, Feed } from '../store/ports.ts'
import { publicJwk } from './jwk.ts'
import type { StoredRing } from './key-ring.ts'

/**
 * The signing keys of all authorization servers of the installation, the retired ones that this process has seen included. Who
 * verifies a signature learns from it that a token is one of ours, which must stand in the store as well.
 */
export class OwnKeys {
  readonly #documents: Pick<Documents, 'scan'>
  readonly #unsubscribe: () => void
  readonly #kids = new Set<string>()
  readonly #thumbprints = new WeakMap<KeyObject, string>()
  /** Grows when keys were made or rotated: what was read before may lack one. */
  #generation = 0
  #knownAt = -1

  constructor(documents: Pick<Documents, 'scan'>, feed: Feed) {
    this.#documents = documents
    this.#unsubscribe = feed.subscribe(({ changes, missed }) => {
      if (missed || changes.some(({ kind }) => kind === 'oauth_key')) this.#generation++
    })
  }

  /** True when this public key belongs to one of our signing keys; at once when these are known. @throws Fault `store_away` */
  has(key: KeyObject): Awaitable<boolean> {
    const kid = this.#thumbprintOf(key)
    if (kid === '') return false
    if (this.#kids.has(kid)) return true
    return this.#knownAt === this.#generation ? false : this.#read(kid)
  }

  close(): void {
    this.#unsubscribe()
  }

  async #read(kid: string): Promise<boolean> {
    const generation = this.#generation
    for await (const batch of this.#documents.scan('oauth_key'))
      for (const { body } of batch) for (const key of (body as unknown as StoredRing).keys) this.#kids.add(key.kid)
    this.#knownAt = generation
    return this.#kids.has(kid)
  }

  /** '' for a key of a kind that we do not sign with. */
  #thumbprintOf(key: KeyObject): string {
    const known = this.#thumbprints.get(key)
    if (known !== undefined) return known
    const made = couldBeOurs(key) ? publicJwk(key).thumbprint : ''
    this.#thumbprints.set(key, made)
    return made
  }
}

function couldBeOurs({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean {
  if (type === 'ec') return details?.namedCurve === 'prime256v1'
  return type === 'rsa' && details?.modulusLength === 2_048 && details.publicExponent === 65_537n
}
