import { fault } from '../../errors/fault.ts'
import type { Clock, Millis } from '../../model/clock.ts'
import type { SessionFilter, SessionRow, Tokens } from '../ports.ts'
import { hashBytes, hashText, type PreparedSession, type PreparedSessionDelete, wellFormed } from '../prepare.ts'
import type { Undo } from './order.ts'

interface Held {
  /** Grows with every session made: the order of lists. */
  readonly place: number
  readonly row: PreparedSession
}

/** Sessions by their hash; lists are sorted when asked for. */
export class MemoryTokens implements Tokens {
  private readonly rows = new Map<string, Held>()
  private lastPlace = 0
  private readonly clock: Clock

  constructor(clock: Clock) {
    this.clock = clock
  }

  getSession(hash: Uint8Array): SessionRow | undefined {
    const row = this.rows.get(hashText(hash))?.row
    return row && !isEvicted(row, this.clock.wall()) ? toRow(row) : undefined
  }

  listSessions(query: SessionFilter & { after?: string; limit: number }): {
    rows: SessionRow[]
    next: string | undefined
  } {
    const after = query.after === undefined ? 0 : this.placeAfter(query.after)
    const found = this.matching(query).filter(({ place }) => place > after)
    const limit = Math.min(1_000, Math.max(0, Math.floor(query.limit)))
    const page = found.sort((a, b) => a.place - b.place).slice(0, limit)
    const last = page.length < limit ? undefined : page.at(-1)
    return { rows: page.map(({ row }) => toRow(row)), next: last && String(last.place) }
  }

  countSessions(query: SessionFilter): number {
    return this.matching(query).length
  }

  /** @throws Fault `already_exists`, `not_found` */
  put(session: PreparedSession, undo: Undo): void {
    const before = this.rows.get(session.hash)
    const present = before !== undefined && !isEvicted(before.row, session.now)
    if (present && session.must === 'absent') throw fault('already_exists', 'there is a key of this value')
    if (!present && session.must === 'present') throw fault('not_found', 'no such key')
    this.rows.set(session.hash, { place: before?.place ?? ++this.lastPlace, row: session })
    undo.push(() => this.restore(session.hash, before))
  }

  delete({ hash }: PreparedSessionDelete, undo: Undo): void {
    const before = this.rows.get(hash)
    this.rows.delete(hash)
    undo.push(() => this.restore(hash, before))
  }

  /** Lets go of rows that are due to be forgotten. */
  sweep(): void {
    const now = this.clock.wall()
    for (const [hash, { row }] of this.rows) if (isEvicted(row, now)) this.rows.delete(hash)
  }

  /** Where a page begins: a cursor is a place, a hash has 64 digits. */
  private placeAfter(after: string): number {
    if (after.length < 64) return Number(after) || 0
    return this.rows.get(Buffer.from(after, 'hex').toString('latin1'))?.place ?? 0
  }

  private matching(filter: SessionFilter): Held[] {
    const now = this.clock.wall()
    const orgId = filter.orgId && wellFormed(filter.orgId)
    const apiId = filter.apiId && wellFormed(filter.apiId)
    const policyId = filter.policyId && wellFormed(filter.policyId)
    return [...this.rows.values()].filter(
      ({ row }) =>
        !isEvicted(row, now) &&
        (orgId === undefined || row.orgId === orgId) &&
        (apiId === undefined || row.apiIds.includes(apiId)) &&
        (policyId === undefined || row.policyIds.includes(policyId)),
    )
  }

  private restore(hash: string, held: Held | undefined): void {
    if (held === undefined) this.rows.delete(hash)
    else this.rows.set(hash, held)
  }
}

function isEvicted(row: PreparedSession, now: Millis): boolean {
  return row.evictAt > 0 && row.evictAt <= now
}

function toRow(row: PreparedSession): SessionRow {
  return {
    hash: hashBytes(row.hash),
    body: JSON.parse(row.text),
    orgId: row.orgId,
    apiIds: [...row.apiIds],
    policyIds: [...row.policyIds],
    clientId: row.clientId,
    evictAt: row.evictAt,
    ...(row.sealedKey !== '' && { sealedKey: hashBytes(row.sealedKey) }),
  }
}
