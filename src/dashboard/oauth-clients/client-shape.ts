import { Type } from 'typebox'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { CLIENT_MEMBERS, CLIENT_OPTIONS, type OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { clientViewFor } from '../../publish/oauth-clients/oauth-client-lists.ts'
import { redirectTextOf } from '../../publish/oauth-clients/oauth-client-parts.ts'
import { maskSecretsFor, mayWrite } from '../access/secrets-view.ts'
import type { Call } from '../routes/call.ts'
import { moment, webAddress, webAddressIfAny } from '../routes/text-forms.ts'
import type { DashboardParts } from '../server/parts.ts'

const JWKS_URI = 'Address of these keys, instead of `jwks`.'

const members = {
  client_id: Type.String({ description: 'Client id. Absent in a new client: one is made.' }),
  client_name: Type.String({ description: 'Name of the client, for people.' }),
  secret: Type.String({ description: 'Blank in lists, and for callers who may not write APIs.' }),
  redirect_uri: Type.String({
    description: 'All redirect URIs, parted by `oauth_redirect_uri_separator` where it is set.',
  }),
  policy_id: Type.String({ description: 'The first of `policies`.' }),
  meta_data: Type.Record(Type.String(), Type.Unknown(), { description: 'Free members. Tokens get them.' }),
  description: Type.String({ description: 'Text for people.' }),
  dcr_registration: Type.Object(
    {
      access_token: Type.String({ description: 'Access token of that registration. Blank where `secret` is.' }),
      client_uri: Type.String({ description: 'Address of that registration.' }),
      provider: Type.String({ description: 'Name of that server.' }),
    },
    {
      title: 'DcrRegistration',
      description: 'Registration of the client at another server, as a portal has sent it.',
      additionalProperties: true,
    },
  ),
  redirect_uris: Type.Array(webAddress(), {
    description: 'Redirect URIs. They are compared exactly; only the port of loopback addresses may differ.',
  }),
  policies: Type.Array(Type.String(), { description: 'Ids of policies that its tokens get.' }),
  metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'Older name of `meta_data`.' }),
  org_id: Type.String({ description: 'Id of the organisation.' }),
  api_ids: Type.Array(Type.String(), { description: 'APIs that it is registered at one by one.' }),
  auth_method: Type.String({
    description:
      'Client authentication at the token endpoint: `any` (its secret, in a header or in the form), `client_secret_basic`, `client_secret_post`, `private_key_jwt`, `tls_client_auth`, or `none` for a public client, which must use PKCE.',
  }),
  token_lifetime: Type.Integer({ description: 'Seconds; 0 = as policies, API and gateway say.' }),
  date_created: moment('Time of creation (RFC 3339).'),
}

/** Members that some clients have. */
export const OPTIONAL_MEMBERS = {
  jwks: Type.Object({}, { additionalProperties: true, description: 'Keys for `private_key_jwt`.' }),
  jwks_uri: webAddress(JWKS_URI),
  certificate: Type.String({ description: 'SHA-256 thumbprint of its certificate, for `tls_client_auth`.' }),
  grant_types: Type.Array(Type.String(), { description: 'Grants that it may use. Absent: those of the API.' }),
  scope: Type.String({ description: 'Scopes that it may ask for, separated by spaces. Absent: those of the API.' }),
  dpop_bound_access_tokens: Type.Boolean({ description: 'No token without a DPoP proof.' }),
  tls_client_certificate_bound_access_tokens: Type.Boolean({ description: 'No token without a client certificate.' }),
  require_pushed_authorization_requests: Type.Boolean({ description: 'No authorization request but a pushed one.' }),
}

/** Members of a client as it is sent. */
export const SENT_MEMBERS = {
  ...members,
  ...OPTIONAL_MEMBERS,
  jwks_uri: webAddressIfAny(JWKS_URI),
  auth_method: Type.Enum(CLIENT_MEMBERS.auth_method.enum, { description: CLIENT_MEMBERS.auth_method.description }),
  grant_types: Type.Array(Type.Enum(CLIENT_OPTIONS.grant_types.items.enum), {
    description: 'Grants that it may use. Absent: those of the API.',
  }),
}

/** A client as the dashboard shows it. */
export const ClientShape = Type.Object(
  members,
  describedAs({
    ...{ title: 'OauthClient', type: 'object', required: Object.keys(members), additionalProperties: true },
    properties: { ...members, ...OPTIONAL_MEMBERS },
  }),
)

/** Who sees the secret: its creator in the response, users who may write APIs, or nobody. */
export type SecretView = 'maker' | 'writers' | 'nobody'

/** A client as callers see it; `isAlone`: false where others own a part of it (`soleOwnership`). @throws Fault `seal_broken` */
export function clientView(
  parts: DashboardParts,
  call: Call,
  client: OAuthClient,
  who: SecretView,
  isAlone = true,
): JsonObject {
  const mayRead = isAlone && mayWrite(call, 'apis')
  const withSecret = who === 'maker' || (who === 'writers' && mayRead)
  const shown = clientViewFor(parts, client, { withSecret })
  const { client_id, client_name, secret, redirect_uri, policy_id, meta_data, description, dcr_registration, ...more } =
    shown
  return {
    client_id: client_id!,
    client_name: textOf(client_name),
    secret: secret!,
    redirect_uri: redirectTextOf(parts, client),
    policy_id: policy_id ?? '',
    meta_data: maskSecretsFor(call, 'oauth', meta_data!, isAlone),
    description: description!,
    dcr_registration: registrationOf(dcr_registration, withSecret),
    ...maskSecretsFor(call, 'oauth', more, isAlone),
  }
}

/** Omitted members of a change stay. */
export function withRest(before: OAuthClient, sent: JsonObject): JsonObject {
  const silent = (...names: string[]) => names.every((name) => sent[name] === undefined)
  return {
    ...(silent('redirect_uri', 'redirect_uris') && { redirect_uris: [...before.redirect_uris] }),
    ...(silent('policy_id', 'policies') && { policies: [...before.policies] }),
    ...(silent('meta_data', 'metadata') && { metadata: before.metadata }),
    ...(silent('description') && { description: before.description }),
    ...sent,
  }
}

/** Who registered it where a portal had another server do it. Its access token is a secret. */
function registrationOf(stored: unknown, withSecret: boolean): JsonObject {
  const { access_token, client_uri, provider, ...more } = isObject(stored) ? stored : {}
  return {
    ...(withSecret && more),
    access_token: withSecret ? textOf(access_token) : '',
    client_uri: textOf(client_uri),
    provider: textOf(provider),
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
