import { isIPv6 } from 'node:net'
import type { Clock, MonoMillis } from '../model/clock.ts'

const MOST_KEYS = 10_000

/** Counts tries by whoever makes them, so that guessing ends. In memory: each node counts for itself. */
export class Tries {
  readonly #clock: Clock
  readonly #windowMs: number
  readonly #keys = new Map<string, { used: number; until: MonoMillis }>()

  /** `windowMs`: how long tries count, from the first one on. */
  constructor(clock: Clock, windowMs: number) {
    this.#clock = clock
    this.#windowMs = windowMs
  }

  /** Takes one try of at most `limit`; false when none is left. Taken before the try, so that many at once are not more. */
  take(key: string, limit: number): boolean {
    const now = this.#clock.mono()
    const known = this.#keys.get(key)
    if (known !== undefined && known.until > now) {
      if (known.used >= limit) return false
      known.used++
      return true
    }
    this.#keys.delete(key)
    if (this.#keys.size >= MOST_KEYS) this.#forgetOldest()
    this.#keys.set(key, { used: 1, until: now + this.#windowMs })
    return true
  }

  /** Milliseconds until the tries of a key are forgotten; 0 = there are none. */
  waitMs(key: string): number {
    return Math.max(0, (this.#keys.get(key)?.until ?? 0) - this.#clock.mono())
  }

  /** Gives a try back that went well. */
  giveBack(key: string): void {
    const known = this.#keys.get(key)
    if (known !== undefined && known.used > 0) known.used--
  }

  #forgetOldest(): void {
    const oldest = this.#keys.keys().next()
    if (!oldest.done) this.#keys.delete(oldest.value)
  }
}

/** What one visitor holds of addresses: an IPv4 address, or the first 64 bits of an IPv6 address, whose rest costs nothing. */
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
