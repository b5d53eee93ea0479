import { DIMENSIONS, dimensionRow } from '../../model/analytics/dimensions.ts'
import { capital } from '../../model/openapi/component-schemas.ts'
import type { Route } from '../routes/route.ts'

type Named = Pick<Route, 'method' | 'path'>

/** Acts: a last word of a path that says what is done to what the words before it name. */
const ACTS: ReadonlySet<string> = new Set(
  ['approve', 'collect', 'confirm', 'disable', 'import', 'migrate', 'preview', 'resend', 'reset_quota'].concat([
    'revoke',
    'revoke_all',
    'rotate',
    'test',
    'try',
    'undo',
    'search',
    'export',
  ]),
)

/** Words of paths that are no noun of a name, or another one. '' = left out. */
const WORDS: Readonly<Record<string, string>> = {
  actions: '',
  admin: 'admin',
  api: '',
  certs: 'certificates',
  hooks: 'webhooks',
  'authorize-client': 'clientAuthorization',
  oas: 'openapi',
  org: 'organisation',
  tib: 'identity',
  usergroups: 'userGroups',
}

/** Names of calls whose path does not say what they do. Clients are generated with these names: a name never changes. */
const NAMES: Readonly<Record<string, string>> = {
  'GET /admin/org/keys': 'listOrganisationLimits',
  'POST /admin/org/keys': 'createOrganisationLimits',
  'GET /admin/org/keys/{id}': 'getOrganisationLimits',
  'PUT /admin/org/keys/{id}': 'updateOrganisationLimits',
  'DELETE /admin/org/keys/{id}': 'deleteOrganisationLimits',
  'POST /admin/organisations/{id}/generate-portals': 'setOrganisationPortalHost',
  'POST /admin/apis/import': 'importApis',
  'POST /admin/policies/import': 'importPolicies',
  'GET /admin/system/reload': 'reloadSystem',
  'DELETE /admin/oauth/tokens': 'deleteExpiredOauthTokens',
  'PUT /admin/users/{id}/actions/allow_reset_passwords': 'allowUserToResetPasswords',
  'PUT /admin/users/{id}/actions/disallow_reset_passwords': 'disallowUserToResetPasswords',
  'POST /admin/sso': 'createAdminSignInNonce',
  'POST /api/sso': 'createSignInNonce',
  'GET /api/sso/settings': 'getSingleSignOnSettings',
  'DELETE /api/users/{id}/sso-identity': 'unlinkUserIdentity',
  'GET /tap': 'openSession',
  'POST /api/audit-logs/{id}/undo': 'undoChange',
  'DELETE /api/deleted-ids/{kind}/{id}': 'releaseDeletedId',
  'DELETE /admin/deleted-ids/{kind}/{id}': 'releaseAnyDeletedId',
  'GET /api/bootstrap': 'getSetUpState',
  'POST /api/bootstrap': 'setUpInstallation',
  'GET /api/usage/{dates}': 'getUsage',
  'GET /api/usage/apis/{dates}': 'listUsageByApi',
  'GET /api/usage/apis/{apiId}/{dates}': 'getApiUsage',
  'GET /api/usage/versions/{dates}': 'listUsageByVersion',
  'GET /api/usage/codes/{dates}': 'listUsageByStatus',
  'GET /api/usage/tags/{dates}': 'listUsageByTag',
  'GET /api/errors/count/{dates}': 'listErrorsByStatus',
  'GET /api/activity/errors/{dates}': 'listErrorsByApi',
  'GET /api/activity/keys/{dates}': 'listUsageByKey',
  'GET /api/activity/keys/{key}/{dates}': 'getKeyUsage',
  'GET /api/activity/keys/endpoint/{key}/{dates}': 'listKeyUsageByEndpoint',
  'GET /api/activity/keys/aggregate/{keys}/{dates}': 'getUsageOfKeys',
  'GET /api/activity/oauthid/{clientId}/{dates}': 'getOauthClientUsage',
  'GET /api/activity/oauthid/endpoint/{clientId}/{dates}': 'listOauthClientUsageByEndpoint',
  'GET /api/activity/endpoints/{dates}': 'listUsageByEndpoint',
  'GET /api/activity/developers/{dates}': 'listUsageByDeveloper',
  'GET /api/uptime/{dates}': 'getUptime',
  'GET /api/uptime/{apiId}/{dates}': 'getApiUptime',
  'GET /api/uptime/hosts/{apiId}/{dates}': 'getApiHostUptime',
  'GET /api/apis/{id}/url': 'getApiUrl',
  'GET /api/apis/oas/{id}/versions': 'listOpenapiApiVersions',
  'PATCH /api/apis/oas/{base}/rebase/{next}': 'setBaseApiVersion',
  'GET /api/apis/categories': 'listCategories',
  'GET /api/apis/groups': 'listApiNamesByCategory',
  'GET /api/apis/oas/{id}/categories': 'getApiCategories',
  'PUT /api/apis/oas/{id}/categories': 'updateApiCategories',
  'GET /api/apis/{apiID}/access': 'getApiOwners',
  'PUT /api/apis/{apiID}/access': 'updateApiOwners',
  'GET /api/apis/{apiID}/webhooks': 'getApiWebhooks',
  'PUT /api/apis/{apiID}/webhooks': 'updateApiWebhooks',
  'POST /api/apis/migrate': 'migrateApis',
  'POST /api/apis/oas': 'createOpenapiApi',
  'POST /api/apis/oas/import': 'importOpenapiApi',
  'POST /api/apis/oas/dry-run': 'previewOpenapiApi',
  'GET /api/apis/oas/{id}': 'getOpenapiApi',
  'PUT /api/apis/oas/{id}': 'updateOpenapiApi',
  'PATCH /api/apis/oas/{id}': 'patchOpenapiApi',
  'DELETE /api/apis/oas/{id}': 'deleteOpenapiApi',
  'GET /api/apis/oas/{id}/export': 'exportOpenapiApi',
  'GET /api/apis/oas/{id}/urls': 'listOpenapiApiUrls',
  'GET /api/certs/details': 'listCertificateDetails',
  'GET /api/certs/dependencies/{id}': 'listCertificateDependencies',
  'DELETE /api/certs/dependencies/{id}': 'deleteCertificateDependencies',
  'GET /api/portal/developers/{id}/{keyId}/{policyId}': 'changeDeveloperKeyPolicy',
  'DELETE /api/portal/developers/key/{apiOrPolicyId}/{keyId}/{id}': 'revokeDeveloperKeyOfPolicy',
  'POST /api/portal/developers/key/{apiOrPolicyId}/{keyId}/{id}/reset_quota': 'resetQuotaOfDeveloperKeyOfPolicy',
  'DELETE /api/portal/developers/oauth/{apiId}/{appId}': 'deleteDeveloperAppOfApi',
  'GET /api/portal/developers/oauth/{appId}': 'getDeveloperApp',
  'PUT /api/portal/developers/oauth/{appId}': 'updateDeveloperApp',
  'DELETE /api/portal/developers/oauth/{appId}': 'deleteDeveloperApp',
  'POST /api/portal/developers/oauth/{appId}/rotate': 'rotateDeveloperAppSecret',
  'DELETE /api/portal/developers/{id}/keys/{keyId}': 'revokeDeveloperKey',
  'GET /api/portal/developers/email/{email}': 'getDeveloperByEmail',
  'GET /api/portal/developers/ssokey/{key}': 'getDeveloperBySsoKey',
  'GET /api/portal/developers/api/{apiId}': 'listDevelopersOfApi',
  'POST /api/portal/developers/{id}/keys/{keyId}/reset_quota': 'resetDeveloperKeyQuota',
  'POST /api/portal/developers/verify_credentials': 'verifyDeveloperCredentials',
  'POST /api/portal/developers/password/{id}': 'setDeveloperPassword',
  'GET /api/openapi.json': 'getOpenapiDocument',
  'GET /api/svc-openapi.json': 'getAdministrationDocument',
  'GET /api/docs': 'getDocumentationPage',
  'GET /api/docs/reader.js': 'getDocumentationScript',
  'GET /hello': 'getHealth',
  'GET /health': 'checkHealth',
  'GET /ready': 'checkReadiness',
  'GET /metrics': 'getMetrics',
  'GET /auth/{profile_id}/{provider}': 'beginSignIn',
  'POST /auth/{profile_id}/{provider}': 'signInByDirectory',
  'GET /auth/{profile_id}/{provider}/callback': 'finishOpenidSignIn',
  'POST /auth/{profile_id}/saml/callback': 'acceptSamlResponse',
  'GET /auth/{profile_id}/saml/finish': 'finishSamlSignIn',
  'GET /auth/{profile_id}/saml/logout': 'logOutBySaml',
  'GET /auth/{profile_id}/saml/metadata': 'getSamlMetadata',
  'DELETE /api/cache/jwks/{apiId}': 'dropCachedKeySets',
  'DELETE /api/cache/responses/{apiId}': 'purgeCachedResponses',
  'GET /api/apis/keys': 'listKeys',
  'GET /api/keys/detailed': 'listKeysWithSessions',
  'POST /api/keys/{keyId}': 'createChosenKey',
  'POST /api/keys/{keyId}/reset_quota': 'resetKeyQuota',
  'POST /api/apis/keys/basic/{username}': 'createBasicUser',
  'GET /api/apis/labels': 'listLabelsInUse',
  'GET /api/{api_id}/labels': 'listLabelsOfApi',
  'POST /api/{api_id}/labels': 'createLabelsOfApi',
  'DELETE /api/{api_id}/labels/{key}': 'deleteLabelOfApi',
  'POST /api/apis/{api_id}/labels': 'createApiLabels',
  'GET /api/logs': 'listLogs',
  'GET /api/logs/live': 'followLogs',
  'GET /api/moves/clients/secrets': 'listMoveClientsWithSecrets',
  'GET /api/moves/keys/secrets': 'listMoveKeysWithSecrets',
  'POST /api/moves/clients': 'saveMoveClient',
  'POST /api/moves/keys': 'saveMoveKey',
  'POST /api/moves/check': 'checkMove',
  'PUT /api/moves/lock': 'acquireMoveLock',
  'DELETE /api/moves/lock': 'releaseMoveLock',
  'PUT /api/moves/turn': 'acquireMoveTurn',
  'DELETE /api/moves/turn': 'releaseMoveTurn',
  'GET /api/apis/oauth/{apiId}': 'listOauthClients',
  'POST /api/apis/oauth/{apiId}': 'createOauthClient',
  'GET /api/apis/oauth/{apiId}/{clientId}': 'getOauthClient',
  'PUT /api/apis/oauth/{apiId}/{clientId}': 'updateOauthClient',
  'DELETE /api/apis/oauth/{apiId}/{clientId}': 'deleteOauthClient',
  'POST /api/apis/oauth/{apiId}/{clientId}/rotate': 'rotateOauthClientSecret',
  'GET /api/apis/oauth/{apiId}/{clientId}/tokens': 'listApiOauthClientTokens',
  'DELETE /api/apis/oauth/{apiId}/{clientId}/tokens': 'revokeApiOauthClientTokens',
  'GET /api/apis/oauth/{clientId}/tokens': 'listOauthClientTokens',
  'POST /api/apis/oauth/{clientId}/revoke': 'revokeOauthClientToken',
  'POST /api/apis/oauth/{clientId}/revoke_all': 'revokeOauthClientTokens',
  'POST /api/apis/oauth/{apiId}/authorize-client': 'authorizeOauthClient',
  'POST /api/apis/{apiId}/authorize-client': 'authorizeClient',
  'GET /api/apis/{apiId}/notifications': 'listTokenNotifications',
  'POST /api/apis/{apiId}/notifications/{delivery}/resend': 'resendTokenNotification',
  'GET /api/org': 'getOrganisation',
  'GET /api/organisations': 'getOwnOrganisation',
  'GET /api/organisations/list': 'listOrganisations',
  'GET /api/org/opa': 'getOpaRules',
  'PUT /api/org/opa': 'storeOpaRules',
  'PUT /api/org/permissions': 'updateOrganisationPermissions',
  'PUT /api/org/second-factor': 'setSecondFactorRequirement',
  'POST /api/passkeys': 'registerPasskey',
  'POST /api/passkeys/options': 'createPasskeyOptions',
  'PUT /api/passkeys/{id}': 'renamePasskey',
  'POST /api/users/{id}/actions/reset': 'setUserPassword',
  'PUT /api/users/{id}/actions/key/reset': 'resetUserCredential',
  'PUT /api/users/{id}/actions/revoke': 'deactivateUser',
  'POST /api/password/forgot': 'requestPasswordReset',
  'POST /api/password/reset': 'resetPassword',
  'POST /portal/login': 'signInDeveloper',
  'GET /portal/csrf': 'getPortalCsrfToken',
  'POST /portal/logout': 'signOutDeveloper',
  'POST /portal/register': 'registerDeveloper',
  'GET /portal/sso': 'openPortalSession',
  'POST /portal/password/forgot': 'requestDeveloperPasswordReset',
  'POST /portal/password/reset': 'resetDeveloperPassword',
  'POST /oauth-clients/{clientId}/revoke': 'revokeOwnAppToken',
  'POST /oauth-clients/{clientId}/revoke_all': 'revokeOwnAppTokens',
  'GET /portal/requests/{id}/collect': 'getKeyRequestCollection',
  'POST /portal/requests/{id}/collect': 'collectKey',
  'GET /api/portal/documentation': 'listDocumentation',
  'GET /api/portal/requests': 'listKeyRequests',
  'POST /api/portal/requests': 'createKeyRequest',
  'GET /api/portal/requests/{id}': 'getKeyRequest',
  'PUT /api/portal/requests/{id}': 'updateKeyRequest',
  'DELETE /api/portal/requests/{id}': 'deleteKeyRequest',
  'PUT /api/portal/requests/approve/{id}': 'approveKeyRequest',
  'GET /api/portal/css': 'getPortalStyleSheets',
  'POST /api/portal/css': 'createPortalStyleSheets',
  'PUT /api/portal/css': 'updatePortalStyleSheets',
  'GET /api/portal/js': 'getPortalScript',
  'POST /api/portal/js': 'createPortalScript',
  'PUT /api/portal/js': 'updatePortalScript',
  'PUT /api/portal/cname': 'setPortalHost',
  'GET /api/portal/configuration': 'getPortalConfiguration',
  'PUT /api/portal/configuration': 'updatePortalConfiguration',
  'POST /api/portal/configuration': 'createPortalConfiguration',
  'GET /api/portal/pages': 'listPortalPages',
  'POST /api/portal/pages': 'createPortalPage',
  'GET /api/portal/pages/{id}': 'getPortalPage',
  'PUT /api/portal/pages/{id}': 'updatePortalPage',
  'DELETE /api/portal/pages/{id}': 'deletePortalPage',
  'GET /api/portal/menus': 'getPortalMenus',
  'POST /api/portal/menus': 'createPortalMenus',
  'PUT /api/portal/menus': 'updatePortalMenus',
  'GET /api/schemas/apidefs': 'getClassicSchema',
  'GET /api/schemas/apidefs/oas': 'getOpenapiSchema',
  'GET /api/schema': 'getSchema',
  'POST /api/session/verify': 'verifySession',
  'POST /api/session/verify/options': 'createVerificationOptions',
  'GET /api/second-factor': 'getSecondFactor',
  'POST /api/second-factor/totp': 'beginTotp',
  'POST /api/second-factor/totp/confirm': 'confirmTotp',
  'POST /api/second-factor/totp/disable': 'disableTotp',
  'POST /api/second-factor/recovery-codes': 'regenerateRecoveryCodes',
  'DELETE /api/users/{id}/second-factor': 'deleteUserSecondFactor',
  'PUT /api/session/organisation': 'chooseSessionOrganisation',
  'GET /api/system/settings': 'listSettings',
  'GET /api/system/address': 'getGatewayAddress',
  'GET /api/oauth/signing-keys': 'listSigningKeys',
  'POST /api/oauth/signing-keys/rotate': 'rotateSigningKeys',
  'DELETE /api/oauth/signing-keys/{kid}': 'retireSigningKey',
  'POST /api/login': 'signIn',
  'POST /api/login/continue': 'continueSignIn',
  'POST /api/login/passkey/options': 'createSignInPasskeyOptions',
  'POST /api/login/passkey': 'signInByPasskey',
  'POST /api/logout': 'signOut',
  'POST /api/logout/everywhere': 'signOutEverywhere',
  'GET /api/login/options': 'getSignInOptions',
  'GET /api/login/doors': 'getSignInDoors',
  'GET /api/system/sync-status': 'listSyncStatus',
  'GET /api/system/standings': 'listStandings',
  'GET /api/system/stats': 'getSystemStats',
  'GET /api/system/nodes': 'listNodes',
  'GET /api/system/placement': 'listPlacement',
  'GET /api/system/node/{node_id}/{hostname}': 'getNode',
  'GET /api/licence': 'getLicence',
  'GET /api/license': 'getLicense',
  'POST /license': 'acceptLicense',
  'GET /api/users/me': 'getCurrentUser',
  'GET /api/users/search': 'findUsers',
  'POST /api/users/search': 'searchUsers',
}

/** The calls that list requests by a dimension, named in its row. */
const LISTS_BY_DIMENSION: Readonly<Record<string, string>> = Object.fromEntries(
  DIMENSIONS.flatMap((name) => {
    const { list } = dimensionRow(name)
    return list === undefined ? [] : [[`GET ${list.path}/{dates}`, list.operationId]]
  }),
)

const DATES = '{fromDay}/{fromMonth}/{fromYear}/{toDay}/{toMonth}/{toYear}'

/** The name of a call in generated clients: verb and noun, `listApis`, `rotateKey`. */
export function operationIdOf(route: Named): string {
  const call = `${route.method} ${route.path.replace(DATES, '{dates}')}`
  return NAMES[call] ?? LISTS_BY_DIMENSION[call] ?? derivedName(route)
}

function derivedName({ method, path }: Named): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== 'api' && segment !== 'portal')
  const last = segments.at(-1) ?? ''
  const act = ACTS.has(last) ? camel(last) : undefined
  const nouns = (act === undefined ? segments : segments.slice(0, -1)).flatMap((segment, at, all) => {
    if (segment.startsWith('{')) return []
    const word = WORDS[segment] ?? camel(segment)
    const isMany = at === all.length - 1 && (act === 'search' || (act === undefined && method === 'GET'))
    return isMany ? [word] : [singular(word)]
  })
  return [act ?? verbOf(method, last), ...nouns.map(capital)].join('')
}

function verbOf(method: Route['method'], last: string): string {
  if (method === 'GET') return last.endsWith('s') ? 'list' : 'get'
  return { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }[method]
}

function camel(text: string): string {
  const [first = '', ...rest] = text.split(/[^A-Za-z0-9]+/)
  return first + rest.map(capital).join('')
}

function singular(word: string): string {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}
