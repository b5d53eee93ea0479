import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fault } from '../../../errors/fault.ts'
import { SAMPLE_WORDS } from '../../../model/analytics/hit-samples.ts'
import {
  columnsOf,
  type MovedSource,
  type StoreHead,
  type TransferRow,
  type TransferTableName,
} from '../../ports/transfer.ts'
import { openReadable } from '../connection/database.ts'
import { reading } from '../connection/faults.ts'
import { freezeFile, freezeReader } from '../connection/freeze.ts'
import { journalReader } from '../hits/hit-journal.ts'
import { MIGRATIONS, readVersion } from '../migrations/schema.ts'
import { readSavedQuotas } from '../quotas/quota-journal.ts'

/** Columns of this store that have another name than in a transfer. */
const NAMES: Readonly<Partial<Record<TransferTableName, Readonly<Record<string, string>>>>> = {
  session: { number: 'row' },
  audit: { number: 'row' },
  hit_dimension: { number: 'row' },
  hit_source: { at_s: 'at' },
  record: { number: 'row' },
}

/** The order of each table that has one: that of its rows, without sorting them. */
const ORDER: Readonly<Partial<Record<TransferTableName, string>>> = {
  session: 'row',
  delivery: 'id',
  audit: 'row',
  audit_change: 'audit, row',
  hit_dimension: 'row',
  hit_journal: 'row',
}

/** The columns of a table as this store names them. */
export function storedColumns(table: TransferTableName): string[] {
  return columnsOf(table).map(([name]) => NAMES[table]?.[name] ?? name)
}

/** Reads all rows of a table that this store has as it is: not quotas, whose journal has to be added. */
function selectSql(table: TransferTableName): string {
  const order = ORDER[table]
  const tail = order === undefined ? '' : ` ORDER BY ${order}`
  if (table !== 'record') return `SELECT ${storedColumns(table).join(', ')} FROM ${table}${tail}`
  const own = storedColumns(table).filter((name) => name !== 'request' && name !== 'response')
  return `SELECT ${own.map((name) => `r.${name}`).join(', ')}, d.request, d.response
    FROM record r LEFT JOIN record_detail d ON d.record = r.row ORDER BY r.row`
}

/** Adds a row to a table, with a value for each of `columns`. `replaces`: instead of one with the same key. */
export function insertSql(table: string, columns: readonly string[], replaces = false): string {
  return `INSERT ${replaces ? 'OR REPLACE ' : ''}INTO ${table}(${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
}

const BATCH_ROWS = 200

/**
 * Reads the database of a data folder on a connection of its own, in one read transaction: the process that serves from it
 * writes meanwhile, but its log of changes grows until the end. @throws Fault `store_away`, `store_damaged`, `store_newer`
 */
export function openSqliteSource(file: string): MovedSource {
  const db = openReadable(file)
  return {
    async snapshot(read) {
      reading(() => db.exec('BEGIN'))
      try {
        // The first read begins the snapshot.
        const head = reading(() => readHead(db))
        return await read({ head, count: async (table) => countRows(db, table), rows: (table) => rowsOf(db, table) })
      } finally {
        endRead(db)
      }
    },
    // The lock of the data folder does it: others cannot read the file.
    async claim() {},
    freeze: async (level) => freezeFile(file, level),
    isFrozen: async () => reading(() => freezeReader(db)() !== 'none'),
    async close() {
      if (db.isOpen) db.close()
    },
  }
}

/** Throws nothing: the end of a read loses nothing, and in a damaged file its error would hide the first one. */
function endRead(db: DatabaseSync): void {
  try {
    if (db.isOpen && db.isTransaction) db.exec('COMMIT')
  } catch {
    // Closing the connection ends it.
  }
}

function readHead(db: DatabaseSync): StoreHead {
  const version = readVersion(db)
  if (version !== MIGRATIONS.length)
    throw version > MIGRATIONS.length
      ? fault('store_newer', `the data is of version ${version}, this program knows ${MIGRATIONS.length} and older`)
      : fault(
          'store_away',
          `the data is of version ${version}: start this version of the server once, which migrates it`,
        )
  const number = (sql: string) => (db.prepare(sql).get()?.n ?? 0) as number
  const sequence = (name: string) => `SELECT seq AS n FROM sqlite_sequence WHERE name = '${name}'`
  return {
    revision: number('SELECT revision AS n FROM store_state'),
    lastSession: number('SELECT max(row) AS n FROM session'),
    lastDelivery: number(sequence('delivery')),
    lastAudit: number('SELECT max(row) AS n FROM audit'),
    lastRecord: number(sequence('record')),
  }
}

function countRows(db: DatabaseSync, table: TransferTableName): number {
  return reading(() => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()!.n as number)
}

/** Rows are read in pieces, so that the thread has time for signals. */
async function* rowsOf(db: DatabaseSync, table: TransferTableName): AsyncGenerator<TransferRow[]> {
  let batch: TransferRow[] = []
  const rows = reading(() => generatorOf(db, table))
  for (;;) {
    const next = reading(() => rows.next())
    if (next.done !== true) batch.push(next.value)
    if (batch.length >= BATCH_ROWS || (next.done === true && batch.length > 0)) {
      yield batch
      batch = []
      await nextTurn()
    }
    if (next.done === true) return
  }
}

function generatorOf(db: DatabaseSync, table: TransferTableName): Iterator<TransferRow> {
  if (table === 'quota') return quotasOf(db)
  if (table === 'hit_journal') return journalOf(db)
  const statement = db.prepare(selectSql(table))
  statement.setReturnArrays(true)
  return statement.iterate() as unknown as Iterator<TransferRow>
}

function* quotasOf(db: DatabaseSync): Generator<TransferRow> {
  for (const { id, used, endsAt } of readSavedQuotas(db)) if (used > 0) yield [id, used, endsAt]
}

/** Without what a fold that is under way has added to the tables of hits already. */
function* journalOf(db: DatabaseSync): Generator<TransferRow> {
  const state = db.prepare('SELECT up_to, hour, dimension FROM hit_fold').get() as Record<string, number>
  for (const { row, samples } of journalReader(db)(0)) {
    const { hour, words } = samples
    const begun = row <= state.up_to! && hour <= state.hour!
    const from = begun ? (hour < state.hour! ? Number.POSITIVE_INFINITY : state.dimension!) : -1
    const left = words.filter((_, i) => words[i - (i % SAMPLE_WORDS)]! > from)
    if (left.length > 0) yield [hour, new Uint8Array(left.buffer, left.byteOffset, left.byteLength)]
  }
}
