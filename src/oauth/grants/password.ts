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
import { readScope } from '../tokens/scopes.ts'
import { isUsable } from '../tokens/user-rules.ts'

const WARNED_EVERY_MS = 3_600_000

/**
 * The password grant (RFC 6749 section 4.3), for clients that cannot do better: OAuth 2.1 has it no more, and the log says so
 * once an hour. Users are keys with a password. The token may do what both the user and the client may.
 * @throws Fault `oauth_grant_incomplete`, `oauth_wrong_password`, `oauth_too_many_tries`, `oauth_invalid_scope`, `oauth_no_policy`
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
  const user = await checkBasicUser(parts, api.orgId, username, password, call.clientAddress)
  if (user instanceof Fault) throw user
  if (user === undefined || !isUsable(parts, api, user)) throw fault('oauth_wrong_password')
  return issueTokens(parts, call, {
    client,
    scope,
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

/** When each API was last warned of, by the monotonic clock. */
const warned = new WeakMap<OAuthParts, Map<string, number>>()

function warnOnceAnHour(parts: OAuthParts, apiId: string): void {
  const now = parts.clock.mono()
  const last = warned.get(parts) ?? new Map<string, number>()
  warned.set(parts, last)
  if (now - (last.get(apiId) ?? Number.NEGATIVE_INFINITY) < WARNED_EVERY_MS) return
  last.set(apiId, now)
  parts.log.warn({ api_id: apiId }, 'the password grant is deprecated: use the authorization code grant with PKCE')
}
