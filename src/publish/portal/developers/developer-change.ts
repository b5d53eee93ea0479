import { isDocumentId } from '../../../model/documents/ids.ts'
import type { JsonObject } from '../../../model/json/json.ts'
import { DEVELOPER_ID } from '../../../model/portal/developers/developer.ts'
import { retryOnConflict } from '../../../runtime/retry-on-conflict.ts'
import type { Change, Documents, StoredDocument } from '../../../store/ports/ports.ts'
import type { PublishParts } from '../../documents/parts.ts'

/**
 * Runs `work` with the developer who owns a key or client; with undefined when there is none, or it was deleted. What
 * `work` commits must write the developer with `developerChange`: then it retries when another writer was faster.
 * Changes of one developer wait for each other within the process. @throws Fault `revision_conflict` (409) when others keep changing it
 */
export async function withHolder<T>(
  parts: Pick<PublishParts, 'documents' | 'locks'>,
  body: JsonObject,
  work: (developer: StoredDocument | undefined) => Promise<T>,
): Promise<T> {
  const id = body[DEVELOPER_ID]
  if (typeof id !== 'string') return work(undefined)
  return parts.locks.run(`developer ${id}`, () => retryOnConflict(async () => work(await developerById(parts, id))))
}

/** A developer by storage id, in any organisation; undefined when there is none. */
export async function developerById(
  { documents }: { readonly documents: Pick<Documents, 'get'> },
  id: string,
): Promise<StoredDocument | undefined> {
  return isDocumentId(id) ? documents.get('developer', id) : undefined
}

/** The change that writes a developer over its read state. It fails with `revision_conflict` when another writer was faster. */
export function developerChange({ id, revision }: StoredDocument, body: JsonObject): Change {
  return { op: 'put', kind: 'developer', id, body, ifRevision: revision }
}
