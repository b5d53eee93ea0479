import type { OAuthClient } from '../../model/oauth-client.ts'
import type { Binding } from '../dpop.ts'
import type { Form } from '../form.ts'
import { issueTokens } from '../issue.ts'
import type { OAuthAnswer, OAuthCall, OAuthParts } from '../parts.ts'
import { readScope } from '../scopes.ts'

/**
 * A client asks for itself (RFC 6749 section 4.4): an access token, never a refresh token, announced to nobody. All tokens of
 * a client count together.
 * @throws Fault `oauth_invalid_scope`, `oauth_no_policy`
 */
export function clientCredentialsGrant(
  parts: OAuthParts,
  call: OAuthCall,
  client: OAuthClient,
  form: Form,
  binding: Binding,
): Promise<OAuthAnswer> {
  return issueTokens(parts, call, {
    client,
    scope: readScope(form.get('scope'), client, call.api.oauth),
    username: '',
    family: '',
    withRefresh: false,
    binding,
    also: [],
  })
}
