import { fault, toFault } from '../../errors/fault.ts'
import { asJson, type JsonObject } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { clientKey, epochAt } from '../../model/oauth-clients/oauth-registration.ts'
import { TOKEN_FACTS, type TokenFacts, type TokenUser } from '../../model/oauth-clients/oauth-token.ts'
import { hashKey, newSecret } from '../../model/secrets/secret.ts'
import type { Policy } from '../../model/sessions/session.ts'
import { sessionAtUse } from '../../model/sessions/token-session.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { Change, PendingSession, SessionInput } from '../../store/ports/ports.ts'
import { isPublic } from '../clients/clients.ts'
import type { OAuthAnswer, OAuthApi, OAuthCall, OAuthParts } from '../endpoints/parts.ts'
import { jsonAnswer } from '../messages/answer.ts'
import type { Binding } from '../proofs/dpop.ts'
import { deliveryOf } from '../webhooks/webhook-messages.ts'
import { isInForce } from './in-force.ts'
import { accessTokenText, confirmationOf } from './jwt-access-token.ts'
import type { RefreshBody } from './tickets.ts'
import { sessionBody } from './token-session.ts'

/** The result of a grant: who gets tokens, for what, and what must be committed together with them. */
export interface TokenGrant {
  readonly client: OAuthClient
  readonly scope: string
  /** Scope of the refresh token where the access token has a narrower one (RFC 6749 section 6). */
  readonly refreshScope?: string
  /** Resources that the access token is restricted to (RFC 8707), as `readResources` answers them; [] = nothing. */
  readonly resources: readonly string[]
  /** Those that a refresh may choose from. */
  readonly refreshResources?: readonly string[]
  /** Session rules from the login page or the user: they narrow the client's policies, or apply alone if it has none. */
  readonly keyRules?: JsonObject | undefined
  /** True: `keyRules` were given while the client had no policies, so they may apply alone. See `standaloneMark`. */
  readonly standsAlone?: boolean | undefined
  readonly username: string
  /** The user of a password grant, whose session `keyRules` are; absent for other grants. */
  readonly user?: TokenUser | undefined
  /** '' = client credentials. */
  readonly family: string
  readonly withRefresh: boolean
  readonly binding: Binding
  /** Claims that must commit with it. */
  readonly also: readonly Change[]
  /** Further ones, that depend on what is issued. */
  readonly alsoFor?: (issued: Issued) => readonly Change[]
  /** Announced to the API's receiver; absent = not at all. */
  readonly notify?: {
    readonly authCode: string
    readonly oldRefreshToken: string
    readonly type: 'new' | 'refresh'
  }
}

/** Tokens in clear. */
export interface Issued {
  readonly accessToken: string
  /** '' = none. */
  readonly refreshToken: string
  readonly tokenType: 'bearer' | 'DPoP'
  readonly scope: string
  /** End of the access token, Unix seconds. */
  readonly expiresAtS: number
}

/** Most seconds that an expired token is kept, so that its use is answered as expired, and clocks of nodes may differ. */
export const RETENTION_S = 60

/**
 * Issues tokens: what the grant uses up, the session that is the access token, the refresh token and the announcement are one
 * commit, durable before the answer (RFC 6749 section 5.1).
 * @throws Fault `oauth_no_policy`, `ticket_unusable` when a claim lost its race, `store_away`, `store_full`
 */
export async function issueTokens(parts: OAuthParts, call: OAuthCall, grant: TokenGrant): Promise<OAuthAnswer> {
  const { api } = call
  const { client, binding, scope, resources, username } = grant
  const now = parts.clock.wall()
  const issuedAtS = Math.floor(now / 1000)
  const policies = client.policies.map((id) => parts.findPolicy(client.org_id, id))
  const expiresAtS = issuedAtS + accessTokenLifeS(parts, api, client, policies)
  const facts = { clientId: client.client_id, username, scope, resources, issuedAtS, expiresAtS, binding }
  const jwt = api.oauth.accessTokenFormat === 'jwt'
  const accessToken = jwt ? await accessTokenText(parts, call, facts) : newSecret()
  const refreshToken = grant.withRefresh ? newSecret() : ''
  const tokenType = binding.jkt === '' ? 'bearer' : 'DPoP'
  const issued: Issued = { accessToken, refreshToken, tokenType, scope, expiresAtS }
  const accessHash = hashKey(accessToken)
  const row = plainRow(api, grant, policies, { issuedAtS, expiresAtS })
  // A client would come back for another token with each request that one without access is refused at.
  if (!isInForce(parts, api.orgId, sessionAtUse(row.body, client))) throw fault('oauth_no_policy')
  const changes: Change[] = [
    ...grant.also,
    ...(grant.alsoFor?.(issued) ?? []),
    { op: 'putSession', hash: accessHash, row, ifAbsent: true },
  ]
  if (refreshToken !== '') changes.push(refreshChange(parts, api, grant, refreshToken, accessHash))
  const delivery = announcementOf(parts, api, grant, issued)
  if (delivery !== undefined) changes.push(delivery)
  // One that ends with itself and that anybody can verify needs nothing else of the store.
  const isAlone = jwt && changes.length === 1 && delivery === undefined
  await commitOrOwe(parts, changes, isAlone ? { hash: accessHash, row, apiId: api.apiId } : undefined)
  if (delivery !== undefined) parts.wakeDeliveries?.()
  return tokenAnswer(issued, issuedAtS)
}

/** Faults after which a token is stored later; where it was stored after all, that changes nothing. */
const LATER: ReadonlySet<string> = new Set(['store_away', 'write_unconfirmed'])

/** `pending`: tokens that may be stored later if the store is away now. */
async function commitOrOwe(
  { documents, pending: later }: OAuthParts,
  changes: readonly Change[],
  pending: PendingSession | undefined,
): Promise<void> {
  if (pending !== undefined && later?.away === true && later.keep(pending)) return
  try {
    await documents.commit(changes, undefined)
  } catch (error) {
    const mayWait = pending !== undefined && later !== undefined && LATER.has(toFault(error).code)
    if (!mayWait || !later.keep(pending)) throw error
  }
}

/** The answer with these tokens, as of now (Unix seconds). */
export function tokenAnswer(issued: Issued, nowS: number): OAuthAnswer {
  const { accessToken, refreshToken, tokenType, scope, expiresAtS } = issued
  return jsonAnswer(200, {
    access_token: accessToken,
    expires_in: Math.max(0, expiresAtS - nowS),
    token_type: tokenType,
    ...(refreshToken !== '' && { refresh_token: refreshToken }),
    ...(scope !== '' && { scope }),
  })
}

interface Life {
  readonly issuedAtS: number
  readonly expiresAtS: number
}

/** The last row of a client that asked for itself. */
interface PlainRow extends Life {
  readonly api: OAuthApi
  readonly scope: string
  readonly row: SessionInput
}

/** Module state: a cache of immutable values: the last row of each client, frozen. */
const plainRows = new WeakMap<OAuthClient, PlainRow>()

/**
 * The row of a token. Tokens of one second that a client got for itself differ in nothing but their hash: they share a frozen row,
 * which the store then reads once. A changed client is another object, so is a changed API, and so is their row.
 */
function plainRow(
  api: OAuthApi,
  grant: TokenGrant,
  policies: readonly (Policy | undefined)[],
  life: Life,
): SessionInput {
  const { client, family, scope, keyRules, binding, resources } = grant
  const plain = family === '' && keyRules === undefined && binding.jkt === '' && binding.x5t === ''
  if (!plain || grant.username !== '' || resources.length > 0) return sessionRow(api, grant, policies, life)
  const last = plainRows.get(client)
  const fits = last !== undefined && last.api === api && last.scope === scope && isSame(last, life)
  if (fits && policies.some((policy) => policy !== undefined)) return last.row
  const row = Object.freeze(sessionRow(api, grant, policies, life))
  plainRows.set(client, { ...life, api, scope, row })
  return row
}

function isSame(a: Life, b: Life): boolean {
  return a.issuedAtS === b.issuedAtS && a.expiresAtS === b.expiresAtS
}

function sessionRow(
  api: OAuthApi,
  grant: TokenGrant,
  policies: readonly (Policy | undefined)[],
  { issuedAtS, expiresAtS }: Life,
): SessionInput {
  const { client, family, scope, username, resources } = grant
  const cnf = confirmationOf(grant.binding)
  const facts: TokenFacts = {
    api_id: api.apiId,
    epoch: epochAt(client, api.apiId),
    policies: client.policies,
    scope,
    family,
    issued_at: issuedAtS,
    username,
    ...(grant.user !== undefined && { user: grant.user }),
    ...(cnf !== undefined && { cnf }),
    ...(resources.length > 0 && { audience: resources }),
  }
  const rules = sessionBody(client, policies, grant)
  const body: JsonObject = {
    ...rules,
    org_id: api.orgId,
    oauth_client_id: client.client_id,
    expires: expiresAtS,
    counter_id: family === '' ? clientKey(client) : family,
    [TOKEN_FACTS]: asJson(facts),
  }
  return {
    body,
    orgId: api.orgId,
    apiIds: Object.keys((rules.access_rights ?? {}) as JsonObject),
    policyIds: (rules.apply_policies ?? []) as string[],
    clientId: client.client_id,
    evictAt: (expiresAtS + RETENTION_S) * 1000,
    ...(family !== '' && { family }),
  }
}

function refreshChange(
  parts: OAuthParts,
  api: OAuthApi,
  grant: TokenGrant,
  refreshToken: string,
  accessHash: Buffer,
): Change {
  const { client, binding, refreshResources = grant.resources } = grant
  const bound = isPublic(client) ? binding : { jkt: '', x5t: '' }
  const body: RefreshBody = {
    epoch: epochAt(client, api.apiId),
    scope: grant.refreshScope ?? grant.scope,
    ...(refreshResources.length > 0 && { resources: refreshResources }),
    ...keptRules(grant),
    ...(grant.standsAlone === true && { stands_alone: true }),
    username: grant.username,
    ...bound,
    access_hash: accessHash.toString('hex'),
  }
  const expiresAt = parts.clock.wall() + refreshTokenLifeS(parts, api) * 1000
  const row = newTicket('refresh', expiresAt, {
    apiId: api.apiId,
    clientId: client.client_id,
    family: grant.family,
    keepUntil: expiresAt + RETENTION_S * 1000,
    body: asJson(body),
  })
  return { op: 'putTicket', hash: hashKey(refreshToken), row, ifAbsent: true }
}

/** The rules that a refresh starts from: the given ones, or the user, whose rules may change meanwhile. */
function keptRules({ user, keyRules }: TokenGrant): Pick<RefreshBody, 'user_hash' | 'user_generation' | 'key_rules'> {
  if (user !== undefined) return { user_hash: user.hash, user_generation: user.generation }
  return keyRules === undefined ? {} : { key_rules: keyRules }
}

function announcementOf(parts: OAuthParts, api: OAuthApi, grant: TokenGrant, issued: Issued): Change | undefined {
  const { notify } = grant
  if (notify === undefined) return undefined
  return deliveryOf(parts, api, {
    auth_code: notify.authCode,
    new_oauth_token: issued.accessToken,
    refresh_token: issued.refreshToken,
    old_refresh_token: notify.oldRefreshToken,
    notification_type: notify.type,
  })
}

/**
 * Life of an access token in seconds: of the client, else of the last of its policies with a `key_expires_in` above 0, else of
 * the API, else of the gateway.
 */
function accessTokenLifeS(
  parts: OAuthParts,
  api: OAuthApi,
  client: OAuthClient,
  policies: readonly (Policy | undefined)[],
): number {
  if (client.token_lifetime > 0) return client.token_lifetime
  const policy = policies.findLast((each) => (each?.key_expires_in ?? 0) > 0)
  if (policy !== undefined) return policy.key_expires_in!
  return api.oauth.accessTokenS > 0 ? api.oauth.accessTokenS : parts.config.gateway.oauth_token_expire
}

/** Life of a refresh token in seconds, from each issue: of the API, else of the gateway. */
function refreshTokenLifeS(parts: OAuthParts, api: OAuthApi): number {
  return api.oauth.refreshTokenS > 0 ? api.oauth.refreshTokenS : parts.config.gateway.oauth_refresh_token_expire
}
