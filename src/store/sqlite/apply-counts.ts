import type { DatabaseSync } from 'node:sqlite'
import { DIMENSIONS, type HitPack, LATENCY_NUMBERS, ROW_NUMBERS, unpackDimensions } from '../hit-pack.ts'
import type { QuotaRow } from '../memory/counters.ts'
import type { HitBatch } from '../ports.ts'
import { latencyColumns } from './schema.ts'

/** How many sets of dimensions are remembered with their numbers; the oldest go first. About 400 bytes each. */
const KNOWN_DIMENSIONS = 50_000
const DIMENSION_COLUMNS = ['org_id', 'api_id', 'version', 'key_hash', 'alias', 'client_id', 'tags', 'endpoint']

/** Adds a pack of hits inside an open transaction, unless its batch is there. `forget` must be called after a rollback. */
export interface HitRows {
  add(pack: HitPack, batch: HitBatch | undefined): void
  forget(): void
}

/** Prepares the statements that add up hits. */
export function hitRows(db: DatabaseSync): HitRows {
  const find = db.prepare(
    `SELECT row FROM hit_dimension WHERE ${DIMENSION_COLUMNS.map((name) => `${name} = ?`).join(' AND ')}`,
  )
  const insert = db.prepare(
    `INSERT INTO hit_dimension(${DIMENSION_COLUMNS.join(', ')}) VALUES (${DIMENSION_COLUMNS.map(() => '?').join(', ')})`,
  )
  const upsert = db.prepare(upsertSql())
  const known = new Map<string, number>()

  const dimensionOf = (texts: readonly string[]): number => {
    const name = texts.join('\0')
    const cached = known.get(name)
    if (cached !== undefined) return cached
    const row = (find.get(...texts)?.row ?? insert.run(...texts).lastInsertRowid) as number
    if (known.size >= KNOWN_DIMENSIONS) known.delete(known.keys().next().value!)
    known.set(name, row)
    return row
  }
  const values: number[] = new Array(ROW_NUMBERS + 1)
  const isNew = batchKeeper(db)
  return {
    add(pack, batch) {
      if (batch !== undefined && !isNew(batch)) return
      const texts = unpackDimensions(pack)
      for (let i = 0; i < pack.rows; i++) {
        const numbers = pack.numbers.subarray(i * ROW_NUMBERS, (i + 1) * ROW_NUMBERS)
        values[0] = numbers[0]!
        values[1] = dimensionOf(texts.slice(i * DIMENSIONS.length, (i + 1) * DIMENSIONS.length))
        for (let n = 1; n < ROW_NUMBERS; n++) values[n + 1] = numbers[n]!
        upsert.run(...values)
      }
    },
    // Numbers given inside a transaction that was rolled back were never stored.
    forget: () => known.clear(),
  }
}

/** Sources that were not heard of for a week are forgotten: nobody repeats a call for so long. */
const FORGET_SOURCES_S = 604_800

/** Prepares what notes a batch, and tells whether it was new. */
function batchKeeper(db: DatabaseSync): (batch: HitBatch) => boolean {
  const note = db.prepare(`INSERT INTO hit_source(source, number, at) VALUES (?, ?, unixepoch())
    ON CONFLICT (source) DO UPDATE SET number = excluded.number, at = excluded.at WHERE excluded.number > number`)
  const forget = db.prepare('DELETE FROM hit_source WHERE at < unixepoch() - ?')
  return ({ source, number }) => {
    if (number === 1) forget.run(FORGET_SOURCES_S)
    return note.run(source, number).changes === 1
  }
}

/** Saves used permits of quotas inside an open transaction; a count of 0 is deleted. */
export type SaveQuotas = (rows: readonly QuotaRow[]) => void

/** Prepares the statements that keep quotas. */
export function quotaSaver(db: DatabaseSync): SaveQuotas {
  const upsert = db.prepare(`INSERT INTO quota(id, used, ends_at) VALUES (?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET used = excluded.used, ends_at = excluded.ends_at`)
  const remove = db.prepare('DELETE FROM quota WHERE id = ?')
  return (rows) => {
    for (const { id, used, endsAt } of rows) {
      if (used > 0) upsert.run(id, used, endsAt)
      else remove.run(id)
    }
  }
}

function upsertSql(): string {
  const counts = ['count', 'success', 'error']
  const latencies = (['t', 'u'] as const).map(latencyColumns)
  const columns = ['hour', 'dimension', 'status', ...counts, 'last_at']
  const sets = counts.map((name) => `${name} = ${name} + excluded.${name}`)
  sets.push('last_at = max(last_at, excluded.last_at)')
  for (const { sum, min, max, buckets } of latencies) {
    columns.push(sum, min, max, ...buckets)
    for (const name of [sum, ...buckets]) sets.push(`${name} = ${name} + excluded.${name}`)
    sets.push(`${min} = min(${min}, excluded.${min})`, `${max} = max(${max}, excluded.${max})`)
  }
  if (columns.length !== ROW_NUMBERS + 1 || latencies[0]!.buckets.length !== LATENCY_NUMBERS - 3) {
    throw new Error('the columns of hits do not fit the numbers of a pack')
  }
  return `INSERT INTO hit(${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
    ON CONFLICT (hour, dimension, status) DO UPDATE SET ${sets.join(', ')}`
}
