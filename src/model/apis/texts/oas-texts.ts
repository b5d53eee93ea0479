import type { Scheme } from '../../authentication/scheme.ts'
import { SCHEMES } from '../../authentication/schemes.ts'
import type { MemberTexts } from './member-texts.ts'
import { OAS_MIDDLEWARE_TEXTS } from './oas-middleware-texts.ts'

const AUTHENTICATION = 'server.authentication'
const SCHEME = `${AUTHENTICATION}.securitySchemes.*`
const NOT_SERVED = 'Refused where it is asked for.'

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
  'server.authentication.customKeyLifetime.respectValidity': 'true: never before the key expires.',
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
    'Version of requests that name none: a name, or `self` for the base API. Empty: such requests are refused.',
  'info.versioning.location':
    'Place of the version in a request: `header`, `url-param` (query parameter) or `url` (first segment below the listen path).',
  'info.versioning.key': 'Name of the header or query parameter.',
  'info.versioning.versions': 'The other versions.',
  'info.versioning.versions[].name': 'Name of the version, as requests name it.',
  'info.versioning.versions[].id': 'Id of the API that serves it.',
  'info.versioning.stripVersioningData': 'true: the version is removed before the request goes to the upstream.',
  'info.versioning.urlVersioningPattern':
    'With `location: url`, a regular expression: only a segment that matches it counts as a version. Empty: any.',
  'info.versioning.fallbackToDefault': 'true: a request for an unknown version gets the default version.',
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
  'upstream.tlsTransport.minVersion': `Oldest version of TLS. ${RETIRED}.`,
  'upstream.tlsTransport.maxVersion': `Newest version of TLS. ${RETIRED}.`,
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
  'upstream.retries.budgetPercent': 'Retries for each hundred requests of the API. Absent: 20.',
  'upstream.retries.minPerSecond': 'Retries in each second that the budget allows besides. Absent: 10.',
  server: 'What clients meet: path, host, authentication.',
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
  middleware: 'What happens to requests and responses on the way.',
  errorOverrides: 'Replaces error answers of the gateway and of the upstream.',
  'errorOverrides.value':
    'Rules by status (`429`) or class (`5xx`). The first rule that matches counts; those of the status go before those of its class.',
  '.match': 'Condition of the rule. Absent: every error of the status.',
  '.match.flag':
    'Kind of error: `RLT` rate limit, `QEX` quota, `AMF` no credential, `AKI` unknown key, `UCF` upstream away, `URT` upstream timeout, and others.',
  '.response': 'The answer. What is absent stays as it was.',
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
