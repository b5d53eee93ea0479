import { randomBytes } from 'node:crypto'
import { newDocumentId } from '../../model/documents/ids.ts'
import { asJson } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { hashKey, newSecret } from '../../model/secrets/secret.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { Change } from '../../store/ports/ports.ts'
import type { OAuthApi, OAuthParts } from '../endpoints/parts.ts'
import type { CodeBody } from './tickets.ts'

/** How long a code is remembered after its end, so that its second use ends what the first one gave (RFC 6749 section 4.1.2). */
const REMEMBERED_MS = 3_600_000

/**
 * Makes the name of a new grant: what its code, its tokens and its refresh tokens have in common. Begins with the time, so
 * that the store files new ones side by side; random names cost its index a quarter more.
 */
export function newFamily(): string {
  return newDocumentId() + randomBytes(8).toString('base64url')
}

/**
 * Makes an authorization code of 256 bits and stores its hash: bound to API, client, redirect URI and challenge, usable once,
 * for the API's code lifetime, else the gateway's (RFC 6749 section 4.1.2). The body carries the epoch of the client;
 * `also` is committed with it.
 * @throws Fault `store_away`, `store_full`, and those of `also`
 */
export async function makeCode(
  parts: OAuthParts,
  api: OAuthApi,
  client: OAuthClient,
  body: CodeBody,
  also: readonly Change[] = [],
): Promise<string> {
  const code = newSecret()
  const lifeS = api.oauth.codeS > 0 ? api.oauth.codeS : parts.config.gateway.oauth_code_expire
  const expiresAt = parts.clock.wall() + lifeS * 1000
  const row = newTicket('code', expiresAt, {
    apiId: api.apiId,
    clientId: client.client_id,
    family: newFamily(),
    keepUntil: expiresAt + REMEMBERED_MS,
    body: asJson({ ...body }),
  })
  await parts.documents.commit([...also, { op: 'putTicket', hash: hashKey(code), row, ifAbsent: true }], undefined)
  return code
}
