import { setImmediate as nextTurn } from 'node:timers/promises'
import { fault } from '../../errors/fault.ts'
import { isKeyHash } from '../../model/keys/key.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { clientKey, epochAt } from '../../model/oauth-clients/oauth-registration.ts'
import { tokenFactsOf } from '../../model/oauth-clients/oauth-token.ts'
import { equalSecrets, hashKey, unseal } from '../../model/secrets/secret.ts'
import type { Change, Revision, SessionRow } from '../../store/ports/ports.ts'
import { auditOf, clockOf } from '../documents/parts.ts'
import { CLIENT_KIND, type ClientParts, type ClientRef, registrationsOf } from './oauth-client-parts.ts'
import { removeTokens } from './oauth-sweep.ts'

/** A live access token as lists show it. */
export interface ListedToken {
  readonly row: SessionRow
  /** Unix seconds. */
  readonly expires: number
}

const BATCH = 500

/**
 * The live tokens of registrations of one client id, at one API or at all of them, in order of issue: at most `limit` after the first
 * `skip`. `total` counts all of them, exactly when the list was read to its end; else it counts every token of the client id: also those
 * of other registrations, at other APIs, and some that have just ended.
 */
export async function listTokens(
  parts: ClientParts,
  clients: readonly OAuthClient[],
  { apiId, skip, limit }: { readonly apiId: string | undefined; readonly skip: number; readonly limit: number },
): Promise<{ tokens: ListedToken[]; total: number }> {
  const now = clockOf(parts).wall()
  const tokens: ListedToken[] = []
  if (clients.length === 0) return { tokens, total: 0 }
  const clientId = clients[0]!.client_id
  let seen = 0
  let after: string | undefined
  do {
    const page = await parts.tokens.listSessions({
      clientId,
      limit: BATCH,
      ...(after !== undefined && { after }),
    })
    for (const row of page.rows) {
      const expires = expiryOfLive(row, clients, apiId, now)
      if (expires === undefined) continue
      seen++
      if (seen > skip && tokens.length < limit) tokens.push({ row, expires })
    }
    after = page.next
    if (tokens.length === limit && after !== undefined)
      return { tokens, total: Math.max(seen, await parts.tokens.countSessions({ clientId })) }
    await nextTurn()
  } while (after !== undefined)
  return { tokens, total: seen }
}

/** The parameters of a request to revoke one token. */
export interface Revocation {
  /** The token itself, or the hash that lists show. */
  readonly token: string
  readonly hint: string
  readonly clientId: string
  /** Only tokens of these registrations of the client id may be ended; absent = of all. */
  readonly of?: readonly OAuthClient[]
  /** APIs whose tokens may be ended; absent = all. */
  readonly mayEndAt?: (apiId: string) => boolean
  readonly actor: string
}

/**
 * Ends an access token, or a refresh token with everything that came from the same grant (RFC 7009 section 2.1). The hint only
 * says which to look for first. Returns undefined for an unknown token.
 * @throws Fault `token_of_another` (400) for one that was issued to another client, or at an API where none may be ended;
 *   `store_away`
 */
export async function revokeToken(
  parts: ClientParts,
  { token, hint, clientId, of, mayEndAt = () => true, actor }: Revocation,
): Promise<Revision | undefined> {
  const access = async () => accessTokenChanges(parts, token)
  const refresh = async () => refreshTokenChanges(parts, hashKey(token))
  const order = hint === 'refresh_token' ? [refresh, access] : [access, refresh]
  for (const look of order) {
    const found = await look()
    if (found === undefined) continue
    const isAnothers =
      of !== undefined && found.registration !== undefined && !of.some((own) => isSame(own, found.registration!))
    if (found.clientId !== clientId || isAnothers || !mayEndAt(found.apiId)) throw fault('token_of_another')
    const audit = auditOf(parts, actor, 'oauth_token.revoke', found.orgId, { client_id: clientId })
    return parts.documents.commit(found.changes, audit)
  }
  return undefined
}

/** Ends a refresh token of an API, and what came from the same grant. Answers undefined when there is none. */
export async function removeRefreshToken(
  parts: ClientParts,
  { token, apiId, actor }: { readonly token: string; readonly apiId: string; readonly actor: string },
): Promise<Revision | undefined> {
  const hash = hashKey(token)
  const ticket = await parts.tokens.getTicket(hash)
  if (ticket?.sort !== 'refresh' || ticket.apiId !== apiId) return undefined
  const found = await refreshTokenChanges(parts, hash)
  const audit = auditOf(parts, actor, 'oauth_token.revoke', found!.orgId, { client_id: ticket.clientId })
  return parts.documents.commit(found!.changes, audit)
}

/** Those of the registrations whose secret the caller knows. @throws Fault `not_found` (404), `client_secret_wrong` (401) */
export function provenClients(parts: ClientParts, clients: readonly OAuthClient[], secret: string): OAuthClient[] {
  if (clients.length === 0) throw fault('not_found', "oauth client doesn't exist")
  const now = clockOf(parts).wall()
  const proven = clients.filter(({ client_id: clientId, secrets }) => {
    const known = secrets
      .filter(({ until }) => until === 0 || until > now)
      .map(({ sealed }) =>
        unseal(parts.sealKey, Buffer.from(sealed, 'base64'), `oauth_client:${clientId}`).toString('utf8'),
      )
    return known.filter((each) => equalSecrets(secret, each)).length > 0
  })
  if (proven.length === 0) throw fault('client_secret_wrong', 'client secret is wrong')
  return proven
}

/** Deletes tokens that have expired or are void, of every client; answers how many. One run at a time: callers share it. */
export function purgeExpiredTokens(parts: ClientParts): Promise<number> {
  return parts.locks.share('token_purge', () => purgeAll(parts))
}

async function purgeAll(parts: ClientParts): Promise<number> {
  let removed = 0
  for await (const batch of parts.documents.scan(CLIENT_KIND)) {
    for (const { body } of batch) {
      // Those of all registrations of the id go with its first one.
      const all = (await registrationsOf(parts, body.client_id)).map((each) => each.body)
      if (all[0] !== undefined && !isSame(all[0], body)) continue
      const now = clockOf(parts).wall()
      removed += await removeTokens(parts, body.client_id, (row) => isVoid(row, all, now))
    }
  }
  return removed
}

function isVoid(row: SessionRow, clients: readonly OAuthClient[], now: number): boolean {
  const { expires } = row.body
  const over = typeof expires === 'number' && expires > 0 && expires * 1000 <= now
  const facts = tokenFactsOf(row.body)
  return over || !clients.some((client) => facts?.epoch === epochAt(client, facts?.api_id ?? ''))
}

function isSame(one: ClientRef, other: ClientRef): boolean {
  return clientKey(one) === clientKey(other)
}

function expiryOfLive(
  row: SessionRow,
  clients: readonly OAuthClient[],
  apiId: string | undefined,
  now: number,
): number | undefined {
  const facts = tokenFactsOf(row.body)
  if (facts === undefined || (apiId !== undefined && facts.api_id !== apiId) || isVoid(row, clients, now))
    return undefined
  return typeof row.body.expires === 'number' ? row.body.expires : 0
}

interface Found {
  readonly clientId: string
  readonly apiId: string
  readonly orgId: string
  /** The registration that it was issued to; undefined for a token that is void. */
  readonly registration: OAuthClient | undefined
  readonly changes: readonly Change[]
}

async function registrationOf(
  parts: ClientParts,
  clientId: string,
  apiId: string,
  epoch: unknown,
): Promise<OAuthClient | undefined> {
  const all = await registrationsOf(parts, clientId)
  return all.map(({ body }) => body).find((client) => epochAt(client, apiId) === epoch)
}

async function accessTokenChanges(parts: ClientParts, token: string): Promise<Found | undefined> {
  const hashes = [hashKey(token), ...(isKeyHash(token) ? [Buffer.from(token, 'hex')] : [])]
  for (const hash of hashes) {
    const row = await parts.tokens.getSession(hash)
    const facts = row && tokenFactsOf(row.body)
    if (row === undefined || facts === undefined) continue
    const { clientId, orgId } = row
    const registration = await registrationOf(parts, clientId, facts.api_id, facts.epoch)
    return { clientId, apiId: facts.api_id, orgId, registration, changes: [{ op: 'deleteSession', hash }] }
  }
  return undefined
}

async function refreshTokenChanges(parts: ClientParts, hash: Uint8Array): Promise<Found | undefined> {
  const ticket = await parts.tokens.getTicket(hash)
  if (ticket?.sort !== 'refresh') return undefined
  const { clientId, apiId } = ticket
  const registration = await registrationOf(parts, clientId, apiId, ticket.body.epoch)
  const changes: Change[] = [
    { op: 'deleteTicket', hash },
    ...(ticket.family === '' ? [] : [{ op: 'endFamily', family: ticket.family } as const]),
  ]
  return { clientId, apiId, orgId: registration?.org_id ?? '', registration, changes }
}
