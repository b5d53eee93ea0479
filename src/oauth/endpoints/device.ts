import { randomInt } from 'node:crypto'
import { Fault, fault } from '../../errors/fault.ts'
import { asJson } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { epochAt } from '../../model/oauth-clients/oauth-registration.ts'
import { hashKey, newSecret } from '../../model/secrets/secret.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { Change } from '../../store/ports/ports.ts'
import { authenticateClient } from '../clients/client-auth.ts'
import { mayUseGrant } from '../clients/clients.ts'
import { jsonAnswer } from '../messages/answer.ts'
import { readForm } from '../messages/form.ts'
import { withQuery } from '../messages/with-query.ts'
import { newFamily } from '../tokens/code.ts'
import { checkAccess } from '../tokens/in-force.ts'
import { readResources } from '../tokens/resources.ts'
import { readScope } from '../tokens/scopes.ts'
import type { DeviceBody } from '../tokens/tickets.ts'
import { readThumbprint } from './authorization-request.ts'
import type { OAuthAnswer, OAuthApi, OAuthCall, OAuthParts } from './parts.ts'

/** `grant_type` of RFC 8628 section 3.4. */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

const LIFE_S = 600
const INTERVAL_S = 5
/** Until then an expired device code is distinguished from an unknown one. */
const REMEMBERED_MS = 600_000
/** No vowels, so that no word comes out, and no digits (RFC 8628 section 6.1): 20^8 codes. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_LENGTH = 8
const DRAWS = 8

/**
 * Begins a device authorization (RFC 8628 section 3.1): a device code of 256 bits for the client, and a user code `XXXX-XXXX`
 * that the user types into the API's login page (`verification_uri`). Both last ten minutes.
 * @throws Fault `oauth_invalid_client`, `oauth_unsupported_grant` (also for an API without login page),
 *   `oauth_unauthorized_client`, `oauth_invalid_scope`, `oauth_invalid_target`, `oauth_invalid_request`
 */
export async function authorizeDevice(parts: OAuthParts, call: OAuthCall): Promise<OAuthAnswer> {
  const form = await readForm(call)
  await parts.clientDocuments?.find(parts, call, form.get('client_id') ?? '')
  const client = await authenticateClient(parts, call, form)
  const rules = call.api.oauth
  if (!rules.grants.has(DEVICE_GRANT) || rules.loginRedirect === '') throw fault('oauth_unsupported_grant')
  if (!mayUseGrant(client, DEVICE_GRANT)) throw fault('oauth_unauthorized_client')
  const resources = readResources(form, call)
  checkAccess(parts, call.api, client)
  const deviceCode = newSecret()
  const userCode = await store(parts, call.api, client, deviceCode, {
    epoch: epochAt(client, call.api.apiId),
    scope: readScope(form.get('scope'), client, rules),
    state: 'pending',
    interval: INTERVAL_S,
    polled_at: 0,
    jkt: readThumbprint(form, rules),
    username: '',
    ...(resources.length > 0 && { resources }),
  })
  return jsonAnswer(200, {
    device_code: deviceCode,
    expires_in: LIFE_S,
    interval: INTERVAL_S,
    user_code: userCode,
    verification_uri: rules.loginRedirect,
    verification_uri_complete: withQuery(rules.loginRedirect, [['user_code', userCode]]),
  })
}

/**
 * A user code as it is shown, `XXXX-XXXX`, from how it was typed: case, blanks and dashes do not matter. undefined when it is
 * none.
 */
export function readUserCode(typed: string): string | undefined {
  const letters = typed
    .slice(0, 64)
    .replace(/[\s\u2010-\u2015-]/g, '')
    .toUpperCase()
  if (letters.length !== CODE_LENGTH) return undefined
  for (const letter of letters) if (!LETTERS.includes(letter)) return undefined
  return shown(letters)
}

/** The look-up value of a user code's ticket: codes of different APIs never collide. */
export function userCodeHash(apiId: string, userCode: string): Uint8Array {
  return hashKey(`user_code:${apiId}:${userCode}`)
}

/** Stores both codes and answers the user code, another one when it happens to be in use. */
async function store(
  parts: OAuthParts,
  api: OAuthApi,
  client: OAuthClient,
  deviceCode: string,
  body: DeviceBody,
): Promise<string> {
  const expiresAt = parts.clock.wall() + LIFE_S * 1000
  const hash = hashKey(deviceCode)
  const common = { apiId: api.apiId, clientId: client.client_id, family: newFamily() }
  const device: Change = {
    op: 'putTicket',
    hash,
    row: newTicket('device', expiresAt, { ...common, keepUntil: expiresAt + REMEMBERED_MS, body: asJson(body) }),
    ifAbsent: true,
  }
  const row = newTicket('user_code', expiresAt, { ...common, body: { device: hash.toString('hex') } })
  for (let draw = 1; ; draw++) {
    const userCode = newUserCode()
    try {
      const put: Change = { op: 'putTicket', hash: userCodeHash(api.apiId, userCode), row, ifAbsent: true }
      await parts.documents.commit([device, put], undefined)
      return userCode
    } catch (error) {
      const taken = error instanceof Fault && error.code === 'already_exists'
      if (!taken || draw === DRAWS) throw error
    }
  }
}

function newUserCode(): string {
  let letters = ''
  for (let at = 0; at < CODE_LENGTH; at++) letters += LETTERS[randomInt(LETTERS.length)]
  return shown(letters)
}

function shown(letters: string): string {
  return `${letters.slice(0, CODE_LENGTH / 2)}-${letters.slice(CODE_LENGTH / 2)}`
}
