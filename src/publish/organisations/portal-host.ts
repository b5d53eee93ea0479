import { fault } from '../../errors/fault.ts'
import { foldCase } from '../../model/text/fold.ts'
import type { Change } from '../../store/ports/ports.ts'
import { type OptimisticLockParts, optimisticLock } from '../documents/optimistic-lock.ts'
import type { PublishParts } from '../documents/parts.ts'

/**
 * Checks that no other organisation has this host for its portal, by which public calls find their organisation; '' = none is wanted. Answers
 * what must be in the commit, so that of two organisations that want it only one gets it (`TURN_CONFLICT`).
 * @throws Fault `portal_taken` (409)
 */
export async function claimPortalHost(
  parts: Pick<PublishParts, 'documents'> & OptimisticLockParts,
  cname: string,
  organisation: string,
): Promise<Change[]> {
  if (cname === '') return []
  const turn = await optimisticLock(parts, `portal-host:${foldCase(cname)}`)
  const { rows } = await parts.documents.list('organisation', { where: { cname: foldCase(cname) }, limit: 2 })
  if (rows.some(({ id }) => id !== organisation)) throw fault('portal_taken', 'Another organisation has this host')
  return turn
}
