import { type Fault, fault } from '../../errors/fault.ts'
import { asJson } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { epochAt } from '../../model/oauth-clients/oauth-registration.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import type { TicketRow } from '../../store/ports/ports.ts'
import { givesRefresh } from '../clients/clients.ts'
import type { OAuthAnswer, OAuthCall, OAuthParts } from '../endpoints/parts.ts'
import type { Form } from '../messages/form.ts'
import type { Binding } from '../proofs/dpop.ts'
import { consumeTicket, isConflict } from '../tokens/families.ts'
import { issueTokens } from '../tokens/issue.ts'
import { chosenResources } from '../tokens/resources.ts'
import { isStillGranted } from '../tokens/scopes.ts'
import type { DeviceBody } from '../tokens/tickets.ts'

/** Each poll that comes too early adds this to the interval (RFC 8628 section 3.5), up to a bound. */
const SLOWER_S = 5
const SLOWEST_S = 60

/**
 * The device grant (RFC 8628 section 3.4): answers polls until the user has decided, then tokens, once. Polls that come before
 * the interval is over make it longer.
 * @throws Fault `oauth_authorization_pending`, `oauth_slow_down`, `oauth_access_denied`, `oauth_expired_token`,
 *   `oauth_invalid_grant` (unknown, of another client, or used), `oauth_grant_incomplete`, `oauth_invalid_target`
 */
export async function deviceGrant(
  parts: OAuthParts,
  call: OAuthCall,
  client: OAuthClient,
  form: Form,
  binding: Binding,
): Promise<OAuthAnswer> {
  const code = form.get('device_code') ?? ''
  if (code === '') throw fault('oauth_grant_incomplete', 'device_code is missing')
  const ticket = await parts.tokens.getTicket(hashKey(code))
  if (!isOwn(ticket, call, client)) throw fault('oauth_invalid_grant')
  const body = ticket.body as unknown as DeviceBody
  if (ticket.claimedAt !== 0 || body.epoch !== epochAt(client, call.api.apiId)) throw fault('oauth_invalid_grant')
  const now = parts.clock.wall()
  if (ticket.expiresAt <= now) throw fault('oauth_expired_token')
  if (!isStillGranted(body.scope, client, call.api.oauth)) {
    await consumeTicket(parts, ticket)
    throw fault('oauth_invalid_grant', 'a scope was withdrawn')
  }
  if (body.state === 'denied') throw fault('oauth_access_denied')
  if (body.state === 'pending') throw await notePoll(parts, ticket, body, now)
  if (body.jkt !== '' && body.jkt !== binding.jkt) throw fault('oauth_invalid_grant')
  const chosen = chosenResources(form, call, body.resources)
  return issue(parts, call, client, { ticket, body, binding, chosen })
}

function isOwn(ticket: TicketRow | undefined, call: OAuthCall, client: OAuthClient): ticket is TicketRow {
  if (ticket?.sort !== 'device') return false
  return ticket.apiId === call.api.apiId && ticket.clientId === client.client_id
}

/** Notes when the device polled and returns its response. */
async function notePoll(parts: OAuthParts, ticket: TicketRow, body: DeviceBody, now: number): Promise<Fault> {
  const early = body.polled_at !== 0 && now - body.polled_at < body.interval * 1000
  const interval = early ? Math.min(SLOWEST_S, body.interval + SLOWER_S) : body.interval
  const { hash, version, claimedAt: _unused, ...row } = ticket
  const noted = { ...row, body: asJson({ ...body, interval, polled_at: now }) }
  try {
    await parts.documents.commit([{ op: 'putTicket', hash, row: noted, ifVersion: version }], undefined)
  } catch (error) {
    // the user decided just now, or another poll was faster: the next one will see
    if (!isConflict(error)) throw error
  }
  return fault(early ? 'oauth_slow_down' : 'oauth_authorization_pending')
}

async function issue(
  parts: OAuthParts,
  call: OAuthCall,
  client: OAuthClient,
  {
    ticket,
    body,
    binding,
    chosen,
  }: { ticket: TicketRow; body: DeviceBody; binding: Binding; chosen: ReturnType<typeof chosenResources> },
): Promise<OAuthAnswer> {
  try {
    return await issueTokens(parts, call, {
      client,
      scope: body.scope,
      resources: chosen.resources,
      refreshResources: chosen.granted,
      ...(body.key_rules !== undefined && { keyRules: body.key_rules }),
      standsAlone: body.stands_alone,
      username: body.username,
      family: ticket.family,
      withRefresh: givesRefresh(call.api, client),
      binding,
      also: [{ op: 'claimTicket', hash: ticket.hash, sort: 'device', now: parts.clock.wall() }],
      notify: { authCode: '', oldRefreshToken: '', type: 'new' },
    })
  } catch (error) {
    throw isConflict(error) ? fault('oauth_invalid_grant') : error
  }
}
