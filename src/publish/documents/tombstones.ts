import {
  TOMBSTONE,
  type TombstoneNoun,
  tombstoneBody,
  tombstoneId,
  tombstoneOf,
} from '../../model/documents/tombstone.ts'
import type { Change, Documents } from '../../store/ports/ports.ts'

const NOUNS: ReadonlySet<string> = new Set<TombstoneNoun>(['api', 'policy'])

/** Tombstones of the APIs and policies that a commit deletes, to be written by the same commit. @throws Fault `store_away` */
export async function tombstonesOf(documents: Pick<Documents, 'get'>, changes: readonly Change[]): Promise<Change[]> {
  const found: Change[] = []
  for (const change of changes) {
    if (change.op !== 'delete' || !NOUNS.has(change.kind)) continue
    const stored = await documents.get(change.kind, change.id)
    if (stored === undefined) continue
    const tombstone = tombstoneOf(change.kind as TombstoneNoun, change.id, stored.body)
    const id = tombstoneId(tombstone.noun, tombstone.org_id, tombstone.named)
    found.push({ op: 'put', kind: TOMBSTONE, id, body: tombstoneBody(tombstone) })
  }
  return found
}
