import type { JsonObject } from '../../../src/model/json/json.ts'

/** A classic definition with what must be there, and more. */
export function classic(members: JsonObject = {}): JsonObject {
  return { name: 'Orders', active: true, proxy: { listen_path: '/orders/', target_url: 'http://up:8080/' }, ...members }
}

interface Parts {
  readonly document?: JsonObject
  readonly info?: JsonObject
  readonly upstream?: JsonObject
  readonly server?: JsonObject
  readonly middleware?: JsonObject
}

/** An OpenAPI document whose extension holds what must be there, and more. */
export function oas({ document, info, upstream, server, middleware }: Parts): JsonObject {
  return {
    openapi: '3.0.3',
    info: { title: 'Orders', version: '1' },
    paths: {},
    ...document,
    'x-svc-api-gateway': {
      info: { name: 'Orders', state: { active: true }, ...info },
      upstream: { url: 'http://up:8080/', ...upstream },
      server: { listenPath: { value: '/orders/' }, ...server },
      ...(middleware === undefined ? {} : { middleware }),
    },
  }
}

/** The smallest API behind an auth token. */
export function authToken(): JsonObject {
  return {
    openapi: '3.0.3',
    info: { title: 'Orders', version: '1' },
    paths: {},
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
    security: [{ key: [] }],
    'x-svc-api-gateway': {
      info: { name: 'Orders', state: { active: true } },
      upstream: { url: 'http://orders.internal:8080/' },
      server: {
        listenPath: { value: '/orders/', strip: true },
        gatewayTags: { enabled: true, tags: ['edge'] },
        authentication: { enabled: true, stripAuthorizationData: true, securitySchemes: { key: { enabled: true } } },
      },
      middleware: { global: { trafficLogs: { enabled: true } } },
    },
  }
}

/** The smallest API behind OAuth 2.0. */
export function oauth(): JsonObject {
  return {
    openapi: '3.0.3',
    info: { title: 'Billing', version: '1' },
    paths: {},
    components: {
      securitySchemes: {
        oa: {
          type: 'oauth2',
          flows: {
            authorizationCode: {
              authorizationUrl: '/oauth/authorize',
              tokenUrl: '/oauth/token',
              refreshUrl: '/oauth/token',
              scopes: {},
            },
            clientCredentials: { tokenUrl: '/oauth/token', scopes: {} },
          },
        },
      },
    },
    security: [{ oa: [] }],
    'x-svc-api-gateway': {
      info: { name: 'Billing', state: { active: true } },
      upstream: { url: 'http://billing.internal:8080/' },
      server: {
        listenPath: { value: '/billing/', strip: true },
        authentication: {
          enabled: true,
          securitySchemes: {
            oa: {
              enabled: true,
              header: { enabled: true, name: 'Authorization' },
              allowedAuthorizeTypes: ['code'],
              refreshToken: true,
              authLoginRedirect: 'https://login.example.org/start',
              notifications: { onKeyChangeUrl: 'https://app.example.org/hook', sharedSecret: 's3' },
            },
          },
        },
      },
      middleware: { global: { trafficLogs: { enabled: true } } },
    },
  }
}

/** An entry of `custom_middleware`, and the same in the extension. */
export const MODULE = [{ name: 'f', path: 'm.ts', require_session: true, raw_body_only: true, body_limit_bytes: 9 }]
export const PLUGIN = [
  { enabled: true, functionName: 'f', path: 'm.ts', requireSession: true, rawBodyOnly: true, bodyLimitBytes: 9 },
]
