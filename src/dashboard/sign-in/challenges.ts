import { fault, toFault } from '../../errors/fault.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { DashboardParts } from '../server/parts.ts'
import { CHALLENGE_MS } from './passkeys.ts'
import { ticketHash } from './sessions.ts'

/**
 * Stores the challenge of a browser: for one purpose, bound to the session or ticket `owner`, replacing an earlier one.
 * It expires.
 */
export async function storeChallenge(
  parts: DashboardParts,
  { owner, purpose }: { readonly owner: string; readonly purpose: string },
  body: JsonObject,
): Promise<void> {
  const hash = ticketHash('challenge', `${purpose}:${owner}`)
  const expiresAt = parts.clock.wall() + CHALLENGE_MS
  const row = newTicket('challenge', expiresAt, { body })
  // One that was used stays used, so it has to go first.
  await parts.documents.commit(
    [
      { op: 'deleteTicket', hash },
      { op: 'putTicket', hash, row },
    ],
    undefined,
  )
}

/** Uses up what was kept: once, however many ask. @throws Fault `passkey_invalid` (400) when nothing is kept any more */
export async function takeChallenge(
  parts: DashboardParts,
  { owner, purpose }: { readonly owner: string; readonly purpose: string },
): Promise<JsonObject> {
  const hash = ticketHash('challenge', `${purpose}:${owner}`)
  const row = await parts.tokens.getTicket(hash)
  if (row === undefined || !isObject(row.body)) throw fault('passkey_invalid', 'no challenge is open')
  try {
    await parts.documents.commit([{ op: 'claimTicket', hash, sort: 'challenge', now: parts.clock.wall() }], undefined)
  } catch (error) {
    if (toFault(error).code !== 'ticket_unusable') throw error
    throw fault('passkey_invalid', 'the challenge was answered before, or has expired')
  }
  return row.body
}

/** The stored challenge, without using it up; undefined when it was used, or has expired. */
export async function openChallenge(
  parts: DashboardParts,
  { owner, purpose }: { readonly owner: string; readonly purpose: string },
): Promise<JsonObject | undefined> {
  const row = await parts.tokens.getTicket(ticketHash('challenge', `${purpose}:${owner}`))
  if (row === undefined || row.claimedAt > 0 || row.expiresAt <= parts.clock.wall()) return undefined
  return row.body
}
