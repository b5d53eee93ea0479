import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject } from '../json/json.ts'
import type { OAuthClient } from '../oauth-clients/oauth-client.ts'
import { epochAt } from '../oauth-clients/oauth-registration.ts'
import { type TokenFacts, tokenFactsOf } from '../oauth-clients/oauth-token.ts'
import { policyIdsOf } from '../policies/merge-policies.ts'
import { NARROWED_BY, rightsAndLimitsOf } from './scope-session.ts'
import type { Session } from './session.ts'

/** True when the token is one of this client: of its organisation, and not ended with all its tokens since. */
export function issuedBy(
  client: OAuthClient | undefined,
  { orgId }: { readonly orgId: string },
  facts: TokenFacts,
): client is OAuthClient {
  return client !== undefined && epochAt(client, facts.api_id) === facts.epoch && client.org_id === orgId
}

/** Members that say nothing of what a token may do. */
const NOTES: ReadonlySet<string> = new Set(['org_id', 'meta_data', 'date_created', 'last_updated'])

/** The access rights, limits, tags and metadata of a user's session for its tokens. */
export function rulesOfUser(user: JsonObject): JsonObject {
  return rightsAndLimitsOf(user)
}

/**
 * The body of a token of the password grant as its user is now: what the user has lost since is lost at once. Where the client's
 * policies give the rights, what the user has gained counts too; where the rights are those that the user had, they stay the most.
 */
export function withUserOfToday(body: JsonObject, user: JsonObject): JsonObject {
  const rules = rulesOfUser(user)
  if (isObject(body[NARROWED_BY] ?? null)) return { ...body, [NARROWED_BY]: rules }
  const issued = rightsAndLimitsOf(body)
  const names = [...new Set([...Object.keys(issued), ...Object.keys(rules)])].filter((name) => !NOTES.has(name))
  return names.every((name) => isDeepStrictEqual(issued[name], rules[name])) ? body : { ...body, [NARROWED_BY]: rules }
}

const LIMITS = ['rate', 'quota_max', 'throttle_interval', 'max_query_depth'] as const

/**
 * The current session of a token: under the client's present policies, and with the client's metadata where it
 * has none of that name. The narrowing by the login page or the user stays; its own access rights and limits narrow it further. One
 * that was issued under policies and whose client has none any more has no access.
 */
export function sessionAtUse(body: JsonObject, client: OAuthClient): Session {
  const session = body as Session
  const meta_data = { ...client.metadata, ...session.meta_data }
  const issuedWith = tokenFactsOf(body)?.policies ?? policyIdsOf(session)
  const { alias, expires, tags } = session
  if (client.policies.length === 0 && issuedWith.length === 0) return { ...session, meta_data }
  const apply_policies = [...client.policies]
  if (apply_policies.length === 0) return { ...(alias !== undefined && { alias }), apply_policies, meta_data }
  const before = body[NARROWED_BY]
  // Policies that a login, a user or an administrator gave the token narrow it; those of the client at its issue do not any more.
  const hasPolicies = !isObject(before) && policyIdsOf(session).join('\n') !== issuedWith.join('\n')
  if (!hasPolicies && !hasRules(session)) return { ...session, apply_policies, meta_data }
  const kept = {
    ...(alias !== undefined && { alias }),
    ...(expires !== undefined && { expires }),
    ...(tags !== undefined && { tags }),
  }
  const { apply_policies: named, ...rules } = rightsAndLimitsOf(body)
  const own: JsonObject = hasPolicies && named !== undefined ? { ...rules, apply_policies: named } : rules
  const narrowed = { [NARROWED_BY]: isObject(before) ? { ...before, [NARROWED_BY]: own } : own }
  return { ...kept, ...narrowed, apply_policies, meta_data }
}

/** True for a session that states rights or limits itself. */
function hasRules(session: Session): boolean {
  return Object.keys(session.access_rights ?? {}).length > 0 || LIMITS.some((name) => (session[name] ?? 0) !== 0)
}
