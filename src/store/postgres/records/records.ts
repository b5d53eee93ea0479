import { DAY_MS } from '../../../model/time/calendar.ts'
import type { RecordRow, Records } from '../../ports/records.ts'
import { wholeNumber } from '../../prepare/cells.ts'
import { pageSize, wholeOffset } from '../../prepare/list-query.ts'
import {
  minutesOf,
  type PreparedDrop,
  type PreparedRecord,
  type PreparedRecordQuery,
  prepareDrop,
  prepareRecord,
  prepareRecordQuery,
  toRecord,
} from '../../prepare/prepare-records.ts'
import type { Db, Tx } from '../connection/db.ts'
import { Months, RECORD_MONTHS } from '../hits/months.ts'

const STEP_ROWS = 2_000

const MINUTE_MS = 60_000

/** Small: each may bring its details. */
const SCAN_BATCH = 50
/** "Reco" among the advisory locks of the database: who gives numbers to records. */
const LOCK = 0x5265636f
const NEWEST_FIRST = 'ORDER BY at_ms DESC, number DESC'
const PLAIN = 'number, at_ms, org_id, api_id, status, method, key_hash, client_id, tags, path, fields, request_id'

type Row = Record<string, unknown>

/** Records in PostgreSQL, a part for each month. */
export function openRecords(db: Db): Records {
  const months = new Months(db, [RECORD_MONTHS])
  const rowsOf = async ({ text, values }: Conditions, tail: string, columns = '*') =>
    (await db.read<Row>(`SELECT ${columns} FROM record WHERE ${text} ${tail}`, values)).map(toRow)
  return {
    async append(records, dropped = []) {
      const rows = records.map(prepareRecord)
      const drops = dropped.map(prepareDrop)
      if (rows.length + drops.length === 0) return
      const days = new Set(rows.map(({ at }) => Math.floor(at / DAY_MS)))
      await months.with(days, () => db.transact((tx) => write(tx, rows, drops)))
    },
    async list(query) {
      const conditions = recordConditions(prepareRecordQuery(query))
      const page = `${NEWEST_FIRST} LIMIT ${pageSize(query.limit)} OFFSET ${wholeOffset(query.offset)}`
      const [rows, [counted]] = await Promise.all([
        rowsOf(conditions, page),
        db.read<{ n: number }>(`SELECT count(*) AS n FROM record WHERE ${conditions.text}`, conditions.values),
      ])
      return { rows, total: counted!.n }
    },
    async *scan(query) {
      const conditions = recordConditions(prepareRecordQuery(query))
      const newest = await last(db)
      const upTo = conditions.and('number <= ?', newest)
      for (let next = upTo; ; ) {
        const batch = await rowsOf(next, `${NEWEST_FIRST} LIMIT ${SCAN_BATCH}`)
        if (batch.length > 0) yield batch
        if (batch.length < SCAN_BATCH) return
        const { at, id } = batch.at(-1)!
        next = upTo.and('(at_ms, number) < (?, ?)', at, id)
      }
    },
    async after({ after, limit, ...query }) {
      const conditions = recordConditions(prepareRecordQuery(query)).and('number > ?', wholeNumber(after))
      return rowsOf(conditions, `ORDER BY number LIMIT ${pageSize(limit)}`, PLAIN)
    },
    last: () => last(db),
    async dropped(query) {
      const prepared = prepareRecordQuery(query)
      const { first, last: end } = minutesOf(prepared)
      const { text, values } = recordsOf(prepared).and('minute BETWEEN ? AND ?', first, end)
      const [row] = await db.read<{ n: number }>(
        `SELECT coalesce(sum(count), 0) AS n FROM record_dropped WHERE ${text}`,
        values,
      )
      return row!.n
    },
    async purgeRecords({ before, keep }) {
      return purgeRecords(db, months, { before: wholeNumber(before), keep: wholeNumber(keep) })
    },
  }
}

async function last(db: Db): Promise<number> {
  const [row] = await db.read<{ n: number }>('SELECT coalesce(max(number), 0) AS n FROM record')
  return row!.n
}

async function write(tx: Tx, rows: readonly PreparedRecord[], drops: readonly PreparedDrop[]): Promise<void> {
  if (rows.length > 0) {
    // Until the end of the transaction: so numbers become visible in their order.
    await tx.query('SELECT pg_advisory_xact_lock($1)', [LOCK])
    const column = (of: (row: PreparedRecord) => unknown) => rows.map(of)
    await tx.run(
      `INSERT INTO record(${PLAIN}, request, response)
        SELECT nextval('record_number'), r.* FROM unnest($1::bigint[], $2::text[], $3::text[], $4::int[], $5::text[], $6::text[],
          $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::bytea[], $13::bytea[]) AS r`,
      [
        ...[column(({ at }) => at), column(({ orgId }) => orgId), column(({ apiId }) => apiId)],
        ...[column(({ status }) => status), column(({ method }) => method), column(({ keyHash }) => keyHash)],
        ...[column(({ clientId }) => clientId), column(({ tags }) => tags), column(({ path }) => path)],
        ...[column(({ fields }) => fields), column(({ requestId }) => requestId)],
        ...[column(({ request }) => bytesOrNull(request)), column(({ response }) => bytesOrNull(response))],
      ],
    )
  }
  if (drops.length > 0) await writeDrops(tx, drops)
}

async function writeDrops(tx: Tx, drops: readonly PreparedDrop[]): Promise<void> {
  await tx.run(
    `INSERT INTO record_dropped(minute, org_id, api_id, count)
      SELECT r.minute, r.org, r.api, sum(r.n) FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[]) AS r(minute, org, api, n)
      GROUP BY r.minute, r.org, r.api ORDER BY r.minute, r.org COLLATE "C", r.api COLLATE "C"
      ON CONFLICT (minute, org_id, api_id) DO UPDATE SET count = record_dropped.count + excluded.count`,
    [
      drops.map(({ minute }) => minute),
      drops.map(({ orgId }) => orgId),
      drops.map(({ apiId }) => apiId),
      drops.map(({ count }) => count),
    ],
  )
}

function bytesOrNull(bytes: Uint8Array | undefined): Buffer | null {
  return bytes === undefined ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function toRow(found: Row): RecordRow {
  const { number, at_ms, status } = found as Record<string, number>
  const { org_id, api_id, method, key_hash, client_id, tags, path, fields, request_id } = found as Record<
    string,
    string
  >
  const { request, response } = found as Record<string, Uint8Array<ArrayBuffer> | null | undefined>
  return toRecord(number!, {
    ...{ at: at_ms!, orgId: org_id!, apiId: api_id!, status: status!, method: method!, keyHash: key_hash! },
    ...{ clientId: client_id!, tags: tags!, path: path!, fields: fields!, requestId: request_id! },
    ...{ request: request ?? undefined, response: response ?? undefined },
  })
}

/** Conditions that must all hold, and what is bound to them. */
class Conditions {
  readonly text: string
  readonly values: readonly unknown[]

  constructor(text = 'true', values: readonly unknown[] = []) {
    this.text = text
    this.values = values
  }

  /** These and one more, in which each `?` is one of the values. */
  and(condition: string, ...values: readonly unknown[]): Conditions {
    let next = this.values.length
    const own = condition.replace(/\?/g, () => `$${++next}`)
    return new Conditions(`${this.text} AND ${own}`, [...this.values, ...values])
  }
}

/** The conditions of a search. */
function recordConditions(query: PreparedRecordQuery): Conditions {
  let found = recordsOf(query).and('at_ms >= ?::bigint AND at_ms < ?::bigint', query.from, query.to)
  const where = (condition: string, value: unknown) => {
    if (value !== undefined) found = found.and(condition, value)
  }
  where('status = ?::bigint', query.status)
  if (query.errors) found = found.and('status >= 400')
  where('method = ?', query.method)
  where('key_hash = ?', query.keyHash)
  where('client_id = ?', query.clientId)
  where('strpos(tags, ?) > 0', query.tag)
  where('strpos(path, ?) > 0', query.path)
  // The second condition is that of the index, which holds no rows without an id.
  where("request_id = ? AND request_id <> ''", query.requestId)
  return found
}

/** The conditions on organisation and API alone. */
function recordsOf({ orgId, apiIds }: PreparedRecordQuery): Conditions {
  let found = new Conditions()
  if (orgId !== undefined) found = found.and('org_id = ?', orgId)
  if (apiIds !== undefined) found = found.and('api_id = ANY(?::text[])', apiIds)
  return found
}

/** `Records.purgeRecords`: whole months first, the rest in steps, each in a separate transaction. */
async function purgeRecords(
  db: Db,
  months: Months,
  { before, keep }: { readonly before: number; readonly keep: number },
): Promise<number> {
  let rows = await months.drop(Math.floor(before / DAY_MS))
  rows += await inSteps(db, 'at_ms < $1::bigint', before)
  const [beyond] = await db.read<{ number: number }>(
    `SELECT number FROM record ORDER BY number DESC LIMIT 1 OFFSET ${keep}`,
  )
  if (beyond !== undefined) rows += await inSteps(db, 'number <= $1::bigint', beyond.number)
  // Records that were left out before the oldest stored one say nothing about the stored ones.
  await db.run(
    `DELETE FROM record_dropped WHERE minute < coalesce((SELECT min(at_ms) FROM record), $1::bigint) / ${MINUTE_MS}`,
    [before],
  )
  return rows
}

async function inSteps(db: Db, condition: string, value: number): Promise<number> {
  let all = 0
  for (;;) {
    const some = await db.run(
      `DELETE FROM record WHERE ${condition}
        AND (at_ms, number) IN (SELECT at_ms, number FROM record WHERE ${condition} LIMIT ${STEP_ROWS})`,
      [value],
    )
    all += some
    if (some === 0) return all
  }
}
