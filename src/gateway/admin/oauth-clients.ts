import { fault } from '../../errors/fault.ts'
import { type Json, type JsonObject, presentMembers } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import {
  apisOfClient,
  clientViewFor,
  findClientAt,
  listClients,
} from '../../publish/oauth-clients/oauth-client-lists.ts'
import {
  type ClientApi,
  type ClientParts,
  clientApiOf,
  redirectTextOf,
  withRedirects,
} from '../../publish/oauth-clients/oauth-client-parts.ts'
import { createClient, deleteClient, rotateClient, updateClient } from '../../publish/oauth-clients/oauth-clients.ts'
import { type AdminAnswer, absent, changed, json, jsonText } from './answer.ts'
import { type AdminParts, publishParts, waitUntilServed } from './parts.ts'
import { type AdminRequest, pageOf } from './request.ts'
import type { AdminRoute } from './route.ts'

const PAGE = 100
const LIST_BATCH = 1000
/** Longest list that is put together in memory; more is asked for page by page. */
const MOST = 10_000
const LONGEST_OVERLAP_S = 31_536_000

/** The dependencies of the client functions, from the parts of this node. */
export function clientParts(parts: AdminParts): ClientParts {
  return { ...publishParts(parts), findApi: (apiId) => parts.live.snapshot.apis.get(apiId)?.api }
}

/** `/oauth/clients`: apps that get tokens. Secrets are shown: who calls here could read them anyway. */
export function oauthClientRoutes(parts: AdminParts): AdminRoute[] {
  return [
    { method: 'POST', path: '/oauth/clients/create', run: (request) => create(parts, request) },
    {
      method: 'GET',
      path: '/oauth/clients/apis/{cid}',
      run: async (request) => {
        const orgId = request.text('orgID') || request.text('org_id')
        return json(await apisOfClient(clientParts(parts), request.param('cid'), orgId))
      },
    },
    { method: 'GET', path: '/oauth/clients/{api}', run: (request) => list(parts, request) },
    {
      method: 'GET',
      path: '/oauth/clients/{api}/{cid}',
      run: async (request) => shown(parts, await clientIn(parts, request)),
    },
    { method: 'PUT', path: '/oauth/clients/{api}/{cid}', run: (request) => update(parts, request) },
    { method: 'DELETE', path: '/oauth/clients/{api}/{cid}', run: (request) => remove(parts, request) },
    { method: 'PUT', path: '/oauth/clients/{api}/{cid}/rotate', run: (request) => rotate(parts, request) },
  ]
}

/** The API of the path, or nothing when there is none or its method is not OAuth. */
export async function oauthApiIn(parts: AdminParts, apiId: string): Promise<ClientApi | undefined> {
  const place = await clientApiOf(clientParts(parts), apiId)
  return place?.oauth === true ? place : undefined
}

async function create(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const body = withRedirects(parts, await request.ofOrganisation())
  const own = clientParts(parts)
  const there = request.isAlias ? await clientThere(parts, body) : undefined
  const saved =
    there === undefined
      ? await createClient(own, { body, actor: request.actor })
      : await updateClient(own, there, {
          body,
          moved: { apiIds: there.api_ids, secret: textOf(body.secret) },
          actor: request.actor,
        })
  await waitUntilServed(parts, saved.revision)
  return shown(parts, saved.client)
}

/** The registration that a body means: of its client id, at its API. */
async function clientThere(parts: AdminParts, body: JsonObject): Promise<OAuthClient | undefined> {
  const api = await oauthApiIn(parts, textOf(body.api_id))
  return api && (await findClientAt(clientParts(parts), api, textOf(body.client_id)).catch(absent))
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** All clients of an API up to 10,000, or page `p` of 100 with the number of pages in `X-Pages`. */
async function list(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const api = await oauthApiIn(parts, request.param('api'))
  if (api === undefined) return json(null, 404)
  const page = pageOf(request)
  const own = clientParts(parts)
  const texts: string[] = []
  const most = page === undefined ? MOST : PAGE
  let offset = page === undefined ? 0 : (page - 1) * PAGE
  for (;;) {
    const limit = Math.min(LIST_BATCH, most - texts.length)
    const { clients, total } = await listClients(own, api, { offset, limit })
    for (const client of clients) texts.push(JSON.stringify(viewOf(parts, client)))
    offset += clients.length
    if (texts.length < most && offset < total && clients.length > 0) continue
    const pages = `X-Pages: ${Math.max(1, Math.ceil(total / PAGE))}\r\n`
    return jsonText(`[${texts.join(',')}]`, pages)
  }
}

async function update(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  if ((await oauthApiIn(parts, request.param('api'))) === undefined) throw fault('not_found', "API doesn't exist")
  const client = await clientIn(parts, request)
  const body = withRedirects(parts, await request.object())
  const saved = await updateClient(clientParts(parts), client, { body, actor: request.actor })
  await waitUntilServed(parts, saved.revision)
  return shown(parts, saved.client)
}

/** A client that is not there is deleted as well. */
async function remove(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const api = await oauthApiIn(parts, request.param('api'))
  if (api === undefined) throw fault('not_found', "API doesn't exist")
  const clientId = request.param('cid')
  const own = clientParts(parts)
  const client = await findClientAt(own, api, clientId).catch(absent)
  if (client !== undefined) {
    const revision = await deleteClient(own, client, { apiId: api.apiId, actor: request.actor })
    if (revision !== undefined) await waitUntilServed(parts, revision)
  }
  return changed(clientId, 'deleted')
}

/** `overlap` (query or body, not both): seconds for which the old secret stays valid. `secret` in the body replaces a generated one. */
async function rotate(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const client = await clientIn(parts, request)
  const bytes = await request.bytes()
  const body: JsonObject = bytes.length === 0 ? {} : presentMembers(await request.object())
  const unknown = Object.keys(body).find((name) => name !== 'overlap' && name !== 'secret')
  // Ignored, `overlap_seconds` would end the old secret at once.
  if (unknown !== undefined)
    throw fault('query_invalid', `${unknown}: is not known here: send overlap, secret, or no body`)
  const asked = request.text('overlap')
  if (asked !== '' && body.overlap !== undefined)
    throw fault('query_invalid', 'overlap: is given in the query and in the body')
  const overlapS = overlapOf(asked || (body.overlap ?? 0))
  const { secret } = body
  if (secret !== undefined && typeof secret !== 'string')
    throw fault('oauth_client_invalid', 'secret: must be a string')
  const saved = await rotateClient(clientParts(parts), client, {
    overlapS,
    actor: request.actor,
    ...(secret !== undefined && { secret }),
  })
  await waitUntilServed(parts, saved.revision)
  return shown(parts, saved.client)
}

async function clientIn(parts: AdminParts, request: AdminRequest) {
  const api = await oauthApiIn(parts, request.param('api'))
  if (api === undefined) throw fault('not_found', 'OAuth Client ID not found')
  return findClientAt(clientParts(parts), api, request.param('cid'))
}

function overlapOf(value: unknown): number {
  const seconds = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 0 && seconds <= LONGEST_OVERLAP_S)
    return seconds
  throw fault('query_invalid', `overlap: must be seconds from 0 to ${LONGEST_OVERLAP_S}`)
}

function shown(parts: AdminParts, client: Parameters<typeof clientViewFor>[1]): AdminAnswer {
  return json(viewOf(parts, client))
}

function viewOf(parts: AdminParts, client: OAuthClient): JsonObject {
  const shown = clientViewFor(clientParts(parts), client, { withSecret: true })
  return { ...shown, redirect_uri: redirectTextOf(parts, client) }
}
