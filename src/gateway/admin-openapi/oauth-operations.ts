import { CLIENT_MEMBERS, CLIENT_OPTIONS, CLIENT_SCHEMA } from '../../model/oauth-clients/oauth-client.ts'
import {
  arrayOf,
  closedObjectOf,
  flag,
  oneOf,
  openObjectOf,
  said,
  text,
  time,
  whole,
} from '../../model/openapi/component-schemas.ts'
import { SIGNING_ALGORITHMS } from '../../oauth/signing-keys/key-ring.ts'
import {
  type AdminOperations,
  changedObject,
  Done,
  inFormOrJson,
  inJson,
  OF_ORGANISATION,
  PAGE,
  PAGE_COUNT,
} from './admin-operation.ts'

const OauthClient = openObjectOf(
  'OauthClient',
  {
    ...CLIENT_MEMBERS,
    api_ids: said(arrayOf(text), 'Ids of the APIs that it is registered at.'),
    date_created: said(time, 'When it was created.'),
  },
  { ...CLIENT_OPTIONS, registered_by_policy: said(text, 'Registered at every API of this policy.') },
)
const OauthClientInput = { ...CLIENT_SCHEMA, title: 'OauthClientInput', required: [] }
const Tokens = arrayOf(
  closedObjectOf('OauthToken', {
    code: said(text, 'Hash of the token, or itself.'),
    expires: said(whole, 'Time at which the token expires, in Unix seconds.'),
  }),
)
const TokenPage = closedObjectOf('OauthTokenPage', {
  Pagination: said(
    closedObjectOf('Pagination', {
      page_num: said(whole, 'Number of this page, from 1 on.'),
      page_total: said(whole, 'Number of pages.'),
      page_size: said(whole, 'Tokens of a full page.'),
    }),
    'Place of this page among all.',
  ),
  Tokens: said(Tokens, 'Tokens of the page.'),
})
const SigningKeys = closedObjectOf('SigningKeys', {
  keys: said(
    arrayOf(
      closedObjectOf(
        'SigningKey',
        {
          org_id: said(text, 'Id of the organisation.'),
          kid: said(text, 'Id of the key, as in the key set and in the header of the tokens that it signed.'),
          alg: said(oneOf(...SIGNING_ALGORITHMS), 'Signature algorithm.'),
          state: said(
            oneOf('next', 'current', 'previous', 'retired'),
            '`next`: published, signs later. `current`: signs. `previous`: signs no more, published until its last token has expired. `retired`: its tokens are refused.',
          ),
          date_created: said(time, 'Time of creation.'),
        },
        {
          signs_from: said(time, 'Time from which the key signs.'),
          published_until: said(time, 'Time until which a `previous` key is published.'),
          retired_at: said(time, 'Time at which the key was retired.'),
        },
      ),
    ),
    'Signing keys of the organisation.',
  ),
})

/** OAuth clients, their tokens, signing keys and notices. */
export const OAUTH_OPERATIONS: AdminOperations = {
  'POST /oauth/clients/create': {
    id: 'createOauthClient',
    summary: 'Register an OAuth client at an API, or at all OAuth APIs of a policy',
    query: OF_ORGANISATION,
    body: inJson(OauthClientInput),
    answer: OauthClient,
    refusals: [404],
  },
  'GET /oauth/clients/apis/{cid}': {
    id: 'listApisOfOauthClient',
    summary: 'List the ids of the APIs that a client is registered at',
    query: { ...OF_ORGANISATION, orgID: said(text, 'As `org_id`.') },
    answer: arrayOf(text),
  },
  'GET /oauth/clients/{api}': {
    id: 'listOauthClients',
    summary: 'List the OAuth clients of an API',
    query: PAGE,
    answer: arrayOf(OauthClient),
    answers: { 404: { type: 'null' } },
    fields: PAGE_COUNT,
  },
  'GET /oauth/clients/{api}/{cid}': {
    id: 'getOauthClient',
    summary: 'Get an OAuth client, with its secret',
    answer: OauthClient,
  },
  'PUT /oauth/clients/{api}/{cid}': {
    id: 'updateOauthClient',
    summary: 'Replace an OAuth client; its secret stays',
    body: inJson(OauthClientInput),
    answer: OauthClient,
  },
  'DELETE /oauth/clients/{api}/{cid}': {
    id: 'deleteOauthClient',
    summary: 'Delete an OAuth client and end its tokens',
    answer: changedObject('OauthClientDeleted', ['deleted']),
  },
  'PUT /oauth/clients/{api}/{cid}/rotate': {
    id: 'rotateOauthClientSecret',
    summary: 'Replace the secret of an OAuth client',
    query: { overlap: said(whole, 'Seconds for which the old secret stays valid.') },
    body: inJson(
      closedObjectOf(
        'SecretRotation',
        {},
        {
          overlap: said(whole, 'Seconds for which the old secret stays valid. 0: not at all.'),
          secret: said(text, 'The new secret. Absent: one is made.'),
        },
      ),
    ),
    isBodyOptional: true,
    answer: OauthClient,
  },
  'GET /oauth/clients/{api}/{cid}/tokens': {
    id: 'listOauthTokens',
    summary: 'List the live tokens of an OAuth client',
    query: { ...PAGE, page: said(whole, 'As `p`.') },
    answer: { anyOf: [Tokens, TokenPage] },
    fields: PAGE_COUNT,
  },
  'POST /oauth/revoke': {
    id: 'revokeOauthToken',
    summary: 'Revoke a token',
    body: inFormOrJson(
      closedObjectOf(
        'TokenRevocation',
        {
          token: said(text, 'The token, or its hash.'),
          client_id: said(text, 'Client id of the client that the token belongs to.'),
        },
        {
          token_type_hint: said(text, '`access_token` or `refresh_token`: where to look first.'),
          org_id: said(text, 'Id of the organisation.'),
        },
      ),
    ),
    answer: Done,
  },
  'POST /oauth/revoke_all': {
    id: 'revokeOauthTokens',
    summary: 'Revoke all tokens of a client',
    body: inFormOrJson(
      closedObjectOf(
        'ClientCredentials',
        { client_id: said(text, 'Client id.'), client_secret: said(text, 'Client secret.') },
        { org_id: said(text, 'Id of the organisation.') },
      ),
    ),
    answer: Done,
    refusals: [401, 404],
  },
  'DELETE /oauth/tokens': {
    id: 'deleteExpiredOauthTokens',
    summary: 'Delete what is stored of expired tokens',
    query: { scope: oneOf('lapsed') },
    requires: ['scope'],
    answer: Done,
    refusals: [422],
  },
  'DELETE /oauth/refresh/{token}': {
    id: 'deleteOauthRefreshToken',
    summary: 'Delete a refresh token',
    query: { api_id: said(text, 'API that it was issued by.') },
    requires: ['api_id'],
    answer: changedObject('OauthTokenDeleted', ['deleted']),
  },
  'GET /oauth/signing-keys': {
    id: 'listSigningKeys',
    summary: 'List the keys that sign JWT access tokens',
    query: OF_ORGANISATION,
    answer: SigningKeys,
  },
  'POST /oauth/signing-keys/rotate': {
    id: 'rotateSigningKeys',
    summary: 'Sign with new keys',
    query: { ...OF_ORGANISATION, alg: said(oneOf(...SIGNING_ALGORITHMS), 'Only of this algorithm.') },
    answer: SigningKeys,
    refusals: [404],
  },
  'DELETE /oauth/signing-keys/{kid}': {
    id: 'retireSigningKey',
    summary: 'Retire a signing key; tokens that it signed are refused',
    query: OF_ORGANISATION,
    answer: SigningKeys,
  },
  'GET /oauth/notifications/{apiID}': {
    id: 'listTokenNotifications',
    summary: 'List notices of tokens that did not arrive',
    query: { dead: said(flag, 'Those that are not tried again.'), after: said(whole, '`X-Next` of the list before.') },
    answer: arrayOf(
      closedObjectOf(
        'TokenNotification',
        {
          id: said(whole, 'Number of the notice.'),
          api_id: said(text, 'Id of the API.'),
          created_at: said(time, 'Time of the event.'),
          attempts: said(whole, 'Number of tries so far.'),
          dead: said(flag, 'True where it is not tried again.'),
          error: said(text, 'Reason of the last failure.'),
        },
        { next_at: said(time, 'Absent: not tried again.') },
      ),
    ),
    fields: { 'X-Next': 'Sent where there may be more.' },
  },
  'POST /oauth/notifications/{apiID}/{id}/resend': {
    id: 'resendTokenNotification',
    summary: 'Send a notice again',
    answer: Done,
  },
}
