import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DroppedRecords, RecordInput, RecordQuery, RecordRow, Records } from '../ports/records.ts'
import { pageSize, wholeOffset } from '../prepare/list-query.ts'
import {
  minutesOf,
  type PreparedDrop,
  type PreparedRecord,
  type PreparedRecordQuery,
  prepareDrop,
  prepareRecord,
  prepareRecordQuery,
  toRecord,
} from '../prepare/prepare-records.ts'

/** The most that is kept: this store lives in memory, and so must leave some. */
const MOST_ROWS = 100_000
const MOST_BYTES = 64_000_000
const MOST_DROPS = 10_000
const SCAN_BATCH = 256

interface Held {
  readonly id: number
  readonly record: PreparedRecord
  readonly bytes: number
}

/** Records, the oldest of which go when there are too many. */
export class MemoryRecords implements Records {
  /** In the order in which they came. */
  private rows: Held[] = []
  private bytes = 0
  private lastId = 0
  private readonly drops = new Map<string, PreparedDrop>()

  async append(records: readonly RecordInput[], dropped: readonly DroppedRecords[] = []): Promise<void> {
    const prepared = records.map(prepareRecord)
    const drops = dropped.map(prepareDrop)
    for (const record of prepared) {
      const bytes = bytesOf(record)
      this.rows.push({ id: ++this.lastId, record, bytes })
      this.bytes += bytes
    }
    for (const drop of drops) this.drop(drop)
    if (this.rows.length > MOST_ROWS || this.bytes > MOST_BYTES) this.keep(this.rows.slice(this.rows.length >> 1))
  }

  list(query: RecordQuery & { offset?: number; limit: number }): { rows: RecordRow[]; total: number } {
    const found = this.matching(prepareRecordQuery(query))
    const offset = wholeOffset(query.offset)
    return { rows: found.slice(offset, offset + pageSize(query.limit)).map(toRow), total: found.length }
  }

  async *scan(query: RecordQuery): AsyncIterable<RecordRow[]> {
    const found = this.matching(prepareRecordQuery(query))
    for (let start = 0; start < found.length; start += SCAN_BATCH) {
      if (start > 0) await nextTurn()
      yield found.slice(start, start + SCAN_BATCH).map(toRow)
    }
  }

  after({ after, limit, ...query }: RecordQuery & { after: number; limit: number }): RecordRow[] {
    const wanted = prepareRecordQuery(query)
    const most = pageSize(limit)
    const found: RecordRow[] = []
    for (const { id, record } of this.rows) {
      if (found.length === most) break
      if (id <= after || !matches(record, wanted)) continue
      found.push(toRecord(id, { ...record, request: undefined, response: undefined }))
    }
    return found
  }

  last(): number {
    return this.lastId
  }

  dropped(query: Pick<RecordQuery, 'orgId' | 'apiId' | 'from' | 'to'>): number {
    const wanted = prepareRecordQuery(query)
    const { first, last } = minutesOf(wanted)
    let count = 0
    for (const drop of this.drops.values())
      if (drop.minute >= first && drop.minute <= last && isOf(drop, wanted)) count += drop.count
    return count
  }

  async purgeRecords({ before, keep }: { before: number; keep: number }): Promise<number> {
    const kept = this.rows.slice(Math.max(0, this.rows.length - keep)).filter(({ record }) => record.at >= before)
    const gone = this.rows.length - kept.length
    this.keep(kept)
    // Records that were left out before the oldest stored one say nothing about the stored ones.
    const oldest = kept.reduce(
      (least, { record }) => Math.min(least, record.at),
      kept.length === 0 ? before : Number.POSITIVE_INFINITY,
    )
    for (const [name, { minute }] of this.drops) if (minute < Math.floor(oldest / 60_000)) this.drops.delete(name)
    return gone
  }

  private drop(drop: PreparedDrop): void {
    const name = JSON.stringify([drop.minute, drop.orgId, drop.apiId])
    const before = this.drops.get(name)
    this.drops.set(name, { ...drop, count: drop.count + (before?.count ?? 0) })
    if (this.drops.size > MOST_DROPS) this.drops.delete(this.drops.keys().next().value!)
  }

  private matching(wanted: PreparedRecordQuery): Held[] {
    const found = this.rows.filter(({ record }) => matches(record, wanted))
    return found.sort((a, b) => b.record.at - a.record.at || b.id - a.id)
  }

  private keep(rows: Held[]): void {
    this.rows = rows
    this.bytes = rows.reduce((sum, { bytes }) => sum + bytes, 0)
  }
}

function bytesOf({ fields, path, request, response }: PreparedRecord): number {
  return 500 + fields.length + path.length + (request?.length ?? 0) + (response?.length ?? 0)
}

function toRow({ id, record }: Held): RecordRow {
  return toRecord(id, record)
}

function isOf(row: { orgId: string; apiId: string }, { orgId, apiIds }: PreparedRecordQuery): boolean {
  return (orgId === undefined || row.orgId === orgId) && (apiIds === undefined || apiIds.includes(row.apiId))
}

function matches(record: PreparedRecord, wanted: PreparedRecordQuery): boolean {
  return (
    isOf(record, wanted) &&
    record.at >= wanted.from &&
    record.at < wanted.to &&
    (wanted.status === undefined || record.status === wanted.status) &&
    (!wanted.errors || record.status >= 400) &&
    (wanted.method === undefined || record.method === wanted.method) &&
    (wanted.keyHash === undefined || record.keyHash === wanted.keyHash) &&
    (wanted.clientId === undefined || record.clientId === wanted.clientId) &&
    (wanted.tag === undefined || record.tags.includes(wanted.tag)) &&
    (wanted.path === undefined || record.path.includes(wanted.path)) &&
    (wanted.requestId === undefined || record.requestId === wanted.requestId)
  )
}
