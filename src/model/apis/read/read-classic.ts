import type { JsonObject } from '../../json/json.ts'
import { BoundedExpression } from '../../patterns/bounded-expression.ts'
import { normalisedExpression } from '../../patterns/pattern.ts'
import type { PausedWork } from '../../threads/paused-work.ts'
import {
  type Api,
  CODINGS,
  type CompressionRules,
  type ErrorOverride,
  type ErrorOverrides,
  type McpToolRules,
  PATH_MATCHINGS,
  type PathMatching,
  type Rules,
  type Versioning,
} from '../definition/api.ts'
import { flagOf, isEmpty, numberOf, objectOf, objectsOf, textOf, textsOf } from '../definition/members.ts'
import type { ListenPlace } from '../definition/template.ts'
import { type Flaw, member } from '../definition/tree.ts'
import { durationMs } from '../definition/values.ts'
import type { Described } from '../openapi/described.ts'
import { readCors } from './cors.ts'
import { methodsOf, readAuth, readOAuth } from './read-auth.ts'
import { answerHeaderFault } from './read-mock.ts'
import { readModules } from './read-modules.ts'
import { readCache, readExpiry, readingRules, readRate } from './read-rules.ts'
import { readUpstream } from './read-upstream.ts'
import { RequestSchemas } from './read-validation.ts'

const VARIABLE = /\{\{\s*\.(?:StatusCode|Message)\s*\}\}/g

/** The rules of a classic definition that replace error answers; undefined = none. */
export function readErrorOverrides(classic: JsonObject): ErrorOverrides | undefined {
  const held = objectOf(classic, 'error_overrides')
  if (flagOf(classic, 'error_overrides_disabled') || isEmpty(held)) return undefined
  return new Map(Object.keys(held).map((status) => [status, objectsOf(held, status).map(readOverride)]))
}

function readOverride(rule: JsonObject): ErrorOverride {
  const [match, response] = [objectOf(rule, 'match'), objectOf(rule, 'response')]
  const pattern = textOf(match, 'message_pattern')
  const [path, value] = [textOf(match, 'body_field'), textOf(match, 'body_value')]
  const [body, message] = [textOf(response, 'body'), textOf(response, 'message')]
  const headers = objectOf(response, 'headers')
  return {
    flag: textOf(match, 'flag'),
    pattern: pattern === '' ? undefined : new BoundedExpression(normalisedExpression(pattern)),
    ...(path !== '' && value !== '' && { field: { path: path.split('.'), value } }),
    status: numberOf(response, 'status_code'),
    body: body || (message === '' ? undefined : JSON.stringify({ error: message })),
    message,
    headers: Object.keys(headers).map((name) => [name, textOf(headers, name)] as const),
  }
}

/** The errors of such rules, by their places in a classic definition. */
export function errorOverrideFlaws(classic: JsonObject): Flaw[] {
  const held = objectOf(classic, 'error_overrides')
  if (flagOf(classic, 'error_overrides_disabled')) return []
  return Object.keys(held).flatMap((status) =>
    objectsOf(held, status).flatMap((rule, index) =>
      ruleFlaws(rule).map((flaw) => ({ ...flaw, at: ['error_overrides', status, String(index), ...flaw.at] })),
    ),
  )
}

function ruleFlaws(rule: JsonObject): Flaw[] {
  const response = objectOf(rule, 'response')
  const flaws: Flaw[] = []
  const report = (name: string, reason: string) => flaws.push({ at: ['response', name], reason })
  const body = textOf(response, 'body')
  if (textOf(response, 'template') !== '') report('template', 'is not served: write the text into "body"')
  if (body.replaceAll(VARIABLE, '').includes('{{'))
    report('body', 'may hold no other templates than {{.StatusCode}} and {{.Message}}')
  const status = numberOf(response, 'status_code')
  if (status !== 0 && status < 200) report('status_code', 'must be a status from 200 to 599')
  const headers = objectOf(response, 'headers')
  for (const name of Object.keys(headers)) {
    const reason = answerHeaderFault(name, `${headers[name] ?? ''}`)
    if (reason !== undefined) flaws.push({ at: ['response', 'headers', name], reason })
  }
  return flaws
}

/** A small answer fits into one packet as it is, and compressing it costs more than it saves. */
const DEFAULT_MINIMUM_BYTES = 1024

/**
 * The name of the version whose rules are the API's own: of an API that is not versioned, or whose versions are other APIs.
 * undefined when several versions live within the definition.
 */
export function mainVersion(classic: JsonObject): string | undefined {
  if (hasInlineVersions(classic)) return undefined
  const names = Object.keys(objectOf(objectOf(classic, 'version_data'), 'versions'))
  return names.includes('Default') ? 'Default' : (names[0] ?? 'Default')
}

/** True when several versions live within the definition, chosen by the request. */
export function hasInlineVersions(classic: JsonObject): boolean {
  const data = objectOf(classic, 'version_data')
  if (flagOf(objectOf(classic, 'definition'), 'enabled') || flagOf(data, 'not_versioned')) return false
  return !isEmpty(member(data, 'versions'))
}

/** The served model of a classic definition that passed its schema and asks for nothing unsupported. */
export function* readingClassic(classic: JsonObject, format: Api['format'], described: Described): PausedWork<Api> {
  const main = mainVersion(classic)
  const versions = objectOf(objectOf(classic, 'version_data'), 'versions')
  const methods = methodsOf(classic)
  const matching = matchingOf(classic)
  const schemas = new RequestSchemas()
  const errorOverrides = readErrorOverrides(classic)
  const compression = readCompression(classic)
  const mcpTools = readMcpTools(classic)
  const versioning = yield* readVersioning(classic, matching, described, schemas)
  const own = main === undefined ? {} : ownRules(classic, objectOf(versions, main))
  const rules = yield* readingRules(own, matching, described, schemas)
  const api: Api = {
    apiId: textOf(classic, 'api_id'),
    orgId: textOf(classic, 'org_id'),
    name: textOf(classic, 'name'),
    format,
    active: flagOf(classic, 'active'),
    internal: flagOf(classic, 'internal'),
    expiresAt: readExpiry(textOf(classic, 'expiration')),
    ...readPlace(classic),
    ignoreCase: ignoresCase(classic),
    ...(matching !== 'exact' && { pathMatching: matching }),
    ...(flagOf(classic, 'allow_encoded_slashes') && { allowEncodedSlashes: true }),
    ...(flagOf(classic, 'allow_trace') && { allowTrace: true }),
    ...(flagOf(classic, 'grpc_web') && { grpcWeb: true }),
    upstream: readUpstream(classic),
    auth: readAuth(classic),
    oauth: methods.includes('use_oauth2') ? readOAuth(classic) : undefined,
    versioning,
    rules,
    ...(errorOverrides && { errorOverrides }),
    cors: readCors(objectOf(classic, 'CORS')),
    cache: readCache(classic),
    ...(compression && { compression }),
    ...(mcpTools && { mcpTools }),
    ip: readAddresses(classic),
    rateLimit: readRate(objectOf(classic, 'global_rate_limit')),
    modules: readModules(classic),
    contextVariables: flagOf(classic, 'enable_context_vars'),
    batches: flagOf(classic, 'enable_batch_request_support'),
    skipRateLimit: flagOf(classic, 'disable_rate_limit'),
    skipQuota: flagOf(classic, 'disable_quota'),
    onStoreFailure: textOf(classic, 'on_store_failure') === 'allow' ? 'allow' : 'refuse',
    keepQuotaOnSave: flagOf(classic, 'dont_set_quota_on_create'),
    sessionLifetimeS: numberOf(classic, 'session_lifetime'),
    record: flagOf(classic, 'do_not_track')
      ? undefined
      : { tagHeaders: textsOf(classic, 'tag_headers'), detailed: flagOf(classic, 'enable_detailed_recording') },
  }
  const { unchecked } = schemas
  return unchecked.length === 0 ? api : { ...api, unchecked }
}

/** The rules of the version of an API without versions: its end and its target are for those that have some. */
function ownRules(classic: JsonObject, version: JsonObject): JsonObject {
  if (!flagOf(objectOf(classic, 'version_data'), 'not_versioned')) return version
  const { expires, override_target, ...rest } = version
  return rest
}

/** Lists name whole paths, unless the definition says otherwise. */
function matchingOf(classic: JsonObject): PathMatching {
  const named = textOf(classic, 'path_matching')
  return PATH_MATCHINGS.find((matching) => matching === named) ?? 'exact'
}

/** The members of a classic definition that decide where it answers, whether the rest of it can be read or not. */
export function readListenPlace(classic: JsonObject): ListenPlace {
  const { listenPath, domain, tags } = readPlace(classic)
  const [active, internal] = [flagOf(classic, 'active'), flagOf(classic, 'internal')]
  return { listenPath, domain, tags, active, internal, ignoreCase: ignoresCase(classic) }
}

function ignoresCase(classic: JsonObject): boolean {
  const main = mainVersion(classic)
  const versions = objectOf(objectOf(classic, 'version_data'), 'versions')
  return main !== undefined && flagOf(objectOf(versions, main), 'ignore_endpoint_case')
}

/** Where the API answers: path, host, certificates, tags. */
function readPlace(classic: JsonObject) {
  const proxy = objectOf(classic, 'proxy')
  const mutual = flagOf(classic, 'use_mutual_tls_auth')
  return {
    listenPath: textOf(proxy, 'listen_path'),
    stripListenPath: flagOf(proxy, 'strip_listen_path'),
    domain: flagOf(classic, 'domain_disabled') ? '' : textOf(classic, 'domain').toLowerCase(),
    certificates: textsOf(classic, 'certificates'),
    clientCertificates: mutual ? { allow: textsOf(classic, 'client_certificates') } : undefined,
    tags: flagOf(classic, 'tags_disabled') ? undefined : textsOf(classic, 'tags'),
  }
}

const LOCATIONS: Readonly<Record<string, Versioning['location']>> = {
  header: 'header',
  'url-param': 'query',
  url: 'url',
}

function* readVersioning(
  classic: JsonObject,
  matching: PathMatching,
  described: Described,
  schemas: RequestSchemas,
): PausedWork<Versioning | undefined> {
  const definition = objectOf(classic, 'definition')
  const data = objectOf(classic, 'version_data')
  const inline = hasInlineVersions(classic)
  const toApis = flagOf(definition, 'enabled')
  if (!inline && !toApis) return undefined
  const name = textOf(definition, 'name')
  const location = LOCATIONS[textOf(definition, 'location')] ?? 'header'
  // `default` is that of versions that are APIs of their own.
  const chosen = (inline && textOf(data, 'default_version')) || (toApis ? textOf(definition, 'default') : '')
  const inlineRules: Record<string, Rules> = Object.create(null)
  for (const [each, rules] of Object.entries(inline ? objectOf(data, 'versions') : {}))
    inlineRules[each] = yield* readingRules((rules ?? {}) as JsonObject, matching, described, schemas)
  return {
    name,
    location,
    // Without a location no request names a version of the definition itself.
    key: inline && !toApis && textOf(definition, 'location') === '' ? '' : textOf(definition, 'key'),
    default: chosen === 'self' && name !== '' ? name : chosen,
    fallbackToDefault: flagOf(definition, 'fallback_to_default'),
    strip: flagOf(definition, 'strip_versioning_data') || (location === 'url' && flagOf(definition, 'strip_path')),
    urlPattern: textOf(definition, 'url_versioning_pattern'),
    apis: table(toApis ? objectOf(definition, 'versions') : {}, (id) => (typeof id === 'string' ? id : '')),
    inline: inlineRules,
  }
}

/** Version names come from outside: no prototype behind them. */
function table<T>(from: JsonObject, read: (value: JsonObject[string]) => T): Record<string, T> {
  const made: Record<string, T> = Object.create(null)
  for (const name of Object.keys(from)) made[name] = read(from[name]!)
  return made
}

/** A list that holds something is enforced even where its own switch is off; the common switch ends those that are not switched on. */
function readAddresses(classic: JsonObject): Api['ip'] {
  const all = !flagOf(classic, 'ip_access_control_disabled')
  const allow = all || flagOf(classic, 'enable_ip_whitelisting') ? textsOf(classic, 'allowed_ips') : []
  const block = all || flagOf(classic, 'enable_ip_blacklisting') ? textsOf(classic, 'blacklisted_ips') : []
  return allow.length === 0 && block.length === 0 ? undefined : { allow, block }
}

/** Reads `response_compression`; undefined where it is off. */
function readCompression(classic: JsonObject): CompressionRules | undefined {
  const options = objectOf(classic, 'response_compression')
  if (!flagOf(options, 'enabled')) return undefined
  const named = textsOf(options, 'encodings')
  const encodings = named.flatMap((name) => CODINGS.filter((coding) => coding === name))
  return {
    encodings: encodings.length > 0 ? encodings : CODINGS,
    minimumBytes: numberOf(options, 'minimum_bytes') || DEFAULT_MINIMUM_BYTES,
  }
}

/** The rules of `mcp_tools`, a map by name of the tool; undefined where no tool has any. */
function readMcpTools(classic: JsonObject): McpToolRules | undefined {
  const tools = objectOf(classic, 'mcp_tools')
  const namesWith = (rule: string) =>
    Object.keys(tools).filter((name) => flagOf(objectOf(objectOf(tools, name), rule), 'enabled'))
  const allow = namesWith('allow')
  const block = namesWith('block')
  const tracked = namesWith('trackEndpoint')
  const rates = namesWith('rateLimit').flatMap((tool) => {
    const limit = objectOf(objectOf(tools, tool), 'rateLimit')
    const per = (durationMs(textOf(limit, 'per')) ?? 0) / 1000
    const rate = readRate({ rate: numberOf(limit, 'rate'), per })
    return rate === undefined ? [] : [{ tool, ...rate }]
  })
  if (allow.length + block.length + rates.length + tracked.length === 0) return undefined
  return { ...(allow.length > 0 && { allow }), block, rates, tracked }
}
