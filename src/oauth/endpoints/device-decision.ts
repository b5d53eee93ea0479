import { isIP } from 'node:net'
import { fault, waitFault } from '../../errors/fault.ts'
import { asJson } from '../../model/json/json.ts'
import { visitorOf } from '../../model/network/visitor.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { epochAt } from '../../model/oauth-clients/oauth-registration.ts'
import { retryOnConflict, TICKET_CONFLICT } from '../../runtime/retry-on-conflict.ts'
import type { Change, TicketRow } from '../../store/ports/ports.ts'
import { findClient } from '../clients/clients.ts'
import { jsonAnswer } from '../messages/answer.ts'
import type { Form } from '../messages/form.ts'
import { consumeTicket } from '../tokens/families.ts'
import { isStillGranted } from '../tokens/scopes.ts'
import type { DeviceBody } from '../tokens/tickets.ts'
import { readUserCode, userCodeHash } from './device.ts'
import { narrowedScope, readSentKeyRules, readUsername, standaloneMark } from './login-page.ts'
import type { OAuthAnswer, OAuthCall, OAuthParts } from './parts.ts'

/** A device that waits for its user. */
interface Waiting {
  readonly userCode: string
  readonly device: TicketRow
  readonly client: OAuthClient
}

/**
 * The user's decision about a device (RFC 8628 section 3.3), from the login page: `user_code` and `decision` = `approve` or
 * `deny`; approved ones may carry `username`, `key_rules` and a narrower `scope`. Without `decision` nothing changes: the page
 * shows the user who asks for what (section 5.4). Always 200 `{client_id, description, expires_in, scope, status, user_code}`, with `resource` where the device named some,
 * `status` being `pending`, `approved` or `denied`.
 *
 * Wrong codes count against `user_address` where the page tells it (it should), else against the page's own address.
 * @throws Fault `oauth_user_code_unknown`, `oauth_too_many_tries`, `oauth_invalid_request`, `oauth_invalid_scope`
 */
export async function decideDevice(parts: OAuthParts, call: OAuthCall, form: Form): Promise<OAuthAnswer> {
  const decision = form.get('decision') ?? ''
  if (decision !== '' && decision !== 'approve' && decision !== 'deny')
    throw fault('oauth_invalid_request', 'decision must be approve or deny')
  const giveBack = takeTry(parts, call, form)
  const waiting = await findWaiting(parts, call, form.get('user_code') ?? '')
  giveBack()
  if (decision === '') return show(parts, waiting, waiting.device.body as unknown as DeviceBody)
  if (decision === 'approve') await call.checkClient?.(waiting.client)
  const { waiting: decided, body } = await decide(parts, call, form, waiting)
  return show(parts, decided, body)
}

/** Takes a try and answers how to give it back. @throws Fault `oauth_too_many_tries` */
function takeTry(parts: OAuthParts, call: OAuthCall, form: Form): () => void {
  const address = form.get('user_address')
  if (address !== undefined && isIP(address) === 0)
    throw fault('oauth_invalid_request', 'user_address is not an IP address')
  const { page, user } = parts.deviceAttempts
  const [limiter, key] = address === undefined ? [page, visitorOf(call.clientAddress)] : [user, visitorOf(address)]
  const waitMs = limiter.tryBegin(key)
  if (waitMs > 0) throw waitFault('oauth_too_many_tries', waitMs)
  return () => limiter.giveBack(key)
}

async function findWaiting(parts: OAuthParts, call: OAuthCall, typed: string): Promise<Waiting> {
  const userCode = readUserCode(typed)
  if (userCode === undefined) throw fault('oauth_user_code_unknown')
  const ticket = await parts.tokens.getTicket(userCodeHash(call.api.apiId, userCode))
  if (!isUsable(parts, ticket, 'user_code')) throw fault('oauth_user_code_unknown')
  const device = await parts.tokens.getTicket(Buffer.from(String(ticket.body.device), 'hex'))
  if (!isUsable(parts, device, 'device')) throw fault('oauth_user_code_unknown')
  const client = await findClient(parts, device.clientId, call.api)
  if (client === undefined || epochAt(client, call.api.apiId) !== device.body.epoch)
    throw fault('oauth_user_code_unknown')
  if (!isStillGranted(String(device.body.scope), client, call.api.oauth)) {
    await consumeTicket(parts, device)
    throw fault('oauth_user_code_unknown')
  }
  return { userCode, device, client }
}

function isUsable(parts: OAuthParts, ticket: TicketRow | undefined, sort: TicketRow['sort']): ticket is TicketRow {
  return ticket?.sort === sort && ticket.claimedAt === 0 && ticket.expiresAt > parts.clock.wall()
}

async function decide(
  parts: OAuthParts,
  call: OAuthCall,
  form: Form,
  first: Waiting,
): Promise<{ waiting: Waiting; body: DeviceBody }> {
  return retryOnConflict(async (attempt) => {
    const waiting = attempt === 1 ? first : await findWaiting(parts, call, first.userCode)
    const body = await decided(parts, call, form, waiting)
    await parts.documents.commit(changesOf(parts, call, waiting, body), undefined)
    return { waiting, body }
  }, TICKET_CONFLICT)
}

async function decided(
  parts: OAuthParts,
  { api }: OAuthCall,
  form: Form,
  { device, client }: Waiting,
): Promise<DeviceBody> {
  const pending = device.body as unknown as DeviceBody
  if (form.get('decision') === 'deny') return { ...pending, state: 'denied' }
  const keyRules = await readSentKeyRules(parts, api, form)
  return {
    ...pending,
    state: 'approved',
    scope: narrowedScope(pending.scope, form),
    username: readUsername(form),
    ...(keyRules !== undefined && { key_rules: keyRules }),
    ...standaloneMark(client),
  }
}

/** Uses the user code up and stores the decision, both or neither: the first decision wins. */
function changesOf(parts: OAuthParts, call: OAuthCall, { userCode, device }: Waiting, body: DeviceBody): Change[] {
  const { hash, version, claimedAt: _unused, ...row } = device
  const userHash = userCodeHash(call.api.apiId, userCode)
  return [
    { op: 'claimTicket', hash: userHash, sort: 'user_code', now: parts.clock.wall() },
    { op: 'putTicket', hash, row: { ...row, body: asJson(body) }, ifVersion: version },
  ]
}

function show(
  parts: OAuthParts,
  { userCode, device, client }: Waiting,
  { resources, scope, state }: DeviceBody,
): OAuthAnswer {
  return jsonAnswer(200, {
    client_id: client.client_id,
    description: client.description,
    expires_in: Math.ceil((device.expiresAt - parts.clock.wall()) / 1000),
    ...(resources !== undefined && { resource: resources }),
    scope,
    status: state,
    user_code: userCode,
  })
}
