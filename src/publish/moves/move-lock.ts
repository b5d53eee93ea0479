import { fault, toFault } from '../../errors/fault.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import type { Millis } from '../../model/time/clock.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { Change, TicketRow } from '../../store/ports/ports.ts'
import { clockOf, type SecretParts } from '../documents/parts.ts'

type LockParts = Pick<SecretParts, 'documents' | 'tokens' | 'clock'>

/** A run that moves objects into an organisation. */
export interface MoveRun {
  readonly orgId: string
  /** The name of the run: a text that no other run has. */
  readonly run: string
  readonly actor: string
}

/** The faults of a commit when another run was faster. */
const LOST: ReadonlySet<string> = new Set(['already_exists', 'ticket_unusable'])

/**
 * Takes or renews the organisation's lock for `seconds`: of two runs at once only one gets it. The lock of a run that ends without
 * releasing it expires. Answers until when it is held.
 * @throws Fault `move_running` (409) naming who holds it
 */
export async function takeMoveLock(parts: LockParts, move: MoveRun & { readonly seconds: number }): Promise<Millis> {
  const hash = lockHash(move.orgId)
  const now = clockOf(parts).wall()
  const held = await parts.tokens.getTicket(hash)
  const isHeld = held !== undefined && held.expiresAt > now
  if (isHeld && held.body.run !== move.run) throw running(held)
  const expiresAt = now + move.seconds * 1000
  const body = { run: move.run, by: move.actor, since: isHeld ? held.body.since! : new Date(now).toISOString() }
  const row = newTicket('lease', expiresAt, { body })
  const must = isHeld ? { ifVersion: held.version } : { ifAbsent: true }
  const put: Change = { op: 'putTicket', hash, row, ...must }
  try {
    await parts.documents.commit([put], undefined)
  } catch (error) {
    if (!LOST.has(toFault(error).code)) throw error
    throw running(await parts.tokens.getTicket(hash))
  }
  return expiresAt
}

/** Releases the lock; a lock that another run holds by now is left alone. */
export async function releaseMoveLock(parts: LockParts, { orgId, run }: Omit<MoveRun, 'actor'>): Promise<void> {
  const hash = lockHash(orgId)
  const held = await parts.tokens.getTicket(hash)
  if (held?.body.run === run) await parts.documents.commit([{ op: 'deleteTicket', hash }], undefined)
}

function running(held: TicketRow | undefined): Error {
  if (held === undefined) return fault('move_running')
  const until = new Date(held.expiresAt).toISOString()
  return fault(
    'move_running',
    `a run by ${held.body.by} since ${held.body.since} is changing this organisation; if it has stopped, its lock expires at ${until}`,
  )
}

function lockHash(orgId: string): Buffer {
  return hashKey(`moves:${orgId}`)
}
