import type { Clock, Millis } from '../../model/time/clock.ts'
import type { SessionFilter, SessionRow, Tokens } from '../ports/ports.ts'
import type { SessionFacts } from '../prepare/audited.ts'
import { hashBytes, hashText } from '../prepare/cells.ts'
import { pageSize, wholeOffset } from '../prepare/list-query.ts'
import { checkConditions, type PreparedRow, type PreparedSession } from '../prepare/prepare.ts'
import {
  type HashRange,
  keyIndexEntries,
  prepareSessionFilter,
  type SessionRefType,
} from '../prepare/session-filter.ts'
import type { Undo } from './order.ts'
import { Sweep } from './sweep.ts'
import { Families } from './tickets.ts'

interface Held {
  /** Grows with every session made: the order of lists. */
  readonly place: number
  readonly row: PreparedRow
}

/** Sessions by their hash; lists are sorted when asked for. */
export class MemorySessions implements Omit<Tokens, 'getTicket' | 'familyTickets'> {
  private readonly rows = new Map<string, Held>()
  private readonly families = new Families()
  /** Drops rows that are no longer found. */
  readonly sweep = new Sweep(
    this.rows,
    ({ row }, now) => isEvicted(row, now),
    (hash) => this.set(hash, undefined),
  )
  private lastPlace = 0
  private readonly clock: Clock

  constructor(clock: Clock) {
    this.clock = clock
  }

  getSession(hash: Uint8Array): SessionRow | undefined {
    const row = this.rows.get(hashText(hash))?.row
    return row && !isEvicted(row, this.clock.wall()) ? toRow(hashText(hash), row) : undefined
  }

  /** The entry under a hash, a string of bytes, whether it may be forgotten or not. */
  found(hash: string): { text: string; facts: SessionFacts } | undefined {
    const row = this.rows.get(hash)?.row
    if (row === undefined) return undefined
    const { text, orgId, apiIds, policyIds, clientId, evictAt, sealedKey, family } = row
    return { text, facts: { orgId, apiIds, policyIds, clientId, evictAt, sealedKey, family } }
  }

  listSessions(query: SessionFilter & { after?: string; offset?: number; limit: number }): {
    rows: SessionRow[]
    next: string | undefined
  } {
    const after = query.after === undefined ? 0 : this.placeAfter(query.after)
    const found = this.matching(query).filter(({ place }) => place > after)
    const limit = pageSize(query.limit)
    const offset = wholeOffset(query.offset)
    const page = found.sort((a, b) => a.place - b.place).slice(offset, offset + limit)
    const last = page.length < limit ? undefined : page.at(-1)
    return { rows: page.map(({ hash, row }) => toRow(hash, row)), next: last && String(last.place) }
  }

  countSessions(query: SessionFilter): number {
    return this.matching(query).length
  }

  /** @throws Fault `already_exists`, `not_found`, `revision_conflict` */
  put(session: PreparedSession, undo: Undo): void {
    const before = this.rows.get(session.hash)
    checkConditions(session, before?.row.evictAt)
    this.set(session.hash, { place: before?.place ?? ++this.lastPlace, row: session.row })
    undo.push(() => this.set(session.hash, before))
  }

  delete(hash: string, undo: Undo): void {
    const before = this.rows.get(hash)
    this.set(hash, undefined)
    undo.push(() => this.set(hash, before))
  }

  /** Deletes the sessions of a family; answers their hashes. */
  endFamily(family: string, undo: Undo): string[] {
    const hashes = this.families.of(family)
    for (const hash of hashes) this.delete(hash, undo)
    return hashes
  }

  /** Where a page begins: a cursor is a place, a hash has 64 digits. */
  private placeAfter(after: string): number {
    if (after.length < 64) return Number(after) || 0
    return this.rows.get(Buffer.from(after, 'hex').toString('latin1'))?.place ?? 0
  }

  private matching(filter: SessionFilter): (Held & { readonly hash: string })[] {
    const now = this.clock.wall()
    const wanted = prepareSessionFilter(filter)
    const { reach, part, hashes } = wanted
    const isNamed = (hash: string, { alias }: PreparedRow) =>
      part === '' || alias.includes(part) || (hashes !== undefined && isWithin(hashBytes(hash), hashes))
    const meets = (row: PreparedRow) =>
      wanted.refs.every(({ sort, value }) => refsOf(row, sort).includes(value)) &&
      (reach === undefined ||
        row.apiIds.some((id) => reach.apiIds.includes(id)) ||
        row.policyIds.some((id) => reach.policyIds.includes(id)))
    const found = [...this.rows].filter(([hash, { row }]) => !isEvicted(row, now) && meets(row) && isNamed(hash, row))
    return found.map(([hash, held]) => ({ hash, ...held }))
  }

  private set(hash: string, held: Held | undefined): void {
    this.families.move(hash, this.rows.get(hash)?.row.family, held?.row.family)
    if (held === undefined) this.rows.delete(hash)
    else this.rows.set(hash, held)
  }
}

function refsOf(row: PreparedRow, sort: SessionRefType): readonly string[] {
  if (sort === 'api') return row.apiIds
  if (sort === 'policy') return row.policyIds
  if (sort === 'org') return [row.orgId]
  if (sort === 'client') return [row.clientId]
  return row.clientId === '' ? keyIndexEntries(row.orgId) : []
}

function isWithin(hash: Uint8Array, { low, high }: HashRange): boolean {
  return Buffer.compare(hash, low) >= 0 && Buffer.compare(hash, high) <= 0
}

function isEvicted(row: PreparedRow, now: Millis): boolean {
  return row.evictAt > 0 && row.evictAt <= now
}

function toRow(hash: string, row: PreparedRow): SessionRow {
  return {
    hash: hashBytes(hash),
    body: JSON.parse(row.text),
    orgId: row.orgId,
    apiIds: [...row.apiIds],
    policyIds: [...row.policyIds],
    clientId: row.clientId,
    evictAt: row.evictAt,
    ...(row.sealedKey !== '' && { sealedKey: hashBytes(row.sealedKey) }),
    ...(row.family !== '' && { family: row.family }),
  }
}
