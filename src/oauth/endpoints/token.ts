import { fault } from '../../errors/fault.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import type { GrantType } from '../../model/oauth-clients/oauth-rules.ts'
import { authenticateClient } from '../clients/client-auth.ts'
import { isPublic, mayUseGrant } from '../clients/clients.ts'
import { clientCredentialsGrant } from '../grants/client-credentials.ts'
import { codeGrant } from '../grants/code.ts'
import { deviceGrant } from '../grants/device.ts'
import { passwordGrant } from '../grants/password.ts'
import { refreshGrant } from '../grants/refresh.ts'
import { type Form, readForm } from '../messages/form.ts'
import { type Binding, readBinding } from '../proofs/dpop.ts'
import type { OAuthAnswer, OAuthApi, OAuthCall, OAuthParts } from './parts.ts'

type GrantHandler = (
  parts: OAuthParts,
  call: OAuthCall,
  client: OAuthClient,
  form: Form,
  binding: Binding,
) => Promise<OAuthAnswer>

const GRANTS: ReadonlyMap<string, GrantHandler> = new Map<GrantType, GrantHandler>([
  ['authorization_code', codeGrant],
  ['client_credentials', clientCredentialsGrant],
  ['password', passwordGrant],
  ['refresh_token', refreshGrant],
  ['urn:ietf:params:oauth:grant-type:device_code', deviceGrant],
])

/**
 * The token endpoint (RFC 6749 section 3.2): authenticates the client, then hands over to the grant that it asks for, once the
 * API has it and the client may use it.
 * @throws Fault `oauth_invalid_client` and all others of RFC 6749 section 5.2
 */
export async function token(parts: OAuthParts, call: OAuthCall): Promise<OAuthAnswer> {
  const form = await readForm(call)
  const client = await authenticateClient(parts, call, form)
  const serve = grantFor(call.api, client, form.get('grant_type'))
  const binding = await readBinding(parts, call, call.api.oauth)
  return serve(parts, call, client, form, binding)
}

function grantFor(api: OAuthApi, client: OAuthClient, grantType: string | undefined): GrantHandler {
  if (grantType === undefined) throw fault('oauth_grant_missing')
  const serve = GRANTS.get(grantType)
  if (serve === undefined || !api.oauth.grants.has(grantType as GrantType)) throw fault('oauth_unsupported_grant')
  if (!mayUseGrant(client, grantType)) throw fault('oauth_unauthorized_client')
  // RFC 6749 section 4.4: only who can prove who it is may ask for itself.
  if (grantType === 'client_credentials' && isPublic(client)) throw fault('oauth_unauthorized_client')
  return serve
}
