import type { Api, Rules, UpstreamRules } from '../model/api.ts'
import type { Clock } from '../model/clock.ts'
import { type Limit, makeLimit } from '../model/limit.ts'
import type { Counters } from '../store/ports.ts'
import { compileTransform } from './compile-transform.ts'
import type { Chain, HitPlan, ServedApi, Step, Targets } from './exchange.ts'
import type { BindingParts } from './oauth/check-binding.ts'
import { hasAuthorizationServer, type OAuthEndpoints } from './oauth/endpoints.ts'
import type { HitBook } from './record/hit-book.ts'
import type { Metrics } from './record/metrics.ts'
import type { RecordBook } from './record/record-book.ts'
import { RecordPlan } from './record/record-plan.ts'
import { ApiTags } from './record/tags.ts'
import type { Sessions } from './sessions.ts'
import { authenticate, checkState, stripCredential } from './steps/authenticate.ts'
import { authenticateToken } from './steps/authenticate-token.ts'
import { checkCertificate } from './steps/check-certificate.ts'
import { checkExpiry } from './steps/check-expiry.ts'
import { checkRights } from './steps/check-rights.ts'
import { checkScopes } from './steps/check-scopes.ts'
import { chooseVersion } from './steps/choose-version.ts'
import { cors } from './steps/cors.ts'
import { filterAddress } from './steps/filter-address.ts'
import { forward } from './steps/forward.ts'
import { limitSize } from './steps/limit-size.ts'
import { matchOperation } from './steps/match-operation.ts'
import { recordDetail } from './steps/record-detail.ts'
import { takePermits } from './steps/take-permits.ts'
import { transformRequest } from './steps/transform-request.ts'
import type { UpstreamPool } from './upstream/targets.ts'

/** What compiled APIs are built on. */
export interface CompileParts {
  readonly sessions: Sessions
  readonly counters: Counters
  readonly clock: Clock
  readonly upstreams: UpstreamPool
  /** Bytes, 0 = none. */
  readonly maxBodyBytes: number
  readonly legacyStatuses: boolean
  readonly metrics: Metrics
  /** undefined on a node that records nothing. */
  readonly book: HitBook | undefined
  /** undefined on a node that keeps no single requests. */
  readonly records: RecordBook | undefined
  /** True = heads and bodies of all APIs are recorded. */
  readonly recordsDetailed: boolean
  /** Tags of this node, when it is segmented: they go into every hit. */
  readonly nodeTags: readonly string[]
  /** What proofs of possession are checked with. */
  readonly bindings: BindingParts
  /** Endpoints of the authorization servers. */
  readonly endpoints: OAuthEndpoints
}

/** A served API together with what must be let go when it is replaced. */
export interface Compiled {
  readonly served: ServedApi
  close(): void
}

/**
 * Turns an API into the flat lists of steps that its requests take.
 * The order of steps stands here and nowhere else; a step that the API does not use is left out.
 * @throws Fault `definition_invalid` when a target or an address list is not valid
 */
export function compileApi(api: Api, parts: CompileParts): Compiled {
  const opened: (Targets & { close(): void })[] = []
  const open = (rules: UpstreamRules) => {
    const targets = parts.upstreams.open(rules)
    opened.push(targets)
    return targets
  }
  const close = () => {
    for (const targets of opened) targets.close()
  }
  try {
    return { served: compileVersions(api, parts, open), close }
  } catch (error) {
    close()
    throw error
  }
}

type OpenTargets = (rules: UpstreamRules) => Targets

function compileVersions(api: Api, parts: CompileParts, open: OpenTargets): ServedApi {
  const main = compileChain(api, api.rules, undefined, parts, open)
  const versioning = api.versioning
  const door = hasAuthorizationServer(api) ? [parts.endpoints.stepFor(api)] : []
  if (versioning === undefined) return { api, entry: [...door, ...main.steps], main, all: [main] }
  const inline = new Map<string, Chain>()
  for (const [name, rules] of Object.entries(versioning.inline)) {
    inline.set(name, compileChain(api, rules, name, parts, open))
  }
  return { api, entry: [...door, chooseVersion(versioning, main, inline)], main, all: [main, ...inline.values()] }
}

/** One version: `version` undefined for the API itself. */
function compileChain(
  api: Api,
  rules: Rules,
  version: string | undefined,
  parts: CompileParts,
  open: OpenTargets,
): Chain {
  const upstream =
    rules.overrideTarget === ''
      ? api.upstream
      : { ...api.upstream, targets: [{ url: rules.overrideTarget, weight: 1 }] }
  const targets = open(upstream)
  const perOperation = rules.operations.length > 0
  const apiRate = apiLimit(api)
  const records = recordPlan(api, parts)
  const steps: (Step | undefined)[] = [
    recordDetail(records, parts.records),
    cors(api.cors),
    filterAddress(api.ip),
    checkCertificate(api.clientCertificates),
    checkExpiry(earliest(api.expiresAt, rules.expiresAt), version ?? api.name),
    matchOperation(rules.operations, {
      apiId: api.apiId,
      version: version ?? '',
      openTargets: (timeoutMs) => open({ ...upstream, timeoutMs }),
    }),
    limitSize(parts.maxBodyBytes, rules.sizeLimitBytes, perOperation),
    ...identify(api, rules, parts),
    takePermits(parts.counters, parts.clock, !parts.legacyStatuses),
    transformRequest(compileTransform(rules.requestHeaders), perOperation),
    forward(targets, api.upstream.preserveHost),
  ]
  return {
    api,
    version: version ?? 'Non Versioned',
    inlineVersion: version !== undefined,
    rules,
    steps: steps.filter((step) => step !== undefined),
    targets,
    apiRate,
    openLimits: apiRate === undefined ? [] : [apiRate],
    responseHeaders: compileTransform(rules.responseHeaders),
    hits: hitPlan(api, parts),
    records,
    metrics: parts.metrics.api(api.apiId),
    open: undefined,
  }
}

/** Who is calling, and whether they may. */
function identify(api: Api, rules: Rules, parts: CompileParts): (Step | undefined)[] {
  const { auth } = api
  if (auth === undefined) return []
  const { sessions, bindings } = parts
  if (!hasAuthorizationServer(api)) {
    return [authenticate(auth, api, sessions, bindings), stripCredential(auth), checkState(), checkRights()]
  }
  const scoped = rules.operations.some(({ scopes }) => scopes !== undefined)
  return [
    authenticateToken(auth, api, sessions, bindings),
    stripCredential(auth),
    checkState(),
    checkRights(),
    checkScopes(api, auth.scopes, scoped),
  ]
}

function apiLimit(api: Api): Limit | undefined {
  if (api.rateLimit === undefined || api.skipRateLimit) return undefined
  return makeLimit('rate', `api|${api.apiId}`, api.rateLimit.rate, api.rateLimit.perMs)
}

function hitPlan(api: Api, { book, nodeTags }: CompileParts): HitPlan | undefined {
  if (book === undefined || api.record === undefined) return undefined
  const tags = new ApiTags({ apiTags: api.tags ?? [], nodeTags, tagHeaders: api.record.tagHeaders })
  return { book, tags }
}

function recordPlan(api: Api, { book, records, recordsDetailed }: CompileParts): RecordPlan | undefined {
  if (book === undefined || records === undefined || api.record === undefined) return undefined
  return new RecordPlan(api, recordsDetailed)
}

function earliest(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Math.min(a, b)
}
