import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DocumentId } from '../../model/documents/ids.ts'
import { DOCUMENT_KINDS } from '../../model/documents/kinds.ts'
import type { Change, Kind, StoredDocument } from '../../store/ports/ports.ts'
import type { SecretParts } from '../documents/parts.ts'
import { endOfUser } from '../people/users.ts'
import { deleteDeveloperChanges } from '../portal/developers/developer-keys.ts'
import { OBJECT_KINDS } from './move-objects.ts'

/** Rows a commit: other writers get their turn in between. */
const BATCH = 200
/** Who can still change something goes first, so that nothing new comes up behind. */
const FIRST: readonly Kind[] = ['user', 'idp_profile', 'user_group', 'developer', 'hook']

type Parts = Pick<SecretParts, 'documents' | 'tokens'>

/** Documents without an organisation of their own, which are deleted with another document. */
const FOLLOWERS: Readonly<Record<Kind, (parts: Parts, document: StoredDocument) => Promise<Change[]> | Change[]>> = {
  user: (_parts, { id }) => endOfUser(id),
  developer: async (parts, developer) => [...(await deleteDeveloperChanges(parts, developer))],
  portal_documentation: (_parts, { id }) => [{ op: 'delete', kind: 'portal_documentation_text', id }],
}

/**
 * The changes that take away what belongs to an organisation, some hundred at a time, each kind of document that has an index
 * `org_id`, then keys and tokens. `keepObjects`: what the gateway serves stays.
 */
export async function* belongingsOf(
  parts: Parts,
  orgId: DocumentId,
  { keepObjects }: { readonly keepObjects: boolean },
): AsyncGenerator<Change[]> {
  const stays: readonly Kind[] = keepObjects ? OBJECT_KINDS : []
  const rest = Object.keys(DOCUMENT_KINDS).filter((kind) => !FIRST.includes(kind))
  for (const kind of [...FIRST, ...rest]) if (!stays.includes(kind)) yield* documentsOf(parts, kind, orgId)
  if (keepObjects) return
  for (;;) {
    const { rows } = await parts.tokens.listSessions({ orgId, limit: BATCH })
    if (rows.length === 0) return
    yield rows.map(({ hash }) => ({ op: 'deleteSession', hash }))
    await nextTurn()
  }
}

async function* documentsOf(parts: Parts, kind: Kind, orgId: DocumentId): AsyncGenerator<Change[]> {
  const { unique, lookup } = DOCUMENT_KINDS[kind]!
  if ('org_id' in unique) {
    const found = await parts.documents.find(kind, 'org_id', orgId)
    if (found !== undefined) yield [...(await followersOf(parts, found)), gone(found)]
    return
  }
  if (!('org_id' in lookup)) return
  for (;;) {
    const { rows } = await parts.documents.list(kind, { where: { org_id: orgId }, limit: BATCH })
    if (rows.length === 0) return
    const changes: Change[] = []
    for (const row of rows) changes.push(...(await followersOf(parts, row)), gone(row))
    yield changes
    await nextTurn()
  }
}

async function followersOf(parts: Parts, document: StoredDocument): Promise<Change[]> {
  return Object.hasOwn(FOLLOWERS, document.kind) ? FOLLOWERS[document.kind]!(parts, document) : []
}

const gone = ({ kind, id }: StoredDocument): Change => ({ op: 'delete', kind, id })
