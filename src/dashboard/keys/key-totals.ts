import { hash } from 'node:crypto'
import type { Clock } from '../../model/time/clock.ts'
import type { Feed, SessionFilter, Tokens } from '../../store/ports/ports.ts'

/** Expiring keys raise no event; all other changes do. */
const FRESH_MS = 10_000
const ENTRIES = 200

/**
 * How many keys match a filter, cached until a key or token is written or deleted: paging asks for the same number
 * each time, and counting walks an index, 100 ms where ownership lets through hundreds of APIs and policies.
 */
export class KeyTotals {
  readonly #tokens: Tokens
  readonly #clock: Clock
  readonly #known = new Map<string, { readonly total: number; readonly at: number }>()
  /** Grows with every change: what was counted before it may be the old number. */
  #generation = 0

  constructor(tokens: Tokens, feed: Feed, clock: Clock) {
    this.#tokens = tokens
    this.#clock = clock
    feed.subscribe(({ sessions, missed }) => {
      if (sessions.length === 0 && !missed) return
      this.#generation++
      this.#known.clear()
    })
  }

  /** @throws Fault `store_away` */
  async count(filter: SessionFilter): Promise<number> {
    // With ownership on, a filter names all APIs that are visible to the user.
    const key = hash('sha256', JSON.stringify(filter), 'base64')
    const now = this.#clock.mono()
    const known = this.#known.get(key)
    if (known !== undefined && now - known.at < FRESH_MS) return known.total
    const generation = this.#generation
    const total = await this.#tokens.countSessions(filter)
    if (generation !== this.#generation) return total
    if (this.#known.size >= ENTRIES) this.#known.clear()
    this.#known.set(key, { total, at: now })
    return total
  }
}
