import { DatabaseSync } from 'node:sqlite'
import { toFault } from '../../errors/fault.ts'
import type { DocumentId } from '../../model/documents/ids.ts'
import type { Log } from '../../model/logs/log.ts'
import type { Kind, PendingSession, Revision, SessionRow, StoredDocument } from '../ports/ports.ts'

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS document (kind TEXT NOT NULL, id TEXT NOT NULL, revision INTEGER NOT NULL, body TEXT NOT NULL,
     PRIMARY KEY (kind, id)) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS name (kind TEXT NOT NULL, held_by TEXT NOT NULL, value TEXT NOT NULL, id TEXT NOT NULL,
     PRIMARY KEY (kind, held_by, value)) STRICT, WITHOUT ROWID`,
  'CREATE TABLE IF NOT EXISTS session (hash BLOB NOT NULL PRIMARY KEY, row TEXT NOT NULL, at INTEGER NOT NULL) STRICT',
  'CREATE INDEX IF NOT EXISTS session_by_time ON session (at)',
  'CREATE TABLE IF NOT EXISTS owed (hash BLOB NOT NULL PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID',
  'CREATE TABLE IF NOT EXISTS seen (only INTEGER PRIMARY KEY CHECK (only = 1), revision INTEGER NOT NULL) STRICT',
]

/** Notes are written together, at this interval. */
const WRITE_EVERY_MS = 200
/** More than this that waits to be written is not worth its memory: what is left out is read again some time. */
const MOST_WAITING = 20_000

/** Changes to the copy, in the order of the reads that they come from. */
type Note = (statements: Statements) => void

type Statements = ReturnType<typeof prepare>

/**
 * The data that a node has read of its store, on its own disk: for the time when the store is away. Written a little later, and never
 * waited for: it may lack the newest, and it is thrown away when it cannot be read.
 */
export class CopyFile {
  private readonly db: DatabaseSync
  private readonly statements: Statements
  private readonly log: Log
  private readonly keptSessions: number
  private waiting: Note[] = []
  /** True while it cannot be written, which is said once. */
  private failing = false
  private newRevision: Revision | undefined
  /** True when sessions were noted that may be more than are kept. */
  private crowded = true
  /** Hashes of sessions that it may hold: most of those that change were never read here. */
  private readonly held: Set<string>
  private readonly timer: NodeJS.Timeout

  /** `keptSessions` bounds how many are kept: those read last. @throws Error of SQLite when the file cannot be used */
  constructor(file: string, keptSessions: number, log: Log) {
    this.log = log
    this.keptSessions = keptSessions
    this.db = new DatabaseSync(file)
    try {
      // The store is the truth: losing the last second of a copy in a crash costs nothing.
      this.db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
      for (const statement of SCHEMA) this.db.exec(statement)
      this.statements = prepare(this.db)
      this.held = new Set(this.statements.hashes.all().map(({ hash }) => hashName(hash as Uint8Array)))
    } catch (error) {
      this.db.close()
      throw error
    }
    this.timer = setInterval(() => this.write(), WRITE_EVERY_MS)
    this.timer.unref()
  }

  /** True when it holds what a gateway can start from. */
  get filled(): boolean {
    return this.newRevision !== undefined || this.statements.revision.get() !== undefined
  }

  revision(): Revision {
    return this.newRevision ?? (this.statements.revision.get()?.revision as number | undefined) ?? 0
  }

  document<K extends Kind>(kind: K, id: string): StoredDocument<K> | undefined {
    this.write()
    return documentOf(kind, this.statements.document.get(kind, id))
  }

  /** A document by a unique index that it was asked for by before. */
  named<K extends Kind>(kind: K, index: string, value: string): StoredDocument<K> | undefined {
    this.write()
    return documentOf(kind, this.statements.named.get(kind, index, value))
  }

  all<K extends Kind>(kind: K): StoredDocument<K>[] {
    this.write()
    return this.statements.all.all(kind).map((row) => documentOf(kind, row)!)
  }

  session(hash: Uint8Array): SessionRow | undefined {
    this.write()
    // Also where it could not be written: what was revoked is not found.
    if (!this.held.has(hashName(hash))) return undefined
    const found = this.statements.session.get(hash)
    if (found === undefined) return undefined
    const { sealedKey, ...row } = JSON.parse(found.row as string)
    const sealed = typeof sealedKey === 'string' && { sealedKey: Buffer.from(sealedKey, 'base64') }
    return { ...row, ...sealed, hash: new Uint8Array(hash) }
  }

  noteRevision(revision: Revision): void {
    this.newRevision = revision
  }

  /** The store's response for this id; undefined = not in the copy. */
  noteDocument(kind: Kind, id: string, found: StoredDocument | undefined): void {
    if (found === undefined) this.waiting.push(({ drop }) => drop.run(kind, id))
    else this.note(({ put }) => put.run(kind, id, found.revision, JSON.stringify(found.body)))
  }

  /** The document that the store answered for a value of a unique index; undefined = there is none. */
  noteNamed(kind: Kind, index: string, value: string, id: string | undefined): void {
    if (id === undefined) this.waiting.push(({ dropName }) => dropName.run(kind, index, value))
    else this.note(({ putName }) => putName.run(kind, index, value, id))
  }

  /** Everything: changes were made that nobody can name. */
  forget(): void {
    this.newRevision = undefined
    this.held.clear()
    // Pending writes come first: no pending token is lost.
    this.waiting.push(({ forget }) => {
      for (const each of forget) each.run()
    })
    this.write()
  }

  /** All that there is of a kind now: what else is held goes. */
  noteAll(kind: Kind, ids: ReadonlySet<string>): void {
    this.waiting.push(({ ids: held, drop }) => {
      for (const { id } of held.all(kind)) if (!ids.has(id as string)) drop.run(kind, id as string)
    })
  }

  noteSession(hash: Uint8Array, row: SessionRow | undefined): void {
    const key = new Uint8Array(hash)
    const name = hashName(key)
    if (row === undefined) {
      if (this.held.delete(name)) this.waiting.push(({ dropSession }) => dropSession.run(key))
    } else {
      this.held.add(name)
      this.crowded ||= this.held.size > this.keptSessions
      const { hash: _, sealedKey, ...rest } = row
      const kept = { ...rest, ...(sealedKey !== undefined && { sealedKey: Buffer.from(sealedKey).toString('base64') }) }
      this.note(({ putSession }) => putSession.run(key, JSON.stringify(kept), Date.now()))
    }
  }

  /** The pending writes of this node. */
  pending(): PendingSession[] {
    return this.statements.allPending.all().map(({ hash, body }) => {
      return { ...JSON.parse(body as string), hash: new Uint8Array(hash as Uint8Array) }
    })
  }

  notePending({ hash, row, apiId }: PendingSession): void {
    this.note(({ putPending }) => putPending.run(hash, JSON.stringify({ row, apiId })))
  }

  dropPending(hash: Uint8Array): void {
    this.waiting.push(({ dropPending }) => dropPending.run(hash))
  }

  /** Writes what is pending, and closes the file. */
  close(): void {
    clearInterval(this.timer)
    this.write()
    this.db.close()
  }

  /** Deletions are never left out; only additions may be. */
  private note(note: Note): void {
    if (this.waiting.length < MOST_WAITING) this.waiting.push(note)
  }

  /** Call it before reading: pending changes may include deletions. */
  private write(): void {
    const revision = this.newRevision
    if (this.waiting.length === 0 && revision === undefined) return
    const notes = this.waiting
    this.waiting = []
    this.newRevision = undefined
    try {
      this.db.exec('BEGIN')
      for (const note of notes) note(this.statements)
      if (revision !== undefined) this.statements.setRevision.run(revision)
      if (this.crowded) this.statements.thin.run(this.keptSessions)
      this.db.exec('COMMIT')
      this.crowded = false
      this.failing = false
    } catch (error) {
      if (this.db.isTransaction) this.db.exec('ROLLBACK')
      this.waiting = [...notes, ...this.waiting]
      this.newRevision ??= revision
      if (!this.failing) {
        this.log.warn({ cause: toFault(error) }, 'cannot write the local copy')
      }
      this.failing = true
    }
  }
}

function hashName(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.length).toString('latin1')
}

function documentOf<K extends Kind>(kind: K, row: Record<string, unknown> | undefined): StoredDocument<K> | undefined {
  if (row === undefined) return undefined
  const { id, revision, body } = row
  return { kind, id: id as DocumentId, revision: revision as number, body: JSON.parse(body as string) }
}

function prepare(db: DatabaseSync) {
  return {
    revision: db.prepare('SELECT revision FROM seen'),
    setRevision: db.prepare('INSERT INTO seen VALUES (1, ?) ON CONFLICT DO UPDATE SET revision = excluded.revision'),
    document: db.prepare('SELECT id, revision, body FROM document WHERE kind = ? AND id = ?'),
    named: db.prepare(`SELECT id, revision, body FROM name JOIN document USING (kind, id)
      WHERE kind = ? AND held_by = ? AND value = ?`),
    all: db.prepare('SELECT id, revision, body FROM document WHERE kind = ? ORDER BY id'),
    ids: db.prepare('SELECT id FROM document WHERE kind = ?'),
    put: db.prepare(`INSERT INTO document VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET revision = excluded.revision, body = excluded.body`),
    drop: db.prepare('DELETE FROM document WHERE kind = ? AND id = ?'),
    putName: db.prepare('INSERT INTO name VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET id = excluded.id'),
    dropName: db.prepare('DELETE FROM name WHERE kind = ? AND held_by = ? AND value = ?'),
    hashes: db.prepare('SELECT hash FROM session'),
    session: db.prepare('SELECT row FROM session WHERE hash = ?'),
    putSession: db.prepare(`INSERT INTO session VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET row = excluded.row, at = excluded.at`),
    dropSession: db.prepare('DELETE FROM session WHERE hash = ?'),
    thin: db.prepare(`DELETE FROM session WHERE rowid IN
      (SELECT rowid FROM session ORDER BY at DESC LIMIT -1 OFFSET ?)`),
    allPending: db.prepare('SELECT hash, body FROM owed'),
    putPending: db.prepare('INSERT INTO owed VALUES (?, ?) ON CONFLICT DO NOTHING'),
    dropPending: db.prepare('DELETE FROM owed WHERE hash = ?'),
    forget: ['document', 'name', 'session', 'seen'].map((table) => db.prepare(`DELETE FROM ${table}`)),
  }
}
