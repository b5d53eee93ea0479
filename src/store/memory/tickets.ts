import { fault } from '../../errors/fault.ts'
import type { Clock, Millis } from '../../model/time/clock.ts'
import type { TicketRow } from '../ports/ports.ts'
import { hashBytes, hashText, wellFormed } from '../prepare/cells.ts'
import { ANY_VERSION, type PreparedClaim, type PreparedTicket } from '../prepare/prepare-tickets.ts'
import type { Undo } from './order.ts'
import { Sweep } from './sweep.ts'

interface Held {
  readonly row: PreparedTicket
  readonly version: number
  /** 0 = not used. */
  readonly claimedAt: Millis
}

/** Tickets of the authorization server by their hash. */
export class MemoryTickets {
  private readonly rows = new Map<string, Held>()
  private readonly families = new Families()
  /** Drops tickets that are no longer found. */
  readonly sweep = new Sweep(
    this.rows,
    ({ row }, now) => row.keepUntil <= now,
    (hash) => this.restore(hash, undefined),
  )
  private readonly clock: Clock

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** One ticket, used and expired ones too, until `keepUntil`. */
  get(hash: Uint8Array): TicketRow | undefined {
    const held = this.rows.get(hashText(hash))
    return held && held.row.keepUntil > this.clock.wall() ? toRow(held) : undefined
  }

  /** The tickets of a family that are found yet. */
  ofFamily(family: string): TicketRow[] {
    const now = this.clock.wall()
    const held = [...this.families.of(wellFormed(family))].sort().map((hash) => this.rows.get(hash)!)
    return held
      .filter(({ row }) => row.keepUntil > now)
      .slice(0, 1000)
      .map(toRow)
  }

  /** @throws Fault `already_exists`, `ticket_unusable` */
  put(ticket: PreparedTicket, undo: Undo): void {
    const { hash, ifAbsent, ifVersion, now } = ticket
    const before = this.rows.get(hash)
    const present = before !== undefined && before.row.keepUntil > now ? before : undefined
    if (ifAbsent && present !== undefined && present.row.expiresAt > now) {
      throw fault('already_exists', 'there is a ticket of this value')
    }
    if (ifVersion !== ANY_VERSION && (present?.version !== ifVersion || present.claimedAt > 0)) {
      throw fault('ticket_unusable', 'the ticket was changed or used before')
    }
    const version = (present?.version ?? 0) + 1
    const claimedAt = ifAbsent ? 0 : (present?.claimedAt ?? 0)
    this.set(hash, { row: ticket, version, claimedAt }, undo)
  }

  /** @throws Fault `ticket_unusable` */
  claim({ hash, sort, now }: PreparedClaim, undo: Undo): void {
    const held = this.rows.get(hash)
    if (held === undefined || held.row.sort !== sort || held.claimedAt > 0 || held.row.expiresAt <= now) {
      throw fault('ticket_unusable', `no ${sort} that can be used`)
    }
    this.set(hash, { ...held, claimedAt: now }, undo)
  }

  delete(hash: string, undo: Undo): void {
    this.set(hash, undefined, undo)
  }

  /** Deletes the tickets of a family. */
  endFamily(family: string, undo: Undo): void {
    for (const hash of this.families.of(family)) this.delete(hash, undo)
  }

  private set(hash: string, held: Held | undefined, undo: Undo): void {
    const before = this.rows.get(hash)
    this.restore(hash, held)
    undo.push(() => this.restore(hash, before))
  }

  private restore(hash: string, held: Held | undefined): void {
    this.families.move(hash, this.rows.get(hash)?.row.family, held?.row.family)
    if (held === undefined) this.rows.delete(hash)
    else this.rows.set(hash, held)
  }
}

function toRow({ row, version, claimedAt }: Held): TicketRow {
  const { sort, apiId, clientId, family, expiresAt, keepUntil } = row
  const hash = hashBytes(row.hash)
  return {
    ...{ hash, sort, apiId, clientId, family, expiresAt, keepUntil, version, claimedAt },
    body: JSON.parse(row.text),
  }
}

/** Which hashes belong to a family. '' is none. */
export class Families {
  private readonly hashes = new Map<string, Set<string>>()

  /** Files a hash under another family than before; '' and undefined = under none. */
  move(hash: string, from: string | undefined, to: string | undefined): void {
    if (from === to) return
    if (from) this.take(from, hash)
    if (to) this.give(to, hash)
  }

  /** All hashes of a family. */
  of(family: string): string[] {
    return [...(this.hashes.get(family) ?? [])]
  }

  private give(family: string, hash: string): void {
    const held = this.hashes.get(family)
    if (held === undefined) this.hashes.set(family, new Set([hash]))
    else held.add(hash)
  }

  private take(family: string, hash: string): void {
    const held = this.hashes.get(family)
    held?.delete(hash)
    if (held?.size === 0) this.hashes.delete(family)
  }
}
