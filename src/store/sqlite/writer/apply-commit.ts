import type { DatabaseSync } from 'node:sqlite'
import { Fault, fault } from '../../../errors/fault.ts'
import type { Revision } from '../../ports/ports.ts'
import {
  ANY_REVISION,
  type Appliers,
  applyChange,
  type PreparedChange,
  type PreparedCommit,
  type PreparedDelete,
  type PreparedPut,
} from '../../prepare/prepare.ts'
import { ANY_VERSION } from '../../prepare/prepare-tickets.ts'
import type { AuditRows } from '../audit/apply-audit.ts'
import type { SessionRows } from '../tokens/apply-session.ts'
import type { TicketRows } from '../tokens/apply-ticket.ts'
import type { DeliveryRows } from '../tokens/outbox.ts'

/**
 * Writes one commit inside an open transaction; answers the hashes of the sessions that went with families, as strings of
 * bytes. A condition that does not hold throws its fault and leaves nothing of the commit in the transaction, so that the
 * group continues without it.
 */
export type ApplyCommit = (commit: PreparedCommit, revision: Revision) => readonly string[]

/**
 * Prepares the statements for commits.
 * @throws (the returned function) Fault `revision_conflict`, `already_exists`, `not_found`, `ticket_unusable`
 */
export function commitApplier(
  db: DatabaseSync,
  {
    sessions,
    tickets,
    deliveries,
    audit,
  }: { sessions: SessionRows; tickets: TicketRows; deliveries: DeliveryRows; audit: AuditRows },
): ApplyCommit {
  const documents = documentRows(db)
  const appliers: Appliers<Place> = {
    put: (change, { revision }) => documents.put(change, revision),
    delete: (change) => documents.delete(change),
    putSession: (change) => sessions.put(change),
    deleteSession: ({ hash }) => sessions.delete(hash),
    putTicket: (change) => tickets.put(change),
    claimTicket: (change) => tickets.claim(change),
    deleteTicket: ({ hash }) => tickets.delete(hash),
    endFamily({ family }, { ended }) {
      tickets.endFamily(family)
      ended.push(...sessions.endFamily(family))
    },
    putDelivery: (change) => deliveries.put(change),
    settleDelivery: (change) => deliveries.settle(change),
  }
  const applyAll = ({ changes, audit: entry }: PreparedCommit, place: Place) => {
    if (entry === undefined) {
      for (const change of changes) applyChange(appliers, change, place)
      return
    }
    const gathering = audit.gather()
    for (const change of changes) {
      gathering.note(change)
      applyChange(appliers, change, place)
    }
    audit.add(entry, place.revision, gathering.changes)
  }
  const save = db.prepare('SAVEPOINT one_commit')
  const keep = db.prepare('RELEASE one_commit')
  const undo = db.prepare('ROLLBACK TO one_commit')
  return (commit, revision) => {
    const { changes } = commit
    const place: Place = { revision, ended: [] }
    // Each change looks before it writes: where only the first has a condition, no way back is needed.
    if (!changes.some((change, i) => i > 0 && hasCondition(change))) {
      applyAll(commit, place)
      return place.ended
    }
    save.run()
    try {
      applyAll(commit, place)
    } catch (error) {
      if (error instanceof Fault) {
        undo.run()
        keep.run()
      }
      throw error
    }
    keep.run()
    return place.ended
  }
}

interface Place {
  readonly revision: Revision
  /** Hashes of the sessions that went with families. */
  readonly ended: string[]
}

interface DocumentRows {
  put(change: PreparedPut, revision: Revision): void
  delete(change: PreparedDelete): void
}

/** True for a change that the state of the store may refuse. */
function hasCondition(change: PreparedChange): boolean {
  switch (change.op) {
    case 'put':
    case 'claimTicket':
      return true
    case 'delete':
      return change.ifRevision !== ANY_REVISION
    case 'putSession':
      return change.must !== 'any'
    case 'putTicket':
      return change.ifAbsent || change.ifVersion !== ANY_VERSION
    default:
      return false
  }
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
