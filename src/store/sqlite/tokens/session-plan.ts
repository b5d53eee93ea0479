import type { Millis } from '../../../model/time/clock.ts'
import type { PreparedSessionFilter, SessionCondition } from '../../prepare/session-filter.ts'
import type { Sql } from '../documents/list-plan.ts'
import { REF } from '../migrations/schema.ts'

const COLUMNS = 's.row, s.hash, s.org_id, s.client_id, s.links, s.evict_at, s.sealed_key, s.body, s.family'
/** Rows that may be forgotten but are still there: few, because the writer forgets them every second. Read once a statement. */
const DUE = 'SELECT row FROM session WHERE evict_at > 0 AND evict_at <= ?'

export interface SessionPage {
  /** The row that the page begins behind. */
  readonly after: number
  readonly offset: number
  readonly limit: number
  readonly now: Millis
}

/** True when a page is read in order until it is full, without reading the rows after it. */
export function canWalk({ reach, part }: PreparedSessionFilter): boolean {
  return reach === undefined && part === ''
}

/** How many match: of a filter with one condition or none. `dueSql` of them must be taken off. */
export function plainCountSql({ refs: [first] }: PreparedSessionFilter): Sql {
  if (first === undefined) return { text: 'SELECT count(*) AS n FROM session s', values: [] }
  const only = test('r1', first)
  return { text: `SELECT count(*) AS n FROM session_ref r1 WHERE ${only.text}`, values: only.values }
}

/** How many of those that match one condition or none may be forgotten. */
export function dueSql({ refs: [first] }: PreparedSessionFilter, now: Millis): Sql {
  const due = 'SELECT count(*) AS n FROM session s WHERE s.evict_at > 0 AND s.evict_at <= ?'
  if (first === undefined) return { text: due, values: [now] }
  const only = test('r1', first)
  return {
    text: `${due} AND EXISTS (SELECT 1 FROM session_ref r1 WHERE ${only.text} AND r1.session = s.row)`,
    values: [now, ...only.values],
  }
}

/** A page: the first condition, or all sessions, read in order until it is full. */
export function walkSql({ refs }: PreparedSessionFilter, { after, offset, limit, now }: SessionPage): Sql {
  const paging = [now, limit, offset]
  const [one, ...others] = refs
  if (one === undefined) {
    const rows = `SELECT s.row AS session FROM session s WHERE s.row > ? AND s.row NOT IN (${DUE}) ORDER BY s.row LIMIT ? OFFSET ?`
    return { text: rowsSql(rows), values: [after, ...paging] }
  }
  const first = test('r1', one)
  const tests = others.map((ref, i) => test(`r${i + 2}`, ref))
  const exist = tests.map(
    ({ text }, i) => ` AND EXISTS (SELECT 1 FROM session_ref r${i + 2} WHERE ${text}
    AND r${i + 2}.session = r1.session)`,
  )
  // Rows that are left out are not read: their bodies may be long.
  const rows = `SELECT r1.session FROM session_ref r1
    WHERE ${first.text} AND r1.session > ?${exist.join('')} AND r1.session NOT IN (${DUE}) ORDER BY r1.session LIMIT ? OFFSET ?`
  const values = [...first.values, after, ...tests.flatMap((one) => one.values), ...paging]
  return { text: rowsSql(rows), values }
}

/** One session by its number. */
export const ROW_SQL = `SELECT ${COLUMNS} FROM session s WHERE s.row = ?`

function rowsSql(rows: string): string {
  return `SELECT ${COLUMNS} FROM (${rows}) p CROSS JOIN session s ON s.row = p.session ORDER BY s.row`
}

function test(table: string, { sort, value }: SessionCondition): Sql {
  return { text: `${table}.sort = ? AND ${table}.value = ?`, values: [REF[sort], value] }
}
