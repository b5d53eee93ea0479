import { fault } from '../../errors/fault.ts'
import { type DocumentId, isDocumentId } from '../../model/documents/ids.ts'
import { DOCUMENT_KINDS } from '../../model/documents/kinds.ts'
import { TOMBSTONE, type TombstoneNoun, tombstoneBody, tombstoneId } from '../../model/documents/tombstone.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { Change, Documents, Kind, StoredDocument } from '../../store/ports/ports.ts'
import { auditOf, type PublishParts } from './parts.ts'

const sharedIdsOf = (kind: Kind) => DOCUMENT_KINDS[kind]?.sharedIds

type Reading = { readonly documents: Pick<Documents, 'get'> }

/** The dependencies of a check: a caller who may write in all organisations is not checked. */
export interface DeletedIdParts extends Reading {
  /** True where callers are users of an organisation. */
  readonly keepsDeletedIds?: boolean
}

/**
 * True when another organisation deleted an object of this id: it may put it back, so the id looks as if the object were there. One that is
 * deleted itself keeps nothing.
 */
export async function isDeletedElsewhere(
  parts: DeletedIdParts,
  kind: Kind,
  id: string,
  orgId: string,
): Promise<boolean> {
  const shared = sharedIdsOf(kind)
  if (shared === undefined || parts.keepsDeletedIds !== true || orgId === '') return false
  return keepsFromOthers(parts, await parts.documents.get(TOMBSTONE, tombstoneId(shared.noun, '', id)), orgId)
}

async function keepsFromOthers(
  { documents }: Reading,
  note: StoredDocument | undefined,
  orgId: string,
): Promise<boolean> {
  const owner = note?.body.org_id
  if (owner === undefined || owner === orgId || !isDocumentId(owner)) return false
  return (await documents.get('organisation', owner)) !== undefined
}

/**
 * Refuses a commit that makes an object under an id which another organisation deleted, in the words of a commit that finds it there.
 * Answers the conditions of the commit: notes that come meanwhile refuse it (`revision_conflict`), and those that kept the ids for who takes
 * them now go. @throws Fault `revision_conflict`, `already_exists` (409)
 */
export async function checkDeletedIds(parts: DeletedIdParts, changes: readonly Change[]): Promise<Change[]> {
  const conditions = new Map<string, Change>()
  if (parts.keepsDeletedIds !== true) return []
  for (const change of changes) {
    const shared = change.op === 'put' ? sharedIdsOf(change.kind) : undefined
    if (change.op !== 'put' || shared === undefined) continue
    const { kind, id } = change
    const isThere = (await parts.documents.get(kind, id)) !== undefined
    // One that must be new is refused while it is there; it may be deleted before the commit.
    if (isThere && change.ifRevision !== 0) continue
    const body = change.body as JsonObject
    const orgId = orgOf(body)
    if (orgId === '') continue
    for (const { id: named, index } of idsIn(kind, id, body)) {
      const noteId = tombstoneId(shared.noun, '', named)
      const note = await parts.documents.get(TOMBSTONE, noteId)
      if (await keepsFromOthers(parts, note, orgId))
        throw index === undefined ? fault('revision_conflict') : fault('already_exists', `${kind}: ${index}`)
      conditions.set(noteId, { op: 'delete', kind: TOMBSTONE, id: noteId, ifRevision: note?.revision ?? 0 })
    }
  }
  return [...conditions.values()]
}

/**
 * Lets other organisations use the id of a deleted object. `orgId`: the organisation that deleted it; '' = whichever did. Its deletion can be
 * undone until another object has the id. @throws Fault `not_found` (404), `revision_conflict` (409)
 */
export async function releaseDeletedId(
  parts: PublishParts,
  { kind, id, orgId }: { readonly kind: Kind; readonly id: string; readonly orgId: string },
  actor: string,
): Promise<void> {
  const shared = Object.hasOwn(DOCUMENT_KINDS, kind) ? sharedIdsOf(kind) : undefined
  const note = shared && (await parts.documents.get(TOMBSTONE, tombstoneId(shared.noun, '', id)))
  const owner = String(note?.body.org_id ?? '')
  if (note === undefined || (orgId !== '' && owner !== orgId)) throw fault('not_found', 'no such id is kept')
  const audit = auditOf(parts, actor, 'deleted_id.release', owner, { kind, id })
  await parts.documents.commit([{ op: 'delete', kind: TOMBSTONE, id: note.id, ifRevision: note.revision }], audit)
}

/** The shared ids of a document, each with the index of one that is not its storage id. */
function idsIn(
  kind: Kind,
  id: string,
  body: JsonObject,
): { readonly id: string; readonly index: string | undefined }[] {
  const shared = sharedIdsOf(kind)
  const index = shared?.index
  const own = index === undefined ? [] : [DOCUMENT_KINDS[kind]!.unique[index]!(body) ?? []].flat()
  return [
    ...(shared?.storage === true ? [{ id, index: undefined }] : []),
    ...own.filter((each) => each !== id || shared?.storage !== true).map((each) => ({ id: each, index })),
  ]
}

/** The ids of a deleted document that stay with its organisation. */
export function deletedIdsOf({ kind, id, body }: Pick<StoredDocument, 'kind' | 'id' | 'body'>): {
  readonly noun: TombstoneNoun
  readonly named: string
  readonly orgId: string
}[] {
  const shared = sharedIdsOf(kind)
  const orgId = orgOf(body)
  if (shared === undefined || orgId === '') return []
  return idsIn(kind, id, body).map((each) => ({ noun: shared.noun, named: each.id, orgId }))
}

/** The note that keeps an id for the organisation that deleted it. */
export function deletedIdNote(
  { noun, named, orgId }: ReturnType<typeof deletedIdsOf>[number],
  { by, at }: { readonly by: string; readonly at: number },
): Change {
  const body = tombstoneBody({ org_id: orgId, noun, named, by, at })
  return { op: 'put', kind: TOMBSTONE, id: tombstoneId(noun, '', named) as DocumentId, body }
}

/** Identity profiles name their organisation as the incumbent does. */
const orgOf = ({ org_id: orgId, OrgID: named }: JsonObject) => {
  const text = orgId ?? named
  return typeof text === 'string' ? text : ''
}
