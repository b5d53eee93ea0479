import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { copyTree, getAt, member, pathOf, putAt, setMember, type TreePath } from '../definition/tree.ts'
import { durationText } from '../definition/values.ts'
import { mainVersion } from '../read/read-classic.ts'
import { type Codec, copyPairs, DURATION, type Pair, pair } from './convert-pairs.ts'

const NAMES = [
  ['name', 'functionName'],
  ['path', 'path'],
  ['require_session', 'requireSession'],
  ['raw_body_only', 'rawBodyOnly'],
  ['body_limit_bytes', 'bodyLimitBytes'],
] as const

/** Entries of `custom_middleware` and of lists such as `prePlugins`. */
const MODULES = {
  toOas: (value: Json) =>
    eachEntry(value, (entry) => ({ enabled: entry.disabled !== true, ...renamed(entry, ([from, to]) => [from, to]) })),
  toClassic: (value: Json) =>
    eachEntry(value, (entry) => ({
      ...(entry.enabled === true ? {} : { disabled: true }),
      ...renamed(entry, ([to, from]) => [from, to]),
    })),
}

/** `{name: value}` and `[{name, value}]`. */
export const HEADERS: Codec = pairs('value')

const VERSIONS: Codec = pairs('id')

function pairs(valueName: string): Codec {
  return {
    toOas: (value) => {
      if (!isObject(value)) return undefined
      return Object.keys(value).map((name) => ({ name, [valueName]: value[name] ?? '' }))
    },
    toClassic: (value) => {
      if (!Array.isArray(value)) return undefined
      const map: JsonObject = {}
      for (const item of value) setMember(map, String(member(item, 'name') ?? ''), member(item, valueName) ?? '')
      return map
    },
  }
}

/** A list that repeats a target by its weight, and a list of targets with weights. */
const TARGETS: Codec = {
  toOas: (value) => {
    if (!Array.isArray(value)) return undefined
    const weights = new Map<string, number>()
    for (const url of value) weights.set(String(url), (weights.get(String(url)) ?? 0) + 1)
    return [...weights].map(([url, weight]) => ({ url, weight }))
  },
  toClassic: (value) => {
    if (!Array.isArray(value)) return undefined
    return value.flatMap((item) => {
      const weight = member(item, 'weight')
      return Array<string>(typeof weight === 'number' ? weight : 1).fill(String(member(item, 'url')))
    })
  },
}

/** Classic has only the seconds, 0 for "never"; the other form has a switch too. */
const LIFETIME: Codec = {
  toOas: (value) => (typeof value === 'number' ? { enabled: value > 0, value: durationText(value) } : undefined),
  toClassic: (section) => {
    if (member(section, 'enabled') !== true) return 0
    const value = member(section, 'value') ?? null
    const seconds = typeof value === 'number' ? value : DURATION.toClassic(value)
    return typeof seconds === 'number' && Number.isSafeInteger(seconds) && seconds >= 0 ? seconds : undefined
  },
}

/** Classic has only the address. */
const PROXY: Codec = {
  toOas: (value) => (typeof value === 'string' ? { enabled: value !== '', url: value } : undefined),
  toClassic: (section) => (member(section, 'enabled') === true ? member(section, 'url') : undefined),
}

/** Versions of TLS by their numbers on the wire. */
const TLS_VERSIONS: Readonly<Record<string, number>> = { '1.0': 769, '1.1': 770, '1.2': 771, '1.3': 772 }
const TLS_VERSION: Codec = {
  toOas: (value) => Object.keys(TLS_VERSIONS).find((version) => TLS_VERSIONS[version] === value),
  toClassic: (version) => (typeof version === 'string' ? TLS_VERSIONS[version] : undefined),
}

/**
 * A pair of opposite sense: classic says "disabled", the extension says "enabled". Absent means on in classic, off in the extension.
 * `within`: the classic form speaks only of what is there, so the switch is written only where the extension has that section.
 */
export interface Switch {
  readonly classic: TreePath
  readonly oas: TreePath
  readonly within?: TreePath
}

/** One pair for each member of a section, named `classic=oas`. */
export function section(classic: string, oas: string, members: string): Pair[] {
  return members
    .trim()
    .split(/\s+/)
    .map((names) => {
      const [left, right] = names.split('=') as [string, string?]
      return pair(`${classic}.${left}`, `${oas}.${right ?? left}`)
    })
}

const PAIRS: readonly Pair[] = [
  pair('api_id', 'info.id'),
  pair('id', 'info.dbId'),
  pair('org_id', 'info.orgId'),
  pair('name', 'info.name'),
  pair('active', 'info.state.active'),
  pair('internal', 'info.state.internal'),
  pair('expiration', 'info.expiration'),
  ...section(
    'definition',
    'info.versioning',
    `enabled name default location key strip_versioning_data=stripVersioningData
     url_versioning_pattern=urlVersioningPattern fallback_to_default=fallbackToDefault`,
  ),
  pair('definition.versions', 'info.versioning.versions', VERSIONS),
  pair('proxy.target_url', 'upstream.url'),
  pair('proxy.enable_load_balancing', 'upstream.loadBalancing.enabled'),
  pair('proxy.check_host_against_uptime_tests', 'upstream.loadBalancing.skipUnavailableHosts'),
  pair('proxy.target_list', 'upstream.loadBalancing.targets', TARGETS),
  pair('proxy.service_discovery.use_discovery_service', 'upstream.serviceDiscovery.enabled'),
  pair('global_rate_limit.rate', 'upstream.rateLimit.rate'),
  pair('global_rate_limit.per', 'upstream.rateLimit.per', DURATION),
  pair('proxy.preserve_host_header', 'upstream.preserveHostHeader.enabled'),
  pair('proxy.disable_strip_slash', 'upstream.preserveTrailingSlash.enabled'),
  pair('proxy.transport.ssl_insecure_skip_verify', 'upstream.tlsTransport.insecureSkipVerify'),
  pair('proxy.transport.ssl_ciphers', 'upstream.tlsTransport.ciphers'),
  pair('proxy.transport.ssl_min_version', 'upstream.tlsTransport.minVersion', TLS_VERSION),
  pair('proxy.transport.ssl_max_version', 'upstream.tlsTransport.maxVersion', TLS_VERSION),
  pair('proxy.transport.ssl_force_common_name_check', 'upstream.tlsTransport.forceCommonNameCheck'),
  pair('proxy.transport.proxy_url', 'upstream.proxy', PROXY),
  pair('proxy.listen_path', 'server.listenPath.value'),
  pair('proxy.strip_listen_path', 'server.listenPath.strip'),
  pair('strip_auth_data', 'server.authentication.stripAuthorizationData'),
  pair('base_identity_provided_by', 'server.authentication.baseIdentityProvider'),
  pair('security_processing_mode', 'server.authentication.securityProcessingMode'),
  pair('session_lifetime', 'server.authentication.customKeyLifetime', LIFETIME),
  pair('session_lifetime_respects_key_expiration', 'server.authentication.customKeyLifetime.respectValidity'),
  pair('tags', 'server.gatewayTags.tags'),
  pair('domain', 'server.customDomain.name'),
  pair('certificates', 'server.customDomain.certificates'),
  pair('use_mutual_tls_auth', 'server.clientCertificates.enabled'),
  pair('client_certificates', 'server.clientCertificates.allowlist'),
  pair('allowed_ips', 'server.ipAccessControl.allow'),
  pair('blacklisted_ips', 'server.ipAccessControl.block'),
  pair('enable_detailed_recording', 'server.detailedActivityLogs.enabled'),
  pair('detailed_tracing', 'server.detailedTracing.enabled'),
  pair('enable_batch_request_support', 'server.batchProcessing.enabled'),
  pair('allow_encoded_slashes', 'server.allowEncodedSlashes'),
  pair('allow_trace', 'server.allowTrace'),
  pair('grpc_web', 'server.grpcWeb'),
  pair('mcp_tools', 'middleware.mcpTools'),
  pair('protocol', 'server.protocol'),
  pair('listen_port', 'server.port'),
  ...section(
    'CORS',
    'middleware.global.cors',
    `enable=enabled allowed_origins=allowedOrigins allowed_methods=allowedMethods allowed_headers=allowedHeaders
     exposed_headers=exposedHeaders allow_credentials=allowCredentials max_age=maxAge
     options_passthrough=optionsPassthrough debug`,
  ),
  ...section(
    'cache_options',
    'middleware.global.cache',
    `enable_cache=enabled cache_timeout=timeout cache_all_safe_requests=cacheAllSafeRequests
     cache_response_codes=cacheResponseCodes cache_by_headers=cacheByHeaders
     enable_upstream_cache_control=enableUpstreamCacheControl cache_control_ttl_header=controlTTLHeaderName
     share_between_keys=shareBetweenKeys store_set_cookie=storeSetCookie
     stale_while_revalidate=staleWhileRevalidate stale_if_error=staleIfError`,
  ),
  ...section('response_compression', 'middleware.global.compression', 'enabled encodings minimum_bytes=minimumBytes'),
  pair('tag_headers', 'middleware.global.trafficLogs.tagHeaders'),
  pair('expire_analytics_after', 'middleware.global.trafficLogs.customRetentionPeriod', DURATION),
  pair('enable_context_vars', 'middleware.global.contextVariables.enabled'),
  pair('custom_middleware.driver', 'middleware.global.pluginConfig.driver'),
  pair('custom_middleware.pre', 'middleware.global.prePlugins', MODULES),
  pair('custom_middleware.post_key_auth', 'middleware.global.postAuthenticationPlugins', MODULES),
  pair('custom_middleware.post', 'middleware.global.postPlugins', MODULES),
  pair('custom_middleware.response', 'middleware.global.responsePlugins', MODULES),
  pair('config_data', 'middleware.global.pluginConfig.data.value'),
  pair('disable_rate_limit', 'middleware.global.skipRateLimit'),
  pair('disable_quota', 'middleware.global.skipQuota'),
  pair('on_store_failure', 'middleware.global.onStoreFailure'),
  pair('dont_set_quota_on_create', 'middleware.global.skipQuotaReset'),
]

const VERSION_PAIRS: readonly Pair[] = [
  pair('global_headers', 'middleware.global.transformRequestHeaders.add', HEADERS),
  pair('global_headers_remove', 'middleware.global.transformRequestHeaders.remove'),
  pair('global_response_headers', 'middleware.global.transformResponseHeaders.add', HEADERS),
  pair('global_response_headers_remove', 'middleware.global.transformResponseHeaders.remove'),
  pair('global_size_limit', 'middleware.global.requestSizeLimit.value'),
  pair('ignore_endpoint_case', 'middleware.global.ignoreCase.enabled'),
  pair('global_enforce_timeout', 'upstream.enforceTimeout.duration'),
]

/** A switch of opposite sense, by its dotted paths; `always` = written also where its section is absent. */
export function opposite(classic: string, oas: string, always = false): Switch {
  const path = pathOf(oas)
  return { classic: pathOf(classic), oas: path, ...(always ? {} : { within: path.slice(0, -1) }) }
}

const SWITCHES: readonly Switch[] = [
  opposite('use_keyless', 'server.authentication.enabled', true),
  opposite('tags_disabled', 'server.gatewayTags.enabled', true),
  opposite('do_not_track', 'middleware.global.trafficLogs.enabled', true),
  opposite('global_rate_limit.disabled', 'upstream.rateLimit.enabled'),
  opposite('domain_disabled', 'server.customDomain.enabled'),
  opposite('ip_access_control_disabled', 'server.ipAccessControl.enabled'),
  opposite('config_data_disabled', 'middleware.global.pluginConfig.data.enabled'),
]

const VERSION_SWITCHES: readonly Switch[] = [
  opposite('global_headers_disabled', 'middleware.global.transformRequestHeaders.enabled'),
  opposite('global_response_headers_disabled', 'middleware.global.transformResponseHeaders.enabled'),
  opposite('global_size_limit_disabled', 'middleware.global.requestSizeLimit.enabled'),
  opposite('global_enforce_timeout_disabled', 'upstream.enforceTimeout.enabled'),
]

/** Writes the extension from a classic definition, as far as single members have twins. */
export function membersToOas(classic: JsonObject): JsonObject {
  const extension: JsonObject = {}
  copyPairs(PAIRS, classic, extension, 'toOas')
  // The one member that the extension must have and a classic definition need not.
  if (typeof classic.active !== 'boolean') putAt(extension, pathOf('info.state.active'), false)
  switchesToOas(SWITCHES, classic, extension)
  const version = versionOf(classic)
  if (version === undefined) return extension
  copyPairs(VERSION_PAIRS, version, extension, 'toOas')
  switchesToOas(VERSION_SWITCHES, version, extension)
  return extension
}

/** Writes a classic definition from the extension; `version` gets what belongs to the main version. */
export function membersToClassic(extension: JsonObject, classic: JsonObject, version: JsonObject): void {
  copyPairs(PAIRS, extension, classic, 'toClassic')
  switchesToClassic(SWITCHES, extension, classic)
  copyPairs(VERSION_PAIRS, extension, version, 'toClassic')
  switchesToClassic(VERSION_SWITCHES, extension, version)
}

/** Rules of the main version, undefined when the definition holds several. */
export function versionOf(classic: JsonObject): JsonObject | undefined {
  const name = mainVersion(classic)
  const version = name === undefined ? undefined : getAt(classic, ['version_data', 'versions', name])
  return version !== undefined && isObject(version) ? version : undefined
}

/** Writes switches into the extension. */
export function switchesToOas(switches: readonly Switch[], classic: JsonObject, extension: JsonObject): void {
  for (const each of switches) {
    const disabled = getAt(classic, each.classic)
    if (typeof disabled === 'boolean') putAt(extension, each.oas, !disabled)
    else if (each.within === undefined || isPresent(extension, each.within)) putAt(extension, each.oas, true)
  }
}

/** Writes switches into a classic definition. */
export function switchesToClassic(switches: readonly Switch[], extension: JsonObject, classic: JsonObject): void {
  for (const each of switches) {
    const enabled = getAt(extension, each.oas)
    if (typeof enabled === 'boolean') putAt(classic, each.classic, !enabled)
    else if (each.within === undefined || isPresent(extension, each.within)) putAt(classic, each.classic, true)
  }
}

function isPresent(tree: JsonObject, path: TreePath): boolean {
  const value = getAt(tree, path)
  return value !== undefined && value !== null
}

function eachEntry(value: Json, write: (entry: JsonObject) => JsonObject): Json | undefined {
  return Array.isArray(value) ? value.map((entry) => (isObject(entry) ? write(entry) : entry)) : undefined
}

function renamed(entry: JsonObject, way: (names: (typeof NAMES)[number]) => readonly [string, string]): JsonObject {
  const written: JsonObject = {}
  for (const names of NAMES) {
    const [from, to] = way(names)
    const value = member(entry, from)
    if (value !== undefined) written[to] = copyTree(value)
  }
  return written
}
