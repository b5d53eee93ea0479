import type { DatabaseSync } from 'node:sqlite'
import { DIMENSIONS } from '../../../model/analytics/dimensions.ts'
import { type HitPack, NO_MINUTE, ROW_NUMBERS, unpackDimensions } from '../../hits/hit-pack.ts'
import { DIMENSION_COLUMNS } from '../../hits/hit-times.ts'
import type { HitBatch } from '../../ports/ports.ts'
import type { HitTables } from './hit-tables.ts'

/** How many sets of dimensions are remembered with their numbers; the oldest go first. About 400 bytes each. */
const KNOWN_DIMENSIONS = 50_000

/** Adds hits inside an open transaction. `forget` must be called after a rollback. */
export interface HitRows {
  add(pack: HitPack): void
  /** Makes sure that these sets of dimensions, their texts one after the other, have a number. */
  number(texts: readonly string[]): void
  forget(): void
}

/** Prepares the statements that add hits to the tables. */
export function hitRows(db: DatabaseSync, tables: HitTables): HitRows {
  const find = db.prepare(findDimensionSql())
  const insert = db.prepare(
    `INSERT INTO hit_dimension(${DIMENSION_COLUMNS.join(', ')}) VALUES (${DIMENSION_COLUMNS.map(() => '?').join(', ')})`,
  )
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
  const dimensionAt = (texts: readonly string[], index: number) =>
    dimensionOf(texts.slice(index * DIMENSIONS.length, (index + 1) * DIMENSIONS.length))
  const values: number[] = new Array(ROW_NUMBERS + 1)
  return {
    add(pack) {
      const texts = unpackDimensions(pack)
      for (let i = 0; i < pack.rows; i++) {
        const numbers = pack.numbers.subarray(i * ROW_NUMBERS, (i + 1) * ROW_NUMBERS)
        values[0] = numbers[0]!
        values[1] = dimensionAt(texts, i)
        for (let n = 1; n < ROW_NUMBERS; n++) values[n + 1] = numbers[n]!
        tables.add(values)
        const minute = pack.minutes[i]!
        if (minute !== NO_MINUTE) tables.addMinute(values, minute)
      }
      tables.flush()
    },
    number(texts) {
      for (let i = 0; i < texts.length / DIMENSIONS.length; i++) dimensionAt(texts, i)
    },
    // Numbers given inside a transaction that was rolled back were never stored.
    forget: () => known.clear(),
  }
}

/** Finds the number of a set of dimensions by its texts. */
export function findDimensionSql(): string {
  return `SELECT row FROM hit_dimension WHERE ${DIMENSION_COLUMNS.map((name) => `${name} = ?`).join(' AND ')}`
}

/** Sources that were not heard of for a week are forgotten: nobody repeats a call for so long. */
const FORGET_SOURCES_S = 604_800

/** Prepares what notes a batch inside an open transaction, and tells whether it was new. */
export function batchKeeper(db: DatabaseSync): (batch: HitBatch | undefined) => boolean {
  const note = db.prepare(`INSERT INTO hit_source(source, number, at) VALUES (?, ?, unixepoch())
    ON CONFLICT (source) DO UPDATE SET number = excluded.number, at = excluded.at WHERE excluded.number > number`)
  const forget = db.prepare('DELETE FROM hit_source WHERE at < unixepoch() - ?')
  return (batch) => {
    if (batch === undefined) return true
    if (batch.number === 1) forget.run(FORGET_SOURCES_S)
    return note.run(batch.source, batch.number).changes === 1
  }
}
