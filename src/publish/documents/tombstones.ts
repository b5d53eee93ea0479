import {
  TOMBSTONE,
  type TombstoneNoun,
  tombstoneBody,
  tombstoneId,
  tombstoneOf,
} from '../../model/documents/tombstone.ts'
import type { AuditEntry, Change, Documents } from '../../store/ports/ports.ts'
import { deletedIdNote, deletedIdsOf } from './deleted-ids.ts'

const OWNED: ReadonlySet<string> = new Set<TombstoneNoun>(['api', 'policy'])

/**
 * Notes about what a commit deletes, to be written by the same commit: with `ids` of each id that other organisations could take, with
 * `ownership` of who owned APIs and policies. @throws Fault `store_away`
 */
export async function tombstonesOf(
  documents: Pick<Documents, 'get'>,
  changes: readonly Change[],
  { actor, at }: Pick<AuditEntry, 'actor' | 'at'>,
  { ids, ownership }: { readonly ids: boolean; readonly ownership: boolean },
): Promise<Change[]> {
  const found: Change[] = []
  if (!ids && !ownership) return found
  for (const change of changes) {
    if (change.op !== 'delete') continue
    const stored = await documents.get(change.kind, change.id)
    if (stored === undefined) continue
    if (ids) for (const each of deletedIdsOf(stored)) found.push(deletedIdNote(each, { by: actor, at }))
    if (!ownership || !OWNED.has(change.kind)) continue
    const tombstone = { ...tombstoneOf(change.kind as TombstoneNoun, change.id, stored.body), by: actor, at }
    const id = tombstoneId(tombstone.noun, tombstone.org_id, tombstone.named)
    found.push({ op: 'put', kind: TOMBSTONE, id, body: tombstoneBody(tombstone) })
  }
  return found
}
