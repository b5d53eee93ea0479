import type { Scheme } from '../../authentication/scheme.ts'
import { SCHEMES } from '../../authentication/schemes.ts'
import type { MemberTexts } from './member-texts.ts'

const NOT_SERVED = 'Refused where it is asked for.'
const GLOBAL = 'middleware.global'
const OPERATION = 'middleware.operations.*'
const TOOL = 'middleware.mcpTools.*'

/** Descriptions of `middleware`. */
const OAS_MIDDLEWARE_TEXTS: MemberTexts = {
  [GLOBAL]: 'For all requests of the API.',
  [`${GLOBAL}.cors`]:
    'CORS: the gateway answers preflight requests of browsers, and removes the CORS headers of the upstream.',
  [`${GLOBAL}.cors.allowedOrigins`]:
    'Origins: `https://app.example.com`, or `https://*.example.com` for subdomains. Empty or `*`: any, without credentials.',
  [`${GLOBAL}.cors.allowedMethods`]: 'Methods. `*`: those that the preflight asks for.',
  [`${GLOBAL}.cors.allowedHeaders`]: 'Request headers. `*`: those that the preflight asks for.',
  [`${GLOBAL}.cors.exposedHeaders`]: 'Response headers that scripts can read.',
  [`${GLOBAL}.cors.allowCredentials`]: 'true: cookies and credentials are allowed. Needs origins by name.',
  [`${GLOBAL}.cors.maxAge`]: 'Seconds for which browsers keep the answer to a preflight. 0: not sent.',
  [`${GLOBAL}.cors.optionsPassthrough`]: 'true: the upstream answers preflights of allowed origins.',
  [`${GLOBAL}.cors.debug`]: 'Without effect. Accepted from definitions of the incumbent.',
  [`${GLOBAL}.cache`]: 'Response cache (RFC 9111).',
  [`${GLOBAL}.cache.timeout`]: 'Seconds for which answers are stored. 0: only for operations with a time of their own.',
  [`${GLOBAL}.cache.cacheAllSafeRequests`]:
    'true: answers to GET and HEAD are stored on all paths. Else only those of operations with `cache`.',
  [`${GLOBAL}.cache.cacheResponseCodes`]: 'Statuses that are stored. Empty: those that RFC 9110 lets caches store.',
  [`${GLOBAL}.cache.cacheByHeaders`]: 'Request headers that separate answers, besides those in `Vary`.',
  [`${GLOBAL}.cache.enableUpstreamCacheControl`]:
    'true: the upstream alone decides how long, by its headers (`Cache-Control`, `Expires`).',
  [`${GLOBAL}.cache.controlTTLHeaderName`]:
    'Response header of the upstream with the lifetime in seconds. It overrides `Cache-Control`.',
  [`${GLOBAL}.cache.shareBetweenKeys`]: 'true: callers with different keys get the same stored answers.',
  [`${GLOBAL}.cache.storeSetCookie`]: 'true: answers that set cookies are stored, with the cookies.',
  [`${GLOBAL}.cache.staleWhileRevalidate`]:
    'Seconds for which an expired answer is sent while a new one is fetched (RFC 5861).',
  [`${GLOBAL}.cache.staleIfError`]: 'Seconds for which an expired answer is sent while the upstream fails (RFC 5861).',
  [`${GLOBAL}.compression`]: 'Compression of answers.',
  [`${GLOBAL}.compression.encodings`]: 'Encodings in order of preference: `zstd`, `br`, `gzip`.',
  [`${GLOBAL}.compression.minimumBytes`]: 'Answers with fewer bytes are sent as they are.',
  '.transformRequestHeaders': 'Adds and removes headers of the request.',
  '.transformResponseHeaders': 'Adds and removes headers of the response.',
  '.add':
    'Headers that are set. Values can have variables: `$svc_meta.NAME`, and with `contextVariables` `$svc_context.NAME`.',
  '.add[].name': 'Name of the header.',
  '.add[].value': 'Value of the header.',
  '.remove': 'Names of headers that are removed.',
  [`${GLOBAL}.trafficLogs`]: 'Analytics: counts the requests of the API.',
  [`${GLOBAL}.trafficLogs.tagHeaders`]: 'Request headers whose values become tags in analytics.',
  [`${GLOBAL}.trafficLogs.customRetentionPeriod`]: `Retention of this API alone. ${NOT_SERVED} Use \`analytics.retention_days\`.`,
  [`${GLOBAL}.contextVariables`]:
    'Values of the request (`$svc_context.NAME`) in header edits, URL rewrites and templates.',
  '.requestSizeLimit': 'Largest body of a request (413).',
  '.requestSizeLimit.value': 'Bytes. 0: no limit of its own.',
  [`${GLOBAL}.ignoreCase`]: 'Rules of operations ignore the letter case of paths.',
  [`${GLOBAL}.skipRateLimit`]: 'true: rate limits of keys and policies do not apply to this API.',
  [`${GLOBAL}.skipQuota`]: 'true: quotas of keys and policies do not apply to this API.',
  [`${GLOBAL}.onStoreFailure`]:
    'While the store of the counters cannot be reached: `refuse` (503, default), or `allow` at the rate of before.',
  [`${GLOBAL}.skipQuotaReset`]: 'true: saving a key does not restart its quota.',
  [`${GLOBAL}.pluginConfig`]: 'Settings of the plugins of the API.',
  [`${GLOBAL}.pluginConfig.driver`]: 'Language of the plugins: `typescript`.',
  [`${GLOBAL}.pluginConfig.data`]: 'Configuration that plugins can read.',
  [`${GLOBAL}.pluginConfig.data.value`]: 'Free members.',
  [`${GLOBAL}.prePlugins`]: 'Plugins that run before authentication.',
  [`${GLOBAL}.postAuthenticationPlugins`]: 'Plugins that run after authentication.',
  [`${GLOBAL}.postPlugins`]: 'Plugins that run before the request goes to the upstream.',
  [`${GLOBAL}.responsePlugins`]: 'Plugins that run on the response.',
  '.functionName': 'Name of the exported function.',
  '.path': 'Path of the module, below `gateway.modules.path`.',
  '.requireSession': 'Without effect. Accepted from definitions of the incumbent.',
  '.rawBodyOnly': 'Without effect. Accepted from definitions of the incumbent.',
  '.bodyLimitBytes': 'Largest body that the plugin gets, in bytes.',
  'middleware.operations': 'For single operations, by `operationId`.',
  [`${OPERATION}.allow`]: 'Allow list: with one, only operations with `allow` can be called (403).',
  [`${OPERATION}.block`]: 'Block list: the operation cannot be called (403).',
  [`${OPERATION}.ignoreAuthentication`]: 'The operation asks for no credential.',
  '.ignoreCase': 'true: the letter case of the path does not count.',
  [`${OPERATION}.internal`]: 'Only other APIs (`svc://`) reach the operation.',
  [`${OPERATION}.rateLimit`]: 'Rate limit of the operation, for all callers together (429).',
  [`${OPERATION}.enforceTimeout`]: 'Longest wait for the first byte of an answer (504).',
  [`${OPERATION}.enforceTimeout.value`]: 'The time in seconds. `duration` overrides it.',
  [`${OPERATION}.circuitBreaker`]: 'Circuit breaker: answers 503 for a time when the upstream fails.',
  [`${OPERATION}.circuitBreaker.threshold`]: 'Share of failed requests at which it opens: above 0, at most 1.',
  [`${OPERATION}.circuitBreaker.sampleSize`]: 'Number of recent requests of which the share is taken.',
  [`${OPERATION}.circuitBreaker.coolDownPeriod`]: 'Seconds for which it stays open.',
  [`${OPERATION}.circuitBreaker.halfOpenStateEnabled`]:
    'true: then one request is let through, and others get 503 until it has ended well. Else all pass at once.',
  [`${OPERATION}.urlRewrite`]: 'URL rewrite: sends the request to another path of the upstream, or to another API.',
  [`${OPERATION}.urlRewrite.pattern`]:
    'Regular expression (RE2) for path and query. A request that does not match is not rewritten.',
  '.rewriteTo': 'Path, URL or `svc://API_ID/path` to ask for. `$1` to `$99` are groups of the pattern.',
  [`${OPERATION}.urlRewrite.triggers`]: 'Other targets under conditions. The first trigger whose rules hold decides.',
  [`${OPERATION}.urlRewrite.triggers[].condition`]: '`any` or `all` of the rules must hold.',
  [`${OPERATION}.urlRewrite.triggers[].rules`]: 'The rules.',
  [`${OPERATION}.urlRewrite.triggers[].rules[].in`]: 'Where the rule looks.',
  [`${OPERATION}.urlRewrite.triggers[].rules[].name`]: 'Name of the header, parameter or member.',
  [`${OPERATION}.urlRewrite.triggers[].rules[].pattern`]: 'Regular expression (RE2) for the value.',
  [`${OPERATION}.urlRewrite.triggers[].rules[].negate`]: 'true: the rule holds where the value does not match.',
  [`${OPERATION}.validateRequest`]: 'Validates parameters and body against the OpenAPI document.',
  [`${OPERATION}.validateRequest.errorResponseCode`]: 'Status of the refusal. Absent: 422.',
  [`${OPERATION}.validateRequest.fillDefaults`]:
    'true: parameters and members that the request leaves out are sent to the upstream with their `default`.',
  [`${OPERATION}.mockResponse`]: 'Mock response: the gateway answers without the upstream.',
  [`${OPERATION}.mockResponse.code`]: 'Status of the answer.',
  [`${OPERATION}.mockResponse.body`]: 'Body of the answer.',
  [`${OPERATION}.mockResponse.headers`]: 'Headers of the answer.',
  [`${OPERATION}.mockResponse.fromOASExamples`]: 'Takes the answer from the examples of the OpenAPI document.',
  [`${OPERATION}.mockResponse.fromOASExamples.code`]: 'Status whose example is taken.',
  [`${OPERATION}.mockResponse.fromOASExamples.contentType`]: 'Media type of the example.',
  [`${OPERATION}.mockResponse.fromOASExamples.exampleName`]: 'Name of the example.',
  [`${OPERATION}.cache`]: 'Stores answers of the operation. Needs the cache of the API to be on.',
  [`${OPERATION}.cache.timeout`]: 'Seconds. 0: those of the API.',
  [`${OPERATION}.cache.cacheByRegex`]: `Key from the body. ${NOT_SERVED}`,
  [`${OPERATION}.cache.cacheResponseCodes`]: 'Statuses that are stored. Empty: those of the API.',
  [`${OPERATION}.trackEndpoint`]: 'Analytics count the operation by itself.',
  [`${OPERATION}.doNotTrackEndpoint`]: 'Analytics do not count the operation.',
  [`${OPERATION}.transformRequestMethod`]: 'Changes the HTTP method for the upstream.',
  [`${OPERATION}.transformRequestMethod.toMethod`]: 'The method that the upstream gets.',
  '.transformRequestBody': 'Rewrites the body of the request with a template.',
  '.transformResponseBody': 'Rewrites the body of the response with a template.',
  '.format': '`json` or `xml`: how the body is read.',
  '.transformRequestBody.path': `File of the template. ${NOT_SERVED}`,
  '.transformResponseBody.path': `File of the template. ${NOT_SERVED}`,
  '.transformRequestBody.body': 'Template in base64 (Go text/template).',
  '.transformResponseBody.body': 'Template in base64 (Go text/template).',
  '.enableSession': 'true: the template sees the metadata of the session (`._svc_meta`).',
  [`${OPERATION}.virtualEndpoint`]: `JavaScript in place of the upstream. ${NOT_SERVED}`,
  [`${OPERATION}.postPlugins`]: `Plugins of one operation. ${NOT_SERVED}`,
  'middleware.mcpTools': 'Rules for tools of an MCP server behind the API, by the exact name of the tool.',
  [`${TOOL}.allow`]: 'Allow list: with one, all other tools are blocked.',
  [`${TOOL}.block`]: 'The tool cannot be called.',
  [`${TOOL}.rateLimit`]: 'Rate limit of the tool, for all callers together.',
  [`${TOOL}.trackEndpoint`]: 'Analytics count the tool by itself.',
}

const AUTHENTICATION = 'server.authentication'
const SCHEME = `${AUTHENTICATION}.securitySchemes.*`

/** The path of a member of a scheme in the extension: '' = of the scheme itself. A path that begins with a dot is the end of several. */
export function schemePath({ declaration, config }: Scheme, path: string): string {
  if (path.startsWith('.')) return path
  const scheme = declaration === undefined ? `${AUTHENTICATION}.${config}` : SCHEME
  return path === '' ? scheme : `${scheme}.${path}`
}

/** Descriptions of `server.authentication`; those of members of one scheme are in its descriptor. */
const OAS_SCHEME_TEXTS: MemberTexts = {
  'server.authentication': 'How callers prove who they are.',
  'server.authentication.enabled': 'false or absent: the API asks for no credential.',
  'server.authentication.stripAuthorizationData':
    'true: the credential is removed before the request goes to the upstream.',
  'server.authentication.baseIdentityProvider':
    'With several methods that must all be met: the one whose session applies.',
  'server.authentication.securitySchemes':
    'Settings of the security schemes of the document, by their names in `components.securitySchemes`.',
  [`${SCHEME}.enabled`]: 'true: the API accepts this scheme.',
  '.header': 'Header with the credential. Absent: `Authorization`.',
  '.query': 'Query parameter with the credential.',
  '.cookie': 'Cookie with the credential.',
  '.header.name': 'Name of the header.',
  '.query.name': 'Name of the query parameter.',
  '.cookie.name': 'Name of the cookie.',
  [`${SCHEME}.enableClientCertificate`]:
    'Scheme `apiKey`. true: a client certificate is accepted in place of the key, if a key has it as its `certificate`.',
  [`${SCHEME}.signatureValidation`]: `Signature besides the key. ${NOT_SERVED}`,
  [`${SCHEME}.signature`]: `Signature besides the key. ${NOT_SERVED}`,
  'server.authentication.securityProcessingMode':
    '`compliant`: a request must meet one of the combinations of `security`. `legacy`: it must meet every scheme that is on.',
  'server.authentication.security':
    'Combinations of schemes by their names. A request must meet all schemes of one list.',
  'server.authentication.customKeyLifetime': 'Time after which the store deletes keys of this API.',
  'server.authentication.customKeyLifetime.value': 'The time: a duration, or seconds.',
  'server.authentication.customKeyLifetime.respectValidity': 'true: a key is not deleted before it expires.',
  ...Object.fromEntries(
    SCHEMES.flatMap((scheme) =>
      Object.entries(scheme.oasTexts).map(([path, text]) => [schemePath(scheme, path), text]),
    ),
  ),
}

const RETIRED = 'Refused where it is asked for'

/** Descriptions of the members of `x-svc-api-gateway`. */
export const OAS_TEXTS: MemberTexts = {
  info: 'Identity and state of the API.',
  'info.id': 'Id of the API: names it in access rights, calls and analytics. Absent in a new API: one is made.',
  'info.dbId': 'Storage id. The product fills it in.',
  'info.orgId': 'Id of the organisation that the API belongs to. Absent: that of the caller, or of the installation.',
  'info.name': 'Name for people.',
  'info.expiration':
    'Time after which requests are refused (403): `2027-12-31 23:59` (UTC), or RFC 3339. Empty: never.',
  'info.state': 'Whether the API is served.',
  'info.state.active': 'false: the API is stored, and requests find no API (404).',
  'info.state.internal': 'true: only other APIs reach it, as a version or by `svc://`.',
  'info.versioning': 'Versions of the API, each an API of its own. Set at the base API.',
  'info.versioning.name': 'Name of the version that the base API itself is.',
  'info.versioning.default':
    'Version of requests that name none: its name, or `self` for the base API. Empty: such requests are refused (403). With `location: url` only a request to the bare listen path names none; `fallbackToDefault` covers other paths.',
  'info.versioning.location':
    'Place of the version in a request: `header`, `url-param` (query parameter) or `url` (first segment below the listen path).',
  'info.versioning.key': 'Name of the header or query parameter.',
  'info.versioning.versions': 'The other versions.',
  'info.versioning.versions[].name': 'Name of the version, as requests name it.',
  'info.versioning.versions[].id': 'Id of the API that serves it.',
  'info.versioning.stripVersioningData':
    'true: the upstream does not get the version: the header, the query parameter, or the first segment below the listen path. With `location: url` and `fallbackToDefault` it does not get the first of several segments that names no version either; `urlVersioningPattern` limits that.',
  'info.versioning.urlVersioningPattern':
    'With `location: url` and `stripVersioningData`, a regular expression: only a first segment that matches it is removed from the path. Empty: any. Which version serves the request does not depend on it.',
  'info.versioning.fallbackToDefault':
    'true: `default` serves requests that name an unknown version, and with `location: url` paths that begin with no version. Else they are refused (404).',
  upstream: 'The service behind the API.',
  'upstream.url':
    'Base URL of the upstream, `http://` or `https://`; `svc://API_ID/` leads to another API of the organisation.',
  'upstream.loadBalancing': 'Several targets, which requests take in turn by weight. Replaces `upstream.url`.',
  'upstream.loadBalancing.skipUnavailableHosts': 'true: targets that are down by `uptimeTests` get no requests.',
  'upstream.loadBalancing.targets': 'The targets.',
  'upstream.loadBalancing.targets[].url': 'Base URL of the target.',
  'upstream.loadBalancing.targets[].weight':
    'Share of the requests, relative to the weights of the other targets. 0: none.',
  'upstream.rateLimit': 'Rate limit of the API, for all callers together (429).',
  '.rateLimit.rate': 'Requests in each `per`. 0: no limit.',
  '.rateLimit.per': 'Period of the rate limit, a duration: `1s`, `60s`, `1m`.',
  'upstream.preserveHostHeader': 'Sends the `Host` of the request to the upstream, instead of the host of its URL.',
  'upstream.preserveTrailingSlash':
    'Keeps the last slash of the URL of the upstream for requests that have no path of their own.',
  'upstream.enforceTimeout': 'Longest wait for the first byte of an answer (504), where no operation has its own.',
  '.enforceTimeout.duration':
    'The time, a duration: `500ms`, `5s`. Empty or `0s`: the setting `gateway.proxy_default_timeout_ms`.',
  'upstream.tlsTransport': 'TLS to the upstream.',
  'upstream.tlsTransport.insecureSkipVerify': 'true: certificates of the upstream are not verified. For testing only.',
  'upstream.tlsTransport.ciphers': `Cipher suites. ${RETIRED}.`,
  'upstream.tlsTransport.minVersion': 'Oldest version of TLS: `1.2`, as without it. Others are refused.',
  'upstream.tlsTransport.maxVersion': 'Newest version of TLS: `1.3`, as without it. Others are refused.',
  'upstream.tlsTransport.forceCommonNameCheck': `Check of the common name. ${RETIRED}: names are verified as RFC 9525 says.`,
  'upstream.proxy': `HTTP proxy on the way to the upstream. ${RETIRED}.`,
  'upstream.proxy.url': 'URL of the proxy.',
  'upstream.authentication': `Credentials of the gateway for the upstream. ${RETIRED}: use \`mutualTLS\` or a header edit.`,
  'upstream.mutualTLS': 'Client certificates that the gateway shows to upstreams (mTLS).',
  'upstream.mutualTLS.domainToCertificates': 'Certificates by host of the upstream.',
  'upstream.mutualTLS.domainToCertificateMapping': 'Other name of `domainToCertificates`.',
  '.domain': 'Host of the upstream: `host:port`, `host`, `*.domain` or `*`. The nearest decides.',
  '.certificate': 'Id of a stored certificate with its private key.',
  'upstream.certificatePinning': 'Public keys that an upstream must have, besides a trusted certificate (else 502).',
  'upstream.certificatePinning.domainToPublicKeysMapping': 'Public keys by host of the upstream.',
  'upstream.certificatePinning.domainToPublicKeysMapping[].publicKeys':
    'SHA-256 hashes of public keys or certificates, in hexadecimal or as `sha256/` and base64. One must match.',
  'upstream.serviceDiscovery':
    'Targets from SRV records of DNS (RFC 2782). Scheme and path are those of `upstream.url`.',
  'upstream.serviceDiscovery.srvName': 'Name of the SRV records: `_http._tcp.orders.internal`.',
  'upstream.serviceDiscovery.refreshInterval': 'Longest time between two lookups, a duration. Absent: 5 minutes.',
  'upstream.uptimeTests': 'Active health checks of the targets.',
  'upstream.uptimeTests.tests': 'The checks. A target is up when it passes all of them.',
  'upstream.uptimeTests.tests[].url': 'Path that every target is asked for, or the URL of one target.',
  'upstream.uptimeTests.tests[].method': 'HTTP method. Absent: GET.',
  'upstream.uptimeTests.tests[].headers': 'Headers of the check, by name.',
  'upstream.uptimeTests.tests[].body': 'Body of the check.',
  'upstream.uptimeTests.tests[].timeout': 'Longest wait for the answer, a duration. Absent: 5 s.',
  'upstream.uptimeTests.tests[].expectedStatuses': 'Statuses of a passed check. Absent: 200 to 299.',
  'upstream.uptimeTests.interval': 'Time between two checks of a target, a duration of at least 100 ms. Absent: 10 s.',
  'upstream.uptimeTests.hostDownRetestPeriod': 'The same for a target that is down. Absent: as `interval`.',
  'upstream.uptimeTests.unhealthyThreshold': 'Failed checks in a row after which a target is down. Absent: 3.',
  'upstream.uptimeTests.healthyThreshold': 'Passed checks in a row after which a target is up. Absent: 2.',
  'upstream.uptimeTests.logRetentionPeriod': 'Without effect: no history of health checks is stored.',
  'upstream.outlierEjection': 'Passive health checks: leaves out targets that fail requests.',
  'upstream.outlierEjection.consecutiveFailures':
    'Failed requests in a row after which a target is left out: no answer, a late one, or a status of 500 and above. Absent: 5.',
  'upstream.outlierEjection.baseTime':
    'Time for which a target is left out; the second time twice as long, and so on. A duration. Absent: 30 s.',
  'upstream.outlierEjection.maxTime': 'Longest such time, a duration. Absent: 5 minutes.',
  'upstream.outlierEjection.maxPercent': 'Share of the targets that can be left out at once, in percent. Absent: 50.',
  'upstream.retries': 'Sends failed requests again, to another target where there is one.',
  'upstream.retries.attempts': 'Further attempts. Absent: 2.',
  'upstream.retries.statuses': 'Statuses of the upstream that are retried. Absent: 502, 503, 504.',
  'upstream.retries.budgetPercent': 'Most retries, in percent of the requests of the API. Absent: 20.',
  'upstream.retries.minPerSecond': 'Retries per second that are allowed in addition to the budget. Absent: 10.',
  server: 'The side of the clients: path, host, authentication.',
  'server.listenPath': 'Path of the API on the gateway.',
  'server.listenPath.value': 'The path: `/orders/`. `{name}` matches one segment.',
  'server.listenPath.strip': 'true: the listen path is removed before the request goes to the upstream.',
  'server.gatewayTags': 'Segments: nodes with `node_is_segmented` load the API only if they have one of the tags.',
  'server.gatewayTags.tags': 'The tags.',
  'server.customDomain': 'Host name of the API. Requests for other hosts do not find it.',
  'server.customDomain.name': 'The host name: `api.example.com`. No wildcards.',
  'server.customDomain.certificates': 'Ids of stored certificates for TLS at this name.',
  'server.clientCertificates': 'Client certificates (mTLS): requests without one of these are refused.',
  'server.clientCertificates.allowlist': 'Ids or SHA-256 fingerprints of client certificates or of their CAs.',
  'server.ipAccessControl': 'IP allow list and block list (403).',
  'server.ipAccessControl.allow': 'Addresses and networks (CIDR) that may call. Empty: all.',
  'server.ipAccessControl.block': 'Addresses and networks (CIDR) that may not call.',
  'server.detailedActivityLogs': 'Records whole requests and responses. They may hold personal data.',
  'server.detailedTracing': 'A span for each step in traces (OpenTelemetry).',
  'server.eventHandlers': 'Webhooks and log lines for events of the API.',
  'server.eventHandlers[].trigger': 'Name of the event, such as `AuthFailure`, `QuotaExceeded`, `BreakerTripped`.',
  'server.eventHandlers[].type': '`webhook`, or `log` for a line in the log.',
  'server.eventHandlers[].url': 'URL of the webhook.',
  'server.eventHandlers[].method': 'HTTP method of the webhook.',
  'server.eventHandlers[].headers': 'Headers of the webhook.',
  '.headers[].name': 'Name of the header.',
  '.headers[].value': 'Value of the header.',
  'server.eventHandlers[].bodyTemplate': 'Without effect: webhooks send the event as JSON.',
  'server.eventHandlers[].cooldownPeriod': 'Time after an event in which equal ones are not sent, a duration.',
  'server.eventHandlers[].logPrefix': 'Beginning of the log line.',
  'server.batchProcessing': 'Batches: several requests in one, at `{listen path}/svc/batch/`.',
  'server.allowEncodedSlashes': 'true: paths with `%2F` or `%5C` are accepted. Else 400.',
  'server.allowTrace': 'true: the method TRACE is passed on. Else 405.',
  'server.grpcWeb': 'true: gRPC-Web calls of browsers become gRPC calls.',
  'server.pathMatching':
    'How rules of operations find requests: `openapi` (the operation whose path fits best), `exact`, `prefix`, or as the incumbent does: `contains`, `begins`, `ends`, `whole`.',
  'server.protocol': `Protocol of the port. ${RETIRED}, other than HTTP.`,
  'server.port': `A port of its own. ${RETIRED}.`,
  middleware: 'Processing of requests and responses.',
  errorOverrides: 'Replaces error answers of the gateway and of the upstream.',
  'errorOverrides.value':
    'Rules by status (`429`) or class (`5xx`). The first rule that matches decides; rules of the status are tried before those of its class.',
  '.match': 'Condition of the rule. Absent: every error of the status.',
  '.match.flag':
    'Kind of error: `RLT` rate limit, `QEX` quota, `AMF` no credential, `AKI` unknown key, `UCF` upstream unreachable, `URT` upstream timeout, and others.',
  '.response': 'The answer that is sent. Absent members stay as they were.',
  '.response.body': 'Body. `{{.StatusCode}}` and `{{.Message}}` are replaced.',
  '.response.message': 'Text of the error: gives the body `{"error": message}`.',
  '.response.template': `Name of a template file. ${RETIRED}.`,
  '.response.headers': 'Headers, by name.',
  '.match.messagePattern':
    'Regular expression for the text of the error, or for the first 4 kB of the body of the upstream.',
  '.match.bodyField': 'Member of the JSON body of the upstream: `error.0.code`.',
  '.match.bodyValue': 'Text that this member must have.',
  '.response.statusCode': 'Status of the answer.',
  classic: 'Members of a classic definition that have no counterpart here. Written by conversions; leave it as it is.',
  'classic.version': 'Name of the version that was converted.',
  'classic.kept': 'The members, by their place.',
  '.put': 'Members at this place.',
  '.is': 'Value after the conversion.',
  '.was': 'Value before the conversion.',
  ...OAS_SCHEME_TEXTS,
  ...OAS_MIDDLEWARE_TEXTS,
}
