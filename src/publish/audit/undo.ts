import { fault } from '../../errors/fault.ts'
import type { DocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { KeyedMutex } from '../../runtime/keyed-mutex.ts'
import { retryOnConflict } from '../../runtime/retry-on-conflict.ts'
import { forwardDocuments } from '../../store/ports/forward-documents.ts'
import type {
  Audit,
  AuditChange,
  AuditEntryState,
  AuditRow,
  Change,
  Documents,
  Revision,
} from '../../store/ports/ports.ts'
import type { ListenPathRules } from '../apis/listen-path.ts'
import { OPTIMISTIC_LOCK_CONFLICT } from '../documents/optimistic-lock.ts'
import { auditOf, type SecretParts, withLock } from '../documents/parts.ts'
import { checkUnchangedSince } from './undo-conflict.ts'
import { PEOPLE, type UndoParts } from './undo-people.ts'
import { RESTORE } from './undo-restore.ts'

/** An entry that is to be undone. */
export interface Undoing {
  readonly row: AuditRow
  /** Of each of its changes, in their order. */
  readonly entryState: readonly AuditEntryState[]
  readonly audit: Audit
  readonly actor: string
  /** True when an email address may have an account in other organisations too. */
  readonly sharedEmail: boolean
  /** As in `PlaceRules`: with ownership, the APIs that the caller owns. */
  readonly mayUse?: ListenPathRules['mayUse']
  /** As in `ProfileAuthor`. */
  readonly guarantor?: JsonObject
}

/** Entries about credentials that were given up on purpose. */
const FINAL: ReadonlySet<string> = new Set(['key.rotate', 'oauth_client.rotate', 'oauth_client.end_tokens'])

/**
 * Restores the documents of an audit entry to their state before it, in one audited commit. Only if none of them has changed since the
 * entry. Credentials that were replaced or revoked stay so: passwords, API credentials, second factors, client secrets,
 * tokens.
 * @throws Fault `undo_refused` (409) naming the obstacle; the faults of the noun itself, such as `listen_path_taken`
 * (409), `last_admin`, `group_in_use` (400), `label_in_use`, `id_taken`, `revision_conflict` (409)
 */
export function undoEntry(parts: SecretParts, undoing: Undoing): Promise<Revision> {
  // In turn with other writers of this process: what was checked is still so when it is written.
  return withLock(parts, () => retryOnConflict(() => undo(parts, undoing), OPTIMISTIC_LOCK_CONFLICT))
}

async function undo(
  given: SecretParts,
  { row, entryState, audit, actor, sharedEmail, mayUse, guarantor }: Undoing,
): Promise<Revision> {
  const { changes } = row
  if (changes.length === 0) throw fault('undo_refused', 'the entry changed nothing')
  if (FINAL.has(row.action)) throw fault('undo_refused', 'credentials that were replaced or revoked stay so')
  if (changes.some(({ omitted }) => omitted))
    throw fault('undo_refused', 'the documents were too large to be kept, or were sealed under a seal key that is gone')
  // The functions below take their own lock: this one is held already.
  const own = { documents: undoingDocuments(given.documents, row.id), locks: new KeyedMutex() }
  const parts: UndoParts = { ...given, ...own, audit, sharedEmail }
  const [only] = changes
  const people = changes.length === 1 ? PEOPLE[only!.kind] : undefined
  if (people !== undefined) return people(parts, only!, entryState[0]!, actor)
  checkUnchangedSince(entryState)
  const back: Change[] = []
  for (const [index, change] of changes.entries()) {
    const restore = RESTORE[change.kind]
    if (restore === undefined) throw fault('undo_refused', `a change of ${change.kind} cannot be undone`)
    const repaired = await restore({ ...parts, also: back, mayUse, ...(guarantor && { guarantor }) }, change, changes)
    back.push(changeBack(change, repaired, entryState[index]!))
  }
  return parts.documents.commit(back, auditOf(parts, actor, 'undo', row.orgId, {}))
}

/** The change that takes one back. `body` = what the document is to be; undefined = it is to be gone. */
function changeBack(change: AuditChange, body: AuditChange['before'], { revision }: AuditEntryState): Change {
  if (change.kind === 'session') return sessionBack(change, body)
  const document = { kind: change.kind, id: change.id as DocumentId, ifRevision: revision }
  return body === null ? { op: 'delete', ...document } : { op: 'put', ...document, body }
}

function sessionBack({ id, session, after }: AuditChange, body: AuditChange['before']): Change {
  const hash = Buffer.from(id, 'hex')
  if (body === null || session === undefined) return { op: 'deleteSession', hash }
  return {
    op: 'putSession',
    hash,
    row: { ...session, body },
    ...(after === null ? { ifAbsent: true } : { ifPresent: true }),
  }
}

/** The documents as publishing functions see them while an entry is undone: what they write says so, and which entry it was. */
function undoingDocuments(documents: Documents, undoes: string): Documents {
  return forwardDocuments(documents, {
    commit: (changes, entry) =>
      documents.commit(changes, entry && { ...entry, action: 'undo', detail: { ...entry.detail, undoes } }),
  })
}
