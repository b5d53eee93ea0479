import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import type { OAuthAnswer, OAuthCall, OAuthParts } from '../endpoints/parts.ts'
import type { Form } from '../messages/form.ts'
import type { Binding } from '../proofs/dpop.ts'
import { issueTokens } from '../tokens/issue.ts'
import { readResources } from '../tokens/resources.ts'
import { readScope } from '../tokens/scopes.ts'

/**
 * A client asks for itself (RFC 6749 section 4.4): an access token, never a refresh token, announced to nobody. All tokens of
 * a client count together.
 * @throws Fault `oauth_invalid_scope`, `oauth_invalid_target`, `oauth_no_policy`
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
    resources: readResources(form, call),
    username: '',
    family: '',
    withRefresh: false,
    binding,
    also: [],
  })
}
