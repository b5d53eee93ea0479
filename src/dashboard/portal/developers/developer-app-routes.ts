import { Type } from 'typebox'
import type { JsonObject } from '../../../model/json/json.ts'
import type { OAuthClient } from '../../../model/oauth-clients/oauth-client.ts'
import { describedMembers } from '../../../model/openapi/component-schemas.ts'
import { withRedirects } from '../../../publish/oauth-clients/oauth-client-parts.ts'
import { deleteClient, rotateClient, updateClient } from '../../../publish/oauth-clients/oauth-clients.ts'
import { appOf, appPolicyOf } from '../../../publish/portal/developers/apps-of-developer.ts'
import { withRest } from '../../oauth-clients/client-shape.ts'
import { type Answer, bare, ok } from '../../routes/answer.ts'
import type { Call } from '../../routes/call.ts'
import { DoneEnvelope } from '../../routes/envelope.ts'
import type { Route } from '../../routes/route.ts'
import { moment, webAddress } from '../../routes/text-forms.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { withPortalAlias } from '../settings/portal-alias.ts'
import { overlapSent, RotationBody } from './access-body.ts'
import { NewApp } from './developer-key-routes.ts'
import { appInPath } from './holding-view.ts'

const ONE = '/api/portal/developers/oauth/{appId}'
const READ = { permission: 'portal', intent: 'read' } as const
const WRITE = { permission: 'portal', intent: 'write' } as const
const OWNED = { noun: 'developer_app', by: 'appId' } as const

const App = Type.Object(
  {
    client_id: Type.String({ description: 'Client id.' }),
    client_name: Type.Optional(Type.String({ description: 'Name of the app.' })),
    secret: Type.Literal('', { description: 'Shown when it is made, and never again.' }),
    policy_id: Type.String({ description: 'Id of the policy that its tokens get.' }),
    redirect_uri: Type.String({
      description:
        'The first of `redirect_uris`, or all where a separator is set (`dashboard.oauth_redirect_uri_separator`).',
    }),
    redirect_uris: Type.Array(webAddress(), { description: 'Redirect URIs.' }),
    app_description: Type.String({ description: 'Description of the app.' }),
    use_case: Type.String({ description: 'What the app is for, as text for people.' }),
    date_created: moment('Time of creation (RFC 3339).'),
    developer_id: Type.String({ description: 'Id of the developer.' }),
  },
  { title: 'DeveloperApp' },
)
const RotatedApp = Type.Object(
  {
    ...NewApp.properties,
    valid_until: Type.String({ description: 'Until when the old secret is good as well; empty = no longer.' }),
  },
  { title: 'RotatedDeveloperApp' },
)
/** The fields of a developer's app that can be changed. */
const CHANGEABLE = {
  redirect_uri: Type.String({
    // Fifty addresses of 2,048 characters.
    maxLength: 110_000,
    description: 'Redirect URI. Several: separated as `dashboard.oauth_redirect_uri_separator` says.',
  }),
  redirect_uris: Type.Array(webAddress(), { description: 'Redirect URIs: the list is replaced.' }),
  client_name: Type.String({ description: 'Name of the app.' }),
  app_description: Type.String({ description: 'Description of the app.' }),
  use_case: Type.String({ description: 'What the app is for, as text for people.' }),
  description: Type.String({ description: 'Older name of `app_description`.' }),
}

/** OAuth apps of developers, by client id. They are made as keys are, by an OAuth policy. */
export function developerAppRoutes(parts: DashboardParts): Route[] {
  return withPortalAlias([
    {
      method: 'GET',
      path: ONE,
      access: READ,
      owned: OWNED,
      summary: 'Read an OAuth app of a developer',
      answers: { 200: App },
      run: async (call) => bare(appSeen(await appInPath(parts, call))),
    },
    {
      method: 'PUT',
      path: ONE,
      access: WRITE,
      owned: OWNED,
      summary: 'Update redirect URI, name or description of an OAuth app; omitted fields are kept',
      body: Type.Object({}, describedMembers('DeveloperAppInput', CHANGEABLE)),
      answers: { 200: DoneEnvelope },
      run: (call) => change(parts, call),
    },
    {
      method: 'DELETE',
      path: ONE,
      access: WRITE,
      owned: OWNED,
      summary: 'Delete an OAuth app and revoke its tokens',
      answers: { 200: DoneEnvelope },
      run: async (call) => removeApp(parts, call, await appInPath(parts, call)),
    },
    {
      method: 'POST',
      path: `${ONE}/rotate`,
      access: WRITE,
      owned: OWNED,
      summary: 'Rotate the secret of an OAuth app',
      body: RotationBody,
      bodyIs: 'any',
      bodyOptional: true,
      answers: { 200: RotatedApp },
      run: (call) => rotate(parts, call),
    },
  ])
}

/** Deletes an app. */
export async function removeApp(parts: DashboardParts, call: Call, client: OAuthClient): Promise<Answer> {
  await deleteClient(parts, client, { actor: call.actor!.email })
  return ok('Data deleted')
}

async function change(parts: DashboardParts, call: Call): Promise<Answer> {
  const client = await appInPath(parts, call)
  const body = call.object()
  const said = Object.keys(CHANGEABLE)
    .filter((name) => Object.hasOwn(body, name))
    .map((name) => [name, body[name]!] as const)
  const sent: JsonObject = withRest(client, withRedirects(parts, Object.fromEntries(said)))
  await updateClient(parts, client, { body: sent, actor: call.actor!.email })
  return ok('Data updated')
}

async function rotate(parts: DashboardParts, call: Call): Promise<Answer> {
  const app = await appInPath(parts, call)
  const overlapS = overlapSent(call)
  const { client, secret } = await rotateClient(parts, app, { overlapS, actor: call.actor!.email })
  const until = client.secrets[1]?.until ?? 0
  return bare({
    ...{
      client_id: client.client_id,
      secret,
      policy_id: appPolicyOf(client),
      redirect_uri: client.redirect_uris[0] ?? '',
    },
    valid_until: until > 0 ? new Date(until).toISOString() : '',
  })
}

function appSeen(client: OAuthClient): JsonObject {
  return {
    ...appOf(client),
    secret: '',
    policy_id: appPolicyOf(client),
    redirect_uris: [...client.redirect_uris],
    developer_id: String(client.developer_id),
  }
}
