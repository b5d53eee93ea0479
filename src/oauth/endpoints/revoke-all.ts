import { fault } from '../../errors/fault.ts'
import { endAllTokens } from '../../publish/oauth-clients/oauth-clients.ts'
import { authenticateClient } from '../clients/client-auth.ts'
import { isPublic } from '../clients/clients.ts'
import { jsonAnswer } from '../messages/answer.ts'
import { readForm } from '../messages/form.ts'
import type { OAuthAnswer, OAuthCall, OAuthParts } from './parts.ts'

/**
 * Revokes all tokens of the calling client, codes and refresh tokens too, at all its APIs, in one write. The
 * client authenticates by id and secret in the body, or by its other methods; public clients cannot, and are refused.
 * @throws Fault `oauth_invalid_client`, `oauth_unauthorized_client`, `store_away`, `store_full`
 */
export async function revokeAll(parts: OAuthParts, call: OAuthCall): Promise<OAuthAnswer> {
  const form = await readForm(call)
  const client = await authenticateClient(parts, call, form)
  if (isPublic(client)) throw fault('oauth_unauthorized_client')
  await endAllTokens(parts, client, `client:${client.client_id}`)
  return jsonAnswer(200, { status: 'ok', message: 'tokens revoked successfully' })
}
