import { isDocumentId } from '../../model/documents/ids.ts'
import type { Awaitable, StoredDocument } from '../../store/ports/ports.ts'
import type { Answer } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'

/**
 * Makes what a route does with the person or group that `{id}` of its path names. Those of organisations that the caller does not
 * see are not there.
 */
export function whereFound<Found extends { readonly org_id: string }>(
  find: (id: string) => Awaitable<Found | undefined>,
): (missing: Answer, work: (call: Call, found: Found) => Awaitable<Answer>) => Route['run'] {
  return (missing, work) => async (call) => {
    const found = await find(call.param('id'))
    const seen = found !== undefined && call.visibility.org({ body: { org_id: found.org_id } })
    return seen ? work(call, found) : missing
  }
}

/** The document of the person or group that `{id}` names; undefined where the caller sees none. */
export async function personIn(
  { documents }: Pick<DashboardParts, 'documents'>,
  kind: 'user' | 'user_group',
  call: Call,
): Promise<StoredDocument | undefined> {
  const id = call.param('id')
  const found = isDocumentId(id) ? await documents.get(kind, id) : undefined
  return found !== undefined && call.visibility.org(found) ? found : undefined
}
