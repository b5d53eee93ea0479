import type { JsonObject } from '../../model/json/json.ts'

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

/** Bodies by the id of the operation, for the calls that a newcomer makes first. In this order each is accepted by a new installation. */
export const CALL_EXAMPLES: Readonly<Record<string, JsonObject>> = {
  createOpenapiApi: BILLING,
  createPolicy: SMALL,
  createKey: { apply_policies: ['small'], alias: 'mobile app' },
  previewKey: { apply_policies: ['small'] },
  createUserGroup: { name: 'Operators', user_permissions: { apis: 'write', policies: 'write', keys: 'write' } },
  createUser: {
    first_name: 'Ada',
    last_name: 'Lovelace',
    email_address: 'ada@example.com',
    password: 'correct horse battery staple',
    active: true,
    user_permissions: { apis: 'read', analytics: 'read' },
  },
  createDeveloper: {
    email: 'dev@example.com',
    password: 'correct horse battery staple',
    fields: { Company: 'Example' },
  },
}
