import { performance } from 'node:perf_hooks'
import type { DatabaseSync } from 'node:sqlite'
import type { PreparedDrop, PreparedRecord } from '../../prepare/prepare-records.ts'

/** How long a round of purging may delete; what it changed must be committed as well. */
const ROUND_MS = 4
const STEP_ROWS = 20
const STEP_DROPS = 500

/** Writes records inside an open transaction. */
export interface RecordRows {
  add(records: readonly PreparedRecord[], dropped: readonly PreparedDrop[]): void
  /** Deletes what began before, and what is beyond the newest `keep`, for a few milliseconds; answers how many rows. */
  purge(before: number, keep: number): number
}

/** Prepares the statements. */
export function recordRows(db: DatabaseSync): RecordRows {
  const insert = db.prepare(`INSERT INTO
    record(at, org_id, api_id, status, method, key_hash, client_id, tags, path, fields, request_id)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const addDetail = db.prepare('INSERT INTO record_detail(record, request, response) VALUES (?, ?, ?)')
  const addDropped = db.prepare(`INSERT INTO record_dropped(minute, org_id, api_id, count) VALUES (?, ?, ?, ?)
    ON CONFLICT (minute, org_id, api_id) DO UPDATE SET count = count + excluded.count`)
  const newest = db.prepare('SELECT coalesce(max(row), 0) AS row FROM record')
  const beyond = db.prepare('SELECT row FROM record WHERE row <= ? ORDER BY row LIMIT ?')
  const old = db.prepare('SELECT row FROM record INDEXED BY record_search WHERE at < ? ORDER BY at LIMIT ?')
  const remove = db.prepare('DELETE FROM record WHERE row = ?')
  const removeDetail = db.prepare('DELETE FROM record_detail WHERE record = ?')
  // Records that were left out before the oldest stored one say nothing about the stored ones.
  const removeDropped = db.prepare(`DELETE FROM record_dropped WHERE (minute, org_id, api_id) IN (
    SELECT minute, org_id, api_id FROM record_dropped
    WHERE minute < coalesce((SELECT min(at) FROM record), ?) / 60000 LIMIT ?)`)

  const removeAll = (rows: readonly Record<string, unknown>[]): number => {
    for (const { row } of rows) {
      removeDetail.run(row as number)
      remove.run(row as number)
    }
    return rows.length
  }
  return {
    add(records, dropped) {
      for (const one of records) {
        const { lastInsertRowid } = insert.run(
          ...[one.at, one.orgId, one.apiId, one.status, one.method],
          ...[one.keyHash, one.clientId, one.tags, one.path, one.fields, one.requestId],
        )
        if (one.request !== undefined && one.response !== undefined)
          addDetail.run(lastInsertRowid, one.request, one.response)
      }
      for (const { minute, orgId, apiId, count } of dropped) addDropped.run(minute, orgId, apiId, count)
    },
    purge(before, keep) {
      const endsAt = performance.now() + ROUND_MS
      const upTo = (newest.get()!.row as number) - keep
      let deleted = 0
      while (true) {
        const step = removeAll(beyond.all(upTo, STEP_ROWS)) + removeAll(old.all(before, STEP_ROWS))
        deleted += step
        if (step > 0 && performance.now() < endsAt) continue
        if (step === 0) removeDropped.run(before, STEP_DROPS)
        return deleted
      }
    },
  }
}
