import type { DatabaseSync } from 'node:sqlite'
import type { Millis } from '../../../model/time/clock.ts'
import { DEAD_RETENTION_MS, type DeliveryRow, type Outbox } from '../../ports/ports.ts'
import { hashBytes, wellFormed } from '../../prepare/cells.ts'
import { pageSize } from '../../prepare/list-query.ts'
import type { PreparedDelivery, PreparedSettlement } from '../../prepare/prepare-tickets.ts'
import { reading } from '../connection/faults.ts'

const COLUMNS = 'id, dead, queue, next_at, attempts, created_at, error, sealed'

// The queues that have something waiting, found by one look into the index each, however long they are.
const HEADS = `WITH RECURSIVE waiting(queue) AS (
    SELECT min(queue) FROM delivery WHERE dead = 0
    UNION ALL
    SELECT (SELECT min(d.queue) FROM delivery d WHERE d.dead = 0 AND d.queue > waiting.queue)
      FROM waiting WHERE waiting.queue IS NOT NULL
  ), head(id) AS (
    SELECT (SELECT min(d.id) FROM delivery d WHERE d.dead = 0 AND d.queue = waiting.queue)
      FROM waiting WHERE waiting.queue IS NOT NULL
  )`

/** Reads when the oldest message that is to be delivered was accepted; undefined where none waits. */
export function oldestWaiting(db: DatabaseSync): () => Millis | undefined {
  const oldest = db.prepare(`${HEADS} SELECT min(created_at) AS at FROM head JOIN delivery USING (id)`)
  return () => reading(() => (oldest.get()!.at ?? undefined) as Millis | undefined)
}

/** `Outbox` on a connection of this thread: answers at once. */
export function outboxReader(db: DatabaseSync): Outbox {
  const due = db.prepare(`${HEADS} SELECT ${COLUMNS} FROM head JOIN delivery USING (id)
    WHERE next_at <= ? ORDER BY next_at, id LIMIT ?`)
  const nextAt = db.prepare(`${HEADS} SELECT min(next_at) AS at FROM head JOIN delivery USING (id)`)
  const part = (dead: 0 | 1) => `SELECT * FROM (SELECT ${COLUMNS} FROM delivery
    WHERE dead = ${dead} AND queue = ?1 AND id > ?2 ORDER BY id LIMIT ?3)`
  const all = db.prepare(`${part(0)} UNION ALL ${part(1)} ORDER BY id LIMIT ?3`)
  const dead = db.prepare(part(1))
  const one = db.prepare(`SELECT ${COLUMNS} FROM delivery WHERE id = ?`)
  return {
    due: (now, limit) => reading(() => due.all(now, pageSize(limit)).map(toDelivery)),
    nextAt: () => reading(() => (nextAt.get()!.at ?? undefined) as number | undefined),
    list(query) {
      const values = [wellFormed(query.queue), query.after, pageSize(query.limit)] as const
      return reading(() => (query.dead ? dead : all).all(...values).map(toDelivery))
    },
    get: (id) =>
      reading(() => {
        const row = one.get(id)
        return row && toDelivery(row)
      }),
  }
}

function toDelivery(row: Record<string, unknown>): DeliveryRow {
  return {
    id: row.id as number,
    queue: row.queue as string,
    sealed: row.sealed as Uint8Array,
    createdAt: row.created_at as number,
    attempts: row.attempts as number,
    nextAt: row.next_at as number,
    dead: row.dead === 1,
    error: row.error as string,
  }
}

export interface DeliveryRows {
  put(delivery: PreparedDelivery): void
  /** A message that is not there any more is no error. */
  settle(settlement: PreparedSettlement): void
  /** Deletes at most so many of those that were given up and are too old by now; answers how many. */
  purge(now: Millis, limit: number): number
}

/** Prepares the statements that write the outbox inside an open transaction. */
export function deliveryRows(db: DatabaseSync): DeliveryRows {
  const insert = db.prepare(`INSERT INTO delivery(dead, queue, next_at, attempts, created_at, error, sealed)
    VALUES (0, ?, 0, 0, ?, '', ?)`)
  const remove = db.prepare('DELETE FROM delivery WHERE id = ?')
  const failed = db.prepare(
    'UPDATE delivery SET dead = 0, attempts = attempts + 1, next_at = ?, error = ? WHERE id = ?',
  )
  const died = db.prepare('UPDATE delivery SET dead = 1, attempts = attempts + 1, error = ? WHERE id = ?')
  const again = db.prepare('UPDATE delivery SET dead = 0, attempts = 0, next_at = ? WHERE id = ?')
  const purge = db.prepare(
    'DELETE FROM delivery WHERE id IN (SELECT id FROM delivery WHERE dead = 1 AND created_at < ? LIMIT ?)',
  )
  return {
    purge: (now, limit) => purge.run(now - DEAD_RETENTION_MS, limit).changes as number,
    put({ queue, createdAt, sealed }) {
      insert.run(queue, createdAt, hashBytes(sealed))
    },
    settle({ id, outcome }) {
      if (outcome.is === 'delivered') remove.run(id)
      else if (outcome.is === 'failed') failed.run(outcome.nextAt, outcome.error, id)
      else if (outcome.is === 'dead') died.run(outcome.error, id)
      else again.run(outcome.nextAt, id)
    },
  }
}
