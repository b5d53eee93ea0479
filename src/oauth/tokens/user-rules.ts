import { Fault, fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { generationOf } from '../../model/keys/key.ts'
import type { TokenUser } from '../../model/oauth-clients/oauth-token.ts'
import { mergePolicies, policyIdsOf } from '../../model/policies/merge-policies.ts'
import { rulesOfUser } from '../../model/sessions/token-session.ts'
import { isExpired } from '../../model/time/expiry.ts'
import type { SessionRow } from '../../store/ports/ports.ts'
import type { OAuthApi, OAuthParts } from '../endpoints/parts.ts'
import type { RefreshBody } from './tickets.ts'

/**
 * True when a user may be given tokens at this API: of its organisation, not switched off by itself or by a policy, with policies that
 * can be applied, not past its end. Tokens of any other user are refused when they are used.
 */
export function isUsable(parts: OAuthParts, api: { readonly orgId: string }, user: SessionRow): boolean {
  const session = user.body
  if (user.orgId !== '' && user.orgId !== api.orgId) return false
  if (session.is_inactive === true || isExpired(session, parts.clock.wall())) return false
  const ids = policyIdsOf(session)
  if (ids.length === 0) return true
  const policies = ids.map((id) => parts.findPolicy(user.orgId, id))
  const merged = mergePolicies(session, policies, (apiId) => parts.findApi(apiId)?.orgId)
  return !(merged instanceof Fault) && !merged.isInactive
}

/** The user that a refresh token was given for; undefined for other grants than that of a password. */
export function tokenUserOf({ user_hash: hash, user_generation: generation = '' }: RefreshBody): TokenUser | undefined {
  return hash === undefined ? undefined : { hash, generation }
}

/** The session of a user that tokens were given for; undefined once it is gone, switched off, expired, or another of its name. */
export async function findTokenUser(
  parts: OAuthParts,
  api: { readonly orgId: string },
  { hash, generation }: TokenUser,
): Promise<SessionRow | undefined> {
  const user = await parts.tokens.getSession(Buffer.from(hash, 'hex'))
  if (user === undefined || generationOf(user.body) !== generation) return undefined
  return isUsable(parts, api, user) ? user : undefined
}

/** The rules of a user as they are now, for a token that is refreshed. @throws Fault `oauth_invalid_grant` when it is gone, `store_away` */
export async function userRules(parts: OAuthParts, api: OAuthApi, user: TokenUser): Promise<JsonObject> {
  const found = await findTokenUser(parts, api, user)
  if (found === undefined) throw fault('oauth_invalid_grant')
  return rulesOfUser(found.body)
}
