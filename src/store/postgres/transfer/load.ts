import { fault } from '../../../errors/fault.ts'
import { MINUTES_PER_HOUR } from '../../../model/analytics/hit.ts'
import { DOCUMENT_KINDS } from '../../../model/documents/kinds.ts'
import { DAY_MS } from '../../../model/time/calendar.ts'
import { HIT_TABLES, HOURS_PER_DAY, timeColumn } from '../../hits/hit-times.ts'
import type { Cell, TransferRow, TransferTableName, WriteRows } from '../../ports/transfer.ts'
import { indexEntries, loadedSession } from '../../prepare/prepare.ts'
import type { Tx } from '../connection/db.ts'
import { toCell } from '../documents/texts.ts'
import { hashOf } from '../hits/hit-dimensions.ts'
import { HIT_MONTHS, makeMonthParts, RECORD_MONTHS } from '../hits/months.ts'
import { sessionWrites } from '../tokens/write-sessions.ts'
import { insertEntries } from '../writer/group-write.ts'
import { insertRowsSql, type OwnColumn } from './tables.ts'

/** Redis answers as many calls at once as fast as a few. */
const QUOTAS_AT_ONCE = 100

/** Quota counts, which a cluster has outside of PostgreSQL. */
export interface TransferQuotas {
  read(): AsyncIterable<{ readonly id: string; readonly used: number; readonly endsAt: number }>
  write(id: string, used: number, endsAt: number): Promise<void>
}

interface WriterParts {
  /** By which declaration documents are filed. */
  readonly declaration: number
  readonly quotas: TransferQuotas
}

/** Writes rows in an open transaction, and what is derived from them. `finish`: when all are there. */
export function tableWriter(
  tx: Tx,
  { declaration, quotas }: WriterParts,
): { write: WriteRows; finish(): Promise<void> } {
  const tables = new Set<TransferTableName>()
  const months = new Set<string>()
  /** The entry of the last change that was written, and its place there. */
  let last: readonly [audit: Cell, place: number] = [-1, 0]
  const insert = async (table: TransferTableName, rows: readonly TransferRow[], own: readonly OwnColumn[] = []) => {
    const { text, values } = insertRowsSql(table, rows, own)
    await tx.run(text, values)
  }
  const placesOf = (rows: readonly TransferRow[]) =>
    rows.map(([audit = null]) => {
      last = [audit, audit === last[0] ? last[1] + 1 : 0]
      return last[1]
    })
  const withMonths = async (table: TransferTableName, days: readonly number[]) => {
    const monthly = table === 'record' ? RECORD_MONTHS : HIT_MONTHS.find(({ name }) => name === table)!
    await makeMonthParts(tx, monthly, days, months)
  }
  const write: WriteRows = async (table, rows) => {
    if (rows.length === 0) return
    tables.add(table)
    switch (table) {
      case 'hit_minute_state':
        return writeMinutesFrom(tx, rows[0]![1]!)
      case 'document':
        await insert(table, rows, [{ name: 'filed', type: 'int', values: rows.map(() => declaration) }])
        return writeEntries(tx, rows)
      case 'session':
        return writeSessions(tx, rows)
      case 'quota':
        return writeQuotas(quotas, rows)
      case 'audit_change':
        return insert(table, rows, [{ name: 'place', type: 'int', values: placesOf(rows) }])
      case 'hit_dimension': {
        const hashes = rows.map(([, ...texts]) => hashOf(texts.map((text) => toCell(text as string))))
        return insert(table, rows, [{ name: 'hash', type: 'bytea', values: hashes }])
      }
      case 'record':
        await withMonths(
          table,
          rows.map(([, at]) => Math.floor((at as number) / DAY_MS)),
        )
        return insert(table, rows)
      default: {
        const sums = HIT_TABLES.find((name) => name === table)
        if (sums !== undefined) {
          const perTime = timeColumn(sums) === 'day' ? 1 : HOURS_PER_DAY
          await withMonths(
            table,
            rows.map(([time]) => Math.floor((time as number) / perTime)),
          )
        }
        return insert(table, rows)
      }
    }
  }
  return {
    write,
    async finish() {
      if (tables.has('hit_minute_state')) return
      // An archive of an earlier version has none: the minutes of its hours are not known.
      const [hours] = await tx.query<{ next: number }>('SELECT coalesce(max(hour) + 1, 0) AS next FROM hit')
      await writeMinutesFrom(tx, hours!.next * MINUTES_PER_HOUR)
    },
  }
}

async function writeMinutesFrom(tx: Tx, minute: Cell): Promise<void> {
  await tx.run(
    `INSERT INTO hit_minute_state VALUES (1, $1::bigint)
      ON CONFLICT (one) DO UPDATE SET from_minute = excluded.from_minute`,
    [minute],
  )
}

async function writeEntries(tx: Tx, rows: readonly TransferRow[]): Promise<void> {
  const documents = (rows as readonly [string, string, number, string][]).map(([kind, id, , body]) => ({
    ...{ kind, id },
    entries: Object.hasOwn(DOCUMENT_KINDS, kind) ? indexEntries(kind, JSON.parse(body)) : [],
  }))
  const { text, values } = insertEntries(documents)
  await tx.run(text, values)
}

async function writeSessions(tx: Tx, rows: readonly TransferRow[]): Promise<void> {
  const changed = rows.map((cells) => {
    const [number, hash, orgId, clientId, links, evictAt, sealedKey, family, body] = cells as [
      ...[number, Uint8Array, string, string, string, number, Uint8Array, string, string],
    ]
    const row = loadedSession({ orgId, clientId, links, evictAt, sealedKey, family, body })
    if (hash.length !== 32) throw fault('store_damaged', 'the hash of a session')
    const name = Buffer.from(hash).toString('latin1')
    const { apiIds, policyIds } = row
    const facts = { orgId, clientId, apiIds, policyIds, evictAt, sealedKey: row.sealedKey, family }
    return { key: name, before: undefined, now: { number, hash: name, facts, text: body, row } }
  })
  for (const { text, values } of sessionWrites(changed)) await tx.run(text, values)
}

async function writeQuotas(quotas: TransferQuotas, rows: readonly TransferRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += QUOTAS_AT_ONCE) {
    const some = rows.slice(at, at + QUOTAS_AT_ONCE) as unknown as readonly [string, number, number][]
    await Promise.all(some.map((row) => quotas.write(...row)))
  }
}
