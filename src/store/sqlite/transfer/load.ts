import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fault } from '../../../errors/fault.ts'
import {
  keyColumnsOf,
  type LoadEdit,
  type MovedTarget,
  STATE_TABLE_NAMES,
  type StoreHead,
  TRANSFER_TABLE_NAMES,
  type TransferRow,
  type TransferTableName,
} from '../../ports/transfer.ts'
import { latin1 } from '../../prepare/cells.ts'
import { loadedSession } from '../../prepare/prepare.ts'
import { declareFiled, documentFiler, openReadable } from '../connection/database.ts'
import { storeFault } from '../connection/faults.ts'
import { createPrivateFile, fileExists, folderPaths, prepareFolder } from '../connection/folder.ts'
import { lockFolder } from '../connection/lock.ts'
import { fillRollUps } from '../hits/hit-tables.ts'
import { migrate } from '../migrations/schema.ts'
import { sessionRows } from '../tokens/apply-session.ts'
import { insertSql, storedColumns } from './snapshot.ts'

/** Behind the name of a database that is being filled: one of a process that was killed is no store. */
const DRAFT = '.loading'
const CACHE_KIB = 128 * 1024
/** For the planner, of tables that have grown much since the last time. */
const STATISTICS = 'PRAGMA optimize = 0x10002'

/**
 * An empty data folder to write into, held for this process alone. The database is made under another name, and takes its own
 * when it is whole: a load that is cut short leaves none.
 * @throws Fault `data_folder_locked` beside a server, `store_not_empty`, `data_folder_unwritable`, `store_full`
 */
export function openSqliteTarget(folder: string): MovedTarget {
  const paths = folderPaths(folder)
  prepareFolder(folder)
  const lock = lockFolder(paths)
  try {
    refuseRows(paths.database)
  } catch (error) {
    lock.release()
    throw error
  }
  return {
    async load(fill) {
      const draft = `${paths.database}${DRAFT}`
      removeDatabase(draft)
      try {
        await fillDatabase(draft, fill)
        syncFile(draft)
        removeDatabase(paths.database)
        renameSync(draft, paths.database)
        syncFile(folder)
      } catch (error) {
        removeDatabase(draft)
        throw storeFault(error)
      }
    },
    async close() {
      lock.release()
    },
  }
}

/** @throws Fault `store_not_empty` */
function refuseRows(file: string): void {
  if (!fileExists(file)) return
  const db = openReadable(file)
  try {
    const there = new Set(
      db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .all()
        .map(({ name }) => name),
    )
    const filled = TRANSFER_TABLE_NAMES.find(
      (table) =>
        there.has(table) &&
        !STATE_TABLE_NAMES.includes(table) &&
        db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined,
    )
    if (filled !== undefined)
      throw fault('store_not_empty', `${file} holds data (${filled}); name an empty data folder`)
  } finally {
    db.close()
  }
}

async function fillDatabase(file: string, fill: Parameters<MovedTarget['load']>[0]): Promise<void> {
  createPrivateFile(file)
  const db = new DatabaseSync(file)
  try {
    // Nobody reads it before it is whole, and what is cut short is thrown away: no log of changes, no sync until the end.
    db.exec(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF`)
    migrate(db)
    // There are no hits yet: this only notes that the tables of sums are whole.
    fillRollUps(db)
    db.exec('BEGIN IMMEDIATE')
    const write = tableWriter(db)
    const remove = rowRemover(db)
    const edit: LoadEdit = {
      remove: async (table, keys) => remove(table, keys),
      count: async (table) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()!.n as number,
      // It may be cut short afterwards, too: the file still has the name of a draft.
      async settle() {
        db.exec('COMMIT')
        db.exec(STATISTICS)
        syncFile(file)
        db.exec('BEGIN IMMEDIATE')
      },
    }
    const head = await fill(async (table, rows) => write.write(table, rows), edit)
    if (!write.tables.has('hit_minute_state')) db.exec(MINUTES_AFTER_HOURS)
    writeHead(db, head)
    declareFiled(db)
    db.exec('COMMIT')
    db.exec(STATISTICS)
  } finally {
    db.close()
  }
}

/** An archive of an earlier version has none: the minutes of its hours are not known. */
const MINUTES_AFTER_HOURS =
  'UPDATE hit_minute_state SET from_minute = (SELECT coalesce(max(hour) + 1, 0) * 60 FROM hit)'

/** Writes rows. `tables`: those of which there were any. */
function tableWriter(db: DatabaseSync) {
  const sessions = sessionRows(db)
  const fileDocument = documentFiler(db)
  const statements = new Map(
    TRANSFER_TABLE_NAMES.map((table) => {
      const columns = storedColumns(table).filter((name) => table !== 'record' || !isDetail(name))
      return [table, db.prepare(insertSql(table, columns, STATE_TABLE_NAMES.includes(table)))]
    }),
  )
  const addDetail = db.prepare(insertSql('record_detail', ['record', 'request', 'response']))
  const tables = new Set<TransferTableName>()
  const write = (table: TransferTableName, rows: readonly TransferRow[]): void => {
    tables.add(table)
    const insert = statements.get(table)!
    for (const row of rows) {
      if (table === 'session') loadSession(sessions, row)
      else if (table === 'record') {
        const [request = null, response = null] = row.slice(-2)
        insert.run(...row.slice(0, -2))
        if (request !== null && response !== null) addDetail.run(row[0]!, request, response)
      } else insert.run(...row)
      if (table === 'document') fileDocument(String(row[0]), String(row[1]), String(row[3]))
    }
  }
  return { tables, write }
}

function rowRemover(db: DatabaseSync): (table: TransferTableName, keys: readonly TransferRow[]) => void {
  const sessions = sessionRows(db)
  const hashOf = db.prepare('SELECT hash FROM session WHERE row = ?')
  const removeDetail = db.prepare('DELETE FROM record_detail WHERE record = ?')
  const removeEntries = db.prepare('DELETE FROM document_index WHERE kind = ? AND id = ?')
  return (table, keys) => {
    const names = storedColumns(table).slice(0, keyColumnsOf(table).length)
    const remove = db.prepare(`DELETE FROM ${table} WHERE ${names.map((name) => `${name} = ?`).join(' AND ')}`)
    for (const key of keys) {
      if (table === 'session') sessions.delete(latin1(hashOf.get(...key)!.hash as Uint8Array))
      else remove.run(...key)
      if (table === 'record') removeDetail.run(...key)
      if (table === 'document') removeEntries.run(...key)
    }
  }
}

const isDetail = (column: string) => column === 'request' || column === 'response'

function loadSession(sessions: ReturnType<typeof sessionRows>, row: TransferRow): void {
  const [number, hash, orgId, clientId, links, evictAt, sealedKey, family, body] = row as [
    ...[number, Uint8Array, string, string, string, number, Uint8Array, string, string],
  ]
  sessions.load(number, hash, loadedSession({ orgId, clientId, links, evictAt, sealedKey, family, body }))
}

function writeHead(db: DatabaseSync, { revision, lastDelivery, lastRecord }: StoreHead): void {
  db.prepare('UPDATE store_state SET revision = ?').run(revision)
  for (const [table, last] of [
    ['delivery', lastDelivery],
    ['record', lastRecord],
  ] as const) {
    db.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(table)
    if (last > 0) db.prepare('INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)').run(table, last)
  }
}

/** Makes a file, or the names in a folder, durable. */
function syncFile(path: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function removeDatabase(file: string): void {
  const folder = dirname(file)
  const name = basename(file)
  for (const found of readdirSync(folder))
    if (found === name || ['-wal', '-shm', '-journal'].some((end) => found === name + end))
      rmSync(join(folder, found), { force: true })
}
