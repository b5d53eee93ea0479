import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { describedMembers, describedOpenMembers } from '../../model/openapi/component-schemas.ts'
import { listClients } from '../../publish/oauth-clients/oauth-client-lists.ts'
import { withRedirects } from '../../publish/oauth-clients/oauth-client-parts.ts'
import { createClient, deleteClient, rotateClient, updateClient } from '../../publish/oauth-clients/oauth-clients.ts'
import { withPolicyIds } from '../../publish/policies/policy-ids.ts'
import { soleOwnership } from '../access/co-owned.ts'
import { overlapSent, RotationBody } from '../portal/developers/access-body.ts'
import { bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { DoneEnvelope, OutcomeText, PageCount } from '../routes/envelope.ts'
import { type ListShape, pageAnswer, streamed } from '../routes/listed.ts'
import { PAGE_SIZE, RowTotal, sizedPageOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import { webAddress } from '../routes/text-forms.ts'
import type { DashboardParts } from '../server/parts.ts'
import { AuthorizeClients } from './authorize-client.ts'
import { ClientShape, clientView, SENT_MEMBERS, withRest } from './client-shape.ts'
import {
  apiInPath,
  checkPoliciesGiven,
  clientInPath,
  clientPlaceInPath,
  clientToChange,
  storedClientInPath,
} from './find-client.ts'
import { oauthTokenRoutes } from './oauth-token-routes.ts'

const ALL = '/api/apis/oauth/{apiId}'
const ONE = `${ALL}/{clientId}`
const READ = { permission: 'oauth', intent: 'read' } as const
const WRITE = { permission: 'oauth', intent: 'write' } as const
const OWNED = { noun: 'api', by: 'apiId' } as const
const BATCH = 500

const List = Type.Object(
  {
    apps: Type.Array(ClientShape, { description: 'OAuth clients of the page.' }),
    pages: PageCount,
    total: RowTotal,
  },
  { title: 'OauthClientPage' },
)
const Body = Type.Object(
  { dcr_registration: Type.Optional(Type.Object({})) },
  describedOpenMembers('OauthClientInput', {
    ...SENT_MEMBERS,
    client_secret: Type.String({ description: 'As `secret`.' }),
  }),
)
const AUTHORIZATION = {
  response_type: Type.Enum(['code', 'token'], {
    description: '`code` for the authorization code grant; `token` for the implicit grant, where the API allows it.',
  }),
  client_id: Type.String({ description: 'Client id of the app.' }),
  redirect_uri: webAddress('Redirect URI of the authorization request.'),
  state: Type.String({ description: '`state` of the authorization request, which is returned to the app.' }),
  scope: Type.String({ description: 'Scopes that the user has granted, with spaces.' }),
  key_rules: Type.String({ description: 'JSON: the session that tokens get.' }),
  code_challenge: Type.String({ description: 'PKCE challenge of the authorization request.' }),
  code_challenge_method: Type.String({ description: '`S256`: others are refused.' }),
  dpop_jkt: Type.String({ description: 'Thumbprint of the DPoP key that the code is bound to (RFC 9449 section 10).' }),
  resource: Type.String({ description: 'Resource that tokens are for (RFC 8707); may be repeated.' }),
  audience: Type.String({ description: 'Another name of `resource`.' }),
  response_mode: Type.String({ description: '`query`: others are refused.' }),
  request_uri: webAddress('Reference of a pushed authorization request, in place of its parameters.'),
  username: Type.String({ description: 'Who has signed in: tokens carry it.' }),
  error: Type.String({
    description: 'Why the login page gives no code, such as `access_denied`; `redirect_to` then carries it.',
  }),
  error_description: Type.String({ description: 'Text about that error.' }),
  user_code: Type.String({ description: 'Of the device flow: the code that the user has typed.' }),
  decision: Type.Enum(['approve', 'deny'], {
    description: 'Of the device flow. Without it the answer says who asks for what.',
  }),
  user_address: Type.String({
    description: 'Of the device flow: address of the user, which wrong codes count against.',
  }),
}
const Rotated = Type.Object(
  {
    client_id: Type.String({ description: 'Client id.' }),
    secret: Type.String({ description: 'The new secret. It is shown now, and never again.' }),
    valid_until: Type.String({ description: 'Until when the old secret is good as well; empty = no longer.' }),
  },
  { title: 'RotatedSecret' },
)
/** The envelope, with the members of the refusal of an authorization server where it is one. */
const Refusal = Type.Object(
  {
    ...{ Status: Type.Literal('Error', { description: 'Always `Error`.' }), Message: OutcomeText, Meta: Type.Null() },
    error: Type.Optional(Type.String({ description: 'Error code of OAuth 2.0 (RFC 6749).' })),
    error_description: Type.Optional(Type.String({ description: 'Reason, as text for people.' })),
    redirect_to: Type.Optional(webAddress('Where the browser may be sent, so that the client learns of it.')),
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: 'What the caller should know about the answer.' }),
    ),
  },
  { title: 'AuthorizationRefusal' },
)
/** Members of the answer about a device. */
const DEVICE = {
  client_id: Type.Optional(Type.String({ description: 'Client id of the app that asks.' })),
  description: Type.Optional(Type.String({ description: 'Description of the app that asks.' })),
  expires_in: Type.Optional(Type.Integer({ description: 'Seconds for which the user code is valid.' })),
  resource: Type.Optional(Type.Array(Type.String(), { description: 'Resources that the app asks for (RFC 8707).' })),
  scope: Type.Optional(Type.String({ description: 'Scopes that the app asks for, with spaces.' })),
  status: Type.Optional(
    Type.Enum(['pending', 'approved', 'denied'], { description: 'State of the request of a device.' }),
  ),
  user_code: Type.Optional(Type.String({ description: 'Code that the device shows.' })),
}
const Concluded = Type.Object(
  {
    code: Type.Optional(Type.String({ description: 'Authorization code, which the app exchanges for tokens.' })),
    error: Type.Optional(Type.String({ description: 'The error that the login page reported.' })),
    redirect_to: Type.Optional(webAddress('URL to which the browser is sent, with the code in it.')),
    state: Type.Optional(Type.String({ description: '`state` of the authorization request.' })),
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: 'What the caller should know about the answer.' }),
    ),
    ...DEVICE,
  },
  { title: 'Authorization' },
)

/** OAuth clients: apps that get tokens for an API. */
export function oauthClientRoutes(parts: DashboardParts): Route[] {
  return [...collectionRoutes(parts), ...oneRoutes(parts), ...oauthTokenRoutes(parts), ...authorizeRoutes(parts)]
}

function collectionRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: ALL,
      access: READ,
      owned: OWNED,
      summary: 'List the OAuth clients of an API',
      query: {
        p: Type.Integer(),
        q: Type.String({ maxLength: 256, description: 'Part of client id, name or a redirect URI.' }),
        page_size: PAGE_SIZE,
      },
      answers: { 200: List },
      run: (call) => list(parts, call),
    },
    {
      method: 'POST',
      path: ALL,
      access: WRITE,
      owned: OWNED,
      summary: 'Create an OAuth client',
      body: Body,
      answers: { 200: ClientShape },
      run: async (call) => {
        const { apiId, orgId } = await clientPlaceInPath(parts, call, fault('query_invalid', 'API Reference not found'))
        const body = await withPolicyIds(parts, orgId, 'client', withRedirects(parts, call.object()))
        await checkPoliciesGiven(parts, call, body, undefined)
        const { client } = await createClient(parts, { body, apiId, orgId, actor: call.actor!.email })
        return bare(clientView(parts, call, client, 'maker'))
      },
    },
  ]
}

function oneRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: ONE,
      access: READ,
      owned: OWNED,
      summary: 'Read an OAuth client',
      answers: { 200: ClientShape },
      entityVersion: (call) => storedClientInPath(parts, call),
      run: async (call) => {
        const { client } = await clientInPath(parts, call)
        return bare(clientView(parts, call, client, 'writers', (await soleOwnership(parts, call)).client(client)))
      },
    },
    {
      method: 'PUT',
      path: ONE,
      access: WRITE,
      owned: OWNED,
      summary: 'Update an OAuth client; its id and secret are kept',
      body: Body,
      answers: { 200: ClientShape },
      entityVersion: (call) => storedClientInPath(parts, call),
      run: async (call) => {
        const { client: before } = await clientToChange(parts, call)
        const sent = await withPolicyIds(parts, before.org_id, 'client', withRedirects(parts, call.object()))
        const body = withRest(before, sent)
        await checkPoliciesGiven(parts, call, body, before)
        const { client } = await updateClient(parts, before, { body, actor: call.actor!.email })
        return bare(clientView(parts, call, client, 'writers'))
      },
    },
    {
      method: 'POST',
      path: `${ONE}/rotate`,
      access: WRITE,
      owned: OWNED,
      summary: 'Rotate the secret of an OAuth client; the old one may stay valid for a while',
      body: RotationBody,
      bodyIs: 'any',
      bodyOptional: true,
      answers: { 200: Rotated },
      run: (call) => rotate(parts, call),
    },
    {
      method: 'DELETE',
      path: ONE,
      access: WRITE,
      owned: OWNED,
      summary: 'Delete an OAuth client and revoke its tokens',
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        const { client, place } = await clientToChange(parts, call)
        await deleteClient(parts, client, { apiId: place.apiId, actor: call.actor!.email })
        return ok('OAuth client deleted successfully')
      },
    },
  ]
}

async function rotate(parts: DashboardParts, call: Call) {
  const before = (await clientToChange(parts, call)).client
  const overlapS = overlapSent(call)
  const { client, secret } = await rotateClient(parts, before, { overlapS, actor: call.actor!.email })
  const until = client.secrets[1]?.until ?? 0
  return bare({ client_id: client.client_id, secret, valid_until: until > 0 ? new Date(until).toISOString() : '' })
}

/** Both spellings of the call of an identity server. */
function authorizeRoutes(parts: DashboardParts): Route[] {
  const clients = new AuthorizeClients(parts)
  return [`${ALL}/authorize-client`, '/api/apis/{apiId}/authorize-client'].map((path) => ({
    method: 'POST',
    path,
    access: WRITE,
    owned: OWNED,
    summary: 'Complete an authorization after the decision of the user',
    body: Type.Object({}, describedMembers('AuthorizationForm', AUTHORIZATION)),
    bodyIs: 'form',
    answers: { 200: Concluded, 400: Refusal, 401: Refusal, 403: Refusal, 413: Refusal, 429: Refusal },
    run: async (call) => clients.answer(call, await apiInPath(parts, call)),
  }))
}

async function list(parts: DashboardParts, call: Call) {
  const place = await clientPlaceInPath(parts, call)
  const { page, ...counted } = sizedPageOf(call)
  const part = call.query('q')
  const sole = await soleOwnership(parts, call)
  const shape: ListShape<OAuthClient> = {
    name: 'apps',
    ...counted,
    shape: (client) => clientView(parts, call, client, 'nobody', sole.client(client)),
  }
  if (page === 'all') return streamed(eachClient(parts, place, part), shape)
  const { clients, total } = await listClients(parts, place, { ...page, part })
  return pageAnswer(clients, total, page, shape)
}

async function* eachClient(parts: DashboardParts, place: Awaited<ReturnType<typeof clientPlaceInPath>>, part: string) {
  for (let offset = 0; ; ) {
    const { clients, total } = await listClients(parts, place, { offset, limit: BATCH, part })
    yield clients
    offset += clients.length
    if (clients.length === 0 || offset >= total) return
  }
}
