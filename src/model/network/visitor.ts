import { createHmac, randomBytes } from 'node:crypto'
import { isIPv6 } from 'node:net'

const MOST_NAMES = 10_000

const MOST_ADDRESSES = 16

/** The addresses that count as one visitor: an IPv4 address, or the first 64 bits of an IPv6 address, whose rest costs nothing. */
export function visitorOf(address: string): string {
  if (!isIPv6(address)) return address
  const [front = '', back] = address.split('%')[0]!.split('::')
  const groups = front === '' ? [] : front.split(':')
  const rest = back === undefined || back === '' ? [] : back.split(':')
  const missing = back === undefined ? 0 : 8 - groups.length - rest.length - (address.includes('.') ? 1 : 0)
  const all = [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...rest]
  if (address.includes('.')) return all.at(-1)!
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

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
