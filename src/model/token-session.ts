import { isObject, type JsonObject } from './json.ts'
import { NARROWED_BY, rulesOf } from './narrow-session.ts'
import type { OAuthClient } from './oauth-client.ts'
import type { TokenFacts } from './oauth-token.ts'
import type { Session } from './session.ts'

/** True when the token is one of this client: of its organisation, and not ended with all its tokens since. */
export function issuedBy(
  client: OAuthClient | undefined,
  { orgId }: { readonly orgId: string },
  facts: TokenFacts,
): client is OAuthClient {
  return client !== undefined && client.epoch === facts.epoch && client.org_id === orgId
}

const LIMITS = ['rate', 'quota_max', 'throttle_interval', 'max_query_depth'] as const

/**
 * The session of a token as its client makes it now: under the client's policies of today, and with the client's metadata where it
 * has none of that name. What the login page or the user narrowed it to stays; rights and limits of its own narrow it further.
 */
export function sessionAtUse(body: JsonObject, client: OAuthClient): Session {
  const session = body as unknown as Session
  const meta_data = { ...client.metadata, ...session.meta_data }
  if (client.policies.length === 0) return { ...session, meta_data }
  const apply_policies = [...client.policies]
  if (!hasRules(session)) return { ...session, apply_policies, meta_data }
  const { alias, expires, tags } = session
  const kept = {
    ...(alias !== undefined && { alias }),
    ...(expires !== undefined && { expires }),
    ...(tags !== undefined && { tags }),
  }
  const { apply_policies: _issuedWith, ...own } = rulesOf(body)
  const before = body[NARROWED_BY]
  const narrowed: JsonObject = { [NARROWED_BY]: isObject(before) ? { ...before, [NARROWED_BY]: own } : rulesOf(body) }
  return { ...kept, ...narrowed, apply_policies, meta_data }
}

/** True for a session that states rights or limits itself. */
function hasRules(session: Session): boolean {
  return Object.keys(session.access_rights ?? {}).length > 0 || LIMITS.some((name) => (session[name] ?? 0) !== 0)
}
