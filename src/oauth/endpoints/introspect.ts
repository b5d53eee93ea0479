import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { epochAt } from '../../model/oauth-clients/oauth-registration.ts'
import { tokenFactsOf } from '../../model/oauth-clients/oauth-token.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import { sessionAtUse, withUserOfToday } from '../../model/sessions/token-session.ts'
import type { SessionRow } from '../../store/ports/ports.ts'
import { authenticateClient } from '../clients/client-auth.ts'
import { findClient, isOpenlyRegistered, isPublic, isRegistered } from '../clients/clients.ts'
import { jsonAnswer } from '../messages/answer.ts'
import { readForm } from '../messages/form.ts'
import { isInForce } from '../tokens/in-force.ts'
import { audienceOf, confirmationOf } from '../tokens/jwt-access-token.ts'
import type { RefreshBody } from '../tokens/tickets.ts'
import { findTokenUser, tokenUserOf } from '../tokens/user-rules.ts'
import type { OAuthAnswer, OAuthCall, OAuthParts } from './parts.ts'

const INACTIVE: JsonObject = { active: false }

/**
 * The state of a token (RFC 7662). The calling client authenticates; it sees access tokens of every API that it
 * is registered at, and of its own refresh tokens; one that registered itself without a token sees its own alone. Unknown, expired and revoked ones are all `{"active":false}`.
 * @throws Fault `oauth_invalid_client`, `oauth_unauthorized_client` (public clients prove nothing), `oauth_invalid_request`
 */
export async function introspect(parts: OAuthParts, call: OAuthCall): Promise<OAuthAnswer> {
  const form = await readForm(call)
  const caller = await authenticateClient(parts, call, form)
  if (isPublic(caller)) throw fault('oauth_unauthorized_client')
  const token = form.get('token')
  if (token === undefined) throw fault('oauth_invalid_request', 'token is missing')
  if (parts.isRetired?.(token) === true) return jsonAnswer(200, INACTIVE)
  const hash = hashKey(token)
  const session = await parts.tokens.getSession(hash)
  if (session !== undefined) return jsonAnswer(200, (await accessClaims(parts, call, caller, session)) ?? INACTIVE)
  return jsonAnswer(200, (await refreshClaims(parts, call, caller, hash)) ?? INACTIVE)
}

async function accessClaims(
  parts: OAuthParts,
  call: OAuthCall,
  caller: OAuthClient,
  { body, clientId, orgId }: SessionRow,
): Promise<JsonObject | undefined> {
  const facts = tokenFactsOf(body)
  const expires = typeof body.expires === 'number' ? body.expires : 0
  if (facts === undefined || expires * 1000 <= parts.clock.wall() || body.is_inactive === true) return undefined
  const api = parts.findApi(facts.api_id)
  if (api === undefined || !isRegistered(parts, caller, api)) return undefined
  if (isOpenlyRegistered(caller) && clientId !== caller.client_id) return undefined
  const owner = await findClient(parts, clientId, api)
  if (owner === undefined || epochAt(owner, api.apiId) !== facts.epoch) return undefined
  const user = facts.user && (await findTokenUser(parts, api, facts.user))
  if (facts.user !== undefined && user === undefined) return undefined
  const today = user === undefined ? body : withUserOfToday(body, user.body)
  if (!isInForce(parts, orgId, sessionAtUse(today, owner))) return undefined
  const aud = audienceOf(facts.audience ?? [])
  return {
    active: true,
    ...(facts.scope !== '' && { scope: facts.scope }),
    client_id: clientId,
    ...(facts.username !== '' && { username: facts.username }),
    token_type: facts.cnf?.jkt === undefined ? 'bearer' : 'DPoP',
    exp: expires,
    iat: facts.issued_at,
    sub: facts.username === '' ? clientId : facts.username,
    ...(aud !== undefined && { aud }),
    // The issuer of another API is not known here: it may have a custom domain.
    ...(api.apiId === call.api.apiId && { iss: call.issuer }),
    ...(facts.cnf !== undefined && { cnf: facts.cnf as JsonObject }),
  }
}

async function refreshClaims(
  parts: OAuthParts,
  call: OAuthCall,
  caller: OAuthClient,
  hash: Buffer,
): Promise<JsonObject | undefined> {
  const row = await parts.tokens.getTicket(hash)
  if (row === undefined || row.sort !== 'refresh' || row.clientId !== caller.client_id) return undefined
  const body = row.body as unknown as RefreshBody
  const { epoch, scope, username, jkt, x5t } = body
  // Nothing comes of it any more: see `sessionBody`.
  if (caller.policies.length === 0 && body.stands_alone !== true) return undefined
  if (row.claimedAt !== 0 || row.expiresAt <= parts.clock.wall() || epoch !== epochAt(caller, row.apiId))
    return undefined
  const user = tokenUserOf(body)
  const api = user && parts.findApi(row.apiId)
  if (user !== undefined && (api === undefined || (await findTokenUser(parts, api, user)) === undefined))
    return undefined
  const cnf = confirmationOf({ jkt, x5t })
  const aud = audienceOf(body.resources ?? [])
  return {
    active: true,
    ...(scope !== '' && { scope }),
    client_id: row.clientId,
    ...(username !== '' && { username }),
    // RFC 7662 has no name for it; without one a resource server would take it for an access token.
    token_use: 'refresh_token',
    exp: Math.floor(row.expiresAt / 1000),
    sub: username === '' ? row.clientId : username,
    ...(aud !== undefined && { aud }),
    ...(row.apiId === call.api.apiId && { iss: call.issuer }),
    ...(cnf !== undefined && { cnf }),
  }
}
