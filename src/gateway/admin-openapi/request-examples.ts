import type { JsonObject } from '../../model/json/json.ts'

const LEDGER: JsonObject = {
  openapi: '3.0.3',
  info: { title: 'Ledger', version: '1' },
  paths: { '/entries': { get: { operationId: 'listEntries', responses: { '200': { description: 'OK' } } } } },
  components: {
    securitySchemes: {
      app: {
        type: 'oauth2',
        flows: { clientCredentials: { tokenUrl: 'oauth/token', scopes: { read: 'Read entries' } } },
      },
    },
  },
  security: [{ app: ['read'] }],
  'x-svc-api-gateway': {
    info: { id: 'ledger', name: 'Ledger', state: { active: true } },
    upstream: { url: 'https://ledger.example.com/' },
    server: {
      listenPath: { value: '/ledger/', strip: true },
      authentication: { enabled: true, securitySchemes: { app: { enabled: true } } },
    },
  },
}

const ORDERS: JsonObject = {
  api_id: 'orders',
  name: 'Orders',
  active: true,
  use_standard_auth: true,
  auth_configs: { authToken: { auth_header_name: 'Authorization' } },
  proxy: { listen_path: '/orders/', target_url: 'https://orders.example.com/', strip_listen_path: true },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default', use_extended_paths: true } } },
}

const GOLD: JsonObject = {
  id: 'gold',
  name: 'Gold',
  active: true,
  rate: 100,
  per: 60,
  quota_max: 10_000,
  quota_renewal_rate: 3600,
  access_rights: {
    orders: { api_id: 'orders', versions: ['Default'] },
    ledger: { api_id: 'ledger', versions: ['Default'] },
  },
}

const KEY: JsonObject = { apply_policies: ['gold'], alias: 'mobile app', expires: 0 }
const CLIENT: JsonObject = {
  api_id: 'ledger',
  client_id: 'bookkeeper',
  secret: 'a-secret-that-you-would-let-us-choose',
  redirect_uri: 'https://app.example.com/callback',
  policy_id: 'gold',
}
const LIMITS: JsonObject = { rate: 1000, per: 1, quota_max: 1_000_000, quota_renewal_rate: 86_400 }
const { 'x-svc-api-gateway': _extension, ...PLAIN } = LEDGER

/** A body for each call that takes one, by the id of the operation. In this order each is accepted by a new installation. */
export const REQUEST_EXAMPLES: Readonly<Record<string, JsonObject>> = {
  createOpenapiApi: LEDGER,
  updateOpenapiApi: LEDGER,
  patchOpenapiApi: PLAIN,
  importOpenapiApi: {
    openapi: '3.0.3',
    info: { title: 'Weather', version: '1' },
    servers: [{ url: 'https://weather.example.com/' }],
    paths: {},
  },
  createApi: ORDERS,
  updateApi: ORDERS,
  createPolicy: GOLD,
  updatePolicy: GOLD,
  createKey: KEY,
  createKeyAtOlderPath: KEY,
  previewKey: KEY,
  setKeyPolicies: { apply_policies: ['gold'] },
  createCustomKey: KEY,
  updateKey: KEY,
  createOauthClient: CLIENT,
  updateOauthClient: CLIENT,
  rotateOauthClientSecret: { overlap: 3600 },
  revokeOauthToken: { token: 'eyJ0b2tlbiI6InRoZSB0b2tlbiJ9', client_id: 'bookkeeper' },
  revokeOauthTokens: { client_id: 'bookkeeper', client_secret: 'a-secret-that-you-would-let-us-choose' },
  createOrganisationLimits: LIMITS,
  updateOrganisationLimits: LIMITS,
  explainRequest: { method: 'GET', url: '/orders/7', headers: { Authorization: 'no-such-key' }, address: '192.0.2.7' },
}
