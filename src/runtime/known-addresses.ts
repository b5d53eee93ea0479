import { createHmac } from 'node:crypto'
import { ownPlace, type RecentTable, type RecentTables, type TablePlace } from './recent-tables.ts'

const MOST_NAMES = 10_000
const MOST_ADDRESSES = 16
/** Bytes of the hash of an address: as many as a number holds exactly. */
const HASH_BYTES = 6
/** The hash of no address. */
const NONE = -1

/**
 * Remembers from where a name signed in, so that guesses from elsewhere do not lock its owner out there. Stored as hashes under
 * a salt of the process; memory is bounded, and only successful sign-ins use it: of too many names the least recent is dropped.
 */
export class KnownAddresses {
  readonly #tables: RecentTables
  /** By name the hashes of its addresses, the last one first. */
  readonly #names: RecentTable

  constructor({ tables, name }: TablePlace = ownPlace()) {
    this.#tables = tables
    this.#names = tables.table(name, MOST_NAMES, MOST_ADDRESSES)
  }

  get size(): number {
    return this.#names.size
  }

  /** True when the name was shown from this address. */
  has(name: string, address: string): boolean {
    return this.#names.get(this.#keyOf(name))?.includes(this.#hashOf(name, address)) ?? false
  }

  /** The name was shown from this address. */
  add(name: string, address: string): void {
    const [key, known] = [this.#keyOf(name), this.#hashOf(name, address)]
    this.#tables.alone(() => {
      const others = (this.#names.get(key) ?? []).filter((other) => other !== known && other !== NONE)
      const all = [known, ...others].slice(0, MOST_ADDRESSES)
      this.#names.put(key, [...all, ...Array<number>(MOST_ADDRESSES - all.length).fill(NONE)])
    })
  }

  /** However long a name is. */
  #keyOf(name: string): string {
    return this.#hmac([name]).toString('base64')
  }

  #hashOf(name: string, address: string): number {
    return this.#hmac([name, address]).readUIntBE(0, HASH_BYTES)
  }

  #hmac(parts: readonly string[]): Buffer {
    return createHmac('sha256', this.#tables.salt).update(JSON.stringify(parts)).digest()
  }
}
