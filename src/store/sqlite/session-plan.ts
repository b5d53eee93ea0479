import type { Millis } from '../../model/clock.ts'
import type { PreparedSessionFilter, SessionCondition } from '../session-filter.ts'
import { anyOf, type Sql } from './list-plan.ts'
import { REF } from './schema.ts'

const COLUMNS = 's.row, s.hash, s.org_id, s.client_id, s.links, s.evict_at, s.sealed_key, s.body, s.family'
/** Rows that may be forgotten but are still there: few, because the writer forgets them every second. Read once a statement. */
const DUE = 'SELECT row FROM session WHERE evict_at > 0 AND evict_at <= ?'
/** From so many entries on, entries that are looked up one by one cost more than those of both conditions read in order. */
export const MANY_ENTRIES = 30_000

const FEW_VALUES = 8

export interface SessionPage {
  /** The row that the page begins behind. */
  readonly after: number
  readonly offset: number
  readonly limit: number
  readonly now: Millis
}

/** How many entries the first condition has, up to one more than `MANY_ENTRIES`. */
export function firstEntriesSql({ refs }: PreparedSessionFilter): Sql {
  const first = test('r1', refs[0]!)
  const text = `SELECT count(*) AS n FROM (SELECT 1 FROM session_ref r1 WHERE ${first.text} LIMIT ${MANY_ENTRIES + 1})`
  return { text, values: first.values }
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

/** How many match; the first condition has few entries. */
export function fewCountSql({ refs, part }: PreparedSessionFilter, now: Millis): Sql {
  const first = refs[0] && test('r1', refs[0])
  const tests = exist(refs.slice(1), part)
  return {
    text: `SELECT count(DISTINCT r1.session) AS n FROM session_ref r1 WHERE ${first!.text}${tests.text} AND r1.session NOT IN (${DUE})`,
    values: [...first!.values, ...tests.values, now],
  }
}

/** How many match, whatever is asked for. */
export function countSql(filter: PreparedSessionFilter, now: Millis): Sql {
  const found = intersection(filter)
  return {
    text: `SELECT count(*) AS n FROM (${found.text}) WHERE session NOT IN (${DUE})`,
    values: [...found.values, now],
  }
}

/** True when the entries of the first condition stand in the order of the list: then `walkSql` can answer. */
export function canWalk({ refs: [first] }: PreparedSessionFilter): boolean {
  return first === undefined || first.values.length === 1
}

/** A page: the first condition, or all sessions, read in order until it is full. */
export function walkSql({ refs, part }: PreparedSessionFilter, { after, offset, limit, now }: SessionPage): Sql {
  const paging = [now, limit, offset]
  if (refs.length === 0) {
    const tests = exist([], part, 's.row')
    const rows = `SELECT s.row AS session FROM session s WHERE s.row > ?${tests.text} AND s.row NOT IN (${DUE}) ORDER BY s.row LIMIT ? OFFSET ?`
    return { text: rowsSql(rows), values: [after, ...tests.values, ...paging] }
  }
  const first = refs[0] && test('r1', refs[0])
  const tests = exist(refs.slice(1), part)
  // Rows that are left out are not read: their bodies may be long.
  const rows = `SELECT r1.session FROM session_ref r1
    WHERE ${first!.text} AND r1.session > ?${tests.text} AND r1.session NOT IN (${DUE}) ORDER BY r1.session LIMIT ? OFFSET ?`
  return { text: rowsSql(rows), values: [...first!.values, after, ...tests.values, ...paging] }
}

/** A page, whatever is asked for: all that match are gone through in order. */
export function sortedSql(filter: PreparedSessionFilter, { after, offset, limit, now }: SessionPage): Sql {
  const found = intersection(filter)
  const rows = `SELECT session FROM (${found.text}) WHERE session > ? AND session NOT IN (${DUE}) ORDER BY session LIMIT ? OFFSET ?`
  return { text: rowsSql(rows), values: [...found.values, after, now, limit, offset] }
}

function rowsSql(rows: string): string {
  return `SELECT ${COLUMNS} FROM (${rows}) p CROSS JOIN session s ON s.row = p.session ORDER BY s.row`
}

/** The sessions that stand under every condition, in order, each once: entries that stand in order already are merged as they are read. */
function intersection({ refs, part }: PreparedSessionFilter): Sql {
  const arms = refs.map((ref) => test('session_ref', ref))
  const text = arms.map((arm) => `SELECT session FROM session_ref WHERE ${arm.text}`)
  if (part !== '') text.push('SELECT session FROM session_alias WHERE instr(alias, ?) > 0')
  // One alone is no intersection, and may hold a session several times.
  const all = text.length === 1 ? text[0]!.replace('SELECT', 'SELECT DISTINCT') : text.join(' INTERSECT ')
  const values = arms.flatMap((arm) => arm.values)
  return { text: `${all} ORDER BY 1`, values: part === '' ? values : [...values, part] }
}

/** What a session must meet besides: other conditions, and the part of its alias. */
function exist(refs: readonly SessionCondition[], part: string, session = 'r1.session'): Sql {
  const tests = refs.map((ref, i) => {
    const table = `r${i + 2}`
    const { text, values } = test(table, ref)
    const from = `FROM session_ref ${table} WHERE ${text}`
    // Beyond a few values the sessions of all of them are gathered once, instead of looking for each session under each value.
    const many = ref.values.length > FEW_VALUES
    const one = many
      ? ` AND ${session} IN (SELECT ${table}.session ${from})`
      : ` AND EXISTS (SELECT 1 ${from} AND ${table}.session = ${session})`
    return { text: one, values }
  })
  const texts = tests.map(({ text }) => text)
  const values = tests.flatMap((one) => one.values)
  if (part === '') return { text: texts.join(''), values }
  const alias = ` AND EXISTS (SELECT 1 FROM session_alias a WHERE a.session = ${session} AND instr(a.alias, ?) > 0)`
  return { text: texts.join('') + alias, values: [...values, part] }
}

function test(table: string, { sort, values }: SessionCondition): Sql {
  const any = anyOf(`${table}.value`, values)
  return { text: `${table}.sort = ? AND ${any.text}`, values: [REF[sort], ...any.values] }
}
