import { fault } from '../../errors/fault.ts'
import type { Json, JsonObject } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { epochAt } from '../../model/oauth-clients/oauth-registration.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import type { Change, TicketRow } from '../../store/ports/ports.ts'
import { givesRefresh } from '../clients/clients.ts'
import type { OAuthAnswer, OAuthCall, OAuthParts } from '../endpoints/parts.ts'
import type { Form } from '../messages/form.ts'
import type { Binding } from '../proofs/dpop.ts'
import { isConflict, refuseReplay } from '../tokens/families.ts'
import { type Issued, issueTokens, tokenAnswer } from '../tokens/issue.ts'
import { openAnswer, sealAnswer } from '../tokens/refresh-answer.ts'
import { chosenResources } from '../tokens/resources.ts'
import { scopeLeft } from '../tokens/scopes.ts'
import type { RefreshBody } from '../tokens/tickets.ts'
import { tokenUserOf, userRules } from '../tokens/user-rules.ts'

/**
 * Refreshes (RFC 6749 section 6): the refresh token is used up, the access token that came with it ends and new ones are issued
 * in one commit. A second use ends the whole family (RFC 9700 section 4.14.2), unless it comes within the API's grace time and
 * what the first one gave was not used yet: then it gets the same tokens again. `scope` and `resource` may only narrow, and only
 * this access token.
 * @throws Fault `oauth_grant_incomplete`, `oauth_invalid_grant`, `oauth_foreign_refresh_token`, `oauth_invalid_scope`, `oauth_invalid_target`, `oauth_no_policy`
 */
export async function refreshGrant(
  parts: OAuthParts,
  call: OAuthCall,
  client: OAuthClient,
  form: Form,
  binding: Binding,
): Promise<OAuthAnswer> {
  const token = form.get('refresh_token')
  if (token === undefined) throw fault('oauth_grant_incomplete', 'refresh_token is missing')
  const hash = hashKey(token)
  const use: Use = { parts, call, client, binding, token, hash, form }
  const row = await parts.tokens.getTicket(hash)
  const body = checked(use, row)
  if (row!.claimedAt !== 0) return again(use, row!)
  try {
    return await rotate(use, row!, body)
  } catch (error) {
    if (!isConflict(error)) throw error
    const late = await parts.tokens.getTicket(hash)
    if (late === undefined || late.claimedAt === 0) throw fault('oauth_invalid_grant')
    return again(use, late)
  }
}

interface Use {
  readonly parts: OAuthParts
  readonly call: OAuthCall
  readonly client: OAuthClient
  readonly binding: Binding
  readonly token: string
  readonly hash: Buffer
  readonly form: Form
}

/** The body of the refresh token, once it is sure that this client may bring it here; used ones too. */
function checked({ call, client, binding, parts }: Use, row: TicketRow | undefined): RefreshBody {
  if (row === undefined || row.sort !== 'refresh' || row.apiId !== call.api.apiId) throw fault('oauth_invalid_grant')
  if (row.clientId !== client.client_id) throw fault('oauth_foreign_refresh_token')
  const body = row.body as unknown as RefreshBody
  if (body.epoch !== epochAt(client, call.api.apiId)) throw fault('oauth_invalid_grant')
  if (row.claimedAt === 0 && row.expiresAt <= parts.clock.wall()) throw fault('oauth_invalid_grant')
  // RFC 9449 section 5, RFC 8705 section 4: of public clients the token is bound to what they proved at first.
  if (body.jkt !== '' && body.jkt !== binding.jkt) throw fault('oauth_invalid_grant')
  if (body.x5t !== '' && body.x5t !== binding.x5t) throw fault('oauth_invalid_grant')
  return body
}

async function rotate(use: Use, row: TicketRow, body: RefreshBody): Promise<OAuthAnswer> {
  const { parts, call, client, hash, token } = use
  // A scope that the API or the client has lost is granted no longer (RFC 6749 section 6 lets the new token have less).
  const scope = narrowed(use.form.get('scope'), scopeLeft(body.scope, client, call.api.oauth))
  const { resources, granted } = chosenResources(use.form, call, body.resources)
  const now = parts.clock.wall()
  const graceS = call.api.oauth.refreshReuseGraceS
  const user = tokenUserOf(body)
  const keyRules = user === undefined ? body.key_rules : await userRules(parts, call.api, user)
  return issueTokens(parts, call, {
    client,
    scope,
    refreshScope: body.scope,
    resources,
    refreshResources: granted,
    keyRules,
    standsAlone: body.stands_alone,
    user,
    username: body.username,
    family: row.family,
    withRefresh: givesRefresh(call.api, client),
    binding: use.binding,
    also: graceS > 0 ? [] : [{ op: 'claimTicket', hash, sort: 'refresh', now }],
    alsoFor: (issued) => [
      ...(graceS > 0 ? keepAnswer(use, row, issued) : []),
      { op: 'deleteSession', hash: Buffer.from(body.access_hash, 'hex') },
    ],
    notify: { authCode: '', oldRefreshToken: token, type: 'refresh' },
  })
}

/** Writes the sealed answer into the ticket before it is consumed: only the caller that finds it unused can. */
function keepAnswer({ parts, hash }: Use, row: TicketRow, issued: Issued): readonly Change[] {
  const { hash: _hash, version, claimedAt: _claimed, ...input } = row
  const body: JsonObject = { ...row.body, sealed_answer: sealAnswer(parts, hash, issued) }
  return [
    { op: 'putTicket', hash, row: { ...input, body }, ifVersion: version },
    { op: 'claimTicket', hash, sort: 'refresh', now: parts.clock.wall() },
  ]
}

/** The answer to a second use. */
async function again(use: Use, row: TicketRow): Promise<OAuthAnswer> {
  const { parts, call, hash, binding } = use
  const now = parts.clock.wall()
  const sealed: Json | undefined = row.body.sealed_answer
  const within = now < row.claimedAt + call.api.oauth.refreshReuseGraceS * 1000
  if (!within || typeof sealed !== 'string') throw await refuseReplay(parts, call, row)
  const issued = openAnswer(parts, hash, sealed)
  // A used successor shows that the first response arrived: then this is no retry, but another party.
  const user = tokenUserOf(row.body as unknown as RefreshBody)
  if (user !== undefined) await userRules(parts, call.api, user)
  const next = issued.refreshToken === '' ? undefined : await parts.tokens.getTicket(hashKey(issued.refreshToken))
  if (next === undefined || next.claimedAt !== 0) throw await refuseReplay(parts, call, row)
  if ((issued.tokenType === 'DPoP') !== (binding.jkt !== '')) throw fault('oauth_invalid_grant')
  return tokenAnswer(issued, Math.floor(now / 1000))
}

/** The scope of the new access token: what was asked for, as far as it was granted at first. */
function narrowed(asked: string | undefined, granted: string): string {
  if (asked === undefined) return granted
  const known = new Set(granted.split(' '))
  const scopes = [...new Set(asked.split(' '))]
  if (granted === '' || !scopes.every((scope) => known.has(scope))) throw fault('oauth_invalid_scope')
  return scopes.join(' ')
}
