import type { FaultCode } from '../../errors/catalog.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { Change, Tokens } from '../../store/ports/ports.ts'
import { clockOf, type PublishParts } from './parts.ts'

/** Without `tokens` other threads and processes may decide the same thing at the same time. */
export type OptimisticLockParts = Pick<PublishParts, 'clock'> & { readonly tokens?: Pick<Tokens, 'getTicket'> }

/** How long a turn is remembered: far longer than any save takes. */
const TURN_MS = 600_000

/** The faults of a commit whose turn another writer took: there was none before, or another one. */
export const OPTIMISTIC_LOCK_CONFLICT: ReadonlySet<FaultCode> = new Set(['already_exists', 'ticket_unusable'])

/**
 * The change that takes the turn of a name, if no other writer takes it before the commit. Read it before the check that the commit
 * relies on: of two writers that check at the same time, on any threads and processes, the later one fails (`TURN_CONFLICT`) and checks again.
 */
export async function optimisticLock({ tokens, clock }: OptimisticLockParts, name: string): Promise<Change[]> {
  if (tokens === undefined) return []
  const hash = hashKey(name)
  const now = clockOf({ ...(clock && { clock }) }).wall()
  const before = await tokens.getTicket(hash)
  const condition = before === undefined || before.expiresAt <= now ? { ifAbsent: true } : { ifVersion: before.version }
  return [{ op: 'putTicket', hash, row: newTicket('lease', now + TURN_MS), ...condition }]
}
