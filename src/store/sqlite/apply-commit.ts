import type { DatabaseSync } from 'node:sqlite'
import { Fault, fault } from '../../errors/fault.ts'
import type { Revision } from '../ports.ts'
import {
  ANY_REVISION,
  hashBytes,
  type PreparedAudit,
  type PreparedChange,
  type PreparedCommit,
  type PreparedDelete,
  type PreparedPut,
} from '../prepare.ts'
import { type SessionRows, sessionRows } from './apply-session.ts'

/**
 * Writes one commit inside an open transaction. A condition that does not hold throws its fault and leaves nothing of the
 * commit in the transaction, so that the group goes on without it.
 */
export type ApplyCommit = (commit: PreparedCommit, revision: Revision) => void

/** Prepares the statements for commits. @throws (the returned function) Fault `revision_conflict`, `already_exists`, `not_found` */
export function commitApplier(db: DatabaseSync): ApplyCommit {
  const documents = documentRows(db)
  const sessions = sessionRows(db)
  const audit = db.prepare('INSERT INTO audit(revision, at, actor, action, org_id, detail) VALUES (?, ?, ?, ?, ?, ?)')
  const writeAudit = (entry: PreparedAudit | undefined, revision: Revision) => {
    if (entry === undefined) return
    audit.run(revision, entry.at, entry.actor, entry.action, entry.orgId, entry.text)
  }
  const save = db.prepare('SAVEPOINT one_commit')
  const keep = db.prepare('RELEASE one_commit')
  const undo = db.prepare('ROLLBACK TO one_commit')
  return (commit, revision) => {
    const { changes } = commit
    // A single change looks before it writes: it needs no way back.
    if (changes.length < 2) {
      for (const change of changes) applyChange(documents, sessions, change, revision)
      writeAudit(commit.audit, revision)
      return
    }
    save.run()
    try {
      for (const change of changes) applyChange(documents, sessions, change, revision)
      writeAudit(commit.audit, revision)
    } catch (error) {
      if (error instanceof Fault) {
        undo.run()
        keep.run()
      }
      throw error
    }
    keep.run()
  }
}

interface DocumentRows {
  put(change: PreparedPut, revision: Revision): void
  delete(change: PreparedDelete): void
}

function applyChange(documents: DocumentRows, sessions: SessionRows, change: PreparedChange, revision: Revision): void {
  if (change.op === 'put') documents.put(change, revision)
  else if (change.op === 'delete') documents.delete(change)
  else if (change.op === 'putSession') sessions.put(change)
  else sessions.delete(hashBytes(change.hash))
}

function documentRows(db: DatabaseSync): DocumentRows {
  const current = db.prepare('SELECT revision FROM document WHERE kind = ? AND id = ?')
  const holder = db.prepare("SELECT id FROM document_index WHERE kind = ? AND name = ? AND value = ? AND slot = ''")
  const upsert = db.prepare(`INSERT INTO document(kind, id, revision, body) VALUES (?, ?, ?, ?)
    ON CONFLICT (kind, id) DO UPDATE SET revision = excluded.revision, body = excluded.body`)
  const remove = db.prepare('DELETE FROM document WHERE kind = ? AND id = ?')
  const clearIndex = db.prepare('DELETE FROM document_index WHERE kind = ? AND id = ?')
  const addIndex = db.prepare('INSERT INTO document_index(kind, name, value, slot, id) VALUES (?, ?, ?, ?, ?)')

  /** Revision of the document, 0 when there is none. */
  const check = ({ kind, id, ifRevision }: PreparedPut | PreparedDelete): Revision => {
    const found = (current.get(kind, id)?.revision ?? 0) as Revision
    if (ifRevision === ANY_REVISION || ifRevision === found) return found
    throw fault('revision_conflict', `${kind} ${id} is at revision ${found}, not ${ifRevision}`)
  }
  return {
    put(change, revision) {
      const found = check(change)
      const { kind, id, entries } = change
      for (const { name, value, unique } of entries) {
        if (!unique) continue
        const other = holder.get(kind, name, value)
        if (other !== undefined && other.id !== id) throw fault('already_exists', `another ${kind} has this ${name}`)
      }
      if (found > 0) clearIndex.run(kind, id)
      upsert.run(kind, id, revision, change.text)
      for (const { name, value, unique } of entries) addIndex.run(kind, name, value, unique ? '' : id, id)
    },
    delete(change) {
      if (check(change) === 0) return
      clearIndex.run(change.kind, change.id)
      remove.run(change.kind, change.id)
    },
  }
}
