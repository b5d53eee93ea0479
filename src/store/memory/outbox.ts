import type { Millis } from '../../model/time/clock.ts'
import { DEAD_RETENTION_MS, type DeliveryOutcome, type DeliveryRow, type Outbox } from '../ports/ports.ts'
import { hashBytes, wellFormed } from '../prepare/cells.ts'
import type { PreparedDelivery, PreparedSettlement } from '../prepare/prepare-tickets.ts'
import type { Undo } from './order.ts'

/** Messages by id, and of each queue the ids of those that wait. */
export class MemoryOutbox implements Outbox {
  private readonly rows = new Map<number, DeliveryRow>()
  /** In order of id. */
  private readonly waiting = new Map<string, number[]>()
  private lastId = 0

  due(now: Millis, limit: number): DeliveryRow[] {
    const due = this.heads().filter(({ nextAt }) => nextAt <= now)
    return due
      .sort((a, b) => a.nextAt - b.nextAt || a.id - b.id)
      .slice(0, pageSize(limit))
      .map(copy)
  }

  nextAt(): Millis | undefined {
    const times = this.heads().map(({ nextAt }) => nextAt)
    return times.length === 0 ? undefined : times.reduce((least, time) => Math.min(least, time))
  }

  list(query: { queue: string; dead: boolean; after: number; limit: number }): DeliveryRow[] {
    const queue = wellFormed(query.queue)
    const found = [...this.rows.values()].filter(
      (row) => row.queue === queue && row.id > query.after && (row.dead || !query.dead),
    )
    return found
      .sort((a, b) => a.id - b.id)
      .slice(0, pageSize(query.limit))
      .map(copy)
  }

  get(id: number): DeliveryRow | undefined {
    const row = this.rows.get(id)
    return row && copy(row)
  }

  put({ queue, sealed, createdAt }: PreparedDelivery, undo: Undo): void {
    const id = ++this.lastId
    const row = { id, queue, sealed: hashBytes(sealed), createdAt, attempts: 0, nextAt: 0, dead: false, error: '' }
    this.set(id, row, undo)
  }

  /** A message that is not there any more is no error. */
  settle({ id, outcome }: PreparedSettlement, undo: Undo): void {
    const row = this.rows.get(id)
    if (row !== undefined) this.set(id, settled(row, outcome), undo)
  }

  /** Forgets what was given up and is too old by now; answers how many. */
  purge(now: Millis): number {
    let gone = 0
    for (const { id, dead, createdAt } of this.rows.values()) {
      if (!dead || createdAt >= now - DEAD_RETENTION_MS) continue
      this.rows.delete(id)
      gone++
    }
    return gone
  }

  /** Of each queue its oldest message that waits. */
  private heads(): DeliveryRow[] {
    return [...this.waiting.values()].map((ids) => this.rows.get(ids[0]!)!)
  }

  private set(id: number, row: DeliveryRow | undefined, undo: Undo): void {
    const before = this.rows.get(id)
    this.restore(id, row)
    undo.push(() => this.restore(id, before))
  }

  private restore(id: number, row: DeliveryRow | undefined): void {
    const before = this.rows.get(id)
    if (before?.dead === false) this.leave(before)
    if (row?.dead === false) this.wait(row)
    if (row === undefined) this.rows.delete(id)
    else this.rows.set(id, row)
  }

  private wait({ id, queue }: DeliveryRow): void {
    const ids = this.waiting.get(queue)
    if (ids === undefined) this.waiting.set(queue, [id])
    else ids.splice(placeOf(ids, id), 0, id)
  }

  private leave({ id, queue }: DeliveryRow): void {
    const ids = this.waiting.get(queue)!
    ids.splice(placeOf(ids, id), 1)
    if (ids.length === 0) this.waiting.delete(queue)
  }
}

/** The position of an id, or its insertion position. */
function placeOf(ids: readonly number[], id: number): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ids[middle]! < id) low = middle + 1
    else high = middle
  }
  return low
}

function settled(row: DeliveryRow, outcome: DeliveryOutcome): DeliveryRow | undefined {
  switch (outcome.is) {
    case 'delivered':
      return undefined
    case 'failed':
      return { ...row, attempts: row.attempts + 1, nextAt: outcome.nextAt, dead: false, error: outcome.error }
    case 'dead':
      return { ...row, attempts: row.attempts + 1, dead: true, error: outcome.error }
    case 'again':
      return { ...row, attempts: 0, nextAt: outcome.nextAt, dead: false }
  }
}

function copy(row: DeliveryRow): DeliveryRow {
  return { ...row, sealed: row.sealed.slice() }
}

function pageSize(limit: number): number {
  return Math.min(1_000, Math.max(0, Math.floor(limit)))
}
