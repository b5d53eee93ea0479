import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RecordRow, Records } from '../../ports/records.ts'
import { wholeNumber } from '../../prepare/cells.ts'
import { pageSize, wholeOffset } from '../../prepare/list-query.ts'
import {
  minutesOf,
  type PreparedRecordQuery,
  prepareDrop,
  prepareRecord,
  prepareRecordQuery,
  toRecord,
} from '../../prepare/prepare-records.ts'
import { statementsOf } from '../connection/database.ts'
import { reading } from '../connection/faults.ts'
import type { Sql } from '../documents/list-plan.ts'
import { runInSlices } from '../writer/maintenance-schedule.ts'
import type { Write } from '../writer/messages.ts'

const SEARCH = 'record_search'
const BY_REQUEST_ID = 'record_by_request_id'

const NEWEST_FIRST = 'ORDER BY at DESC, row DESC'

/** Small: each may bring its details. */
const SCAN_BATCH = 50

/** Records that are read on a connection of this thread and written through the one writer. */
export function sqliteRecords(db: DatabaseSync, write: (write: Write) => Promise<number>): Records {
  const one = db.prepare('SELECT * FROM record WHERE row = ?')
  const detail = db.prepare('SELECT request, response FROM record_detail WHERE record = ?')
  const top = db.prepare('SELECT coalesce(max(row), 0) AS row FROM record')
  const statement = statementsOf(db)
  const all = ({ text, values }: Sql) => statement(text).all(...values)

  const read = (row: number): RecordRow | undefined => {
    const found = one.get(row)
    return found && toRow(found, detail.get(row))
  }
  const readAll = (rows: readonly number[]) => rows.map(read).filter((row) => row !== undefined)
  return {
    async append(records, dropped = []) {
      const rows = records.map(prepareRecord)
      const drops = dropped.map(prepareDrop)
      if (rows.length + drops.length > 0) await write({ sort: 'records', rows, drops })
    },
    list(query) {
      const plan = recordPlan(prepareRecordQuery(query))
      return reading(() => {
        const page = all(recordPageSql(plan, wholeOffset(query.offset), pageSize(query.limit)))
        const total = all(recordCountSql(plan))[0]!.n as number
        return { total, rows: readAll(page.map(({ row }) => row as number)) }
      })
    },
    async *scan(query) {
      const plan = recordPlan(prepareRecordQuery(query))
      const newest = reading(() => top.get()!.row as number)
      let last = { row: newest + 1, at: Number.MAX_SAFE_INTEGER }
      while (true) {
        const found = reading(() => all(recordBatchSql(plan, last, SCAN_BATCH)))
        const places = found.map(({ row, at }) => ({ row: row as number, at: at as number }))
        // One that came meanwhile and says that it is older is left out; so is one that was purged.
        const wanted = places.filter(({ row }) => row <= newest).map(({ row }) => row)
        const batch = reading(() => readAll(wanted))
        if (batch.length > 0) yield batch
        if (places.length < SCAN_BATCH) return
        last = places.at(-1)!
        await nextTurn()
      }
    },
    after({ after, limit, ...query }) {
      const sql = recordAfterSql(recordPlan(prepareRecordQuery(query)), wholeNumber(after), pageSize(limit))
      return reading(() => all(sql).map((found) => toRow(found, undefined)))
    },
    last: () => reading(() => top.get()!.row as number),
    dropped(query) {
      const prepared = prepareRecordQuery(query)
      const { first, last } = minutesOf(prepared)
      const { text, values } = recordsOf(prepared)
      return reading(() => {
        const sql = `SELECT coalesce(sum(count), 0) AS n FROM record_dropped WHERE minute BETWEEN ? AND ?${text}`
        return statement(sql).get(first, last, ...values)!.n as number
      })
    },
    purgeRecords: async ({ before, keep }) =>
      runInSlices(() => write({ sort: 'purgeRecords', before: wholeNumber(before), keep: wholeNumber(keep) })),
  }
}

function toRow(found: Record<string, unknown>, detail: Record<string, unknown> | undefined): RecordRow {
  const { row, at, status } = found as Record<string, number>
  const { org_id, api_id, method, key_hash, client_id, tags, path, fields, request_id } = found as Record<
    string,
    string
  >
  return toRecord(row!, {
    ...{ at: at!, orgId: org_id!, apiId: api_id!, status: status!, method: method!, keyHash: key_hash! },
    ...{ clientId: client_id!, tags: tags!, path: path!, fields: fields!, requestId: request_id! },
    request: detail?.request as Uint8Array<ArrayBuffer> | undefined,
    response: detail?.response as Uint8Array<ArrayBuffer> | undefined,
  })
}

/** The conditions of a search, and the index that answers them: `record_search` alone, but for the search by a request id. */
interface RecordPlan extends Sql {
  readonly index: string
}

function recordPlan(query: PreparedRecordQuery): RecordPlan {
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
  // The second condition is that of the index, which holds no rows without an id.
  if (query.requestId !== undefined) where("request_id = ? AND request_id <> ''", query.requestId)
  const index = query.requestId === undefined ? SEARCH : BY_REQUEST_ID
  return { text: conditions.join(' AND ') + text, values: [...bound, ...values], index }
}

/** The conditions on organisation and API alone, each begun with AND. */
function recordsOf({ orgId, apiIds }: PreparedRecordQuery): Sql {
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

const from = (index: string) => `FROM record INDEXED BY ${index} WHERE`

/** Numbers of the rows of a page. */
function recordPageSql({ text, values, index }: RecordPlan, offset: number, limit: number): Sql {
  return {
    text: `SELECT row ${from(index)} ${text} ${NEWEST_FIRST} LIMIT ? OFFSET ?`,
    values: [...values, limit, offset],
  }
}

/** Numbers and times of the next rows behind one. */
function recordBatchSql({ text, values, index }: RecordPlan, last: { row: number; at: number }, limit: number): Sql {
  return {
    text: `SELECT row, at ${from(index)} ${text} AND at <= ? AND (at < ? OR row < ?) ${NEWEST_FIRST} LIMIT ?`,
    values: [...values, last.at, last.at, last.row, limit],
  }
}

/** How many match. */
function recordCountSql({ text, values, index }: RecordPlan): Sql {
  return { text: `SELECT count(*) AS n ${from(index)} ${text}`, values }
}

/** The next rows behind one in the order of their numbers, whole. */
function recordAfterSql({ text, values }: Sql, row: number, limit: number): Sql {
  return {
    text: `SELECT * FROM record WHERE row > ? AND ${text} ORDER BY row LIMIT ?`,
    values: [row, ...values, limit],
  }
}
