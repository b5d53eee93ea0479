import { fault, toFault } from '../../errors/fault.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { pendingTicket, tokenFactsOf } from '../../model/oauth-clients/oauth-token.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import { endAllTokens } from '../../publish/oauth-clients/oauth-clients.ts'
import { authenticateClient } from '../clients/client-auth.ts'
import { isOfOtherRegistration, isPublic } from '../clients/clients.ts'
import { jsonAnswer } from '../messages/answer.ts'
import { readForm } from '../messages/form.ts'
import { readPublicJwk } from '../signing-keys/jwk.ts'
import { readJwt, verifyJwt } from '../signing-keys/jwt.ts'
import { publishedKeys } from '../signing-keys/keys.ts'
import { endFamily } from '../tokens/families.ts'
import { RETENTION_S } from '../tokens/issue.ts'
import type { OAuthAnswer, OAuthCall, OAuthParts } from './parts.ts'

/**
 * Revokes one token of the client that asks (RFC 7009). A refresh token takes its whole family with it, an access token only
 * itself. 200 also for a token that is unknown, since it is as good as revoked (section 2.2); one that was issued to another client
 * stays as it is and is refused (section 2.1), which tells no more than the token itself: nobody can guess one.
 * `token_type_hint` says where to look first; both places are looked at in any case.
 * @throws Fault `oauth_invalid_client`, `oauth_invalid_request` without `token`, `oauth_foreign_token`, `store_away`, `store_full`
 */
export async function revokeRequest(parts: OAuthParts, call: OAuthCall): Promise<OAuthAnswer> {
  const form = await readForm(call)
  const client = await authenticateClient(parts, call, form)
  const token = form.get('token')
  if (token === undefined) throw fault('oauth_invalid_request', 'token is missing')
  const hash = hashKey(token)
  const ways = [revokeAccess, revokeRefresh]
  if (form.get('token_type_hint') === 'refresh_token') ways.reverse()
  const isDone = await tryAll(ways, parts, client, hash)
  // It may be one that another node issued while the store was away, and has not stored yet.
  if (!isDone && parts.pending !== undefined) await revokePending(parts, call, client, token)
  return jsonAnswer(200, { status: 'ok', message: 'token revoked successfully' })
}

/** Answers whether there was such a token. @throws Fault `oauth_foreign_token` */
type Way = (parts: OAuthParts, client: OAuthClient, hash: Buffer) => Promise<boolean>

async function tryAll(ways: readonly Way[], parts: OAuthParts, client: OAuthClient, hash: Buffer): Promise<boolean> {
  for (const way of ways) if (await way(parts, client, hash)) return true
  return false
}

/** @throws Fault `oauth_foreign_token` for a token of another client, or of another registration of this client's id */
async function checkOwn(
  parts: OAuthParts,
  client: OAuthClient,
  issued: { readonly clientId: string; readonly apiId: string; readonly epoch: unknown },
): Promise<void> {
  if (issued.clientId !== client.client_id || (await isOfOtherRegistration(parts, client, issued)))
    throw fault('oauth_foreign_token')
}

/** Keeps a token of the client that we have signed, and that nobody has stored, from being stored. */
async function revokePending(parts: OAuthParts, call: OAuthCall, client: OAuthClient, token: string): Promise<void> {
  const { api } = call
  const signed = await signedByUs(parts, call, token)
  if (signed === undefined || signed.endsAt <= parts.clock.wall()) return
  if (signed.clientId !== client.client_id) throw fault('oauth_foreign_token')
  const hash = hashKey(token)
  try {
    await parts.documents.commit(
      [{ op: 'putTicket', ...pendingTicket(hash, api.apiId, signed.endsAt), ifAbsent: true }],
      undefined,
    )
  } catch (error) {
    if (toFault(error).code !== 'already_exists') throw error
    // It was stored meanwhile, or revoked before.
    await revokeAccess(parts, client, hash)
  }
}

/** The client of a token that we signed, and when the store may forget it; undefined when we did not sign it. */
async function signedByUs(
  parts: OAuthParts,
  { api, issuer }: OAuthCall,
  token: string,
): Promise<{ readonly clientId: unknown; readonly endsAt: number } | undefined> {
  const jwt = readJwt(token, ['at+jwt', 'jwt'])
  if (typeof jwt === 'string') return undefined
  const { algorithm } = jwt
  if (algorithm === 'PS256') return undefined
  const keys = await publishedKeys(parts, api.orgId, algorithm)
  const key = readPublicJwk(keys.find(({ kid }) => kid === jwt.header.kid)?.jwk)?.key
  const { exp, iss, client_id: clientId } = jwt.claims
  // Another API may have a registration of the same client id. Its path tells: another node may have been called by another address.
  if (typeof iss !== 'string' || URL.parse(iss)?.pathname !== URL.parse(issuer)?.pathname) return undefined
  if (key === undefined || !verifyJwt(jwt, key) || typeof exp !== 'number') return undefined
  return { clientId, endsAt: (exp + RETENTION_S) * 1000 }
}

async function revokeAccess(parts: OAuthParts, client: OAuthClient, hash: Buffer): Promise<boolean> {
  const row = await parts.tokens.getSession(hash)
  const facts = row && tokenFactsOf(row.body)
  if (row === undefined || facts === undefined) return false
  await checkOwn(parts, client, { clientId: row.clientId, apiId: facts.api_id, epoch: facts.epoch })
  await parts.documents.commit([{ op: 'deleteSession', hash }], undefined)
  return true
}

async function revokeRefresh(parts: OAuthParts, client: OAuthClient, hash: Buffer): Promise<boolean> {
  const row = await parts.tokens.getTicket(hash)
  if (row === undefined || row.sort !== 'refresh') return false
  await checkOwn(parts, client, { clientId: row.clientId, apiId: row.apiId, epoch: row.body.epoch })
  await endFamily(parts, row.family)
  return true
}

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
