import type { Deleted } from '../../publish/people/deleted-owner.ts'
import { type Answer, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

/** Answers the deletion of a user or group, and tells administrators, here and in the log, of APIs that have lost their last owner. */
export function deletedOwner({ log }: DashboardParts, call: Call, message: string, { ownerless }: Deleted): Answer {
  if (ownerless.length === 0) return ok(message)
  log.warn({ api_ids: [...ownerless] }, 'the last owner of these APIs was deleted: administrators alone see them')
  return ok(message, call.visibility.everything ? { ownerless: [...ownerless] } : null)
}
