import type { DatabaseSync } from 'node:sqlite'
import type { Millis } from '../../../model/time/clock.ts'
import { DEAD_RETENTION_MS } from '../../ports/ports.ts'
import { hashBytes } from '../../prepare/cells.ts'
import type { PreparedDelivery, PreparedSettlement } from '../../prepare/prepare-tickets.ts'

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
