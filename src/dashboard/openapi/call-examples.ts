import type { Json, JsonObject } from '../../model/json/json.ts'
import { PEOPLE_EXAMPLES } from './call-examples-people.ts'

const BILLING: JsonObject = {
  openapi: '3.0.3',
  info: { title: 'Billing', version: '1' },
  paths: {},
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
  security: [{ key: [] }],
  'x-svc-api-gateway': {
    info: { id: 'billing', name: 'Billing', state: { active: true } },
    upstream: { url: 'https://billing.example.com/' },
    server: {
      listenPath: { value: '/billing/', strip: true },
      authentication: { enabled: true, securitySchemes: { key: { enabled: true } } },
    },
  },
}
const { 'x-svc-api-gateway': _extension, ...PLAIN } = BILLING

const WEATHER: JsonObject = {
  openapi: '3.0.3',
  info: { title: 'Weather', version: '1' },
  servers: [{ url: 'https://weather.example.com/' }],
  paths: { '/today': { get: { operationId: 'today', responses: { '200': { description: 'OK' } } } } },
}

/** A classic definition of an API whose callers show OAuth tokens. */
const LEDGER: JsonObject = {
  api_definition: {
    api_id: 'ledger',
    name: 'Ledger',
    active: true,
    use_oauth2: true,
    oauth_meta: {
      allowed_access_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      allowed_authorize_types: ['code'],
      auth_login_redirect: 'https://login.example.com/',
    },
    proxy: { listen_path: '/ledger/', target_url: 'https://ledger.example.com/', strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default', use_extended_paths: true } } },
  },
}

const SMALL: JsonObject = {
  id: 'small',
  name: 'Small',
  active: true,
  rate: 3,
  per: 60,
  quota_max: 100,
  quota_renewal_rate: 3600,
  access_rights: { billing: { api_id: 'billing', versions: ['Default'] } },
}

const KEY: JsonObject = { apply_policies: ['small'], alias: 'mobile app' }
const LABELS: Json = [{ key: 'team', value: 'payments' }]
const SECRET = 'a-secret-that-you-would-let-us-choose'
const CALLBACK = 'https://app.example.com/callback'
const CLIENT: JsonObject = {
  client_id: 'bookkeeper',
  secret: SECRET,
  client_name: 'Bookkeeper',
  description: 'Books invoices at night',
  redirect_uris: [CALLBACK],
  meta_data: { team: 'payments' },
}
const AUTHORIZATION: JsonObject = {
  response_type: 'code',
  client_id: 'bookkeeper',
  redirect_uri: CALLBACK,
  state: 'a-state-of-the-app',
  key_rules: '{"alias":"ada","access_rights":{"ledger":{"api_id":"ledger","versions":["Default"]}}}',
}
const TOKEN = 'eyJ0b2tlbiI6InRoZSB0b2tlbiJ9'
const TEMPLATE: JsonObject = {
  id: 'company-defaults',
  kind: 'oas-template',
  name: 'Company defaults',
  description: 'Limits and logs of every new API',
  data: { 'x-svc-api-gateway': { middleware: { global: { trafficLogs: { enabled: true } } } } },
}
const CHAT: JsonObject = {
  name: 'Chat',
  method: 'POST',
  target_path: 'https://chat.example.com/hooks/gatehouse',
  header_map: { 'X-Room': 'operations' },
  shared_secret: 'a-secret-that-both-sides-know',
}
const OVERLAP: JsonObject = { overlap_seconds: 3600 }
const KEY_HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const LOCK: JsonObject = { run: 'nightly-sync', seconds: 60 }

/**
 * Bodies by the id of the operation. In this order each is accepted by a new installation, but for those that need a browser, a mail or an
 * identity provider: the test of examples lists them.
 */
export const CALL_EXAMPLES: Readonly<Record<string, Json>> = {
  previewOpenapiApi: BILLING,
  createOpenapiApi: BILLING,
  updateOpenapiApi: BILLING,
  patchOpenapiApi: PLAIN,
  importOpenapiApi: WEATHER,
  createApi: LEDGER,
  updateApi: LEDGER,
  migrateApis: { mode: 'dryRun', apiIDs: ['ledger'] },
  updateApiOwners: { userIds: [], userGroupIds: [] },
  updateApiCategories: { categories: ['payments', 'internal'] },
  createLabel: { name: 'Team', values: ['payments', 'search'] },
  updateLabel: { name: 'Team', values: ['payments', 'search', 'billing'] },
  createLabelsOfApi: LABELS,
  createApiLabels: LABELS,
  createWebhook: CHAT,
  updateWebhook: CHAT,
  updateApiWebhooks: { hook_references: [{ event_name: 'QuotaExceeded', event_timeout: 60, hook: { name: 'Chat' } }] },
  createAsset: TEMPLATE,
  updateAsset: TEMPLATE,
  tryApi: { method: 'GET', path: '/billing/invoices/7', headers: [{ name: 'Accept', value: 'application/json' }] },
  createPolicy: SMALL,
  updatePolicy: SMALL,
  patchPolicy: { rate: 5, per: 60 },
  createKey: KEY,
  previewKey: { apply_policies: ['small'] },
  updateKey: KEY,
  updateApiKey: KEY,
  createChosenKey: KEY,
  createBasicUser: { apply_policies: ['small'], basic_auth_data: { password: 'correct horse battery staple' } },
  rotateKey: OVERLAP,
  createOauthClient: CLIENT,
  updateOauthClient: CLIENT,
  authorizeOauthClient: AUTHORIZATION,
  authorizeClient: AUTHORIZATION,
  revokeOauthClientToken: { token: TOKEN, client_id: 'bookkeeper', client_secret: SECRET },
  revokeOauthClientTokens: { client_secret: SECRET },
  rotateOauthClientSecret: OVERLAP,
  checkMove: { apis: [], client_ids: ['bookkeeper'], key_hashes: [KEY_HASH], api_ids: [], policy_ids: ['small'] },
  acquireMoveLock: LOCK,
  acquireMoveTurn: LOCK,
  saveMoveClient: {
    client_id: 'warehouse',
    secret: SECRET,
    api_ids: ['ledger'],
    redirect_uris: [CALLBACK],
    registered_by_policy: '',
  },
  saveMoveKey: { key_hash: KEY_HASH, session: KEY },
  ...PEOPLE_EXAMPLES,
}
