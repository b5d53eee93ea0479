import { Fault } from '../../errors/fault.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import type { Millis } from '../../model/time/clock.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { OAuthParts } from '../endpoints/parts.ts'

/** The dependencies of checking proofs and assertions. */
export type ProofParts = Pick<OAuthParts, 'documents' | 'clock'>

/** Something that may be used once: the `jti` of a proof or of an assertion. */
export interface SingleUseId {
  /** Whose id it is: ids of different owners never meet. */
  readonly owner: string
  readonly id: string
  readonly apiId: string
  /** Until when it would be accepted, by the wall clock. */
  readonly until: Millis
}

// Nodes whose clock is behind ours by as much as this still know the id when they would accept it.
const CLOCK_SKEW_MS = 60_000

/**
 * Uses an id up for all connections and all nodes. False when it was used before. One write, which the store commits together
 * with other pending writes. @throws Fault `store_away`, `store_full` (503): the caller must then refuse too
 */
export async function consumeOnce({ documents }: Pick<ProofParts, 'documents'>, once: SingleUseId): Promise<boolean> {
  const forgottenAt = once.until + CLOCK_SKEW_MS
  // The length in front keeps `a` + `bc` and `ab` + `c` apart.
  const hash = hashKey(`once:${once.owner.length}:${once.owner}:${once.id}`)
  const row = newTicket('proof', forgottenAt, { apiId: once.apiId })
  try {
    await documents.commit([{ op: 'putTicket', hash, row, ifAbsent: true }], undefined)
    return true
  } catch (error) {
    if (error instanceof Fault && error.code === 'already_exists') return false
    throw error
  }
}
