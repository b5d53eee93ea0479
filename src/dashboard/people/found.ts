import { isDocumentId } from '../../model/documents/ids.ts'
import type { Deleted } from '../../publish/people/deleted-owner.ts'
import type { Awaitable, StoredDocument } from '../../store/ports/ports.ts'
import { type Answer, ok } from '../routes/answer.ts'
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

/** Answers the deletion of a user or group, and tells administrators, here and in the log, of APIs that have lost their last owner. */
export function deletedOwner({ log }: DashboardParts, call: Call, message: string, { ownerless }: Deleted): Answer {
  if (ownerless.length === 0) return ok(message)
  log.warn({ api_ids: [...ownerless] }, 'the last owner of these APIs was deleted: administrators alone see them')
  return ok(message, call.visibility.everything ? { ownerless: [...ownerless] } : null)
}
