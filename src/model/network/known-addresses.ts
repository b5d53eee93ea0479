import { createHmac, randomBytes } from 'node:crypto'

const MOST_NAMES = 10_000
const MOST_ADDRESSES = 16

/**
 * Remembers from where a name signed in, so that guesses from elsewhere do not lock its owner out there. Stored as hashes under
 * a salt of the process; memory is bounded, and only successful sign-ins use it: of too many names the least recent is dropped.
 */
export class KnownAddresses {
  readonly #salt = randomBytes(16)
  readonly #names = new Map<string, readonly string[]>()

  get size(): number {
    return this.#names.size
  }

  /** True when the name was shown from this address. */
  has(name: string, address: string): boolean {
    return this.#names.get(this.#hash([name]))?.includes(this.#hash([name, address])) ?? false
  }

  /** The name was shown from this address. */
  add(name: string, address: string): void {
    const key = this.#hash([name])
    const known = this.#hash([name, address])
    const others = (this.#names.get(key) ?? []).filter((other) => other !== known)
    this.#names.delete(key)
    this.#names.set(key, [known, ...others].slice(0, MOST_ADDRESSES))
    if (this.#names.size > MOST_NAMES) this.#names.delete(this.#names.keys().next().value!)
  }

  #hash(parts: readonly string[]): string {
    return createHmac('sha256', this.#salt).update(JSON.stringify(parts)).digest('base64').slice(0, 22)
  }
}
