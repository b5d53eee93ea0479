import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Api } from '../../../src/model/apis/definition/api.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { BARE, NO_RULES, OPERATION, PLAIN, plain, read, TOKEN_IN_HEADER } from '../../worlds/model/api-expected.ts'
import { authToken, oas } from '../../worlds/model/api-samples.ts'

const apiKey = (declared: JsonObject, held: JsonObject): JsonObject =>
  oas({
    document: { components: { securitySchemes: { key: { type: 'apiKey', ...declared } } }, security: [{ key: [] }] },
    server: { authentication: { enabled: true, securitySchemes: { key: { enabled: true, ...held } } } },
  })

const place = (
  header: string | undefined,
  query: string | undefined,
  cookie: string | undefined,
  strip: Partial<Api['auth']>,
) => ({
  auth: { ...TOKEN_IN_HEADER, header, query, cookie, ...strip } as NonNullable<Api['auth']>,
})

const OAS: readonly [name: string, document: JsonObject, expected: Partial<Api>][] = [
  ['nothing but what must be there: all else is off', oas({}), {}],
  [
    'the minimal auth token API',
    authToken(),
    {
      stripListenPath: true,
      tags: ['edge'],
      record: { tagHeaders: [], detailed: false },
      auth: { ...TOKEN_IN_HEADER, strip: true },
      upstream: { ...PLAIN.upstream, targets: [{ url: 'http://orders.internal:8080/', weight: 1 }] },
    },
  ],
  [
    'the place of the key as OpenAPI has it',
    apiKey({ in: 'header', name: 'X-K' }, {}),
    place('x-k', undefined, undefined, { stripHeaders: ['x-k'] }),
  ],
  [
    'a key in the query as OpenAPI has it',
    apiKey({ in: 'query', name: 'k' }, {}),
    place(undefined, 'k', undefined, { stripQueries: ['k'] }),
  ],
  [
    'a key in a cookie as OpenAPI has it, and in a header besides',
    apiKey({ in: 'cookie', name: 'c' }, { header: { enabled: true } }),
    place('authorization', undefined, 'c', { stripCookies: ['c'] }),
  ],
  [
    'the extension counts before OpenAPI',
    apiKey(
      { in: 'header', name: 'X-K' },
      { header: { enabled: false, name: 'X-L' }, query: { enabled: true, name: 'q' } },
    ),
    place(undefined, 'q', undefined, { stripHeaders: ['x-l'], stripQueries: ['q'] }),
  ],
  [
    'authentication switched off',
    oas({ server: { authentication: { enabled: false, securitySchemes: { k: { enabled: true } } } } }),
    {},
  ],
  [
    'sections whose switch is off',
    oas({
      info: { versioning: { enabled: false, versions: [{ name: 'v', id: 'x' }] } },
      upstream: {
        rateLimit: { enabled: false, rate: 1, per: '1s' },
        loadBalancing: { targets: [{ url: 'http://t/', weight: 1 }] },
      },
      server: {
        gatewayTags: { tags: ['a'] },
        customDomain: { name: 'a.example' },
        ipAccessControl: { allow: ['10.0.0.1'] },
        clientCertificates: { allowlist: ['x'] },
      },
      middleware: {
        global: {
          cors: { allowedOrigins: ['*'] },
          requestSizeLimit: { value: 5 },
          transformRequestHeaders: { add: [{ name: 'X', value: 'y' }] },
          trafficLogs: {},
        },
      },
    }),
    {},
  ],
  [
    'what the extension can say of the whole API',
    oas({
      info: { expiration: '2031-01-01 00:00', state: { active: false, internal: true } },
      upstream: {
        rateLimit: { enabled: true, rate: 2, per: '1m' },
        loadBalancing: {
          enabled: true,
          targets: [
            { url: 'http://a/', weight: 2 },
            { url: 'http://b/', weight: 0 },
            { url: 'http://c/', weight: 1 },
          ],
        },
        preserveHostHeader: { enabled: true },
        tlsTransport: { insecureSkipVerify: true },
      },
      server: {
        customDomain: { enabled: true, name: 'A.example', certificates: ['c'] },
        clientCertificates: { enabled: true, allowlist: ['x'] },
        ipAccessControl: { enabled: true, allow: ['10.0.0.1'], block: [] },
        authentication: { enabled: false, customKeyLifetime: { enabled: true, value: '1h' } },
      },
      middleware: {
        global: {
          requestSizeLimit: { enabled: true, value: 5 },
          transformRequestHeaders: { enabled: true, add: [{ name: 'X', value: 'y' }], remove: ['Z'] },
          ignoreCase: { enabled: true },
          contextVariables: { enabled: true },
          skipRateLimit: true,
          skipQuota: true,
          skipQuotaReset: true,
          onStoreFailure: 'allow',
        },
      },
    }),
    {
      active: false,
      internal: true,
      expiresAt: Date.UTC(2031, 0, 1),
      rateLimit: { rate: 2, perMs: 60_000 },
      upstream: {
        targets: [
          { url: 'http://a/', weight: 2 },
          { url: 'http://c/', weight: 1 },
        ],
        preserveHost: true,
        insecure: true,
        timeoutMs: 0,
      },
      domain: 'a.example',
      certificates: ['c'],
      clientCertificates: { allow: ['x'] },
      ip: { allow: ['10.0.0.1'], block: [] },
      sessionLifetimeS: 3600,
      ignoreCase: true,
      contextVariables: true,
      rules: { ...NO_RULES, sizeLimitBytes: 5, requestHeaders: { remove: ['Z'], add: [['X', 'y']] } },
      skipRateLimit: true,
      skipQuota: true,
      keepQuotaOnSave: true,
      onStoreFailure: 'allow',
    },
  ],
  [
    'operations by their ids',
    oas({
      document: { paths: { '/a/{id}': { get: { operationId: 'getA' }, delete: { operationId: 'dropA' } } } },
      middleware: {
        operations: {
          getA: {
            allow: { enabled: true, ignoreCase: true },
            rateLimit: { enabled: true, rate: 1, per: '500ms' },
            enforceTimeout: { enabled: true, value: 2 },
            trackEndpoint: { enabled: false },
          },
          dropA: { block: { enabled: true }, requestSizeLimit: { enabled: true, value: 7 } },
        },
      },
    }),
    {
      pathMatching: 'openapi',
      rules: {
        ...NO_RULES,
        operations: [
          { ...OPERATION, method: 'GET', path: '/a/{id}', ignoreCase: true, allow: true },
          { ...OPERATION, method: 'DELETE', path: '/a/{id}', block: true, sizeLimitBytes: 7 },
          { ...OPERATION, method: 'GET', path: '/a/{id}', rateLimit: { rate: 1, perMs: 500 }, timeoutMs: 2000 },
        ],
      },
    },
  ],
]

describe('what an OpenAPI document is served as', () => {
  for (const [name, document, expected] of OAS) {
    test(name, () => assert.deepEqual(plain(read('oas', document)), { ...BARE, ...expected }))
  }
})
