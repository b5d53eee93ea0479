import type { FaultCode } from '../../../errors/catalog.ts'
import type { SchemeRules } from '../../authentication/scheme.ts'
import type { JsonObject } from '../../json/json.ts'
import type { OAuthRules } from '../../oauth-clients/oauth-rules.ts'
import type { BoundedExpression } from '../../patterns/bounded-expression.ts'
import type { Millis } from '../../time/clock.ts'
import type { EventRules } from '../../webhooks/event-handlers.ts'
import type { BodyRule, MockRule, RequestCheck, RewriteRule } from './operation.ts'
import type { Flaw } from './tree.ts'
import type {
  BreakerRule,
  DiscoveryRules,
  EjectionRules,
  HealthRules,
  RetryRules,
  UpstreamTls,
} from './upstream-resilience.ts'

/** A rule that replaces an error answer: of the gateway, or of the upstream. */
export interface ErrorOverride {
  /** Kind of the gateway's own errors, or `URS` for errors of the upstream; '' = any. */
  readonly flag: string
  /** Looked for in the text of the error, or in the body of the upstream. */
  readonly pattern: Pick<BoundedExpression, 'test'> | undefined
  /** Member of an upstream's JSON body, by its path, and the text that it must hold; absent = none is looked at. */
  readonly field?: { readonly path: readonly string[]; readonly value: string }
  /** 0 = as it was. */
  readonly status: number
  /** Undefined = the body stays. Knows `{{.StatusCode}}` and `{{.Message}}`. */
  readonly body: string | undefined
  readonly message: string
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** The rules of an API by status, or by its first digit and `xx`, in their order. The first that fits counts. */
export type ErrorOverrides = ReadonlyMap<string, readonly ErrorOverride[]>

/** The codes of the gateway's errors that each flag of a rule means. */
const ERROR_FLAGS: Readonly<Record<string, readonly FaultCode[]>> = {
  RLT: ['rate_exceeded', 'api_rate_exceeded', 'org_rate_exceeded'],
  QEX: ['quota_exceeded', 'org_quota_exceeded'],
  AMF: ['credential_missing', 'token_missing', 'basic_malformed', 'token_malformed'],
  AKI: ['key_unknown', 'key_inactive', 'user_unknown'],
  TKE: ['key_expired', 'token_expired', 'client_certificate_expired', 'client_certificate_revoked'],
  TKI: ['token_unknown', 'token_of_other_scheme', 'token_client_gone', 'signature_invalid'],
  TCV: ['token_without_rights'],
  BTL: ['body_too_large', 'body_too_large_api'],
  CLM: ['length_required'],
  BIV: ['request_invalid'],
  CRQ: ['client_certificate_required'],
  UCF: ['upstream_unreachable'],
  URT: ['upstream_timeout'],
  UPE: ['upstream_malformed'],
  DNS: ['upstream_unresolved'],
  NHU: ['upstream_all_down'],
  CBO: ['breaker_open'],
}

/** Errors of the upstream, which no code of ours means. */
const UPSTREAM_FLAG = 'URS'

/** Every flag that a rule may name. */
export const FLAG_NAMES: readonly string[] = [...Object.keys(ERROR_FLAGS), UPSTREAM_FLAG]

/** The first rule for a status that fits. */
export function findOverride(
  overrides: ErrorOverrides,
  status: number,
  fits: (override: ErrorOverride) => boolean,
): ErrorOverride | undefined {
  return overrides.get(`${status}`)?.find(fits) ?? overrides.get(`${Math.trunc(status / 100)}xx`)?.find(fits)
}

/** True for a rule that fits an error of the gateway. */
export function fitsFault({ flag, pattern }: ErrorOverride, code: FaultCode, text: string): boolean {
  if (flag !== '' && ERROR_FLAGS[flag]?.includes(code)) return true
  return pattern === undefined ? flag === '' : pattern.test(text)
}

/** True for a rule that fits an answer of the upstream. `json`: its body as JSON; undefined for another one. */
export function fitsAnswer(
  { flag, pattern, field }: ErrorOverride,
  status: number,
  text: string,
  json: () => unknown,
): boolean {
  if (flag === UPSTREAM_FLAG) return status >= 500
  if (flag !== '') return false
  if (field !== undefined && textAt(json(), field.path) === field.value) return true
  return pattern === undefined ? field === undefined : pattern.test(text)
}

function textAt(value: unknown, path: readonly string[]): string | undefined {
  let at = value
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return typeof at === 'object' && at !== null ? JSON.stringify(at) : at === undefined ? undefined : String(at)
}

/** Where on the way of a request modules of users are called. */
export type ModulePhase = 'pre' | 'postAuthentication' | 'post' | 'response'

/** A function of a module: its file below the folder of modules, and the name under which it is exported. */
export interface ModuleRef {
  readonly file: string
  readonly name: string
  /** Longest body of a request that the function is shown; 0 = it is shown none. */
  readonly bodyLimitBytes: number
}

/** The modules that an API calls, in order, and what its definition tells them. */
export interface ModuleRules {
  readonly refs: Readonly<Record<ModulePhase, readonly ModuleRef[]>>
  readonly config: JsonObject
}

/** Longest body that a module may read or write. */
export const MAX_MODULE_BODY_BYTES = 1_048_576

const FILE = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.m?[jt]s$/
const NAME = /^[A-Za-z_$][\w$]*$/
const LONGEST = 200

/** Why a text cannot name the file of a module; undefined when it can. A name that fits cannot lead out of its folder. */
export function moduleFileFault(file: string): string | undefined {
  if (file.length <= LONGEST && FILE.test(file)) return undefined
  return 'must be a file below the folder of modules, such as "tenant.ts" or "shop/prices.ts"'
}

/** Why a text cannot name a function of a module; undefined when it can. */
export function moduleNameFault(name: string): string | undefined {
  return name.length <= LONGEST && NAME.test(name)
    ? undefined
    : 'must be the name of a function that the module exports'
}

/** Why a number cannot bound the bodies that a function is shown; undefined when it can. */
export function moduleBodyFault(bytes: number): string | undefined {
  const fits = Number.isInteger(bytes) && bytes >= 0 && bytes <= MAX_MODULE_BODY_BYTES
  return fits ? undefined : `must be a whole number of bytes, at most ${MAX_MODULE_BODY_BYTES}`
}

/** Content codings of answers (RFC 9110 section 8.4.1), those that clients like as well as another in the order of preference. */
export const CODINGS = ['zstd', 'br', 'gzip'] as const

export type Coding = (typeof CODINGS)[number]

/** How answers of an API are compressed. */
export interface CompressionRules {
  /** In the order of preference; at least one. */
  readonly encodings: readonly Coding[]
  /** Answers whose length is known and less are left as they are. */
  readonly minimumBytes: number
}

/** How the answers of an API are stored. */
export interface CacheRules {
  /** True = safe requests of all paths are answered from the cache; false = only those of operations that ask for it. */
  readonly allSafe: boolean
  /** Seconds that an answer is given, at most, where the upstream does not decide; 0 = it is not stored, unless its operation says how long. */
  readonly timeoutS: number
  /** Statuses that are stored; empty = those that RFC 9110 section 15.1 lets caches choose. */
  readonly statuses: readonly number[]
  /** Request headers (lower case) whose values tell answers apart, besides those that the upstream names in `Vary`. */
  readonly byHeaders: readonly string[]
  /** True = the upstream says how long, and an answer about which it says nothing is not stored. */
  readonly upstreamDecides: boolean
  /** Header of the upstream's answer (lower case) that says how many seconds; '' = none. */
  readonly lifetimeHeader: string
  /** True = callers with different keys are given the same answers. */
  readonly shared: boolean
  /** True = answers that set cookies are stored, cookies and all. */
  readonly keepCookies: boolean
  /** Seconds beyond its life that an answer is given while a new one is fetched (RFC 5861 section 3), where the upstream says nothing. */
  readonly staleWhileRevalidateS: number
  /** Seconds beyond its life that an answer is given while the upstream fails (RFC 5861 section 4), where it says nothing. */
  readonly staleIfErrorS: number
}

/** Cache rules of an operation, which go before those of its API. */
export interface OperationCacheRule {
  /** 0 = the API's. */
  readonly timeoutS: number
  /** Seconds where that is 0 too; 0 = nothing is stored then. */
  readonly defaultS: number
  /** Empty = the API's. */
  readonly statuses: readonly number[]
}

/** An API document as stored: which format it came in, and the definition with every unknown field. */
export interface ApiDocument {
  readonly api_id: string
  readonly org_id: string
  readonly name: string
  readonly format: 'classic' | 'oas'
  /** The definition as its author wrote it (ids filled in). */
  readonly definition: JsonObject
}

/**
 * An API as the gateway serves it: read from either format by `readApi`, checked, defaults filled in.
 * Absent members mean "not used", so that compile.ts can leave their step out.
 */
export interface Api {
  readonly apiId: string
  readonly orgId: string
  readonly name: string
  readonly format: 'classic' | 'oas'
  readonly active: boolean
  /** Reachable only from other APIs (as a version of one). */
  readonly internal: boolean
  readonly expiresAt: Millis | undefined
  /** Path template as written, `/orders/` or `/t/{tenant}/`; begins with `/`. */
  readonly listenPath: string
  readonly stripListenPath: boolean
  readonly ignoreCase: boolean
  /** Absent = `exact`. */
  readonly pathMatching?: PathMatching
  /** Takes paths with `%2F` or `%5C`; every rule judges them decoded too. */
  readonly allowEncodedSlashes?: true
  /** Takes TRACE, whose answers repeat what was sent. */
  readonly allowTrace?: true
  /** Makes calls of gRPC of those of gRPC-Web. */
  readonly grpcWeb?: true
  /** Lower case; '' answers on every host. */
  readonly domain: string
  /** Certificate ids for `domain`. */
  readonly certificates: readonly string[]
  /** Present when the API wants a client certificate: ids (SHA-256 hex, with or without the organisation in front) that may come in. */
  readonly clientCertificates: { readonly allow: readonly string[] } | undefined
  /** undefined = tags are off, which is not the same as an empty list on a segmented gateway only in words: both load nowhere. */
  readonly tags: readonly string[] | undefined
  readonly upstream: UpstreamRules
  /** undefined = keyless. */
  readonly auth: AuthRules | undefined
  /** Present when OAuth is among the methods. */
  readonly oauth: OAuthRules | undefined
  readonly versioning: Versioning | undefined
  /** Rules of the API itself, or of its only version. */
  readonly rules: Rules
  readonly cors: CorsRules | undefined
  /** undefined = nothing is stored. */
  readonly cache: CacheRules | undefined
  /** Present when answers are compressed. */
  readonly compression?: CompressionRules
  readonly ip: { readonly allow: readonly string[]; readonly block: readonly string[] } | undefined
  readonly rateLimit: { readonly rate: number; readonly perMs: number } | undefined
  /** Modules of users that its requests pass through; undefined = none. */
  readonly modules: ModuleRules | undefined
  /** True = templates may name the request as it came (`._svc_context`). */
  readonly contextVariables: boolean
  /** Takes several requests in one. */
  readonly batches: boolean
  readonly skipRateLimit: boolean
  readonly skipQuota: boolean
  /** The fallback while the store of the counters is away: refuse, or admit at the previous rate. */
  readonly onStoreFailure: 'refuse' | 'allow'
  readonly keepQuotaOnSave: boolean
  /** Seconds that a key's row outlives; 0 = never evicted. */
  readonly sessionLifetimeS: number
  /** undefined = not recorded. `detailed` = heads and bodies too. */
  readonly record: { readonly tagHeaders: readonly string[]; readonly detailed: boolean } | undefined
  /** Present when it has event handlers. */
  readonly events?: EventRules
  /** Present when rules replace error answers. */
  readonly errorOverrides?: ErrorOverrides
  /** Present when traces show each step. */
  readonly detailedTracing?: true
  /** Present when tools of an MCP server have rules by name. */
  readonly mcpTools?: McpToolRules
  /** Present when requests are to be compared with descriptions, parts of which cannot be checked. */
  readonly unchecked?: readonly Flaw[]
}

/** Rules of tools of an MCP server, by exact name. A blocked one stays blocked where it is allowed too. */
export interface McpToolRules {
  /** Present where some are allowed: all others are blocked. */
  readonly allow?: readonly string[]
  readonly block: readonly string[]
  /** How often a tool may be called, by all callers together. */
  readonly rates: readonly { readonly tool: string; readonly rate: number; readonly perMs: number }[]
  /** Those that analytics count one by one. */
  readonly tracked: readonly string[]
}

export interface UpstreamRules {
  /** At least one; weights above 0. Absolute http or https URLs. */
  readonly targets: readonly { readonly url: string; readonly weight: number }[]
  readonly preserveHost: boolean
  /** Present when a request without a path of its own gets the last slash of its target too. */
  readonly keepsLastSlash?: true
  readonly insecure: boolean
  /** 0 = the gateway's default. */
  readonly timeoutMs: number
  readonly health?: HealthRules
  readonly ejection?: EjectionRules
  readonly retries?: RetryRules
  /** Present when DNS names the targets; scheme and path are those of the one in `targets`. */
  readonly discovery?: DiscoveryRules
  readonly tls?: UpstreamTls
}

/** Who may call: the scheme that says who it is, and whether what was sent is taken out before forwarding. */
export interface AuthRules extends SchemeRules {
  /**
   * Present when callers may or must meet more than one scheme: alternatives in order, one of which must be met in full. The last
   * scheme of each says who calls.
   */
  readonly alternatives?: readonly (readonly SchemeRules[])[]
  readonly strip: boolean
  /** Every place that stripping empties, of all schemes, enabled or not (names of headers in lower case). */
  readonly stripHeaders: readonly string[]
  readonly stripQueries: readonly string[]
  readonly stripCookies: readonly string[]
  /** Scopes that the OAuth method asks for where no operation says otherwise, as `OperationRule.scopes`; absent = none. */
  readonly scopes?: readonly (readonly string[])[]
}

/** Which version a request asks for, and what serves it. */
export interface Versioning {
  /** Name that refers to the API itself ("self"), in new style. */
  readonly name: string
  readonly location: 'header' | 'query' | 'url'
  /** Header or query parameter name. */
  readonly key: string
  /** '' = none: a request without a version is refused. */
  readonly default: string
  readonly fallbackToDefault: boolean
  readonly strip: boolean
  /** Regular expression that a path segment must match to count as a version; '' = any. */
  readonly urlPattern: string
  /** New style: version name to api_id of another API. */
  readonly apis: Readonly<Record<string, string>>
  /** Old style: version name to its rules within this definition. */
  readonly inline: Readonly<Record<string, Rules>>
}

export interface Rules {
  readonly expiresAt: Millis | undefined
  /** '' = the API's upstream. */
  readonly overrideTarget: string
  /** Longest wait for an answer where no operation says otherwise; absent = the gateway's default. */
  readonly timeoutMs?: number
  readonly requestHeaders: HeaderTransform | undefined
  readonly responseHeaders: HeaderTransform | undefined
  /** 0 = none. */
  readonly sizeLimitBytes: number
  readonly operations: readonly OperationRule[]
}

export interface HeaderTransform {
  readonly remove: readonly string[]
  readonly add: readonly (readonly [name: string, value: string])[]
}

/**
 * Expressions as the incumbent takes them: a request's path holds them (`contains`), and those that begin with a slash only at its
 * beginning (`begins`), all of them only at its end (`ends`), or both (`whole`), as settings of its gateways say.
 */
export const CONTAINING = ['contains', 'begins', 'ends', 'whole'] as const
export type Containing = (typeof CONTAINING)[number]

/**
 * How rules find their requests. `openapi`: the one operation whose path fits best. Of lists every entry counts: whose path is that of the
 * request (`exact`), or an expression that it begins with (`prefix`) or holds (`contains` and its like).
 */
export const PATH_MATCHINGS = ['openapi', 'exact', 'prefix', ...CONTAINING] as const
export type PathMatching = (typeof PATH_MATCHINGS)[number]

/** True where paths are expressions as the incumbent takes them. */
export function isContaining(matching: unknown): matching is Containing {
  return CONTAINING.some((each) => each === matching)
}

/** The settings of one method and path. */
export interface OperationRule {
  /** Upper case; '' = every method. */
  readonly method: string
  /** Path template below the listen path, begins with `/`; `{name}` is one segment. */
  readonly path: string
  readonly ignoreCase: boolean
  readonly allow: boolean
  readonly block: boolean
  /** Met only by requests that an API leads here. */
  readonly internal: boolean
  readonly ignoreAuthentication: boolean
  /** 0 = none. */
  readonly sizeLimitBytes: number
  readonly rateLimit: { readonly rate: number; readonly perMs: number } | undefined
  readonly requestHeaders: HeaderTransform | undefined
  readonly responseHeaders: HeaderTransform | undefined
  /** 0 = none. */
  readonly timeoutMs: number
  readonly breaker?: BreakerRule
  readonly track: boolean
  readonly doNotTrack: boolean
  /** The mock response. */
  readonly mock: MockRule | undefined
  /** The schemas of its requests: each of these. */
  readonly checks: readonly RequestCheck[]
  readonly requestBody: BodyRule | undefined
  readonly answerBody: BodyRule | undefined
  readonly rewrite: RewriteRule | undefined
  /** Method that the upstream is asked with; '' = the caller's. */
  readonly toMethod: string
  /** Present when its answers are stored. */
  readonly cache: OperationCacheRule | undefined
  /** Alternatives of scopes, one of which a token must hold in full (the operation's `security`): [] = none are asked for; undefined = those of the API. */
  readonly scopes: readonly (readonly string[])[] | undefined
}

export interface CorsRules {
  readonly origins: readonly string[]
  readonly methods: readonly string[]
  readonly headers: readonly string[]
  readonly exposed: readonly string[]
  readonly credentials: boolean
  /** Seconds; 0 = not sent. */
  readonly maxAgeS: number
  readonly passthrough: boolean
}
