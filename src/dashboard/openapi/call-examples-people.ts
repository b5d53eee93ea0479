import type { Json, JsonObject } from '../../model/json/json.ts'

const PASSWORD = 'correct horse battery staple'
/** An organisation that comes from another installation, with its id. */
const ORGANISATION = '5e9d9544a1dcd60001d0ed20'
const RIGHTS: JsonObject = { apis: 'write', policies: 'write', keys: 'write' }
const ADA: JsonObject = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  email_address: 'ada@example.com',
  password: PASSWORD,
  active: true,
  user_permissions: { apis: 'read', analytics: 'read' },
}
const GRACE: JsonObject = { ...ADA, first_name: 'Grace', last_name: 'Hopper', email_address: 'grace@example.com' }
const { password: _password, ...ADA_CHANGED } = ADA
const DEVELOPER: JsonObject = { email: 'dev@example.com', password: PASSWORD, fields: { Company: 'Example' } }
const CATALOGUE: JsonObject = {
  apis: [
    {
      name: 'Billing',
      short_description: 'Invoices and payments',
      long_description: 'Read and create **invoices**.',
      show: true,
      policy_id: 'small',
      version: 'v2',
    },
  ],
}
const PORTAL: JsonObject = {
  signup_fields: ['Name', 'Company'],
  key_request_fields: ['Purpose'],
  require_key_approval: true,
  oauth_usage_limit: -1,
  portal_url: 'https://developers.example.com/',
}
const STYLES: JsonObject = { page_css: 'h1 { color: navy }', email_css: 'p { margin: 0 }' }
const SCRIPT: JsonObject = { page_js: 'document.title = "Developers"' }
const MENUS: JsonObject = { is_active: true, menus: { Header: [{ title: 'Documentation', url: '/docs' }] } }
const PAGE: JsonObject = {
  is_homepage: false,
  slug: 'getting-started',
  title: 'Getting started',
  template_name: 'page',
  fields: { Content: 'Request a key, and send it in `Authorization`.' },
}
const ACCESS: JsonObject = { apply_policies: ['small'], fields: { Purpose: 'Nightly reports' } }
const PROFILE: JsonObject = {
  ID: 'company',
  Name: 'Company account',
  ActionType: 'GenerateOrLoginUserProfile',
  Type: 'redirect',
  ProviderName: 'SocialProvider',
  ProviderConfig: {
    UseProviders: [
      {
        Name: 'openid-connect',
        Key: 'gatehouse',
        Secret: 'a-secret-of-the-provider',
        DiscoverURL: 'https://login.example.com/.well-known/openid-configuration',
      },
    ],
  },
  UserGroupMapping: {},
  CustomUserGroupField: 'groups',
}
const IMPORTED: JsonObject = {
  id: ORGANISATION,
  owner_name: 'Example',
  owner_slug: 'example',
  cname: 'developers.example.com',
  cname_enabled: true,
  sso_enabled: true,
}
const LIMITS: JsonObject = {
  org_id: ORGANISATION,
  rate: 1000,
  per: 1,
  quota_max: 1_000_000,
  quota_renewal_rate: 86_400,
}
const PERSON: JsonObject = { ForSection: 'dashboard', EmailAddress: 'ada@example.com', DisplayName: 'Ada Lovelace' }
const TICKET = 'Zm9yIHRoZSBuZXh0IHN0ZXAgb2YgdGhlIHNpZ24taW4'
const PASSKEY: JsonObject = { id: 'AbCdEfGhIjKlMnOp', response: { clientDataJSON: 'eyJ0eXBlIjoiLi4uIn0' } }
const CODE = '123456'
const LINK_TOKEN = 'the-part-of-the-link-behind-the-hash'

/** Bodies of calls about people: users, developers, sign-ins, organisations. */
export const PEOPLE_EXAMPLES: Readonly<Record<string, Json>> = {
  createUserGroup: { name: 'Operators', user_permissions: RIGHTS },
  updateUserGroup: { name: 'Operators', description: 'On call', active: true, user_permissions: RIGHTS },
  createUser: ADA,
  updateUser: ADA_CHANGED,
  searchUsers: { filters: { query: 'ada@' } },
  setUserPassword: { new_password: PASSWORD },
  resetUserCredential: { overlap_seconds: 3600 },
  signIn: { email: 'ada@example.com', password: PASSWORD },
  continueSignIn: { ticket: TICKET, code: CODE },
  signInByPasskey: { ticket: TICKET, response: PASSKEY },
  verifySession: { password: PASSWORD },
  confirmTotp: { code: CODE },
  disableTotp: { password: PASSWORD, code: CODE },
  registerPasskey: { name: 'Laptop', response: PASSKEY },
  renamePasskey: { name: 'Old laptop' },
  chooseSessionOrganisation: { org_id: ORGANISATION },
  setSecondFactorRequirement: { required: false },
  requestPasswordReset: { email: 'ada@example.com' },
  resetPassword: { token: LINK_TOKEN, new_password: PASSWORD },
  createDeveloper: DEVELOPER,
  updateDeveloper: DEVELOPER,
  patchDeveloper: { fields: { Company: 'Example', Name: 'Dev' } },
  verifyDeveloperCredentials: { username: 'dev@example.com', password: PASSWORD },
  setDeveloperPassword: { password: PASSWORD },
  createDeveloperKey: ACCESS,
  updateDeveloperKey: { apply_policies: ['small'] },
  rotateDeveloperKey: { overlap_seconds: 3600 },
  createDeveloperSubscription: { apply_policies: ['small'] },
  updateDeveloperApp: { client_name: 'Reports', app_description: 'Reports at night', use_case: 'Accounting' },
  rotateDeveloperAppSecret: { overlap_seconds: 3600 },
  createCatalogue: CATALOGUE,
  updateCatalogue: CATALOGUE,
  createPortalConfiguration: PORTAL,
  updatePortalConfiguration: PORTAL,
  createDocumentation: {
    api_id: 'billing',
    doc_type: 'swagger_custom_url',
    documentation: 'aHR0cHM6Ly9iaWxsaW5nLmV4YW1wbGUuY29tL29wZW5hcGkuanNvbg==',
  },
  createPortalStyleSheets: STYLES,
  updatePortalStyleSheets: STYLES,
  createPortalScript: SCRIPT,
  updatePortalScript: SCRIPT,
  setPortalHost: { cname: 'developers.example.org' },
  createPortalMenus: MENUS,
  updatePortalMenus: MENUS,
  createPortalPage: PAGE,
  updatePortalPage: PAGE,
  createKeyRequest: {
    by_user: ORGANISATION,
    apply_policies: ['small'],
    fields: { Purpose: 'Nightly reports' },
    version: 'v2',
  },
  updateKeyRequest: { fields: { Purpose: 'Monthly reports' } },
  collectKey: { code: LINK_TOKEN },
  registerDeveloper: { email: 'new@example.com', password: PASSWORD, fields: { Name: 'New', Company: 'Example' } },
  signInDeveloper: { email: 'dev@example.com', password: PASSWORD },
  requestDeveloperPasswordReset: { email: 'dev@example.com' },
  resetDeveloperPassword: { token: LINK_TOKEN, new_password: PASSWORD },
  revokeOwnAppToken: { token: 'eyJ0b2tlbiI6InRoZSB0b2tlbiJ9' },
  revokeOwnAppTokens: { client_secret: 'a-secret-that-you-would-let-us-choose' },
  importAdminOrganisation: IMPORTED,
  createAdminOrganisation: { owner_name: 'Another', owner_slug: 'another' },
  updateAdminOrganisation: IMPORTED,
  setOrganisationPortalHost: { domain: 'developers.example.net' },
  createAdminOrganisationPermission: { key: 'reports', label: 'Read reports' },
  updateAdminOrganisationPermission: { label: 'Read and send reports' },
  createAdminUser: { ...GRACE, org_id: ORGANISATION },
  updateAdminUser: GRACE,
  createOrganisationLimits: LIMITS,
  updateOrganisationLimits: LIMITS,
  importApis: {
    apis: [
      {
        api_definition: {
          api_id: 'orders',
          org_id: ORGANISATION,
          name: 'Orders',
          active: true,
          use_keyless: true,
          proxy: { listen_path: '/orders/', target_url: 'https://orders.example.com/' },
        },
      },
    ],
  },
  importPolicies: {
    Data: [
      {
        _id: '5e9d9544a1dcd60001d0ed21',
        id: 'gold',
        org_id: ORGANISATION,
        name: 'Gold',
        active: true,
        rate: 100,
        per: 60,
        access_rights: { orders: { api_id: 'orders', versions: ['Default'] } },
      },
    ],
  },
  createAdminSignInNonce: { ...PERSON, OrgID: ORGANISATION },
  createSignInNonce: PERSON,
  createIdentityProfile: PROFILE,
  updateIdentityProfile: PROFILE,
  signInByDirectory: { username: 'ada', password: PASSWORD },
  acceptSamlResponse: { SAMLResponse: 'PHNhbWxwOlJlc3BvbnNlIC8+', RelayState: '' },
  updateOrganisationPermissions: { additional_permissions: { reports: 'Read reports' } },
  storeOpaRules: { open_policy: { enabled: false, rules: 'package dashboard_users' } },
  setUpInstallation: { token: LINK_TOKEN, organisation: 'Example', email: 'ada@example.com', password: PASSWORD },
  acceptLicense: {},
}
