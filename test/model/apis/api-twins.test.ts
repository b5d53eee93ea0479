import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toClassic, toOas } from '../../../src/model/apis/convert/convert.ts'
import { EXTENSION } from '../../../src/model/apis/definition/members.ts'
import { getAt, pathOf, putAt } from '../../../src/model/apis/definition/tree.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { classic, MODULE, oas, PLUGIN } from '../../worlds/model/api-samples.ts'

/** Classic path and value, path below the extension and value (the same when it is left out). `Default.` is the main version. */
const TWINS: readonly [classic: string, value: Json, oas: string, value?: Json][] = [
  ['api_id', 'a', 'info.id'],
  ['id', 'd', 'info.dbId'],
  ['org_id', 'o', 'info.orgId'],
  ['name', 'N', 'info.name'],
  ['active', false, 'info.state.active'],
  ['internal', true, 'info.state.internal'],
  ['expiration', '2031-01-01 00:00', 'info.expiration'],
  ['definition.enabled', true, 'info.versioning.enabled'],
  ['definition.name', 'v1', 'info.versioning.name'],
  ['definition.default', 'self', 'info.versioning.default'],
  ['definition.location', 'url-param', 'info.versioning.location'],
  ['definition.key', 'v', 'info.versioning.key'],
  ['definition.versions', { v2: 'x' }, 'info.versioning.versions', [{ name: 'v2', id: 'x' }]],
  ['definition.strip_versioning_data', true, 'info.versioning.stripVersioningData'],
  ['definition.url_versioning_pattern', '^v', 'info.versioning.urlVersioningPattern'],
  ['definition.fallback_to_default', true, 'info.versioning.fallbackToDefault'],
  ['proxy.target_url', 'http://x/', 'upstream.url'],
  ['proxy.enable_load_balancing', true, 'upstream.loadBalancing.enabled'],
  ['proxy.check_host_against_uptime_tests', true, 'upstream.loadBalancing.skipUnavailableHosts'],
  [
    'proxy.target_list',
    ['http://a/', 'http://a/', 'http://b/'],
    'upstream.loadBalancing.targets',
    [
      { url: 'http://a/', weight: 2 },
      { url: 'http://b/', weight: 1 },
    ],
  ],
  ['global_rate_limit.disabled', true, 'upstream.rateLimit.enabled', false],
  ['global_rate_limit.rate', 5, 'upstream.rateLimit.rate'],
  ['global_rate_limit.per', 0.5, 'upstream.rateLimit.per', '500ms'],
  ['proxy.preserve_host_header', true, 'upstream.preserveHostHeader.enabled'],
  ['proxy.transport.ssl_insecure_skip_verify', true, 'upstream.tlsTransport.insecureSkipVerify'],
  ['proxy.transport.proxy_url', 'http://p/', 'upstream.proxy', { enabled: true, url: 'http://p/' }],
  ['proxy.service_discovery.use_discovery_service', true, 'upstream.serviceDiscovery.enabled'],
  ['proxy.service_discovery.srv_name', '_http._tcp.a', 'upstream.serviceDiscovery.srvName'],
  ['proxy.service_discovery.refresh_interval', 5, 'upstream.serviceDiscovery.refreshInterval', '5s'],
  ['proxy.outlier_ejection.enabled', true, 'upstream.outlierEjection.enabled'],
  ['proxy.outlier_ejection.consecutive_failures', 5, 'upstream.outlierEjection.consecutiveFailures'],
  ['proxy.outlier_ejection.base_time', 30, 'upstream.outlierEjection.baseTime', '30s'],
  ['proxy.outlier_ejection.max_time', 300, 'upstream.outlierEjection.maxTime', '5m'],
  ['proxy.outlier_ejection.max_percent', 50, 'upstream.outlierEjection.maxPercent'],
  ['proxy.retries.enabled', true, 'upstream.retries.enabled'],
  ['proxy.retries.attempts', 3, 'upstream.retries.attempts'],
  ['proxy.retries.statuses', [503], 'upstream.retries.statuses'],
  ['proxy.retries.budget_percent', 20, 'upstream.retries.budgetPercent'],
  ['proxy.retries.min_per_second', 10, 'upstream.retries.minPerSecond'],
  ['uptime_tests.disabled', true, 'upstream.uptimeTests.enabled', false],
  ['uptime_tests.config.interval', 10, 'upstream.uptimeTests.interval', '10s'],
  ['uptime_tests.config.recheck_wait', 60, 'upstream.uptimeTests.hostDownRetestPeriod', '1m'],
  ['uptime_tests.config.failure_threshold', 3, 'upstream.uptimeTests.unhealthyThreshold'],
  ['uptime_tests.config.success_threshold', 2, 'upstream.uptimeTests.healthyThreshold'],
  [
    'uptime_tests.check_list',
    [{ url: '/h', method: 'PUT', headers: { X: 'y' }, body: 'b', timeout: 2_000_000_000, expected_statuses: [204] }],
    'upstream.uptimeTests.tests',
    [{ url: '/h', method: 'PUT', headers: { X: 'y' }, body: 'b', timeout: '2s', expectedStatuses: [204] }],
  ],
  [
    'upstream_certificates',
    { 'a.example': 'c1', '*': 'c2' },
    'upstream.mutualTLS.domainToCertificates',
    [
      { domain: 'a.example', certificate: 'c1' },
      { domain: '*', certificate: 'c2' },
    ],
  ],
  ['upstream_certificates_disabled', true, 'upstream.mutualTLS.enabled', false],
  [
    'pinned_public_keys',
    { '*': 'p1,p2' },
    'upstream.certificatePinning.domainToPublicKeysMapping',
    [{ domain: '*', publicKeys: ['p1', 'p2'] }],
  ],
  ['certificate_pinning_disabled', true, 'upstream.certificatePinning.enabled', false],
  ['proxy.listen_path', '/x/', 'server.listenPath.value'],
  ['proxy.strip_listen_path', true, 'server.listenPath.strip'],
  ['use_keyless', true, 'server.authentication.enabled', false],
  ['strip_auth_data', true, 'server.authentication.stripAuthorizationData'],
  ['base_identity_provided_by', 'auth_token', 'server.authentication.baseIdentityProvider'],
  ['session_lifetime', 60, 'server.authentication.customKeyLifetime', { enabled: true, value: '1m' }],
  ['session_lifetime_respects_key_expiration', true, 'server.authentication.customKeyLifetime.respectValidity'],
  ['tags', ['a'], 'server.gatewayTags.tags'],
  ['tags_disabled', true, 'server.gatewayTags.enabled', false],
  ['domain', 'a.example', 'server.customDomain.name'],
  ['domain_disabled', true, 'server.customDomain.enabled', false],
  ['certificates', ['c'], 'server.customDomain.certificates'],
  ['use_mutual_tls_auth', true, 'server.clientCertificates.enabled'],
  ['client_certificates', ['c'], 'server.clientCertificates.allowlist'],
  ['ip_access_control_disabled', true, 'server.ipAccessControl.enabled', false],
  ['grpc_web', true, 'server.grpcWeb'],
  ['mcp_tools', { 'a.b': { block: { enabled: true } } }, 'middleware.mcpTools'],
  ['allowed_ips', ['::1'], 'server.ipAccessControl.allow'],
  ['blacklisted_ips', ['::1'], 'server.ipAccessControl.block'],
  ['enable_detailed_recording', true, 'server.detailedActivityLogs.enabled'],
  ['detailed_tracing', true, 'server.detailedTracing.enabled'],
  [
    'event_handlers.events',
    {
      AuthFailure: [
        {
          handler_name: 'eh_web_hook_handler',
          handler_meta: {
            name: 'n',
            method: 'PUT',
            target_path: 'https://r.example/',
            template_path: 't',
            header_map: { 'X-A': 'b' },
            event_timeout: 90,
          },
        },
        { handler_name: 'eh_log_handler', handler_meta: { disabled: true, prefix: 'p' } },
      ],
    },
    'server.eventHandlers',
    [
      {
        enabled: true,
        trigger: 'AuthFailure',
        type: 'webhook',
        name: 'n',
        method: 'PUT',
        url: 'https://r.example/',
        bodyTemplate: 't',
        headers: [{ name: 'X-A', value: 'b' }],
        cooldownPeriod: '90s',
      },
      { enabled: false, trigger: 'AuthFailure', type: 'log', logPrefix: 'p' },
    ],
  ],
  ['enable_batch_request_support', true, 'server.batchProcessing.enabled'],
  ['protocol', 'https', 'server.protocol'],
  ['listen_port', 81, 'server.port'],
  ['CORS.enable', true, 'middleware.global.cors.enabled'],
  ['CORS.allowed_origins', ['*'], 'middleware.global.cors.allowedOrigins'],
  ['CORS.allowed_methods', ['GET'], 'middleware.global.cors.allowedMethods'],
  ['CORS.allowed_headers', ['X'], 'middleware.global.cors.allowedHeaders'],
  ['CORS.exposed_headers', ['X'], 'middleware.global.cors.exposedHeaders'],
  ['CORS.allow_credentials', true, 'middleware.global.cors.allowCredentials'],
  ['CORS.max_age', 5, 'middleware.global.cors.maxAge'],
  ['CORS.options_passthrough', true, 'middleware.global.cors.optionsPassthrough'],
  ['CORS.debug', true, 'middleware.global.cors.debug'],
  ['cache_options.enable_cache', true, 'middleware.global.cache.enabled'],
  ['cache_options.cache_timeout', 5, 'middleware.global.cache.timeout'],
  ['cache_options.cache_all_safe_requests', true, 'middleware.global.cache.cacheAllSafeRequests'],
  ['cache_options.cache_response_codes', [200], 'middleware.global.cache.cacheResponseCodes'],
  ['cache_options.cache_by_headers', ['X'], 'middleware.global.cache.cacheByHeaders'],
  ['cache_options.enable_upstream_cache_control', true, 'middleware.global.cache.enableUpstreamCacheControl'],
  ['cache_options.cache_control_ttl_header', 'X', 'middleware.global.cache.controlTTLHeaderName'],
  ['cache_options.share_between_keys', true, 'middleware.global.cache.shareBetweenKeys'],
  ['cache_options.store_set_cookie', true, 'middleware.global.cache.storeSetCookie'],
  ['cache_options.stale_while_revalidate', 5, 'middleware.global.cache.staleWhileRevalidate'],
  ['cache_options.stale_if_error', 5, 'middleware.global.cache.staleIfError'],
  ['response_compression.enabled', true, 'middleware.global.compression.enabled'],
  ['response_compression.encodings', ['gzip'], 'middleware.global.compression.encodings'],
  ['response_compression.minimum_bytes', 5, 'middleware.global.compression.minimumBytes'],
  ['do_not_track', true, 'middleware.global.trafficLogs.enabled', false],
  ['tag_headers', ['X'], 'middleware.global.trafficLogs.tagHeaders'],
  ['expire_analytics_after', 3600, 'middleware.global.trafficLogs.customRetentionPeriod', '1h'],
  ['enable_context_vars', true, 'middleware.global.contextVariables.enabled'],
  ['custom_middleware.driver', 'typescript', 'middleware.global.pluginConfig.driver'],
  ['custom_middleware.pre', MODULE, 'middleware.global.prePlugins', PLUGIN],
  ['custom_middleware.post_key_auth', MODULE, 'middleware.global.postAuthenticationPlugins', PLUGIN],
  ['custom_middleware.post', MODULE, 'middleware.global.postPlugins', PLUGIN],
  ['custom_middleware.response', MODULE, 'middleware.global.responsePlugins', PLUGIN],
  ['config_data', { a: 1 }, 'middleware.global.pluginConfig.data.value'],
  ['config_data_disabled', true, 'middleware.global.pluginConfig.data.enabled', false],
  ['disable_rate_limit', true, 'middleware.global.skipRateLimit'],
  ['disable_quota', true, 'middleware.global.skipQuota'],
  ['on_store_failure', 'allow', 'middleware.global.onStoreFailure'],
  ['dont_set_quota_on_create', true, 'middleware.global.skipQuotaReset'],
  ['Default.global_headers', { X: 'y' }, 'middleware.global.transformRequestHeaders.add', [{ name: 'X', value: 'y' }]],
  ['Default.global_headers_remove', ['X'], 'middleware.global.transformRequestHeaders.remove'],
  ['Default.global_headers_disabled', true, 'middleware.global.transformRequestHeaders.enabled', false],
  [
    'Default.global_response_headers',
    { X: 'y' },
    'middleware.global.transformResponseHeaders.add',
    [{ name: 'X', value: 'y' }],
  ],
  ['Default.global_response_headers_remove', ['X'], 'middleware.global.transformResponseHeaders.remove'],
  ['Default.global_response_headers_disabled', true, 'middleware.global.transformResponseHeaders.enabled', false],
  ['Default.global_size_limit', 9, 'middleware.global.requestSizeLimit.value'],
  ['Default.global_size_limit_disabled', true, 'middleware.global.requestSizeLimit.enabled', false],
  ['Default.ignore_endpoint_case', true, 'middleware.global.ignoreCase.enabled'],
]

/** List of `extended_paths`, what its entry says, and the section of the operation. */
const OPERATIONS: readonly [list: string, entry: JsonObject, section: string, held: JsonObject][] = [
  ['white_list', { ignore_case: true }, 'allow', { ignoreCase: true }],
  ['black_list', {}, 'block', {}],
  ['ignored', {}, 'ignoreAuthentication', {}],
  ['internal', {}, 'internal', {}],
  ['rate_limit', { rate: 3, per: 60 }, 'rateLimit', { rate: 3, per: '1m' }],
  ['size_limits', { size_limit: 5 }, 'requestSizeLimit', { value: 5 }],
  ['hard_timeouts', { timeout: 2 }, 'enforceTimeout', { value: 2 }],
  ['track_endpoints', {}, 'trackEndpoint', {}],
  ['do_not_track_endpoints', {}, 'doNotTrackEndpoint', {}],
  [
    'transform_headers',
    { add_headers: { X: 'y' }, delete_headers: ['Z'] },
    'transformRequestHeaders',
    { add: [{ name: 'X', value: 'y' }], remove: ['Z'] },
  ],
  [
    'transform_response_headers',
    { add_headers: { X: 'y' }, delete_headers: ['Z'] },
    'transformResponseHeaders',
    { add: [{ name: 'X', value: 'y' }], remove: ['Z'] },
  ],
  ['transform', { template_data: { enable_session: true } }, 'transformRequestBody', { enableSession: true }],
  ['transform_response', { template_data: { template_source: 'e30=' } }, 'transformResponseBody', { body: 'e30=' }],
  ['method_transforms', { to_method: 'POST' }, 'transformRequestMethod', { toMethod: 'POST' }],
  [
    'circuit_breakers',
    { threshold_percent: 0.5, samples: 3, return_to_service_after: 9, disable_half_open_state: true },
    'circuitBreaker',
    { threshold: 0.5, sampleSize: 3, coolDownPeriod: 9, halfOpenStateEnabled: false },
  ],
  ['url_rewrites', { match_pattern: 'a', rewrite_to: 'b' }, 'urlRewrite', { pattern: 'a', rewriteTo: 'b' }],
  [
    'url_rewrites',
    {
      triggers: [
        {
          on: 'all',
          options: {
            header_matches: { 'X-A': { match_rx: 'a' } },
            query_val_matches: { q: { match_rx: 'b', reverse: true } },
            path_part_matches: { p: { match_rx: 'c' } },
            session_meta_matches: { m: { match_rx: 'd' } },
            payload_matches: { match_rx: 'e' },
          },
          rewrite_to: '/t',
        },
      ],
    },
    'urlRewrite',
    {
      triggers: [
        {
          condition: 'all',
          rules: [
            { in: 'header', name: 'X-A', pattern: 'a' },
            { in: 'query', name: 'q', pattern: 'b', negate: true },
            { in: 'path', name: 'p', pattern: 'c' },
            { in: 'sessionMetadata', name: 'm', pattern: 'd' },
            { in: 'requestBody', pattern: 'e' },
          ],
          rewriteTo: '/t',
        },
      ],
    },
  ],
  ['validate_request', { error_response_code: 418 }, 'validateRequest', { errorResponseCode: 418 }],
  [
    'mock_response',
    { code: 201, body: 'b', headers: { 'X-A': 'c' } },
    'mockResponse',
    { code: 201, body: 'b', headers: [{ name: 'X-A', value: 'c' }] },
  ],
  [
    'mock_response',
    { from_oas_examples: { enabled: true, code: 404, content_type: 'a/b', example_name: 'n' } },
    'mockResponse',
    { fromOASExamples: { enabled: true, code: 404, contentType: 'a/b', exampleName: 'n' } },
  ],
  [
    'advance_cache_config',
    { cache_key_regex: 'a', cache_response_codes: [200], timeout: 3 },
    'cache',
    { cacheByRegex: 'a', cacheResponseCodes: [200], timeout: 3 },
  ],
]

const MAIN = ['version_data', 'versions', 'Default']
const classicPath = (dotted: string) => (dotted.startsWith('Default.') ? [...MAIN, dotted.slice(8)] : pathOf(dotted))
const empty = () => classic({ version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } } })

describe('members with twins', () => {
  for (const [left, value, right, twin = value] of TWINS) {
    test(`${left} is ${right}`, () => {
      const definition = empty()
      putAt(definition, classicPath(left), value)
      const there = toOas(definition)
      assert.deepEqual(getAt(there.document, [EXTENSION, ...pathOf(right)]), twin)
      assert.equal(
        there.carried.some((pointer) => pointer.includes(left.split('.').at(-1)!)),
        false,
      )
      const document = oas({})
      putAt(document, [EXTENSION, ...pathOf(right)], twin)
      const back = toClassic(document)
      assert.deepEqual(getAt(back.definition, classicPath(left)), value)
      assert.deepEqual(back.carried, [])
    })
  }
})

describe('operations with twins', () => {
  for (const [list, entry, section, held] of OPERATIONS) {
    for (const enabled of [true, false]) {
      test(`${list} is ${section} (${Object.keys(held)}), ${enabled ? 'on' : 'off'}`, () => {
        const definition = empty()
        const listed = { path: '/a/{id}', method: 'GET', ...(enabled ? {} : { disabled: true }), ...entry }
        putAt(definition, [...MAIN, 'use_extended_paths'], true)
        putAt(definition, [...MAIN, 'extended_paths'], { [list]: [listed] })
        const { document } = toOas(definition)
        const id = String(getAt(document, ['paths', '/a/{id}', 'get', 'operationId']))
        const at = [EXTENSION, 'middleware', 'operations', id, section]
        assert.deepEqual(getAt(document, at), { enabled, ...held })
        assert.deepEqual(getAt(toClassic(document).definition, [...MAIN, 'extended_paths', list]), [listed])
      })
    }
  }
})

describe('methods with twins', () => {
  const config = {
    name: 's',
    disable_header: false,
    auth_header_name: 'X',
    use_param: true,
    param_name: 'p',
    use_cookie: true,
    cookie_name: 'c',
  }
  const held = {
    enabled: true,
    header: { enabled: true, name: 'X' },
    query: { enabled: true, name: 'p' },
    cookie: { enabled: true, name: 'c' },
  }
  const kinds: readonly [on: string, member: string, declared: JsonObject][] = [
    ['use_standard_auth', 'authToken', { type: 'apiKey', in: 'header', name: 'X' }],
    ['use_oauth2', 'oauth', { type: 'oauth2', flows: {} }],
    ['enable_jwt', 'jwt', { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }],
    ['use_basic_auth', 'basic', { type: 'http', scheme: 'basic' }],
  ]
  for (const [on, name, declared] of kinds) {
    test(`${on} is a scheme of type ${declared.type}`, () => {
      const { document } = toOas(classic({ [on]: true, auth_configs: { [name]: config } }))
      assert.deepEqual(getAt(document, ['components', 'securitySchemes', 's']), declared)
      assert.deepEqual(document.security, [{ s: [] }])
      assert.deepEqual(getAt(document, [EXTENSION, 'server', 'authentication', 'securitySchemes', 's']), held)
      const { definition } = toClassic(document)
      assert.equal(definition[on], true)
      assert.deepEqual(getAt(definition, ['auth_configs', name]), config)
    })
  }

  test('flows and settings of OAuth', () => {
    const meta = {
      allowed_access_types: ['authorization_code', 'client_credentials', 'password', '__implicit', 'refresh_token'],
      allowed_authorize_types: ['code'],
      auth_login_redirect: 'https://login/',
    }
    const notifications = { shared_secret: 's', oauth_on_keychange_url: 'https://hook/' }
    const { document, carried } = toOas(classic({ use_oauth2: true, oauth_meta: meta, notifications }))
    const flows = getAt(document, ['components', 'securitySchemes', 'oauth', 'flows']) as JsonObject
    assert.deepEqual(Object.keys(flows), ['authorizationCode', 'clientCredentials', 'password', 'implicit'])
    assert.deepEqual(flows.authorizationCode, {
      authorizationUrl: '/oauth/authorize',
      tokenUrl: '/oauth/token',
      scopes: {},
    })
    assert.deepEqual(getAt(document, [EXTENSION, 'server', 'authentication', 'securitySchemes', 'oauth']), {
      enabled: true,
      header: { enabled: true },
      allowedAuthorizeTypes: ['code'],
      refreshToken: true,
      authLoginRedirect: 'https://login/',
      notifications: { sharedSecret: 's', onKeyChangeUrl: 'https://hook/' },
    })
    assert.deepEqual(carried, [])
    assert.deepEqual(toClassic(document).definition.oauth_meta, meta)
  })

  test('a flow that the classic form takes away goes from the document', () => {
    const { definition } = toClassic(
      oas({
        document: {
          components: {
            securitySchemes: { oa: { type: 'oauth2', flows: { password: { tokenUrl: '/own', scopes: { a: 'b' } } } } },
          },
        },
        server: { authentication: { enabled: true, securitySchemes: { oa: { enabled: true } } } },
      }),
    )
    assert.deepEqual(getAt(definition, ['oauth_meta', 'allowed_access_types']), ['password'])
    putAt(definition, ['oauth_meta', 'allowed_access_types'], ['client_credentials'])
    const flows = getAt(toOas(definition).document, ['components', 'securitySchemes', 'oa', 'flows'])
    assert.deepEqual(flows, { clientCredentials: { tokenUrl: '/oauth/token', scopes: { a: 'b' } } })
  })
})
