import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { describedMembers } from '../../model/openapi/component-schemas.ts'
import { endAllTokens } from '../../publish/oauth-clients/oauth-clients.ts'
import { listTokens, revokeToken } from '../../publish/oauth-clients/oauth-tokens.ts'
import { soleOwnership } from '../access/co-owned.ts'
import { mayWrite } from '../access/secrets-view.ts'
import { listedName } from '../keys/key-shape.ts'
import { type Answer, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { DoneEnvelope } from '../routes/envelope.ts'
import { pageOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import { fieldsOf, JSON_OR_FORM, SECRET_MEMBERS, TOKEN_MEMBERS } from '../server/form-or-json.ts'
import type { DashboardParts } from '../server/parts.ts'
import { clientsOfSecret } from './clients-named.ts'
import { clientInPath, clientsInPathOfAnyApi, clientToChange } from './find-client.ts'

const ONE = '/api/apis/oauth/{clientId}'
const READ = { permission: 'oauth', intent: 'read' } as const
const WRITE = { permission: 'oauth', intent: 'write' } as const
const OF_CLIENT = { noun: 'oauth_client', by: 'clientId' } as const
/** Longest list that is put together at once; more is asked for page by page. */
const MOST = 100_000

const Tokens = Type.Array(
  Type.Object(
    {
      code: Type.String({
        description: 'Hash of the token, or the token itself where the installation stores tokens.',
      }),
      expires: Type.Number({ description: 'Time at which the token expires, in Unix seconds.' }),
    },
    { title: 'OauthToken' },
  ),
)

/** The tokens of OAuth clients: what is live, and how to end it. */
export function oauthTokenRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/apis/oauth/{apiId}/{clientId}/tokens',
      access: READ,
      owned: { noun: 'api', by: 'apiId' },
      summary: 'List the active tokens of an OAuth client at an API; X-Pages has the number of pages',
      query: { p: Type.Integer() },
      answers: { 200: Tokens },
      run: async (call) => {
        const { client, place } = await clientInPath(parts, call)
        return list(parts, call, [client], place.apiId)
      },
    },
    {
      method: 'DELETE',
      path: '/api/apis/oauth/{apiId}/{clientId}/tokens',
      access: WRITE,
      owned: { noun: 'api', by: 'apiId' },
      summary:
        'Revoke all tokens of an OAuth client as it is registered at the API; needs the permission to write clients, no client secret',
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        const { client } = await clientToChange(parts, call)
        await endAllTokens(parts, client, call.actor!.email)
        return ok('tokens revoked successfully')
      },
    },
    {
      method: 'GET',
      path: `${ONE}/tokens`,
      access: READ,
      owned: OF_CLIENT,
      summary: 'List the active tokens of an OAuth client at all APIs; X-Pages has the number of pages',
      query: { p: Type.Integer() },
      answers: { 200: Tokens },
      run: async (call) => list(parts, call, await clientsInPathOfAnyApi(parts, call), undefined),
    },
    {
      method: 'POST',
      path: `${ONE}/revoke`,
      access: WRITE,
      owned: OF_CLIENT,
      summary: 'Revoke a token, given by its value or its hash',
      body: Type.Object(
        {},
        describedMembers('TokenRevocation', {
          ...TOKEN_MEMBERS,
          client_id: Type.String({ description: 'Client id of the client that the token belongs to.' }),
          ...SECRET_MEMBERS,
        }),
      ),
      bodyIs: 'any',
      bodyTypes: JSON_OR_FORM,
      answers: { 200: DoneEnvelope },
      run: (call) => revoke(parts, call),
    },
    {
      method: 'POST',
      path: `${ONE}/revoke_all`,
      access: WRITE,
      owned: OF_CLIENT,
      summary: 'Revoke all tokens of an OAuth client',
      body: Type.Object({}, describedMembers('ClientSecret', SECRET_MEMBERS)),
      bodyIs: 'any',
      bodyTypes: JSON_OR_FORM,
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        const clients = await clientsInPathOfAnyApi(parts, call)
        const secret = fieldsOf(call).get('client_secret')
        if (secret === undefined) throw fault('client_secret_wrong', 'client_secret is required')
        const proven = await clientsOfSecret(parts, call, clients, secret)
        for (const client of proven) await endAllTokens(parts, client, call.actor!.email)
        return ok('tokens revoked successfully')
      },
    },
  ]
}

async function list(
  parts: DashboardParts,
  call: Call,
  clients: readonly OAuthClient[],
  apiId: string | undefined,
): Promise<Answer> {
  const page = pageOf(call)
  const [skip, limit] = page === 'all' ? [0, MOST] : [page.offset, page.limit]
  const { tokens, total } = await listTokens(parts, clients, { apiId, skip, limit })
  const mayKnow = mayWrite(call, 'oauth') && clients.every((await soleOwnership(parts, call)).client)
  const body = tokens.map(({ row, expires }) => ({ code: listedName(parts, row, mayKnow), expires }))
  // The list is bare, so a header says that there are more.
  return { status: 200, body, headers: { 'x-pages': String(Math.max(1, Math.ceil(total / call.pageSize))) } }
}

/** A token that nobody has is as good as ended (RFC 7009 section 2.2); one of another client is refused (section 2.1). */
async function revoke(parts: DashboardParts, call: Call): Promise<Answer> {
  const clients = await clientsInPathOfAnyApi(parts, call)
  const clientId = clients[0]!.client_id
  const fields = fieldsOf(call)
  const token = fields.get('token')
  if (token === undefined) throw fault('query_invalid', 'token is required')
  if ((fields.get('client_id') ?? clientId) !== clientId)
    throw fault('query_invalid', 'client_id is not the one in the path')
  const secret = fields.get('client_secret')
  const of = secret === undefined ? clients : await clientsOfSecret(parts, call, clients, secret)
  const hint = fields.get('token_type_hint') ?? ''
  const mayEndAt = (apiId: string) => call.visibility.everything || call.visibility.anyApi([apiId])
  await revokeToken(parts, { token, hint, clientId, of, mayEndAt, actor: call.actor!.email })
  return ok('token revoked successfully')
}
