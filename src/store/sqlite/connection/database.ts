import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type Fault, fault } from '../../../errors/fault.ts'
import { DOCUMENT_KINDS } from '../../../model/documents/kinds.ts'
import { indexEntries } from '../../prepare/prepare.ts'
import { checkKnown, inTransaction, MIGRATIONS, migrate, readVersion } from '../migrations/schema.ts'
import { sqliteCode, storeFault } from './faults.ts'
import { createPrivateFile, unreadable, unwritable } from './folder.ts'
import { refuseFrozen } from './freeze.ts'

const SQLITE_READONLY = 8
const SQLITE_CANTOPEN = 14
/** How long a write waits for a lock of another program, such as a backup tool. */
const BUSY_TIMEOUT_MS = 5_000
const CACHE_KIB = 64 * 1024
const JOURNAL_LIMIT_BYTES = 64 * 1024 * 1024

export interface WritableOptions {
  readonly file: string
  /** The file may not grow beyond this, rounded down to pages; 0 = no bound but the disk. */
  readonly limitBytes: number
}

/**
 * Opens the one writable connection: WAL, every commit synced, schema brought up to date. Nothing is written to a file that
 * is not ours, or whose rows were deleted. @throws Fault `store_newer`, `store_damaged`, `store_lost`, `store_full`, `data_folder_unwritable`
 */
export function openWritable(options: WritableOptions, steps: readonly string[] = MIGRATIONS): DatabaseSync {
  createPrivateFile(options.file)
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(options.file, { timeout: BUSY_TIMEOUT_MS })
    checkKnown(readVersion(db), steps)
    checkState(options.file, db)
    refuseFrozen(options.file, db)
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -${CACHE_KIB};
      PRAGMA journal_size_limit = ${JOURNAL_LIMIT_BYTES}; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF`)
    migrate(db, steps)
    if (options.limitBytes > 0) limitSize(db, options.limitBytes)
    return db
  } catch (error) {
    db?.close()
    throw openFault(options.file, error)
  }
}

/**
 * Checks that a database which nothing may be written to can be read as it is. @throws Fault `store_damaged` where it would have to be
 * brought up to date first, `store_newer`, `store_lost`
 */
export function checkReadable(file: string, db: DatabaseSync, steps: readonly string[] = MIGRATIONS): void {
  try {
    const version = readVersion(db)
    checkKnown(version, steps)
    checkState(file, db)
    if (version === steps.length && isFiledAsDeclared(db)) return
  } catch (error) {
    throw openFault(file, error)
  }
  throw fault('store_damaged', `${file} is of an older version, and damaged: it cannot be brought up to date`)
}

/** Tables that have a row from their first moment on. */
const STATE_TABLES = [
  'schema_version',
  'store_state',
  'hit_fold',
  'hit_rolled_up',
  'hit_month_state',
  'hit_minute_state',
]

/** @throws Fault `store_lost` for a database whose rows were deleted, `store_damaged` where documents are left */
function checkState(file: string, db: DatabaseSync): void {
  const tables = new Set(
    db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => name),
  )
  // A start that was cut short in its first step.
  if (!tables.has('store_state')) return
  const hasRow = (table: string) => db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined
  const empty = STATE_TABLES.filter((table) => tables.has(table) && !hasRow(table))
  if (empty.length === 0) return
  if (hasRow('document'))
    throw fault('store_damaged', `the rows of ${empty.join(', ')} are missing: restore the last backup`)
  throw fault(
    'store_lost',
    `the rows of ${file} were deleted: put the last backup of the store back, or start with --new to begin again (npm start -- --new)`,
  )
}

/** Opens a connection that only reads; the file must be there and in WAL mode. @throws Fault `store_away`, `store_damaged`, `data_folder_unreadable` */
export function openReadable(file: string): DatabaseSync {
  try {
    const db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF`)
    return db
  } catch (error) {
    throw isDenied(error) ? unreadable(file, error) : openFault(file, error)
  }
}

/**
 * Refills the index table when another set of indexes is declared than it was filled by. A declaration counts as another
 * by its names and its text; one that changes in neither must change its name.
 * @throws Fault `already_exists` when two documents have one value under an index that is now unique
 */
export function refreshIndexes(db: DatabaseSync): void {
  if (isFiledAsDeclared(db)) return
  inTransaction(db, () => {
    db.exec('DELETE FROM document_index')
    const file = documentFiler(db)
    for (const row of db.prepare('SELECT kind, id, body FROM document').iterate())
      file(String(row.kind), String(row.id), String(row.body))
    declareFiled(db)
  })
}

/** Notes that all documents are filed under the indexes that are declared. */
export function declareFiled(db: DatabaseSync): void {
  db.prepare('UPDATE store_state SET declared = ?').run(declaration())
}

/**
 * Files a stored document under the indexes of its kind; one of a kind that nobody knows is in none. Must be prepared once.
 * @throws Fault `already_exists` when another document has one of its values under an index that is unique
 */
export function documentFiler(db: DatabaseSync): (kind: string, id: string, body: string) => void {
  const insert = db.prepare('INSERT INTO document_index(kind, name, value, slot, id) VALUES (?, ?, ?, ?, ?)')
  return (kind, id, body) => {
    if (!Object.hasOwn(DOCUMENT_KINDS, kind)) return
    for (const { name, value, unique } of indexEntries(kind, JSON.parse(body)))
      insertEntry(() => insert.run(kind, name, value, unique ? '' : id, id), `${kind} ${id}: ${name} "${value}"`)
  }
}

function isFiledAsDeclared(db: DatabaseSync): boolean {
  return db.prepare('SELECT declared FROM store_state').get()!.declared === declaration()
}

function insertEntry(insert: () => void, what: string): void {
  try {
    insert()
  } catch (error) {
    if (sqliteCode(error) === 19) throw fault('already_exists', `stored documents break a unique index: ${what}`, error)
    throw error
  }
}

function declaration(): string {
  const kinds = Object.entries(DOCUMENT_KINDS).map(([kind, { unique, lookup, sorted = {}, apart = [] }]) => {
    const texts = (index: Readonly<Record<string, unknown>>) =>
      Object.entries(index).map(([name, of]) => `${name}=${of}`)
    const kept = apart.map(({ by, sorted: names }) => `| ${by}/${names}`)
    return [kind, ...texts(unique), '|', ...texts(lookup), '|', ...texts(sorted), ...kept].join(' ')
  })
  return kinds.sort().join('\n')
}

function limitSize(db: DatabaseSync, limitBytes: number): void {
  const pageBytes = db.prepare('PRAGMA page_size').get()!.page_size as number
  db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(limitBytes / pageBytes))}`)
}

function isDenied(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === SQLITE_READONLY || code === SQLITE_CANTOPEN
}

function openFault(file: string, error: unknown): Fault {
  if (isDenied(error)) return unwritable(file, error)
  const known = storeFault(error)
  if (known.code !== 'store_damaged') return known
  return fault('store_damaged', `${file}: ${known.message}; nothing was changed in it`, error)
}

/** Their texts come from the code alone: more than this many different ones would be a mistake, which must not cost memory. */
const MOST = 500

/** Prepared statements of a connection by their text, for queries that are put together when they are asked for. */
export function statementsOf(db: DatabaseSync): (sql: string) => StatementSync {
  const held = new Map<string, StatementSync>()
  return (sql) => {
    const found = held.get(sql)
    if (found !== undefined) return found
    if (held.size >= MOST) held.clear()
    const statement = db.prepare(sql)
    held.set(sql, statement)
    return statement
  }
}
