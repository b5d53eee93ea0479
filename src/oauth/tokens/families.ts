import { Fault, fault } from '../../errors/fault.ts'
import type { TicketRow } from '../../store/ports/ports.ts'
import type { OAuthParts } from '../endpoints/parts.ts'

/**
 * Ends everything that came from one grant: its access tokens, its refresh tokens, its code (RFC 6749 section 4.1.2, RFC 9700
 * section 4.14.2). One commit; the feed names the access tokens, so this node refuses them when it resolves.
 * @throws Fault `store_away`, `store_full`
 */
export async function endFamily(parts: OAuthParts, family: string): Promise<void> {
  if (family === '') return
  await parts.documents.commit([{ op: 'endFamily', family }], undefined)
}

/** Refuses a replayed single-use credential with `invalid_grant`, after everything that its first use issued is revoked. */
export async function refuseReplay(
  parts: OAuthParts,
  call: { readonly api: { readonly apiId: string } },
  row: TicketRow,
) {
  await endFamily(parts, row.family)
  const about = { api_id: call.api.apiId, client_id: row.clientId, ticket: row.sort }
  parts.log.warn(about, 'single-use credential replayed: all tokens of its grant were revoked')
  return fault('oauth_invalid_grant')
}

/**
 * Uses up a credential that is refused for good: a code, a pushed request or a device code allows one attempt. Nothing happens where
 * another caller has used it already. @throws Fault `store_away`, `store_full`
 */
export async function consumeTicket(
  parts: OAuthParts,
  { hash, sort }: Pick<TicketRow, 'hash' | 'sort'>,
): Promise<void> {
  try {
    await parts.documents.commit([{ op: 'claimTicket', hash, sort, now: parts.clock.wall() }], undefined)
  } catch (error) {
    if (!isConflict(error)) throw error
  }
}

/** True for the fault of a commit that lost the race for a ticket. */
export function isConflict(error: unknown): boolean {
  return error instanceof Fault && error.code === 'ticket_unusable'
}
