import { fault } from '../../errors/fault.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { epochAt } from '../../model/oauth-clients/oauth-registration.ts'
import { hashKey, newSecret } from '../../model/secrets/secret.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { Change } from '../../store/ports/ports.ts'
import { authenticateClient } from '../clients/client-auth.ts'
import { sinceOf } from '../clients/redirect-uri.ts'
import { jsonAnswer } from '../messages/answer.ts'
import { readForm } from '../messages/form.ts'
import { readBinding } from '../proofs/dpop.ts'
import { isConflict } from '../tokens/families.ts'
import { checkAccess } from '../tokens/in-force.ts'
import type { RequestBody } from '../tokens/tickets.ts'
import {
  carriedParams,
  checkRequest,
  openWith,
  type Params,
  REQUEST_URN,
  storedParams,
} from './authorization-request.ts'
import type { OAuthAnswer, OAuthCall, OAuthParts } from './parts.ts'

/** Time to bring the browser to `authorize`, and for the user to sign in and decide afterwards. */
const PUSHED_S = 60
const LOGIN_S = 600

/**
 * Takes a pushed authorization request (RFC 9126): the client authenticates, the request is checked as `authorize` would, and
 * 201 `{expires_in, request_uri}` answers what `authorize` takes once, within a minute. A DPoP proof binds the code to its key
 * (RFC 9449 section 10.1).
 * @throws Fault `oauth_invalid_client`, and those of an authorization request; here none redirects
 */
export async function pushRequest(parts: OAuthParts, call: OAuthCall): Promise<OAuthAnswer> {
  const form = await readForm(call)
  await parts.clientDocuments?.find(parts, call, form.get('client_id') ?? '')
  const client = await authenticateClient(parts, call, form)
  if (form.get('request_uri') !== undefined)
    throw fault('oauth_invalid_request', 'request_uri cannot be part of a pushed request')
  const open = openWith(client, form, undefined)
  const { jkt } = checkRequest(open, call)
  checkAccess(parts, call.api, client)
  const proven = await provenKey(parts, call, jkt)
  const params = storedParams([
    ...carriedParams(form),
    ['client_id', client.client_id] as const,
    ...(proven === '' ? [] : [['dpop_jkt', proven] as const]),
  ])
  const since = sinceOf(client, open.redirectUri) ?? ''
  const { uri, change } = newRequest(parts, call, client, { stage: 'pushed', since, params })
  await parts.documents.commit([change], undefined)
  return jsonAnswer(201, { expires_in: PUSHED_S, request_uri: uri })
}

/**
 * Uses a pushed request up and gives the login page a new `request_uri` in the same commit: the client's cannot be
 * used again, and the user decides on the pushed parameters, even if the browser changed
 * the query in between. It is valid for ten minutes and one `authorize-client`.
 * @throws Fault `oauth_request_uri_unusable` when it has been used already
 */
export async function passToLogin(
  parts: OAuthParts,
  call: OAuthCall,
  client: OAuthClient,
  pushed: { readonly ticket: Uint8Array; readonly params: Params; readonly redirectUri: string },
): Promise<string> {
  const params = storedParams(carriedParams(pushed.params))
  const since = sinceOf(client, pushed.redirectUri) ?? ''
  const { uri, change } = newRequest(parts, call, client, { stage: 'login', since, params })
  await commitUse(parts, [consumeRequestChange(parts, pushed.ticket), change])
  return uri
}

/** The change that uses a pushed request up. */
export function consumeRequestChange(parts: OAuthParts, ticket: Uint8Array): Change {
  return { op: 'claimTicket', hash: ticket, sort: 'request', now: parts.clock.wall() }
}

/** Commits changes that use a pushed request up. @throws Fault `oauth_request_uri_unusable` */
export async function commitUse(parts: OAuthParts, changes: readonly Change[]): Promise<void> {
  try {
    await parts.documents.commit(changes, undefined)
  } catch (error) {
    throw toUnusableFault(error)
  }
}

/** The fault for the caller when a commit of such changes fails. */
export function toUnusableFault(error: unknown): unknown {
  return isConflict(error) ? fault('oauth_request_uri_unusable') : error
}

function newRequest(
  parts: OAuthParts,
  call: OAuthCall,
  client: OAuthClient,
  request: Omit<RequestBody, 'epoch'>,
): { uri: string; change: Change } {
  const uri = REQUEST_URN + newSecret()
  const lifeS = request.stage === 'pushed' ? PUSHED_S : LOGIN_S
  const expiresAt = parts.clock.wall() + lifeS * 1000
  const row = newTicket('request', expiresAt, {
    apiId: call.api.apiId,
    clientId: client.client_id,
    body: { epoch: epochAt(client, call.api.apiId), ...request },
  })
  return { uri, change: { op: 'putTicket', hash: hashKey(uri), row, ifAbsent: true } }
}

async function provenKey(parts: OAuthParts, call: OAuthCall, named: string): Promise<string> {
  if (call.api.oauth.dpop === 'off' || call.headers('dpop').length === 0) return named
  const { jkt } = await readBinding(parts, call, { dpop: call.api.oauth.dpop, mutualTls: 'off' })
  if (named !== '' && named !== jkt)
    throw fault('oauth_invalid_proof', 'the DPoP proof was made with another key than dpop_jkt names')
  return jkt
}
