import type { JsonObject } from '../../model/json.ts'
import { NARROWED_BY, rulesOf } from '../../model/narrow-session.ts'
import type { OAuthClient } from '../../model/oauth-client.ts'
import { type TokenFacts, tokenFactsOf } from '../../model/oauth-token.ts'
import type { Session } from '../../model/session.ts'
import { type Confirmation, readConfirmation } from '../../oauth/confirmation.ts'
import type { SessionRow } from '../../store/ports.ts'

/** What makes a session an access token, as it stands now. */
export interface LiveToken {
  /** The client that it was issued to; undefined when that is gone or ended all its tokens since. */
  readonly client: OAuthClient | undefined
  /** Of `Clients`, when the client was asked for. */
  readonly generation: number
  readonly scopes: ReadonlySet<string>
  readonly confirmation: Confirmation
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
    issuer: { apiId: facts.api_id, orgId: row.orgId },
  }
}

function issuedBy(client: OAuthClient | undefined, row: Pick<SessionRow, 'orgId'>, facts: TokenFacts): boolean {
  return client !== undefined && client.epoch === facts.epoch && client.org_id === row.orgId
}

/**
 * The session of a token as its client makes it now: under the client's policies of today, which rules of its own can only narrow,
 * and with the client's metadata where it has none of that name.
 */
export function sessionAtUse(body: JsonObject, client: OAuthClient): Session {
  const session = body as unknown as Session
  const meta_data = { ...client.metadata, ...session.meta_data }
  if (client.policies.length === 0) return { ...session, meta_data }
  const apply_policies = [...client.policies]
  if (Object.keys(session.access_rights ?? {}).length === 0) return { ...session, apply_policies, meta_data }
  const { alias, expires, tags } = session
  const kept = {
    ...(alias !== undefined && { alias }),
    ...(expires !== undefined && { expires }),
    ...(tags !== undefined && { tags }),
  }
  const narrowed: JsonObject = { [NARROWED_BY]: rulesOf(body) }
  return { ...kept, ...narrowed, apply_policies, meta_data }
}
