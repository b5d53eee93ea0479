import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

/**
 * The API that a call names by its `api_id` or its storage id. One of another organisation is not there.
 * @throws Fault `not_found` (404), `not_owner` (401) when others own it
 */
export async function apiDocumentOf(
  { documents }: Pick<DashboardParts, 'documents'>,
  call: Pick<Call, 'visibility'>,
  id: string,
): Promise<StoredDocument> {
  const stored = await apiNamed(documents, call.visibility, id)
  if (stored === undefined) throw fault('not_found', 'API not found')
  if (!call.visibility.api(stored)) throw fault('not_owner')
  return stored
}

/**
 * The API of the caller's organisation by its `api_id`, else by its storage id; undefined when there is none. An `api_id` of others
 * that looks like a storage id hides nothing. Where one text names two, it is the one that the caller may see.
 */
export async function apiNamed(
  documents: DashboardParts['documents'],
  visibility: Call['visibility'],
  id: string,
): Promise<StoredDocument | undefined> {
  const named = await documents.find('api', 'api_id', id)
  const kept = isDocumentId(id) ? await documents.get('api', id) : undefined
  const found = [named, kept].filter((stored) => stored !== undefined && visibility.org(stored))
  return found.find((stored) => visibility.api(stored!)) ?? found[0]
}
