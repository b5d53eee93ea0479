import { fault } from '../../errors/fault.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { epochAt } from '../../model/oauth-clients/oauth-registration.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import type { TicketRow } from '../../store/ports/ports.ts'
import { givesRefresh } from '../clients/clients.ts'
import { isRedirectOf, sinceOf } from '../clients/redirect-uri.ts'
import type { OAuthAnswer, OAuthCall, OAuthParts } from '../endpoints/parts.ts'
import type { Form } from '../messages/form.ts'
import type { Binding } from '../proofs/dpop.ts'
import { verifierFlaw } from '../proofs/pkce.ts'
import { consumeTicket, isConflict, refuseReplay } from '../tokens/families.ts'
import { issueTokens } from '../tokens/issue.ts'
import { chosenResources } from '../tokens/resources.ts'
import { isStillGranted } from '../tokens/scopes.ts'
import type { CodeBody } from '../tokens/tickets.ts'

/**
 * Exchanges an authorization code (RFC 6749 section 4.1.3, RFC 7636 section 4.6): of this client, API and redirect URI, once.
 * A second use ends all that the first one gave (section 4.1.2), also when both come at once. What was withdrawn meanwhile uses it up too.
 * @throws Fault `oauth_grant_incomplete`, `oauth_invalid_grant`, `oauth_pkce_failed`, `oauth_redirect_differs`, `oauth_invalid_target`, `oauth_no_policy`
 */
export async function codeGrant(
  parts: OAuthParts,
  call: OAuthCall,
  client: OAuthClient,
  form: Form,
  binding: Binding,
): Promise<OAuthAnswer> {
  const code = form.get('code')
  if (code === undefined) throw fault('oauth_grant_incomplete', 'code is missing')
  const hash = hashKey(code)
  const row = await parts.tokens.getTicket(hash)
  if (row === undefined || row.sort !== 'code' || !isOf(row, call, client)) throw fault('oauth_invalid_grant')
  if (row.claimedAt !== 0) throw await refuseReplay(parts, call, row)
  const now = parts.clock.wall()
  const body = row.body as unknown as CodeBody
  if (row.expiresAt <= now || body.epoch !== epochAt(client, call.api.apiId)) throw fault('oauth_invalid_grant')
  const withdrawn = withdrawnOf(call, client, body)
  if (withdrawn !== undefined) {
    await consumeTicket(parts, row)
    throw fault('oauth_invalid_grant', withdrawn)
  }
  // A thief who has the code, but not what it is bound to, does not use it up for the client that has both.
  if (!redirectFits(client, body.redirect_uri, form.get('redirect_uri'))) throw fault('oauth_redirect_differs')
  const flaw = verifierFlaw(body.challenge, form.get('code_verifier'))
  if (flaw !== undefined) throw fault('oauth_pkce_failed', flaw)
  if (body.jkt !== '' && body.jkt !== binding.jkt) throw fault('oauth_invalid_grant')
  const { resources, granted } = chosenResources(form, call, body.resources)
  try {
    return await issueTokens(parts, call, {
      client,
      scope: body.scope,
      resources,
      refreshResources: granted,
      keyRules: body.key_rules,
      standsAlone: body.stands_alone,
      username: body.username,
      family: row.family,
      withRefresh: givesRefresh(call.api, client),
      binding,
      also: [{ op: 'claimTicket', hash, sort: 'code', now }],
      notify: { authCode: code, oldRefreshToken: '', type: 'new' },
    })
  } catch (error) {
    if (!isConflict(error)) throw error
    // Another request used it between our read and our commit; unless it expired or was revoked just then, that is a second use.
    const late = await parts.tokens.getTicket(hash)
    throw late === undefined || late.claimedAt === 0
      ? fault('oauth_invalid_grant')
      : await refuseReplay(parts, call, late)
  }
}

/** The access of the code that the client or the API has lost since. */
function withdrawnOf(call: OAuthCall, client: OAuthClient, body: CodeBody): string | undefined {
  if (!isStillRegistered(client, body)) return 'the redirect URI was withdrawn'
  return isStillGranted(body.scope, client, call.api.oauth) ? undefined : 'a scope was withdrawn'
}

function isOf(row: TicketRow, call: OAuthCall, client: OAuthClient): boolean {
  return row.apiId === call.api.apiId && row.clientId === client.client_id
}

/** False once the address that the code went to was taken from the client, given back since or not: the holder of the code may be the party that lost the address. */
function isStillRegistered(client: OAuthClient, { sent_to, redirect_uri, since = '' }: CodeBody): boolean {
  const address = sent_to ?? redirect_uri
  return address === '' || sinceOf(client, address) === since
}

/** As in the authorization request; where that gave none, none is needed here, but a wrong one is refused (section 4.1.3). */
function redirectFits(client: OAuthClient, bound: string, given: string | undefined): boolean {
  if (bound !== '') return given === bound
  return given === undefined || isRedirectOf(client, given)
}
