import { fault } from '../../errors/fault.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { hasRights, NARROWED_BY, rightsAndLimitsOf } from '../../model/sessions/scope-session.ts'
import type { Policy, Session } from '../../model/sessions/session.ts'

/**
 * The rights and limits in the session of an access token. Policies of the client are named, not copied, so that an edited one reaches live
 * tokens; rules from the login page or a user can only narrow them, and apply alone where the client had none when they were given
 * (`standaloneMark`). Its metadata are those of the rules, and of the client what they do not name.
 * @throws Fault `oauth_no_policy` when neither gives any right
 */
export function sessionBody(
  client: OAuthClient,
  policies: readonly (Policy | undefined)[],
  {
    keyRules,
    standsAlone = false,
  }: { readonly keyRules?: JsonObject | undefined; readonly standsAlone?: boolean | undefined },
): JsonObject {
  const { meta_data: own, ...rules } = keyRules === undefined ? {} : rightsAndLimitsOf(keyRules)
  const meta_data = { ...client.metadata, ...(isObject(own) && own) }
  if (client.policies.length > 0) {
    if (policies.every((policy) => policy === undefined)) throw fault('oauth_no_policy')
    const alias = typeof rules.alias === 'string' && rules.alias !== '' ? { alias: rules.alias } : {}
    const narrowed = keyRules === undefined ? {} : { [NARROWED_BY]: rules }
    return { apply_policies: [...client.policies], ...alias, ...narrowed, meta_data }
  }
  if (!standsAlone || !hasRights(rules as Session)) throw fault('oauth_no_policy')
  return { ...rules, meta_data }
}
