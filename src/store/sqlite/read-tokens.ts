import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Clock, Millis } from '../../model/clock.ts'
import type { SessionFilter, SessionRow, Tokens } from '../ports.ts'
import { wellFormed } from '../prepare.ts'
import { isEvicted } from './apply-session.ts'
import { pageSize } from './read-documents.ts'
import { reading } from './reading.ts'
import { REF } from './schema.ts'

type Refs = readonly (readonly [sort: number, value: string])[]

const COLUMNS = 's.row, s.hash, s.org_id, s.client_id, s.links, s.evict_at, s.sealed_key, s.body'

/** `Tokens` on a connection of this thread: answers at once. */
export function tokenReader(db: DatabaseSync, clock: Clock): Tokens {
  const one = db.prepare(`SELECT ${COLUMNS} FROM session s WHERE hash = ?`)
  // One statement for each number of filters: 0 to 3.
  const pages = [0, 1, 2, 3].map((filters) => db.prepare(pageSql(filters)))
  const counts = [0, 1, 2, 3].map((filters) => db.prepare(countSql(filters)))
  const due = [0, 1, 2, 3].map((filters) => db.prepare(dueSql(filters)))
  const count = (statement: StatementSync, values: readonly SQLInputValue[]) => statement.get(...values)!.n as number

  /** Where a page begins: a cursor is the number of a row, a hash has 64 digits. */
  const rowAfter = (after: string): number => {
    if (after.length < 64) return Number(after) || 0
    return (one.get(Buffer.from(after, 'hex'))?.row ?? 0) as number
  }
  return {
    getSession: (hash) =>
      reading(() => {
        const row = one.get(hash)
        if (row === undefined || isEvicted(row.evict_at as Millis, clock.wall())) return undefined
        return toSession(row)
      }),
    listSessions(query) {
      const refs = refsOf(query)
      const limit = pageSize(query.limit)
      return reading(() => {
        const after = query.after === undefined ? 0 : rowAfter(query.after)
        const rows = pages[refs.length]!.all(after, ...refs.flat(), clock.wall(), limit)
        const last = rows.length < limit ? undefined : rows.at(-1)
        return { rows: rows.map(toSession), next: last && String(last.row) }
      })
    },
    countSessions(query) {
      const refs = refsOf(query)
      const values = refs.flat()
      return reading(() => count(counts[refs.length]!, values) - count(due[refs.length]!, [clock.wall(), ...values]))
    },
  }
}

function refsOf(filter: SessionFilter): Refs {
  const refs: (readonly [number, string])[] = []
  // The one that leaves fewest rows first: its rows are walked, the others looked up.
  if (filter.policyId !== undefined) refs.push([REF.policy, wellFormed(filter.policyId)])
  if (filter.apiId !== undefined) refs.push([REF.api, wellFormed(filter.apiId)])
  if (filter.orgId !== undefined) refs.push([REF.org, wellFormed(filter.orgId)])
  return refs
}

/** Where the sessions of all filters come from: `r1` is walked in order of row, or the sessions themselves without a filter. */
function sources(filters: number): { from: string; row: string; conditions: string[] } {
  if (filters === 0) return { from: 'session s', row: 's.row', conditions: [] }
  const on = (table: string) => `${table}.sort = ? AND ${table}.value = ?`
  const others = Array.from({ length: filters - 1 }, (_, i) => `r${i + 2}`)
  const exists = others.map(
    (r) => `EXISTS (SELECT 1 FROM session_ref ${r} WHERE ${on(r)} AND ${r}.session = r1.session)`,
  )
  return { from: 'session_ref r1', row: 'r1.session', conditions: [on('r1'), ...exists] }
}

function pageSql(filters: number): string {
  const { from, row, conditions } = sources(filters)
  const join = filters === 0 ? '' : 'CROSS JOIN session s ON s.row = r1.session'
  const where = [`${row} > ?`, ...conditions, '(s.evict_at = 0 OR s.evict_at > ?)'].join(' AND ')
  return `SELECT ${COLUMNS} FROM ${from} ${join} WHERE ${where} ORDER BY ${row} LIMIT ?`
}

function countSql(filters: number): string {
  const { from, conditions } = sources(filters)
  return `SELECT count(*) AS n FROM ${from} ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}`
}

/** Rows that may be forgotten but are still there: few, because the writer forgets them every few seconds. */
function dueSql(filters: number): string {
  const refs = Array.from({ length: filters }, (_, i) => `r${i + 1}`)
  const exists = refs.map(
    (r) =>
      ` AND EXISTS (SELECT 1 FROM session_ref ${r} WHERE ${r}.sort = ? AND ${r}.value = ? AND ${r}.session = s.row)`,
  )
  return `SELECT count(*) AS n FROM session s WHERE s.evict_at > 0 AND s.evict_at <= ?${exists.join('')}`
}

function toSession(row: Record<string, unknown>): SessionRow {
  const [apiIds, policyIds] = JSON.parse(row.links as string) as [string[], string[]]
  const sealedKey = row.sealed_key as Uint8Array
  return {
    hash: row.hash as Uint8Array,
    body: JSON.parse(row.body as string),
    orgId: row.org_id as string,
    apiIds,
    policyIds,
    clientId: row.client_id as string,
    evictAt: row.evict_at as number,
    ...(sealedKey.length > 0 && { sealedKey }),
  }
}
