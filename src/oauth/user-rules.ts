import { fault } from '../errors/fault.ts'
import { isExpired } from '../model/expiry.ts'
import type { JsonObject } from '../model/json.ts'
import { rulesOf } from '../model/narrow-session.ts'
import type { Session } from '../model/session.ts'
import type { SessionRow } from '../store/ports.ts'
import type { OAuthApi, OAuthParts } from './parts.ts'

/** True when a user may be given tokens at this API: of its organisation, not switched off, not past its end. */
export function isUsable(parts: OAuthParts, api: OAuthApi, user: SessionRow): boolean {
  const session = user.body as unknown as Session
  if (user.orgId !== '' && user.orgId !== api.orgId) return false
  return session.is_inactive !== true && !isExpired(session, parts.clock.wall())
}

/** What a user's session says about rights and limits. Metadata of a token are those of its client, not of its user. */
export function rulesOfUser(user: SessionRow): JsonObject {
  const { meta_data: _own, ...rules } = rulesOf(user.body)
  return rules
}

/**
 * The rules of a user as they are now, for a token that is refreshed. @throws Fault `oauth_invalid_grant` when the user is gone,
 * switched off or expired, `store_away`
 */
export async function userRules(parts: OAuthParts, api: OAuthApi, userHash: string): Promise<JsonObject> {
  const user = await parts.tokens.getSession(Buffer.from(userHash, 'hex'))
  if (user === undefined || !isUsable(parts, api, user)) throw fault('oauth_invalid_grant')
  return rulesOfUser(user)
}
