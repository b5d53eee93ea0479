import type { JsonObject } from '../../json/json.ts'
import { GRANTS, type GrantType, grantOf } from '../../oauth-clients/grants.ts'
import type { BindingRule, OAuthRules } from '../../oauth-clients/oauth-rules.ts'
import { flagOf, numberOf, objectOf, textOf, textsOf } from '../definition/members.ts'
import { member } from '../definition/tree.ts'

/** The authorization server of a classic definition. The schema has checked its members. */
export function readOAuth(classic: JsonObject): OAuthRules {
  const meta = objectOf(classic, 'oauth_meta')
  const notifications = objectOf(classic, 'notifications')
  const grants = grantsOf(meta)
  return {
    grants,
    responseTypes: responseTypesOf(meta, grants),
    loginRedirect: textOf(meta, 'auth_login_redirect'),
    notifyUrl: textOf(notifications, 'oauth_on_keychange_url'),
    notifySecret: textOf(notifications, 'shared_secret'),
    scopes: new Set(Object.keys(objectOf(meta, 'scopes'))),
    allowedResources: textsOf(meta, 'allowed_resources'),
    openRegistration: flagOf(meta, 'open_registration'),
    clientIdMetadata: flagOf(meta, 'client_id_metadata'),
    registrationPolicies: textsOf(meta, 'registration_policies'),
    accessTokenFormat: textOf(meta, 'access_token_format') === 'jwt' ? 'jwt' : 'opaque',
    accessTokenType: textOf(meta, 'access_token_type') === 'JWT' ? 'JWT' : 'at+jwt',
    signingAlgorithm: textOf(meta, 'access_token_signing_algorithm') === 'RS256' ? 'RS256' : 'ES256',
    accessTokenS: numberOf(meta, 'access_token_lifetime'),
    refreshTokenS: numberOf(meta, 'refresh_token_lifetime'),
    codeS: numberOf(meta, 'authorization_code_lifetime'),
    refreshReuseGraceS: numberOf(meta, 'refresh_reuse_grace_seconds'),
    requirePkce: flagOf(meta, 'require_pkce'),
    requirePushedRequests: flagOf(meta, 'require_pushed_authorization_requests'),
    dpop: bindingOf(meta, 'dpop'),
    mutualTls: bindingOf(meta, 'mutual_tls'),
  }
}

/** The grants that a definition allows; the implicit one is not served. */
function grantsOf(meta: JsonObject): ReadonlySet<GrantType> {
  const grants = new Set<GrantType>()
  for (const type of textsOf(meta, 'allowed_access_types')) {
    const grant = grantOf(type)
    if (grant !== undefined && grant.classic === undefined) grants.add(grant.type)
  }
  for (const { type, classic } of GRANTS) if (classic !== undefined && flagOf(meta, classic)) grants.add(type)
  return grants
}

/** A definition that lists no response types at all takes those of its grants; an empty list takes none. */
function responseTypesOf(meta: JsonObject, grants: ReadonlySet<GrantType>): ReadonlySet<string> {
  const listed = member(meta, 'allowed_authorize_types') ?? undefined
  const code = listed === undefined || textsOf(meta, 'allowed_authorize_types').includes('code')
  return new Set(code && grants.has('authorization_code') ? ['code'] : [])
}

function bindingOf(meta: JsonObject, name: string): BindingRule {
  const rule = textOf(meta, name)
  return rule === 'allowed' || rule === 'required' ? rule : 'off'
}
