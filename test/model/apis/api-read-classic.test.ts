import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Api } from '../../../src/model/apis/definition/api.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { NO_RULES, OPERATION, PLAIN, plain, read, TOKEN_IN_HEADER } from '../../worlds/model/api-expected.ts'
import { classic } from '../../worlds/model/api-samples.ts'

const main = (version: JsonObject) => ({ version_data: { not_versioned: true, versions: { Default: version } } })

const CLASSIC: readonly [name: string, members: JsonObject, expected: Partial<Api>][] = [
  ['nothing but what must be there', {}, {}],
  ['keyless', { use_keyless: true, use_oauth2: true }, { auth: undefined }],
  [
    'where the credential stands',
    {
      strip_auth_data: true,
      auth_configs: {
        authToken: {
          auth_header_name: 'X-Key',
          disable_header: true,
          use_param: true,
          use_cookie: true,
          cookie_name: 'c',
        },
        oauth: { auth_header_name: 'X-Other', param_name: 'p' },
      },
    },
    {
      auth: {
        method: 'token',
        header: undefined,
        query: 'Authorization',
        cookie: 'c',
        strip: true,
        stripHeaders: ['x-key', 'x-other'],
        stripQueries: ['Authorization', 'p'],
        stripCookies: ['c'],
      },
    },
  ],
  [
    'the old single form of the credential',
    { auth: { auth_header_name: 'X-Old' } },
    { auth: { ...TOKEN_IN_HEADER, header: 'x-old', stripHeaders: ['x-old'] } },
  ],
  [
    'null in the place of empty lists',
    { tags: null, allowed_ips: null, CORS: null, version_data: null, auth_configs: null },
    {},
  ],
  ['tags', { tags: ['edge'] }, { tags: ['edge'] }],
  ['tags switched off', { tags: ['edge'], tags_disabled: true }, { tags: undefined }],
  ['no records', { do_not_track: true, tag_headers: ['X-A'] }, { record: undefined }],
  ['headers as tags', { tag_headers: ['X-A'] }, { record: { tagHeaders: ['X-A'], detailed: false } }],
  ['whole requests', { enable_detailed_recording: true }, { record: { tagHeaders: [], detailed: true } }],
  ['domain', { domain: 'API.Example.org', certificates: ['c1'] }, { domain: 'api.example.org', certificates: ['c1'] }],
  ['domain switched off', { domain: 'a.example', domain_disabled: true }, {}],
  [
    'client certificates',
    { use_mutual_tls_auth: true, client_certificates: ['ab'] },
    { clientCertificates: { allow: ['ab'] } },
  ],
  ['expiry to the minute', { expiration: '2031-02-03 04:05' }, { expiresAt: Date.UTC(2031, 1, 3, 4, 5) }],
  ['expiry of RFC 3339', { expiration: '2031-02-03T04:05:06+01:00' }, { expiresAt: Date.UTC(2031, 1, 3, 3, 5, 6) }],
  [
    'addresses, whatever their own switches say',
    { allowed_ips: ['10.0.0.0/8'], blacklisted_ips: ['10.1.1.1'], enable_ip_whitelisting: false },
    { ip: { allow: ['10.0.0.0/8'], block: ['10.1.1.1'] } },
  ],
  ['addresses switched off', { allowed_ips: ['10.0.0.0/8'], ip_access_control_disabled: true }, {}],
  ['rate', { global_rate_limit: { rate: 10, per: 0.5 } }, { rateLimit: { rate: 10, perMs: 500 } }],
  ['rate switched off', { global_rate_limit: { disabled: true, rate: 10, per: 1 } }, {}],
  [
    'limits left out',
    { disable_rate_limit: true, disable_quota: true, dont_set_quota_on_create: true, session_lifetime: 60 },
    { skipRateLimit: true, skipQuota: true, keepQuotaOnSave: true, sessionLifetimeS: 60 },
  ],
  ['the counters’ store away', { on_store_failure: 'allow' }, { onStoreFailure: 'allow' }],
  [
    'targets by weight, the scheme taken from the target URL',
    {
      proxy: {
        listen_path: '/orders/',
        target_url: 'https://up/',
        enable_load_balancing: true,
        target_list: ['a:1', 'http://b/', 'a:1'],
        preserve_host_header: true,
        transport: { ssl_insecure_skip_verify: true },
      },
    },
    {
      upstream: {
        targets: [
          { url: 'https://a:1', weight: 2 },
          { url: 'http://b/', weight: 1 },
        ],
        preserveHost: true,
        insecure: true,
        timeoutMs: 0,
      },
    },
  ],
  [
    'CORS',
    { CORS: { enable: true, allowed_origins: ['*'], allowed_methods: ['get'], max_age: 5, options_passthrough: true } },
    {
      cors: {
        origins: ['*'],
        methods: ['GET'],
        headers: [],
        exposed: [],
        credentials: false,
        maxAgeS: 5,
        passthrough: true,
      },
    },
  ],
  [
    'rules of an API without versions',
    main({
      expires: '2031-01-01 00:00',
      override_target: 'http://else/',
      global_headers: { 'X-A': '1' },
      global_headers_remove: ['X-B'],
      global_response_headers: { 'X-C': '2' },
      global_response_headers_disabled: true,
      global_size_limit: 100,
      ignore_endpoint_case: true,
    }),
    {
      ignoreCase: true,
      rules: {
        ...NO_RULES,
        requestHeaders: { remove: ['X-B'], add: [['X-A', '1']] },
        sizeLimitBytes: 100,
      },
    },
  ],
  [
    'lists of operations, joined by path and method',
    main({
      use_extended_paths: true,
      extended_paths: {
        white_list: [
          { path: '/a', method: 'GET' },
          { path: 'b/{id}', method_actions: { POST: { action: 'no_action' } } },
        ],
        black_list: [
          { path: '/c', method: '', ignore_case: true },
          { path: '/off', method: 'GET', disabled: true },
        ],
        ignored: [{ path: '/a', method: 'GET' }],
        rate_limit: [{ path: '/a', method: 'GET', rate: 3, per: 60 }],
        size_limits: [{ path: '/a', method: 'GET', size_limit: 9 }],
        hard_timeouts: [{ path: '/a', method: 'GET', timeout: 1.5 }],
        transform_headers: [{ path: '/a', method: 'GET', add_headers: { 'X-A': 'v' }, delete_headers: ['X-B'] }],
        transform_response_headers: [{ path: '/a', method: 'GET', delete_headers: ['Server'] }],
        track_endpoints: [{ path: '/a', method: 'GET' }],
        do_not_track_endpoints: [{ path: '/d', method: 'GET' }],
      },
    }),
    {
      rules: {
        ...NO_RULES,
        operations: [
          {
            ...OPERATION,
            method: 'GET',
            path: '/a',
            allow: true,
            ignoreAuthentication: true,
            rateLimit: { rate: 3, perMs: 60_000 },
            sizeLimitBytes: 9,
            timeoutMs: 1500,
            requestHeaders: { remove: ['X-B'], add: [['X-A', 'v']] },
            responseHeaders: { remove: ['Server'], add: [] },
            track: true,
          },
          { ...OPERATION, method: 'POST', path: '/b/{id}', allow: true },
          { ...OPERATION, method: '', path: '/c', ignoreCase: true, block: true },
          { ...OPERATION, method: 'GET', path: '/d', doNotTrack: true },
        ],
      },
    },
  ],
  [
    'the oldest lists of paths',
    main({
      use_extended_paths: false,
      paths: { black_list: ['/x'] },
      extended_paths: { white_list: [{ path: '/y' }] },
    }),
    { rules: { ...NO_RULES, operations: [{ ...OPERATION, method: '', path: '/x', block: true }] } },
  ],
  [
    'versions that are other APIs',
    {
      definition: {
        enabled: true,
        name: 'v1',
        default: 'self',
        location: 'url-param',
        key: 'v',
        fallback_to_default: true,
        strip_versioning_data: true,
        versions: { v2: 'other' },
      },
    },
    {
      versioning: {
        name: 'v1',
        location: 'query',
        key: 'v',
        default: 'v1',
        fallbackToDefault: true,
        strip: true,
        urlPattern: '',
        apis: { v2: 'other' },
        inline: {},
      },
    },
  ],
  [
    'versions within the definition',
    {
      definition: { location: 'header', key: 'X-V' },
      version_data: {
        not_versioned: false,
        default_version: 'a',
        versions: { a: { name: 'a' }, b: { name: 'b', expires: '2030-01-01 00:00' } },
      },
    },
    {
      versioning: {
        name: '',
        location: 'header',
        key: 'X-V',
        default: 'a',
        fallbackToDefault: false,
        strip: false,
        urlPattern: '',
        apis: {},
        inline: { a: NO_RULES, b: { ...NO_RULES, expiresAt: Date.UTC(2030, 0, 1) } },
      },
    },
  ],
  ['members that nobody knows', { whatever: { enabled: true }, config_data: { url: 'env://X' } }, {}],
]

describe('what a classic definition is served as', () => {
  for (const [name, members, expected] of CLASSIC) {
    test(name, () => assert.deepEqual(plain(read('classic', classic(members))), { ...PLAIN, ...expected }))
  }
})

test('tables of names from outside have no prototype to fall through to', () => {
  const members = JSON.parse('{"enabled":true,"key":"v","versions":{"__proto__":"x"}}') as JsonObject
  const { versioning } = read('classic', classic({ definition: members }))
  assert.equal(Object.getPrototypeOf(versioning!.apis), null)
  assert.deepEqual(Object.keys(versioning!.apis), ['__proto__'])
  assert.equal(({} as JsonObject).x, undefined)
})
