import { Fault, fault } from '../../errors/fault.ts'
import { generationOf } from '../../model/keys/key.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { rulesOfUser } from '../../model/sessions/token-session.ts'
import { hexOf } from '../../model/text/hex.ts'
import { checkBasicUser } from '../../publish/keys/basic-auth-users.ts'
import { givesRefresh } from '../clients/clients.ts'
import type { OAuthAnswer, OAuthCall, OAuthParts } from '../endpoints/parts.ts'
import type { Form } from '../messages/form.ts'
import type { Binding } from '../proofs/dpop.ts'
import { newFamily } from '../tokens/code.ts'
import { issueTokens } from '../tokens/issue.ts'
import { readResources } from '../tokens/resources.ts'
import { readScope } from '../tokens/scopes.ts'
import { isUsable } from '../tokens/user-rules.ts'

/**
 * The password grant (RFC 6749 section 4.3), for clients that cannot do better: OAuth 2.1 has it no more, and the log says so
 * once an hour. Users are keys with a password. The token may do what both the user and the client may.
 * @throws Fault `oauth_grant_incomplete`, `oauth_wrong_password`, `oauth_too_many_tries`, `oauth_invalid_scope`, `oauth_invalid_target`, `oauth_no_policy`
 */
export async function passwordGrant(
  parts: OAuthParts,
  call: OAuthCall,
  client: OAuthClient,
  form: Form,
  binding: Binding,
): Promise<OAuthAnswer> {
  const { api } = call
  warnOnceAnHour(parts, api.apiId)
  const username = form.get('username')
  const password = form.get('password')
  if (username === undefined) throw fault('oauth_grant_incomplete', 'username is missing')
  if (password === undefined) throw fault('oauth_grant_incomplete', 'password is missing')
  const scope = readScope(form.get('scope'), client, api.oauth)
  const resources = readResources(form, call)
  const user = await checkBasicUser(parts, api.orgId, username, password, call.clientAddress)
  if (user instanceof Fault) throw user
  if (user === undefined || !isUsable(parts, api, user)) throw fault('oauth_wrong_password')
  return issueTokens(parts, call, {
    client,
    scope,
    resources,
    keyRules: rulesOfUser(user.body),
    standsAlone: client.policies.length === 0,
    user: { hash: hexOf(user.hash), generation: generationOf(user.body) },
    username,
    family: newFamily(),
    withRefresh: givesRefresh(api, client),
    binding,
    also: [],
    notify: { authCode: '', oldRefreshToken: '', type: 'new' },
  })
}

function warnOnceAnHour(parts: OAuthParts, apiId: string): void {
  if (!parts.passwordGrantWarnings.isDue(apiId, parts.clock.mono())) return
  parts.log.warn({ api_id: apiId }, 'the password grant is deprecated: use the authorization code grant with PKCE')
}
