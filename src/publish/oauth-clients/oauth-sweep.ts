import { setImmediate as nextTurn } from 'node:timers/promises'
import { toFault } from '../../errors/fault.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { epochAt } from '../../model/oauth-clients/oauth-registration.ts'
import { tokenFactsOf } from '../../model/oauth-clients/oauth-token.ts'
import type { Change, SessionRow } from '../../store/ports/ports.ts'
import type { ClientParts } from './oauth-client-parts.ts'

/** Rows per commit: other writers get their turn in between. */
const CHUNK = 200

/**
 * Deletes, in the background, the sessions that a registration issued `before` and that are void `after` (undefined = it was
 * deleted). One sweep at a time. Where the store fails they stay: they are unusable, and expire.
 */
export function sweepSessions(
  parts: Pick<ClientParts, 'documents' | 'tokens' | 'locks'>,
  before: OAuthClient,
  after: OAuthClient | undefined,
): void {
  const isVoid = ({ body }: SessionRow) => {
    const facts = tokenFactsOf(body)
    if (facts === undefined || epochAt(before, facts.api_id) !== facts.epoch) return false
    return after === undefined || epochAt(after, facts.api_id) !== facts.epoch
  }
  parts.locks.run('token_sweep', () => removeTokens(parts, before.client_id, isVoid)).catch(toFault)
}

/** Deletes those tokens of a client that `isDoomed` names, in chunks; answers how many. Keys that only name the client stay. */
export async function removeTokens(
  parts: Pick<ClientParts, 'documents' | 'tokens'>,
  clientId: string,
  isDoomed: (row: SessionRow) => boolean,
): Promise<number> {
  let removed = 0
  let after: string | undefined
  do {
    const page = await parts.tokens.listSessions({ clientId, limit: CHUNK, ...(after !== undefined && { after }) })
    const doomed = page.rows.filter((row) => tokenFactsOf(row.body) !== undefined && isDoomed(row))
    const changes: Change[] = doomed.map(({ hash }) => ({ op: 'deleteSession', hash }))
    if (changes.length > 0) await parts.documents.commit(changes, undefined)
    removed += changes.length
    after = page.next
    await nextTurn()
  } while (after !== undefined)
  return removed
}
