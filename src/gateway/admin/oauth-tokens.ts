import { fault, toFault } from '../../errors/fault.ts'
import { startsObject } from '../../model/json/json.ts'
import { searchParams } from '../../model/network/media-type.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import { hexOf } from '../../model/text/hex.ts'
import { rawKeyOf } from '../../publish/keys/keys.ts'
import { clientApiOf, registrationAt, registrationsOf } from '../../publish/oauth-clients/oauth-client-parts.ts'
import { endAllTokens } from '../../publish/oauth-clients/oauth-clients.ts'
import {
  type ListedToken,
  listTokens,
  provenClients,
  purgeExpiredTokens,
  removeRefreshToken,
  revokeToken,
} from '../../publish/oauth-clients/oauth-tokens.ts'
import { type AdminAnswer, changed, done, json } from './answer.ts'
import { clientParts, oauthApiIn } from './oauth-clients.ts'
import { type AdminParts, publishParts, waitUntilServed } from './parts.ts'
import { type AdminRequest, parseObject } from './request.ts'
import type { AdminRoute } from './route.ts'

const FORM_BYTES = 64 * 1024

const PAGE = 100
/** Longest list that is put together in memory; more is asked for page by page. */
const MOST = 100_000

/** `/oauth`: the tokens of clients, issued by any API. */
export function oauthTokenRoutes(parts: AdminParts): AdminRoute[] {
  return [
    { method: 'GET', path: '/oauth/clients/{api}/{cid}/tokens', run: (request) => list(parts, request) },
    { method: 'POST', path: '/oauth/revoke', run: (request) => revoke(parts, request) },
    { method: 'POST', path: '/oauth/revoke_all', run: (request) => revokeAll(parts, request) },
    { method: 'DELETE', path: '/oauth/tokens', run: (request) => purge(parts, request) },
    { method: 'DELETE', path: '/oauth/refresh/{token}', run: (request) => removeRefresh(parts, request) },
  ]
}

/** Live tokens by their hash, or by themselves where the installation keeps them. A client that is unknown has none. */
async function list(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const apiId = request.param('api')
  const api = await oauthApiIn(parts, apiId)
  if (api === undefined) throw fault('not_found', 'OAuth Client ID not found')
  const own = clientParts(parts)
  const stored = await registrationAt(own, request.param('cid'), api)
  const number = pageNumber(request)
  const skip = number === undefined ? 0 : (number - 1) * PAGE
  const limit = number === undefined ? MOST : PAGE
  const clients = stored === undefined ? [] : [stored.body]
  const { tokens, total } = await listTokens(own, clients, { apiId, skip, limit })
  const entries = tokens.map((token) => ({ code: nameOf(parts, token), expires: token.expires }))
  const pages = `X-Pages: ${Math.max(1, Math.ceil(total / PAGE))}\r\n`
  if (number === undefined) return json(entries, 200, pages)
  const Pagination = { page_num: number, page_total: Math.ceil(total / PAGE), page_size: PAGE }
  return json({ Pagination, Tokens: entries }, 200, pages)
}

async function revoke(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const form = await formOf(request)
  const token = needed(form, 'token')
  const clientId = needed(form, 'client_id')
  const own = clientParts(parts)
  const of = await clientsOf(parts, clientId, form.get('org_id') ?? '')
  if (of.length === 0) throw fault('query_invalid', "oauth client doesn't exist")
  const hint = form.get('token_type_hint') ?? ''
  try {
    const revision = await revokeToken(own, { token, hint, clientId, of, actor: request.actor })
    if (revision !== undefined) await waitUntilServed(parts, revision)
  } catch (error) {
    // A change that cannot be stored does not apply elsewhere, but this node need not use its memory.
    parts.sessions.drop(hashKey(token).toString('hex'))
    throw toFault(error)
  }
  return done('token revoked successfully')
}

async function revokeAll(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const form = await formOf(request)
  const [clientId = '', secret = '', orgId = ''] = ['client_id', 'client_secret', 'org_id'].map((name) =>
    form.get(name),
  )
  if (clientId === '') throw fault('client_secret_wrong', 'client_id is required')
  if (secret === '') throw fault('client_secret_wrong', 'client_secret is required')
  const own = clientParts(parts)
  for (const client of provenClients(own, await clientsOf(parts, clientId, orgId), secret))
    await waitUntilServed(parts, await endAllTokens(own, client, request.actor))
  return done('tokens revoked successfully')
}

/** The registrations of a client id; with `orgId` those of that organisation. */
async function clientsOf(parts: AdminParts, clientId: string, orgId: string): Promise<OAuthClient[]> {
  const all = (await registrationsOf(clientParts(parts), clientId)).map(({ body }) => body)
  return orgId === '' ? all : all.filter((client) => client.org_id === orgId)
}

async function purge(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const scope = request.text('scope')
  if (scope === '') throw fault('parameter_missing', 'scope parameter is required')
  if (scope !== 'lapsed') throw fault('query_invalid', 'unknown scope')
  await purgeExpiredTokens(clientParts(parts))
  return done('expired tokens purged')
}

async function removeRefresh(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const apiId = request.text('api_id')
  if (apiId === '') throw fault('query_invalid', 'Missing parameter api_id')
  const own = clientParts(parts)
  const api = await clientApiOf(own, apiId)
  if (api === undefined) throw fault('not_found', 'API for this refresh token not found')
  if (!api.oauth) throw fault('query_invalid', 'OAuth is not enabled on this API')
  const token = request.param('token')
  const revision = await removeRefreshToken(own, { token, apiId, actor: request.actor })
  if (revision !== undefined) await waitUntilServed(parts, revision)
  return changed(token, 'deleted')
}

function nameOf(parts: AdminParts, { row }: ListedToken): string {
  return rawKeyOf(publishParts(parts), row) ?? hexOf(row.hash)
}

/** `page` or `p` of the query: anything but a number from 1 on counts as 1; undefined when none was sent. */
function pageNumber(request: AdminRequest): number | undefined {
  const text = request.query.get('page') ?? request.query.get('p')
  if (text === null) return undefined
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 1
}

function needed(form: ReadonlyMap<string, string>, name: string): string {
  const value = form.get(name) ?? ''
  if (value === '') throw fault('query_invalid', `${name} is required`)
  return value
}

/**
 * The fields of a form, or of a JSON object of strings: decided by the first non-blank byte, with any Content-Type.
 * @throws Fault `body_malformed` (400) for a field that is given twice, also once in the query, or anything that is neither
 */
async function formOf(request: AdminRequest): Promise<ReadonlyMap<string, string>> {
  const bytes = await request.bytes(FORM_BYTES)
  const entries = startsObject(bytes) ? textsIn(parseObject(bytes)) : [...searchParams(decoded(bytes))]
  const fields = new Map<string, string>()
  for (const [name, value] of entries) {
    if (fields.has(name)) throw fault('body_malformed', `${name}: is repeated`)
    if (request.query.has(name)) throw fault('body_malformed', `${name}: is given in the query and in the body`)
    fields.set(name, value)
  }
  return fields
}

function textsIn(object: object): [string, string][] {
  return Object.entries(object).map(([name, value]) => {
    if (typeof value !== 'string') throw fault('body_malformed', `${name}: must be a string`)
    return [name, value]
  })
}

function decoded(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('latin1')
  try {
    // URLSearchParams mends what is broken in silence.
    decodeURIComponent(text.replaceAll('+', ' '))
  } catch (cause) {
    throw fault('body_malformed', 'the form is not percent-encoded UTF-8', cause)
  }
  if (/[^\x20-\x7e]/.test(text)) throw fault('body_malformed', 'the form holds bytes that must be percent-encoded')
  return text
}
