import type { SQLInputValue } from 'node:sqlite'
import type { PreparedRecordQuery } from '../../prepare/prepare-records.ts'
import type { Sql } from '../documents/list-plan.ts'

/** The conditions of a search, which `record_search` answers alone. */
export function recordPlan(query: PreparedRecordQuery): Sql {
  const { text, values } = recordsOf(query)
  const conditions = ['at >= ? AND at < ?']
  const bound: SQLInputValue[] = [query.from, query.to]
  const where = (condition: string, value: SQLInputValue | undefined) => {
    if (value === undefined) return
    conditions.push(condition)
    bound.push(value)
  }
  where('status = ?', query.status)
  if (query.errors) conditions.push('status >= 400')
  where('method = ?', query.method)
  where('key_hash = ?', query.keyHash)
  where('client_id = ?', query.clientId)
  where('instr(tags, ?) > 0', query.tag)
  where('instr(path, ?) > 0', query.path)
  return { text: conditions.join(' AND ') + text, values: [...bound, ...values] }
}

/** The conditions on organisation and API alone, each begun with AND. */
export function recordsOf({ orgId, apiIds }: PreparedRecordQuery): Sql {
  let text = ''
  const values: SQLInputValue[] = []
  if (orgId !== undefined) {
    text += ' AND org_id = ?'
    values.push(orgId)
  }
  if (apiIds !== undefined) {
    text += ' AND api_id IN (SELECT value FROM json_each(?))'
    values.push(JSON.stringify(apiIds))
  }
  return { text, values }
}

const FROM = 'FROM record INDEXED BY record_search WHERE'
const NEWEST_FIRST = 'ORDER BY at DESC, row DESC'

/** Numbers of the rows of a page. */
export function recordPageSql({ text, values }: Sql, offset: number, limit: number): Sql {
  return { text: `SELECT row ${FROM} ${text} ${NEWEST_FIRST} LIMIT ? OFFSET ?`, values: [...values, limit, offset] }
}

/** Numbers and times of the next rows behind one. */
export function recordBatchSql({ text, values }: Sql, last: { row: number; at: number }, limit: number): Sql {
  return {
    text: `SELECT row, at ${FROM} ${text} AND at <= ? AND (at < ? OR row < ?) ${NEWEST_FIRST} LIMIT ?`,
    values: [...values, last.at, last.at, last.row, limit],
  }
}

/** How many match. */
export function recordCountSql({ text, values }: Sql): Sql {
  return { text: `SELECT count(*) AS n ${FROM} ${text}`, values }
}

/** The next rows behind one in the order of their numbers, whole. */
export function recordAfterSql({ text, values }: Sql, row: number, limit: number): Sql {
  return {
    text: `SELECT * FROM record WHERE row > ? AND ${text} ORDER BY row LIMIT ?`,
    values: [row, ...values, limit],
  }
}
