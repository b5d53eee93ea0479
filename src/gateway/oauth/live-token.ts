import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { type TokenUser, tokenFactsOf } from '../../model/oauth-clients/oauth-token.ts'
import { issuedBy } from '../../model/sessions/token-session.ts'
import { type Confirmation, readConfirmation } from '../../oauth/proofs/confirmation.ts'
import type { SessionRow } from '../../store/ports/ports.ts'

/** Makes a session of an access token in its current state. */
export interface LiveToken {
  /** The client that it was issued to; undefined when that is gone or ended all its tokens since. */
  readonly client: OAuthClient | undefined
  /** Of `Clients`, when the client was asked for. */
  readonly generation: number
  readonly scopes: ReadonlySet<string>
  readonly confirmation: Confirmation
  /** Resources that it is restricted to; undefined = all that its rights reach. */
  readonly audience: readonly string[] | undefined
  /** The user of a password grant. */
  readonly user: TokenUser | undefined
  /** The API whose authorization server issued it. */
  readonly issuer: { readonly apiId: string; readonly orgId: string }
}

/** The access token that a stored session is, with the client that goes by its id; undefined for a key. */
export function liveToken(
  row: Pick<SessionRow, 'body' | 'orgId'>,
  found: { readonly client: OAuthClient | undefined; readonly generation: number },
): LiveToken | undefined {
  const facts = tokenFactsOf(row.body)
  if (facts === undefined) return undefined
  return {
    client: issuedBy(found.client, row, facts) ? found.client : undefined,
    generation: found.generation,
    scopes: new Set(typeof facts.scope === 'string' && facts.scope !== '' ? facts.scope.split(' ') : []),
    confirmation: readConfirmation(facts.cnf),
    audience: facts.audience,
    user: facts.user,
    issuer: { apiId: facts.api_id, orgId: row.orgId },
  }
}
