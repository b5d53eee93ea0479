import type { DeliveryRow, Outbox } from '../../ports/ports.ts'
import { wellFormed } from '../../prepare/cells.ts'
import { pageSize } from '../../prepare/list-query.ts'
import type { Db } from '../connection/db.ts'
import { fromCell, toCell } from '../documents/texts.ts'

type Row = Record<string, unknown>

const COLUMNS = 'd.id, d.dead, d.queue, d.next_at, d.attempts, d.created_at, d.error, d.sealed'

// The queues that have something waiting, found by one look into the index each, however long they are.
const HEADS = `WITH RECURSIVE waiting AS (
    (SELECT queue, id FROM delivery WHERE NOT dead ORDER BY queue, id LIMIT 1)
    UNION ALL
    SELECT n.queue, n.id FROM waiting w CROSS JOIN LATERAL (
      SELECT queue, id FROM delivery WHERE NOT dead AND queue > w.queue ORDER BY queue, id LIMIT 1
    ) n
  )`

/** One row: for how many milliseconds the oldest message that is to be delivered has waited (`waiting_ms`); null = none waits. */
export const OLDEST_WAITING = `${HEADS} SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 - min(d.created_at) AS waiting_ms
  FROM waiting w JOIN delivery d ON d.id = w.id`

/** `Outbox` of a database. */
export function outboxReader(db: Db): Outbox {
  return {
    async due(now, limit) {
      const rows = await db.read<Row>(
        `${HEADS} SELECT ${COLUMNS} FROM waiting w JOIN delivery d ON d.id = w.id
          WHERE d.next_at <= $1 ORDER BY d.next_at, d.id LIMIT $2`,
        [now, pageSize(limit)],
      )
      return rows.map(toDelivery)
    },
    async nextAt() {
      const [row] = await db.read<{ at: number | null }>(
        `${HEADS} SELECT min(d.next_at) AS at FROM waiting w JOIN delivery d ON d.id = w.id`,
      )
      return row?.at ?? undefined
    },
    async list({ queue, dead, after, limit }) {
      const rows = await db.read<Row>(
        `SELECT ${COLUMNS} FROM delivery d WHERE d.queue = $1 AND d.id > $2 AND ${dead ? 'd.dead' : '(d.dead OR NOT d.dead)'}
          ORDER BY d.id LIMIT $3`,
        [toCell(wellFormed(queue)), after, pageSize(limit)],
      )
      return rows.map(toDelivery)
    },
    async get(id) {
      const [row] = await db.read<Row>(`SELECT ${COLUMNS} FROM delivery d WHERE d.id = $1`, [id])
      return row && toDelivery(row)
    },
  }
}

function toDelivery(row: Row): DeliveryRow {
  return {
    id: row.id as number,
    queue: fromCell(row.queue as string),
    sealed: row.sealed as Uint8Array,
    createdAt: row.created_at as number,
    attempts: row.attempts as number,
    nextAt: row.next_at as number,
    dead: row.dead as boolean,
    error: fromCell(row.error as string),
  }
}
