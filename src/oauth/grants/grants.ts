import type { GrantType } from '../../model/oauth-clients/grants.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import type { OAuthAnswer, OAuthCall, OAuthParts } from '../endpoints/parts.ts'
import type { Form } from '../messages/form.ts'
import type { Binding } from '../proofs/dpop.ts'
import { clientCredentialsGrant } from './client-credentials.ts'
import { codeGrant } from './code.ts'
import { deviceGrant } from './device.ts'
import { passwordGrant } from './password.ts'
import { refreshGrant } from './refresh.ts'

/** Answers a token request of a client that has authenticated and may use the grant. @throws Fault of RFC 6749 section 5.2 */
export type GrantHandler = (
  parts: OAuthParts,
  call: OAuthCall,
  client: OAuthClient,
  form: Form,
  binding: Binding,
) => Promise<OAuthAnswer>

const HANDLERS: Readonly<Record<GrantType, GrantHandler>> = {
  authorization_code: codeGrant,
  client_credentials: clientCredentialsGrant,
  password: passwordGrant,
  refresh_token: refreshGrant,
  'urn:ietf:params:oauth:grant-type:device_code': deviceGrant,
}

/** The handlers of token requests, by grant. */
export const GRANT_HANDLERS: ReadonlyMap<string, GrantHandler> = new Map(Object.entries(HANDLERS))
