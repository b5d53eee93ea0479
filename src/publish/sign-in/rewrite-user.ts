import { fault } from '../../errors/fault.ts'
import type { DocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { retryOnConflict } from '../../runtime/retry-on-conflict.ts'
import type { Change, StoredDocument } from '../../store/ports/ports.ts'
import { auditOf, type PublishParts, withLock } from '../documents/parts.ts'

/** Who changes a user, and what is to be done in the same commit. */
export interface Rewrite {
  readonly actor: string
  /** For the audit log. */
  readonly action: string
  readonly detail?: JsonObject
  readonly changes?: readonly Change[]
}

/**
 * Changes the body of one user with `edit`; re-read when another writer was faster, so that the checked state is the one that
 * is written over. `edit` may throw. Returns the new body.
 * @throws Fault `not_found` for an unknown user, `revision_conflict` when others keep changing it, and those of `edit` and of `changes`
 */
export function rewriteUser(
  parts: PublishParts,
  id: DocumentId,
  rewrite: Rewrite,
  edit: (body: JsonObject) => JsonObject,
): Promise<JsonObject> {
  return withLock(parts, () => rewritten(parts, id, rewrite, edit))
}

async function rewritten(
  parts: PublishParts,
  id: DocumentId,
  { actor, action, detail = {}, changes = [] }: Rewrite,
  edit: (body: JsonObject) => JsonObject,
): Promise<JsonObject> {
  return retryOnConflict(async () => {
    const user = await parts.documents.get('user', id)
    if (user === undefined) throw fault('not_found', 'no such user')
    const body = edit(user.body)
    const entry = auditOf(parts, actor, action, String(body.org_id ?? ''), { user: id, ...detail })
    await parts.documents.commit([...changes, putUser(user, body)], entry)
    return body
  })
}

/** The change that writes a user over what was read of it. */
export function putUser({ id, revision }: StoredDocument, body: JsonObject): Change {
  return { op: 'put', kind: 'user', id, body, ifRevision: revision }
}
