import { existsSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { fault } from '../../../errors/fault.ts'
import { endsWithin } from '../../../runtime/bounded-wait.ts'
import { openReadable } from './database.ts'
import { storeFault } from './faults.ts'

/** The input of the thread of a check. */
export interface StoreCheckData {
  readonly file: string
  readonly texts: readonly JsonTable[]
}

/** A smaller file is checked where the start waits, in less time than a thread takes to start. */
const AT_ONCE_BYTES = 4 * 1024 * 1024
/** The start waits so long for the check of a larger one: about 150 MB. */
const WAIT_MS = 2_000

/** Rows that refer to rows which are not there: a copy of a file in use mixes pages of different times. */
const ORPHANS = [
  [
    'document_index',
    'SELECT 1 FROM document_index i WHERE NOT EXISTS (SELECT 1 FROM document d WHERE d.kind = i.kind AND d.id = i.id)',
  ],
  ['session_ref', 'SELECT 1 FROM session_ref r WHERE NOT EXISTS (SELECT 1 FROM session s WHERE s.row = r.session)'],
  ['session_alias', 'SELECT 1 FROM session_alias a WHERE NOT EXISTS (SELECT 1 FROM session s WHERE s.row = a.session)'],
  ['audit_change', 'SELECT 1 FROM audit_change c WHERE NOT EXISTS (SELECT 1 FROM audit a WHERE a.row = c.audit)'],
] as const

/**
 * Looks through the whole file: the structure of every page, the list of free pages, that tables and indexes hold the same, and that
 * rows refer to rows. About 12 ms a megabyte. Answers what is wrong first, undefined when nothing is.
 */
function findDamage(db: DatabaseSync): string | undefined {
  try {
    const first = Object.values(db.prepare('PRAGMA integrity_check(1)').get() ?? { none: 'no answer' })[0]
    if (first !== 'ok') return String(first)
    return findRow(db, ORPHANS, 'a row that refers to a missing one')
  } catch (error) {
    return storeFault(error).message
  }
}

/** The first of some queries that finds a row. */
function findRow(db: DatabaseSync, queries: readonly (readonly [string, string])[], what: string): string | undefined {
  const found = queries.find(([table, sql]) => hasTable(db, table) && db.prepare(`${sql} LIMIT 1`).get() !== undefined)
  return found && `table ${found[0]} has ${what}`
}

function hasTable(db: DatabaseSync, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined
}

/** The check of a file at the start of its store. */
export interface StartCheck {
  /** Damage that was found while the start waited; undefined = none yet. */
  readonly damage: string | undefined
  /** Ends a check that still runs. */
  close(): Promise<void>
}

/**
 * Checks a database at the start. Answers after about two seconds at most: a check that takes longer continues in a thread beside the first
 * writes, and calls `onDamage` if it finds something.
 */
export async function checkAtStart(file: string, onDamage: (damage: string) => void): Promise<StartCheck> {
  if (!existsSync(file) || statSync(file).size === 0) return { damage: undefined, close: async () => {} }
  if (statSync(file).size <= AT_ONCE_BYTES) return { damage: checkFile(file), close: async () => {} }
  const worker = startThread(file)
  let damage: string | undefined
  let isLate = false
  const ended = new Promise<void>((resolve) => {
    worker.on('message', (found: string) => {
      if (found !== '') damage = found
      if (isLate && found !== '') onDamage(found)
    })
    // A check that breaks says nothing about the file.
    worker.on('error', () => resolve())
    worker.on('exit', () => resolve())
  })
  isLate = !(await endsWithin(ended, WAIT_MS))
  worker.unref()
  return { damage, close: async () => void (await worker.terminate()) }
}

/** Tables whose bodies have to be JSON; those of tickets are listed by no port. */
const JSON_TABLES = ['document', 'session', 'ticket'] as const
type JsonTable = (typeof JSON_TABLES)[number]

/**
 * Opens a file for reading and checks it; one that cannot be opened is for the writer to judge. `texts`: tables whose
 * bodies are looked at as well.
 */
export function checkFile(file: string, texts: readonly JsonTable[] = []): string | undefined {
  let db: DatabaseSync
  try {
    db = openReadable(file)
  } catch {
    return undefined
  }
  try {
    const queries = texts.map((table) => [table, `SELECT 1 FROM ${table} WHERE NOT json_valid(body)`] as const)
    return findDamage(db) ?? findRow(db, queries, 'a text that is no JSON')
  } finally {
    db.close()
  }
}

/**
 * The same of all tables on a thread, so that this one can still be stopped. Answers what is wrong first, undefined when nothing is.
 * @throws the reason of `stop`
 */
export async function checkOnThread(file: string, stop?: AbortSignal): Promise<string | undefined> {
  stop?.throwIfAborted()
  const worker = startThread(file, JSON_TABLES)
  const onStop = () => void worker.terminate()
  stop?.addEventListener('abort', onStop, { once: true })
  try {
    return await new Promise<string | undefined>((resolve, reject) => {
      worker.once('message', (found: string) => resolve(found === '' ? undefined : found))
      worker.once('error', reject)
      worker.once('exit', () => reject(stop?.reason ?? fault('internal', 'the check of the store has ended early')))
    })
  } finally {
    stop?.removeEventListener('abort', onStop)
  }
}

function startThread(file: string, texts: readonly JsonTable[] = []): Worker {
  const cache = process.env.NODE_COMPILE_CACHE
  return new Worker(new URL(import.meta.url.replace(/integrity\.([jt]s)$/, 'integrity-thread.$1')), {
    name: 'store-check',
    workerData: { file, texts } satisfies StoreCheckData,
    // Secrets in the environment are none of its business.
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
    execArgv: [],
  })
}
