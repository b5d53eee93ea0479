import type { KeyObject } from 'node:crypto'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { publicJwk } from './jwk.ts'
import { readJwt } from './jwt.ts'
import type { StoredRing } from './key-ring.ts'
import type { RingCache } from './ring-cache.ts'

/**
 * The signing keys of all authorization servers of the installation as this node knows them, including old ones that it has seen and those that
 * were retired. A verifier learns from it that a token is ours: then the token must be in the store as well.
 */
export class OwnKeys {
  readonly #ringCache: RingCache
  readonly #kids = new Set<string>()
  readonly #retired = new Set<string>()
  readonly #thumbprints = new WeakMap<KeyObject, string>()

  /** `ringCache`: what tokens are signed with and published from on this node. */
  constructor(ringCache: RingCache) {
    this.#ringCache = ringCache
  }

  /** Grows when a key is retired: tokens that were valid before are to be checked again. */
  get retirements(): number {
    return this.#retired.size
  }

  /** Takes over the keys of an organisation as they are stored now. */
  take({ body }: Pick<StoredDocument, 'body'>): void {
    const { keys, retired = [] } = body as unknown as StoredRing
    for (const { kid } of [...keys, ...retired]) this.#kids.add(kid)
    for (const { kid } of retired) this.#retired.add(kid)
    this.#ringCache.forget()
  }

  /** True when this public key belongs to one of our signing keys. */
  has(key: KeyObject): boolean {
    const kid = this.#thumbprintOf(key)
    return kid !== '' && this.#kids.has(kid)
  }

  /** True for an access token that names a retired key. Its signature is not checked. */
  isRetired(token: string): boolean {
    if (this.#retired.size === 0) return false
    const jwt = readJwt(token, ['at+jwt', 'jwt'])
    return typeof jwt !== 'string' && this.#retired.has(String(jwt.header.kid))
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
