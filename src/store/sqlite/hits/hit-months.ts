import { performance } from 'node:perf_hooks'
import type { DatabaseSync } from 'node:sqlite'
import { monthOf, nextMonthOf } from '../../../model/time/calendar.ts'
import { addHitSql, HIT_COLUMNS, upsertHitSql } from './hit-columns.ts'

/** The changes of a round must be committed as well. */
const ROUND_MS = 4
const STEP_ROWS = 50

/**
 * How far the days of `hit_day` are in `hit_month`: those from `from` on, up to and with the row of this day, set of dimensions and
 * status. Months from `from` on and before the one of `day` are whole.
 */
export interface MonthState {
  /** The first of a month; -1: nothing is in. */
  readonly from: number
  readonly day: number
  readonly dimension: number
  readonly status: number
}

/**
 * Sums of whole months, made of those of days when a month is over: what is counted costs nothing more, and a year of many callers is
 * twelve rows for each instead of some hundred. Everything inside an open transaction.
 */
export interface HitMonths {
  /** Adds a row of a day, with a value for each of `HIT_COLUMNS`, where its day is in already; the array is not kept. */
  add(values: readonly number[]): void
  /** Adds some rows of months that were over before this day (since the Unix epoch), for a few milliseconds; answers how many, 0 = none is left. */
  rollUp(beforeDay: number): number
  /** Drops months of which days from before this one are missing; must be called before these days are deleted. */
  purge(beforeDay: number): number
  /** Must be called after a rollback. */
  forget(): void
}

/** Reads how far the months are. */
export function monthStateReader(db: DatabaseSync): () => MonthState {
  const read = db.prepare('SELECT from_day AS "from", day, dimension, status FROM hit_month_state')
  return () => ({ ...read.get() }) as unknown as MonthState
}

/** Prepares the statements. `roundMs`: how long a round may add; it does one step at least. */
export function hitMonths(db: DatabaseSync, roundMs: number = ROUND_MS): HitMonths {
  const read = monthStateReader(db)
  const save = db.prepare('UPDATE hit_month_state SET from_day = ?, day = ?, dimension = ?, status = ?')
  const add = db.prepare(addHitSql('hit_month'))
  const steps = rollingSteps(db)
  const purgeRows = db.prepare(
    `DELETE FROM hit_month WHERE (day, dimension, status) IN
      (SELECT day, dimension, status FROM hit_month WHERE day < ? ORDER BY day, dimension, status LIMIT ${STEP_ROWS})`,
  )
  const firstDay = db.prepare('SELECT min(day) AS day FROM hit_day')
  let held: MonthState | undefined
  const state = (): MonthState => {
    held ??= read()
    return held
  }
  const write = (next: MonthState): void => {
    save.run(next.from, next.day, next.dimension, next.status)
    held = next
  }
  /** Where the first month begins, once there is a day. */
  const begun = (): MonthState => {
    if (state().from !== -1) return state()
    const { day } = firstDay.get()!
    return typeof day === 'number' ? before(monthOf(day), monthOf(day)) : state()
  }
  return {
    add(values) {
      if (!isBehind(state(), values)) return
      const own = values.slice()
      own[0] = monthOf(values[0]!)
      add.run(...own)
    },
    rollUp(beforeDay) {
      const endsAt = performance.now() + roundMs
      const first = begun()
      if (first.from === -1) return 0
      const end = monthOf(beforeDay)
      let at = first
      let done = 0
      while (at.day < end && (done === 0 || performance.now() < endsAt)) {
        at = steps(at)
        done++
      }
      if (done > 0) write(at)
      return done
    },
    purge(beforeDay) {
      const { from, day } = state()
      if (from !== -1 && from < beforeDay) {
        const next = monthOf(beforeDay) === beforeDay ? beforeDay : nextMonthOf(beforeDay)
        write(day < next ? before(next, next) : { ...state(), from: next })
      }
      return purgeRows.run(state().from).changes as number
    },
    forget() {
      held = undefined
    },
  }
}

/** Nothing of this day and later is in. */
function before(from: number, day: number): MonthState {
  return { from, day, dimension: -1, status: -1 }
}

function isBehind(state: MonthState, [day = 0, dimension = 0, status = 0]: readonly number[]): boolean {
  if (state.from === -1 || day < state.from) return false
  return (day - state.day || dimension - state.dimension || status - state.status) <= 0
}

/** Adds the next rows of a month that is over; answers how far it got. */
function rollingSteps(db: DatabaseSync): (at: MonthState) => MonthState {
  const rest = HIT_COLUMNS.slice(1).join(', ')
  const key = 'day, dimension, status'
  const source = `FROM hit_day WHERE (${key}) > (?, ?, ?) AND day < ? ORDER BY ${key}`
  const last = db.prepare(`SELECT ${key} ${source} LIMIT 1 OFFSET ${STEP_ROWS - 1}`)
  // WHERE 1 tells the parser that ON CONFLICT is none of the joined table.
  const addSome = db.prepare(
    upsertHitSql('hit_month', `SELECT ?, ${rest} FROM (SELECT * ${source} LIMIT ${STEP_ROWS}) WHERE 1`),
  )
  return ({ from, day, dimension, status }) => {
    const month = monthOf(day)
    const end = nextMonthOf(day)
    const found = last.get(day, dimension, status, end)
    addSome.run(month, day, dimension, status, end)
    if (found === undefined) return before(from, end)
    return { from, ...(found as { day: number; dimension: number; status: number }) }
  }
}

/** Months that are whole within some days, by their first day, oldest first. */
export function wholeMonths(state: MonthState, fromDay: number, toDay: number): number[] {
  if (state.from === -1) return []
  const months: number[] = []
  const first = monthOf(fromDay) === fromDay ? fromDay : nextMonthOf(fromDay)
  const end = monthOf(state.day)
  for (let month = Math.max(state.from, first); month < end && nextMonthOf(month) - 1 <= toDay; ) {
    months.push(month)
    month = nextMonthOf(month)
  }
  return months
}
