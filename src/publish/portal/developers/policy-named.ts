import { Fault } from '../../../errors/fault.ts'
import type { StoredDocument } from '../../../store/ports/ports.ts'
import type { PublishParts } from '../../documents/parts.ts'
import { findPolicy } from '../../policies/policy-ids.ts'

/** A policy of an organisation by either of its ids; undefined when there is none. @throws Fault `store_away` */
export async function policyNamed(parts: PublishParts, orgId: string, id: string): Promise<StoredDocument | undefined> {
  return findPolicy(parts, id, orgId).catch((error) => {
    if (error instanceof Fault && error.code === 'not_found') return undefined
    throw error
  })
}
