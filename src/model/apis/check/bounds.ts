import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { compileWeight } from '../../patterns/pattern-work.ts'
import { PATH_METHODS } from '../convert/convert-operations.ts'
import { type Api, isContaining } from '../definition/api.ts'
import { EXTENSION } from '../definition/members.ts'
import type { Flaw } from '../definition/tree.ts'

/** How much of something a definition may hold, and where it is. */
export interface Bound {
  /** `*` = every member or entry. */
  readonly at: string
  readonly most: number
  /** All matches of the wildcards count together. */
  readonly together?: true
  /**
   * The counted things where they are not entries: operations of a path item, placeholders of each name or of a text, characters of texts.
   */
  readonly counts?: 'operations' | 'placeholders of names' | 'placeholders' | 'characters'
}

/**
 * Public OpenAPI documents have up to about 2,000 operations in one API (GitHub 1,000; Microsoft Graph, which is many APIs in one
 * document, 10,000). Ten thousand operations compile in about a tenth of a second and are found by a trie.
 */
const OPERATIONS = 10_000
/** Entries of all classic lists: an operation is in several of them. */
const LISTED = 20_000
/** Paths that are expressions are compared one after another by each request. */
export const MOST_EXPRESSIONS = 5000
/** Of the expressions of one kind: checking and compiling them costs about 0.4 µs a character, on each of two threads. */
const EXPRESSION_CHARACTERS = 500_000
/** Cloud providers publish ranges of some thousand networks. */
const ADDRESSES = 5000
const HEADERS = 500
const SCOPES = 2000
/** APIs that are versions of one. */
export const MOST_VERSIONS = 1000
const CERTIFICATES = 1000
const NAMES = 500
/** Alternatives of a security requirement, and scopes or schemes of each. */
const ALTERNATIVES = 100
/** Of the security requirements of all operations. */
const SECURITY_SCOPES = 50_000
const PLACEHOLDERS = 50
const MODULES = 100
const TRIGGERS = 100
/** Agents choose among some dozens of tools; a server that describes an API of 2,000 operations has as many. */
const TOOLS = 2000

const VERSION = 'version_data.versions.*'
const LISTS = `${VERSION}.extended_paths`
const SERVER = `${EXTENSION}.server`
const UPSTREAM = `${EXTENSION}.upstream`
const GLOBAL = `${EXTENSION}.middleware.global`
const OPERATION = `${EXTENSION}.middleware.operations.*`

const each = (most: number, ...places: readonly string[]): Bound[] => places.map((at) => ({ at, most }))

const characters = (at: string): Bound => ({ at, most: EXPRESSION_CHARACTERS, together: true, counts: 'characters' })

/**
 * The bounds of each format beyond those of its schema. They hold for what is saved: what is stored already stays served. Each entry
 * costs memory on every node, and many cost every request, so that one tenant's lists would hold up the requests of others.
 */
export const API_BOUNDS: Readonly<Record<'classic' | 'oas', readonly Bound[]>> = {
  classic: [
    { at: `${LISTS}.*`, most: OPERATIONS },
    { at: `${LISTS}.*`, most: LISTED, together: true },
    { at: `${VERSION}.paths.*`, most: OPERATIONS, together: true },
    { at: `${LISTS}.*.*.path`, most: PLACEHOLDERS, counts: 'placeholders' },
    { at: 'proxy.listen_path', most: PLACEHOLDERS, counts: 'placeholders' },
    ...each(HEADERS, `${LISTS}.transform_headers.*.add_headers`, `${LISTS}.transform_response_headers.*.add_headers`),
    ...each(HEADERS, `${LISTS}.transform_headers.*.delete_headers`),
    ...each(HEADERS, `${LISTS}.transform_response_headers.*.delete_headers`),
    ...each(ALTERNATIVES, 'error_overrides', 'error_overrides.*'),
    ...each(HEADERS, 'error_overrides.*.*.response.headers'),
    characters('error_overrides.*.*.match.message_pattern'),
    ...each(HEADERS, `${LISTS}.mock_response.*.headers`, `${VERSION}.global_headers`),
    ...each(HEADERS, `${VERSION}.global_headers_remove`, `${VERSION}.global_response_headers`),
    ...each(HEADERS, `${VERSION}.global_response_headers_remove`),
    ...each(TRIGGERS, `${LISTS}.url_rewrites.*.triggers`, `${LISTS}.url_rewrites.*.triggers.*.options.*`),
    { at: `${LISTS}.url_rewrites.*.triggers.*.options.*`, most: MOST_EXPRESSIONS, together: true },
    characters(`${LISTS}.url_rewrites.*.match_pattern`),
    characters(`${LISTS}.url_rewrites.*.triggers.*.options.*.*.match_rx`),
    characters(`${LISTS}.url_rewrites.*.triggers.*.options.payload_matches.match_rx`),
    ...each(ALTERNATIVES, `${LISTS}.oauth_scopes.*.scopes`, `${LISTS}.oauth_scopes.*.scopes.*`),
    ...each(NAMES, `${LISTS}.advance_cache_config.*.cache_response_codes`),
    ...each(NAMES, `${LISTS}.ignored.*.method_actions`, `${LISTS}.white_list.*.method_actions`),
    ...each(NAMES, `${LISTS}.black_list.*.method_actions`),
    ...each(MOST_VERSIONS, 'version_data.versions', 'definition.versions'),
    ...each(NAMES, 'CORS.allowed_origins', 'CORS.allowed_methods', 'CORS.allowed_headers', 'CORS.exposed_headers'),
    ...each(ADDRESSES, 'allowed_ips', 'blacklisted_ips'),
    ...each(NAMES, 'tags', 'tag_headers', 'cache_options.cache_response_codes', 'cache_options.cache_by_headers'),
    ...each(NAMES, 'proxy.transport.ssl_ciphers', 'proxy.retries.statuses'),
    ...each(CERTIFICATES, 'certificates', 'client_certificates', 'upstream_certificates', 'pinned_public_keys'),
    ...each(SCOPES, 'oauth_meta.scopes', 'jwt_scope_to_policy_mapping', 'scopes.jwt.scope_to_policy'),
    ...each(ALTERNATIVES, 'oauth_meta.default_scopes', 'oauth_meta.default_scopes.*'),
    ...each(ALTERNATIVES, 'oauth_meta.allowed_access_types', 'oauth_meta.allowed_authorize_types'),
    ...each(ALTERNATIVES, 'auth_configs', 'event_handlers.events', 'event_handlers.events.*'),
    ...each(HEADERS, 'event_handlers.events.*.*.handler_meta.header_map', 'uptime_tests.check_list.*.headers'),
    ...each(NAMES, 'uptime_tests.check_list.*.expected_statuses', 'user_owners', 'user_group_owners'),
    ...each(TOOLS, 'mcp_tools'),
    ...each(MODULES, 'custom_middleware.pre', 'custom_middleware.post_key_auth', 'custom_middleware.post'),
    ...each(MODULES, 'custom_middleware.response'),
  ],
  oas: [
    { at: 'paths.*', most: OPERATIONS, together: true, counts: 'operations' },
    { at: 'paths', most: PLACEHOLDERS, counts: 'placeholders of names' },
    { at: `${SERVER}.listenPath.value`, most: PLACEHOLDERS, counts: 'placeholders' },
    ...each(OPERATIONS, 'paths', `${EXTENSION}.middleware.operations`),
    ...each(SCOPES, 'tags', 'components.securitySchemes.*.flows.*.scopes'),
    ...each(ALTERNATIVES, 'servers', 'components.securitySchemes', 'security', 'security.*', 'security.*.*'),
    ...each(ALTERNATIVES, 'paths.*.*.security', 'paths.*.*.security.*', 'paths.*.*.security.*.*'),
    { at: 'paths.*.*.security', most: LISTED, together: true },
    { at: 'paths.*.*.security.*.*', most: SECURITY_SCOPES, together: true },
    ...each(NAMES, 'paths.*.parameters', 'paths.*.*.parameters', 'paths.*.*.tags'),
    ...each(NAMES, 'paths.*.*.responses', 'paths.*.*.responses.*.content', 'paths.*.*.responses.*.headers'),
    ...each(NAMES, 'paths.*.*.requestBody.content', 'paths.*.*.responses.*.content.*.examples'),
    ...each(HEADERS, `${OPERATION}.transformRequestHeaders.add`, `${OPERATION}.transformRequestHeaders.remove`),
    ...each(HEADERS, `${OPERATION}.transformResponseHeaders.add`, `${OPERATION}.transformResponseHeaders.remove`),
    ...each(TOOLS, `${EXTENSION}.middleware.mcpTools`),
    ...each(HEADERS, `${OPERATION}.mockResponse.headers`),
    ...each(ALTERNATIVES, `${EXTENSION}.errorOverrides.value`, `${EXTENSION}.errorOverrides.value.*`),
    ...each(HEADERS, `${EXTENSION}.errorOverrides.value.*.*.response.headers`),
    characters(`${EXTENSION}.errorOverrides.value.*.*.match.messagePattern`),
    ...each(NAMES, `${OPERATION}.cache.cacheResponseCodes`),
    ...each(TRIGGERS, `${OPERATION}.urlRewrite.triggers`, `${OPERATION}.urlRewrite.triggers.*.rules`),
    { at: `${OPERATION}.urlRewrite.triggers.*.rules`, most: MOST_EXPRESSIONS, together: true },
    characters(`${OPERATION}.urlRewrite.pattern`),
    characters(`${OPERATION}.urlRewrite.triggers.*.rules.*.pattern`),
    ...each(HEADERS, `${GLOBAL}.transformRequestHeaders.add`, `${GLOBAL}.transformRequestHeaders.remove`),
    ...each(HEADERS, `${GLOBAL}.transformResponseHeaders.add`, `${GLOBAL}.transformResponseHeaders.remove`),
    ...each(NAMES, `${GLOBAL}.cors.allowedOrigins`, `${GLOBAL}.cors.allowedMethods`),
    ...each(NAMES, `${GLOBAL}.cors.allowedHeaders`, `${GLOBAL}.cors.exposedHeaders`),
    ...each(NAMES, `${GLOBAL}.cache.cacheResponseCodes`, `${GLOBAL}.cache.cacheByHeaders`),
    ...each(NAMES, `${GLOBAL}.trafficLogs.tagHeaders`, `${SERVER}.gatewayTags.tags`),
    ...each(MODULES, `${GLOBAL}.prePlugins`, `${GLOBAL}.postAuthenticationPlugins`, `${GLOBAL}.postPlugins`),
    ...each(MODULES, `${GLOBAL}.responsePlugins`),
    ...each(MOST_VERSIONS, `${EXTENSION}.info.versioning.versions`),
    ...each(ADDRESSES, `${SERVER}.ipAccessControl.allow`, `${SERVER}.ipAccessControl.block`),
    ...each(ALTERNATIVES, `${SERVER}.eventHandlers`, `${SERVER}.authentication.securitySchemes`),
    ...each(ALTERNATIVES, `${SERVER}.authentication.security`, `${SERVER}.authentication.security.*`),
    ...each(ALTERNATIVES, `${SERVER}.authentication.securitySchemes.*.allowedAuthorizeTypes`),
    ...each(CERTIFICATES, `${SERVER}.customDomain.certificates`, `${SERVER}.clientCertificates.allowlist`),
    ...each(
      CERTIFICATES,
      `${UPSTREAM}.mutualTLS.domainToCertificates`,
      `${UPSTREAM}.mutualTLS.domainToCertificateMapping`,
    ),
    ...each(CERTIFICATES, `${UPSTREAM}.certificatePinning.domainToPublicKeysMapping`),
    ...each(ALTERNATIVES, `${UPSTREAM}.certificatePinning.domainToPublicKeysMapping.*.publicKeys`),
    ...each(ALTERNATIVES, `${UPSTREAM}.loadBalancing.targets`),
    ...each(NAMES, `${UPSTREAM}.tlsTransport.ciphers`, `${UPSTREAM}.retries.statuses`),
    ...each(NAMES, `${UPSTREAM}.uptimeTests.tests.*.expectedStatuses`),
    ...each(HEADERS, `${UPSTREAM}.uptimeTests.tests.*.headers`),
  ],
}

/** The bounds that a definition exceeds. It is walked once, with any number of bounds. */
export function boundFlaws(format: 'classic' | 'oas', definition: JsonObject, root: readonly string[] = []): Flaw[] {
  const tallies = API_BOUNDS[format].map((bound) => ({ bound, sum: 0, flaws: [] as Flaw[] }))
  const walk = (value: Json, { bounds, members, every }: BoundNode, place: string[]): void => {
    for (const index of bounds) count(tallies[index]!, value, [...root, ...place])
    if (typeof value !== 'object' || value === null) return
    const follow = (name: string, node: BoundNode) => {
      place.push(name)
      walk((value as JsonObject)[name]!, node, place)
      place.pop()
    }
    if (isObject(value)) for (const [name, node] of members) if (Object.hasOwn(value, name)) follow(name, node)
    if (every !== undefined) for (const name of Object.keys(value)) follow(name, every)
  }
  walk(definition, NODES[format], [])
  return tallies.flatMap(({ bound, sum, flaws }) => {
    const { at, most, together, counts } = bound
    if (!together || sum <= most) return flaws
    const path = at.split('.')
    return [{ at: [...root, ...path.slice(0, path.indexOf('*'))], reason: `${refusal(most, counts, sum)} in all` }]
  })
}

function count(tally: { bound: Bound; sum: number; flaws: Flaw[] }, value: Json, place: readonly string[]): void {
  const { most, together, counts } = tally.bound
  for (const [at, found] of countsOf(value, place, counts)) {
    tally.sum += found
    if (!together && found > most) tally.flaws.push({ at, reason: refusal(most, counts, found) })
  }
}

/** Where a definition has more paths that each request is compared with one after another. */
export function expressionFlaws({ pathMatching, rules, versioning }: Api): Flaw[] {
  if (pathMatching !== 'prefix' && !isContaining(pathMatching)) return []
  const count = Math.max(
    ...[rules, ...Object.values(versioning?.inline ?? {})].map(({ operations }) => operations.length),
  )
  if (count <= MOST_EXPRESSIONS) return []
  const reason = `${refusal(MOST_EXPRESSIONS, undefined, count)} where paths match by "${pathMatching}"`
  return [{ at: ['operations'], reason }]
}

/** Places of bounds that begin alike, as a tree; `bounds` are those of the place itself. */
interface BoundNode {
  readonly bounds: number[]
  readonly members: Map<string, BoundNode>
  every: BoundNode | undefined
}

const NODES = { classic: nodesOf(API_BOUNDS.classic), oas: nodesOf(API_BOUNDS.oas) }

function nodesOf(bounds: readonly Bound[]): BoundNode {
  const made = (): BoundNode => ({ bounds: [], members: new Map(), every: undefined })
  const root = made()
  for (const [index, { at }] of bounds.entries()) {
    let node = root
    for (const step of at.split('.')) {
      const next = (step === '*' ? node.every : node.members.get(step)) ?? made()
      if (step === '*') node.every = next
      else node.members.set(step, next)
      node = next
    }
    node.bounds.push(index)
  }
  return root
}

function refusal(most: number, counts: Bound['counts'], count: number): string {
  const what = counts === undefined ? 'entries' : counts === 'placeholders of names' ? 'placeholders' : counts
  return `must not hold more than ${most} ${what} (${count})`
}

function countsOf(value: Json, place: readonly string[], counts: Bound['counts']): [readonly string[], number][] {
  if (counts === 'characters') return typeof value === 'string' ? [[place, compileWeight(value)]] : []
  if (counts === 'placeholders') return typeof value === 'string' ? [[place, placeholdersIn(value)]] : []
  if (typeof value !== 'object' || value === null) return []
  if (counts === 'placeholders of names')
    return Object.keys(value).map((name) => [[...place, name], placeholdersIn(name)])
  return [[place, counts === 'operations' ? operationsIn(value) : Object.keys(value).length]]
}

function operationsIn(item: JsonObject | readonly Json[]): number {
  return PATH_METHODS.filter((method) => Object.hasOwn(item, method)).length
}

function placeholdersIn(path: string): number {
  return path.split('{').length - 1
}
