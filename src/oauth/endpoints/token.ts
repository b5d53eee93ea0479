import { fault } from '../../errors/fault.ts'
import { type GrantType, isForClient } from '../../model/oauth-clients/grants.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import type { OAuthRules } from '../../model/oauth-clients/oauth-rules.ts'
import { authenticateClient } from '../clients/client-auth.ts'
import { isPublic, mayUseGrant } from '../clients/clients.ts'
import { GRANT_HANDLERS, type GrantHandler } from '../grants/grants.ts'
import { readForm } from '../messages/form.ts'
import { readBinding } from '../proofs/dpop.ts'
import type { OAuthAnswer, OAuthApi, OAuthCall, OAuthParts } from './parts.ts'

/**
 * The token endpoint (RFC 6749 section 3.2): authenticates the client, then hands over to the grant that it asks for, once the
 * API has it and the client may use it.
 * @throws Fault `oauth_invalid_client` and all others of RFC 6749 section 5.2
 */
export async function token(parts: OAuthParts, call: OAuthCall): Promise<OAuthAnswer> {
  const form = await readForm(call)
  const client = await authenticateClient(parts, call, form)
  const serve = grantFor(call.api, client, form.get('grant_type'))
  const binding = await readBinding(parts, call, bindingRules(call.api, client))
  return serve(parts, call, client, form, binding)
}

/** The bindings that the API requires of every token, or the client of its own. */
function bindingRules({ oauth }: OAuthApi, client: OAuthClient): Pick<OAuthRules, 'dpop' | 'mutualTls'> {
  return {
    dpop: client.dpop_bound_access_tokens === true ? 'required' : oauth.dpop,
    mutualTls: client.tls_client_certificate_bound_access_tokens === true ? 'required' : oauth.mutualTls,
  }
}

function grantFor(api: OAuthApi, client: OAuthClient, grantType: string | undefined): GrantHandler {
  if (grantType === undefined) throw fault('oauth_grant_missing')
  const serve = GRANT_HANDLERS.get(grantType)
  if (serve === undefined || !api.oauth.grants.has(grantType as GrantType)) throw fault('oauth_unsupported_grant')
  if (!mayUseGrant(client, grantType)) throw fault('oauth_unauthorized_client')
  // RFC 6749 section 4.4: only who can prove who it is may ask for itself.
  if (isForClient(grantType) && isPublic(client)) throw fault('oauth_unauthorized_client')
  return serve
}
