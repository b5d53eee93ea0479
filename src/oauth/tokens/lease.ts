import { toFault } from '../../errors/fault.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import { type Clock, systemClock } from '../../model/time/clock.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { Documents, TicketInput, Tokens } from '../../store/ports/ports.ts'

export interface LeaseParts {
  readonly documents: Documents
  readonly tokens: Tokens
  readonly clock?: Clock
}

/** The lease of a holder that stopped without releasing it expires after this. */
const LASTS_MS = 15_000
/** Then it is made longer, while it is held. */
const RENEWED_AFTER_MS = 5_000

/**
 * The right to do some work for all processes of an installation, such as delivering the outbox. With clocks that differ by
 * more than its length two may hold it at once: the work must be idempotent.
 */
export class Lease {
  readonly #parts: LeaseParts
  readonly #clock: Clock
  readonly #hash: Uint8Array
  /** Of the lease's ticket, while we hold it. */
  #version = 0
  #until = 0

  constructor(parts: LeaseParts, name: string) {
    this.#parts = parts
    this.#clock = parts.clock ?? systemClock
    this.#hash = hashKey(`lease:${name}`)
  }

  /** Takes it where nobody holds it; answers whether it is ours. @throws Fault `store_away`, `store_full` */
  async acquire(): Promise<boolean> {
    const now = this.#clock.wall()
    if (this.#until - now > LASTS_MS - RENEWED_AFTER_MS) return true
    // An expired lease counts as absent.
    const condition = this.#until > now ? { ifVersion: this.#version } : { ifAbsent: true }
    const until = now + LASTS_MS
    try {
      await this.#parts.documents.commit(
        [{ op: 'putTicket', hash: this.#hash, row: ticketUntil(until), ...condition }],
        undefined,
      )
    } catch (error) {
      const { code } = toFault(error)
      this.#until = 0
      if (code === 'already_exists' || code === 'ticket_unusable') return false
      throw error
    }
    this.#version = (await this.#parts.tokens.getTicket(this.#hash))?.version ?? 0
    this.#until = until
    return true
  }

  /** Releases it for the next holder. One that has expired may be another's by now. @throws Fault `store_away`, `store_full` */
  async release(): Promise<void> {
    const isHeld = this.#until > this.#clock.wall()
    this.#until = 0
    if (isHeld) await this.#parts.documents.commit([{ op: 'deleteTicket', hash: this.#hash }], undefined)
  }
}

function ticketUntil(until: number): TicketInput {
  return newTicket('lease', until)
}
