import type { DatabaseSync } from 'node:sqlite'
import { DIMENSIONS } from '../../../model/analytics/dimensions.ts'
import { MINUTES_PER_HOUR } from '../../../model/analytics/hit.ts'
import { type HitPack, NO_MINUTE, ROW_NUMBERS, unpackDimensions } from '../../hits/hit-pack.ts'
import {
  DIMENSION_COLUMNS,
  type HitTable,
  HOURS_PER_DAY,
  MINUTE_TABLE,
  NOT_BY_MINUTE,
  OF_CALLERS,
} from '../../hits/hit-times.ts'
import type { HitBatch } from '../../ports/ports.ts'
import { inTransaction } from '../migrations/schema.ts'
import { addHitSql, HIT_COLUMNS, mergeHitValues } from './hit-columns.ts'
import { type HitMonths, hitMonths } from './hit-months.ts'

const DAY_MS = 86_400_000
/** How many sets of dimensions are cached by their numbers; about 100 bytes each. */
const KNOWN = 50_000
/** Adds up hits in all tables that hold them. Everything inside an open transaction, before whose end `flush` must be called. */
export interface HitTables {
  /** Adds one row to all hours, days and months, with a value for each of `HIT_COLUMNS`; the array is not kept. */
  add(values: readonly number[]): void
  /** Adds one row to the minutes alone. `minute`: of its hour. */
  addMinute(values: readonly number[], minute: number): void
  /** Writes what `add` has gathered. */
  flush(): void
  /** Must be called after a rollback, and when sets of dimensions were deleted. */
  forget(): void
  readonly months: HitMonths
}

interface Use {
  readonly coarse: number
  lastDay: number
}

/** Prepares the statements. `nowMs`: the clock of the machine. */
export function hitTables(
  db: DatabaseSync,
  nowMs: () => number = Date.now,
  months: HitMonths = hitMonths(db),
): HitTables {
  const hours = db.prepare(addHitSql('hit'))
  const days = db.prepare(addHitSql('hit_day'))
  const uses = dimensionUses(db)
  const apiHours = gathering(db, 'hit_api')
  const apiDays = gathering(db, 'hit_api_day')
  const minutes = gathering(db, MINUTE_TABLE)
  const today = () => Math.floor(nowMs() / DAY_MS)
  const values: number[] = new Array(HIT_COLUMNS.length)
  return {
    months,
    add(row) {
      const [hour = 0, dimension = 0] = row
      const day = Math.floor(hour / HOURS_PER_DAY)
      hours.run(...row)
      for (let i = 0; i < row.length; i++) values[i] = row[i]!
      values[0] = day
      days.run(...values)
      months.add(values)
      values[1] = uses.touch(dimension, today())
      apiDays.add(values)
      values[0] = hour
      apiHours.add(values)
    },
    addMinute(row, minute) {
      const [hour = 0, dimension = 0] = row
      for (let i = 0; i < row.length; i++) values[i] = row[i]!
      values[0] = hour * MINUTES_PER_HOUR + minute
      values[1] = uses.ofMinutes(dimension, today())
      minutes.add(values)
    },
    flush() {
      minutes.flush()
      apiHours.flush()
      apiDays.flush()
    },
    forget() {
      uses.forget()
      months.forget()
      minutes.forget()
      apiHours.forget()
      apiDays.forget()
    },
  }
}

/** Rows of one table that are added up in memory first: one row represents many sets of dimensions. */
function gathering(db: DatabaseSync, table: HitTable) {
  const upsert = db.prepare(addHitSql(table))
  const rows = new Map<string, number[]>()
  return {
    add(values: readonly number[]): void {
      const name = `${values[0]} ${values[1]} ${values[2]}`
      const sum = rows.get(name)
      if (sum === undefined) rows.set(name, values.slice())
      else mergeHitValues(sum, values)
    },
    flush(): void {
      for (const sum of rows.values()) upsert.run(...sum)
      rows.clear()
    },
    forget: () => rows.clear(),
  }
}

/** The representative of each set of dimensions in `hit_api`, and when each was used last. */
function dimensionUses(db: DatabaseSync) {
  const find = db.prepare(`SELECT u.coarse, u.last_day FROM hit_dimension_use u
    JOIN hit_dimension d ON d.row = u.coarse WHERE u.dimension = ?`)
  const texts = db.prepare(`SELECT ${DIMENSION_COLUMNS.join(', ')} FROM hit_dimension WHERE row = ?`)
  const findSet = db.prepare(
    `SELECT row FROM hit_dimension WHERE ${DIMENSION_COLUMNS.map((name) => `${name} = ?`).join(' AND ')}`,
  )
  const insertSet = db.prepare(
    `INSERT INTO hit_dimension(${DIMENSION_COLUMNS.join(', ')}) VALUES (${DIMENSION_COLUMNS.map(() => '?').join(', ')})`,
  )
  const save = db.prepare(`INSERT INTO hit_dimension_use(dimension, coarse, last_day) VALUES (?, ?, ?)
    ON CONFLICT (dimension) DO UPDATE SET coarse = excluded.coarse, last_day = excluded.last_day`)
  const known = new Map<number, Use>()
  const minuteSets = new Map<number, number>()

  /** Number of the set without some dimensions; the set itself when it is gone, so that its hits go with it. */
  const setWithout = (dimension: number, blank: readonly string[]): number => {
    const found = texts.get(dimension)
    if (found === undefined) return dimension
    const set = DIMENSION_COLUMNS.map((name, i) => (blank.includes(DIMENSIONS[i]!) ? '' : String(found[name])))
    return (findSet.get(...set)?.row ?? insertSet.run(...set).lastInsertRowid) as number
  }
  const knownUse = (dimension: number): Use => {
    const cached = known.get(dimension)
    if (cached !== undefined) return cached
    const found = find.get(dimension)
    const use: Use =
      found === undefined
        ? { coarse: setWithout(dimension, OF_CALLERS), lastDay: -1 }
        : { coarse: found.coarse as number, lastDay: found.last_day as number }
    if (known.size >= KNOWN) known.delete(known.keys().next().value!)
    known.set(dimension, use)
    return use
  }
  const touch = (dimension: number, day: number): number => {
    const use = knownUse(dimension)
    if (day > use.lastDay) {
      // A representative is used when its sets are.
      if (use.coarse !== dimension) touch(use.coarse, day)
      save.run(dimension, use.coarse, day)
      use.lastDay = day
    }
    return use.coarse
  }
  /** The same of sets in `hit_minute`, which are those of `hit_api` where nothing more is left out. */
  const ofMinutes = (dimension: number, day: number): number => {
    const coarse = touch(dimension, day)
    const set = minuteSets.get(coarse) ?? setWithout(coarse, NOT_BY_MINUTE)
    if (!minuteSets.has(coarse)) {
      if (minuteSets.size >= KNOWN) minuteSets.clear()
      minuteSets.set(coarse, set)
    }
    if (set !== coarse) touch(set, day)
    return set
  }
  return {
    touch,
    ofMinutes,
    forget() {
      known.clear()
      minuteSets.clear()
    },
  }
}

/** How many rows of hits from before the other tables are added to them in one transaction. */
const FILLED_AT_ONCE = 20_000

/** Fills the tables of sums from the hits that were there before them: once, at the first start that knows of them. */
export function fillRollUps(db: DatabaseSync): void {
  if (db.prepare('SELECT done FROM hit_rolled_up').get()!.done === 1) return
  const tables = hitTables(db)
  // All or nothing: double additions could not be detected.
  inTransaction(db, () => {
    const rows = db.prepare(
      `SELECT ${HIT_COLUMNS.join(', ')} FROM hit WHERE (hour, dimension, status) > (?, ?, ?) ORDER BY hour, dimension, status LIMIT ${FILLED_AT_ONCE}`,
    )
    rows.setReturnArrays(true)
    // Each is taken out and added again, to all tables.
    const remove = db.prepare('DELETE FROM hit WHERE hour = ? AND dimension = ? AND status = ?')
    let at: readonly number[] = [-1, 0, 0]
    for (;;) {
      const some = rows.all(...at) as unknown as number[][]
      for (const row of some) {
        at = row.slice(0, 3)
        remove.run(...at)
        tables.add(row)
      }
      tables.flush()
      if (some.length < FILLED_AT_ONCE) break
    }
    db.exec('UPDATE hit_rolled_up SET done = 1')
  })
}

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
