import { fault } from '../errors/fault.ts'
import type { OAuthClient } from '../model/oauth-client.ts'
import { tokenFactsOf } from '../model/oauth-token.ts'
import { hashKey } from '../model/secret.ts'
import { jsonAnswer } from './answer.ts'
import { authenticateClient } from './client-auth.ts'
import { endFamily } from './families.ts'
import { readForm } from './form.ts'
import type { OAuthAnswer, OAuthCall, OAuthParts } from './parts.ts'

/**
 * Revokes one token of the client that asks (RFC 7009). A refresh token takes its whole family with it, an access token only
 * itself. 200 also for a token that is unknown or of another client, which stays as it is: the answer tells nobody what exists.
 * `token_type_hint` says where to look first; both places are looked at in any case (section 2.1).
 * @throws Fault `oauth_invalid_client`, `oauth_invalid_request` without `token`, `store_away`, `store_full`
 */
export async function revoke(parts: OAuthParts, call: OAuthCall): Promise<OAuthAnswer> {
  const form = (await readForm(call)).single()
  const client = await authenticateClient(parts, call, form)
  const token = form.get('token')
  if (token === undefined) throw fault('oauth_invalid_request', 'token is missing')
  const hash = hashKey(token)
  const ways = [revokeAccess, revokeRefresh]
  if (form.get('token_type_hint') === 'refresh_token') ways.reverse()
  for (const way of ways) if (await way(parts, client, hash)) break
  return jsonAnswer(200, { status: 'ok', message: 'token revoked successfully' })
}

async function revokeAccess(parts: OAuthParts, client: OAuthClient, hash: Buffer): Promise<boolean> {
  const row = await parts.tokens.getSession(hash)
  if (row === undefined || row.clientId !== client.client_id || tokenFactsOf(row.body) === undefined) return false
  await parts.documents.commit([{ op: 'deleteSession', hash }], undefined)
  return true
}

async function revokeRefresh(parts: OAuthParts, client: OAuthClient, hash: Buffer): Promise<boolean> {
  const row = await parts.tokens.getTicket(hash)
  if (row === undefined || row.sort !== 'refresh' || row.clientId !== client.client_id) return false
  await endFamily(parts, row.family)
  return true
}
