import type { Config } from '../../config/schema.ts'
import { fault } from '../../errors/fault.ts'
import type { Api, Rules, UpstreamRules } from '../../model/apis/definition/api.ts'
import { type Limit, makeLimit } from '../../model/limits/limit.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { Counters } from '../../store/ports/ports.ts'
import type { AuthParts } from '../authentication/auth-parts.ts'
import { type ChainCache, openChainCache } from '../cache/chain-cache.ts'
import type { ResponseCache } from '../cache/response-cache.ts'
import type { WatchLimits } from '../events/events.ts'
import type { ModuleSet } from '../modules/module-set.ts'
import type { Modules } from '../modules/modules.ts'
import type { OAuthEndpoints } from '../oauth/endpoints.ts'
import { takesTokens } from '../oauth/protected-resource.ts'
import type { HitBook } from '../record/hit-book.ts'
import type { Metrics } from '../record/metrics.ts'
import type { RecordBook } from '../record/record-book.ts'
import { RecordPlan } from '../record/record-plan.ts'
import { ApiTags } from '../record/tags.ts'
import type { Chain, HitPlan, ServedApi, Step } from '../server/exchange.ts'
import type { InnerCalls } from '../server/inner-calls.ts'
import { requestIdFields } from '../server/request-id-fields.ts'
import { checkExpiry } from '../steps/access/check-expiry.ts'
import { checkTools } from '../steps/access/check-tools.ts'
import { chooseVersion } from '../steps/access/choose-version.ts'
import { filterAddress } from '../steps/access/filter-address.ts'
import { answerBatch } from '../steps/answers/answer-batch.ts'
import { answerFromCache } from '../steps/answers/answer-from-cache.ts'
import { answerMock } from '../steps/answers/answer-mock.ts'
import { bufferAnswer, bufferErrors } from '../steps/answers/buffer-answer.ts'
import { cors } from '../steps/answers/cors.ts'
import { recordDetail } from '../steps/answers/record-detail.ts'
import { checkCertificate } from '../steps/authentication/check-certificate.ts'
import { dropUnverified, dropUnverifiedInside } from '../steps/authentication/drop-unverified.ts'
import { limitSize } from '../steps/limits/limit-size.ts'
import { answerRateLimits } from '../steps/limits/rate-limit-status.ts'
import { takeLater, takePermits } from '../steps/limits/take-permits.ts'
import { matchOperation } from '../steps/operations/match-operation.ts'
import { validateRequest } from '../steps/operations/validate-request.ts'
import { changeMethod } from '../steps/transforms/change-method.ts'
import { keepVariables } from '../steps/transforms/keep-variables.ts'
import { forwardToApi } from '../steps/transforms/redirect-internally.ts'
import { hiddenNames, revealFields } from '../steps/transforms/reveal-fields.ts'
import { rewriteUrl } from '../steps/transforms/rewrite-url.ts'
import { runModules } from '../steps/transforms/run-modules.ts'
import { transformBody } from '../steps/transforms/transform-body.ts'
import { transformRequest } from '../steps/transforms/transform-request.ts'
import { translateGrpcWeb } from '../steps/transforms/translate-grpc-web.ts'
import { spannedSteps } from '../telemetry/step-spans.ts'
import type { ResilienceRegistry } from '../upstream/api-resilience.ts'
import type { ApiUpstream } from '../upstream/api-upstream.ts'
import type { Targets } from '../upstream/target.ts'
import { authenticationSteps } from './compile-auth.ts'
import { askedVariables, compileTransform } from './compile-transform.ts'

/** The dependencies of compiled APIs. */
export interface CompileParts extends AuthParts {
  readonly counters: Counters
  readonly clock: Clock
  readonly upstreamCares: ResilienceRegistry
  /** Stored answers. */
  readonly responses: ResponseCache
  /** Bytes, 0 = none. */
  readonly maxBodyBytes: number
  /** True = fields with `_` in their name are taken. */
  readonly takesUnderscores: boolean
  readonly legacyStatuses: boolean
  readonly requestIds: Config['gateway']['request_id']
  readonly metrics: Metrics
  /** undefined on a node that records nothing. */
  readonly book: HitBook | undefined
  /** undefined on a node that keeps no single requests. */
  readonly records: RecordBook | undefined
  /** True = heads and bodies of all APIs are recorded. */
  readonly recordsDetailed: boolean
  /** Tags of this node, when it is segmented: they go into every hit. */
  readonly nodeTags: readonly string[]
  /** How parts of batches are answered. */
  readonly innerCalls: InnerCalls
  /** Modules of users, where they are allowed. */
  readonly modules: Modules
  /** `svc`, and the names for it that `compat.vendor_aliases` lists. */
  readonly words: readonly string[]
  /** Endpoints of the authorization servers. */
  readonly endpoints: OAuthEndpoints
  /** Watches the used share of quotas, for APIs with event handlers; undefined = none. */
  readonly watchQuotas: WatchLimits | undefined
  /** True = traces are sent somewhere. */
  readonly traces: boolean
}

/** Those that a gateway has one of: steps are shared by APIs whose requests are counted together. */
export type GatewayCompileParts = Omit<CompileParts, 'shared'>

/** A served API together with what must be let go when it is replaced. */
export interface Compiled {
  readonly served: ServedApi
  close(): void
}

/**
 * Turns an API into the flat lists of steps that its requests take.
 * The order of steps is defined here and nowhere else; a step that the API does not use is left out.
 * @throws Fault `definition_invalid` when a target or an address list is not valid
 */
export function compileApi(api: Api, parts: CompileParts): Compiled {
  const upstream = parts.upstreamCares.openApi(api)
  let modules: ModuleSet | undefined
  const close = () => {
    upstream.close()
    if (modules !== undefined) parts.modules.close(modules)
  }
  try {
    modules = api.modules && parts.modules.open(api.apiId, api.modules)
    const served = compileVersions(api, { ...parts, own: modules }, upstream)
    return {
      served,
      close() {
        close()
        for (const { cache } of served.all) cache?.responses.close()
      },
    }
  } catch (error) {
    close()
    throw error
  }
}

/** The context of compiling the versions of one API. */
interface ApiParts extends CompileParts {
  /** The modules that it calls. */
  readonly own: ModuleSet | undefined
}

function compileVersions(api: Api, parts: ApiParts, opened: ApiUpstream): ServedApi {
  const main = compileChain(api, api.rules, undefined, parts, opened)
  const versioning = api.versioning
  const door = takesTokens(api) ? [parts.endpoints.stepFor(api)] : []
  const common = {
    api,
    mayHideEndpoints: parts.endpoints.mayHide(api),
    requestIds: requestIdFields(parts.requestIds, [api.rules, ...Object.values(versioning?.inline ?? {})]),
  }
  if (versioning === undefined) return { ...common, entry: Array.from([...door, ...main.steps]), main, all: [main] }
  const inline = new Map<string, Chain>()
  for (const [name, rules] of Object.entries(versioning.inline)) {
    inline.set(name, compileChain(api, rules, name, parts, opened))
  }
  const before = used([revealFields(api)])
  return {
    ...common,
    entry: [...before, ...door, chooseVersion(versioning, main, inline)],
    main,
    all: [main, ...inline.values()],
  }
}

/** One version: `version` undefined for the API itself. */
function compileChain(
  api: Api,
  rules: Rules,
  version: string | undefined,
  parts: ApiParts,
  opened: ApiUpstream,
): Chain {
  const open = (rules: UpstreamRules) => opened.open(rules)
  const { overrideTarget, timeoutMs } = rules
  const upstream = {
    ...api.upstream,
    ...(overrideTarget !== '' && { targets: [{ url: overrideTarget, weight: 1 }] }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  }
  const inner = innerUpstream(upstream)
  const targets = inner === undefined ? open(upstream) : NO_TARGETS
  const perOperation = rules.operations.length > 0
  const apiRate = apiLimit(api)
  const records = recordPlan(api, parts)
  const expiry = checkExpiry(earliest(api.expiresAt, rules.expiresAt), version ?? api.name)
  const identity = authenticationSteps(api, rules, parts)
  const admitted = revealFields(api)
  const ownCors = cors(api)
  const arrival = [admitted, recordDetail(records, parts.records), ownCors]
  const doors = [filterAddress(api.ip), checkCertificate(api, parts.authorities), expiry]
  const operation = [
    runModules(parts.own, 'pre', api, parts.maxBodyBytes),
    matchOperation(rules.operations, {
      apiId: api.apiId,
      version: version ?? '',
      matching: api.pathMatching ?? 'exact',
      openTargets: (timeoutMs) => (inner === undefined ? open({ ...upstream, timeoutMs }) : targets),
      openOrigin: (url) => open({ ...upstream, targets: [{ url, weight: 1 }] }),
      openBreaker: (name, rule) => opened.openBreaker(name, rule),
    }),
    limitSize(parts.maxBodyBytes, rules.sizeLimitBytes, perOperation),
  ]
  const taking = { sendRetryAfter: !parts.legacyStatuses, alone: api.onStoreFailure === 'allow' }
  const watch = api.events === undefined ? undefined : parts.watchQuotas
  const admission = [
    ...identity,
    api.auth === undefined ? dropUnverified(api) : undefined,
    runModules(parts.own, 'postAuthentication', api, parts.maxBodyBytes),
    parts.shared.get(`takePermits ${taking.alone} ${watch !== undefined}`, () =>
      takePermits(parts.counters, parts.clock, { ...taking, watch }),
    ),
  ]
  const cache = inner === undefined ? chainCache(api, rules, parts) : undefined
  const delivery = [
    keepVariables(askedVariables(api, rules)),
    validateRequest(
      rules.operations.map(({ checks }) => checks),
      hiddenNames(api, parts.takesUnderscores),
    ),
    transformBody(rules.operations.map(({ requestBody }) => requestBody)),
    checkTools(api, takeLater(parts.counters, parts.clock, taking)),
    transformRequest(compileTransform(rules.requestHeaders), perOperation),
    rewriteUrl(rules.operations.map(({ rewrite }) => rewrite)),
    changeMethod(rules.operations),
    answerMock(
      rules.operations.map(({ mock }) => mock),
      parts.words,
    ),
    runModules(parts.own, 'post', api, parts.maxBodyBytes),
    inner === undefined
      ? bufferAnswer(
          rules.operations.map(({ answerBody }) => answerBody),
          parts.own,
        )
      : undefined,
    translateGrpcWeb(api),
    answerFromCache(cache, targets, api.upstream.preserveHost),
    inner === undefined ? bufferErrors(api.errorOverrides) : undefined,
    ...(inner === undefined ? opened.forward(targets) : [forwardToApi(inner)]),
  ]
  const batch = api.batches ? answerBatch(parts.innerCalls, parts.endpoints.isBatch) : undefined
  const rateLimits = answerRateLimits(parts.counters, identity, parts.endpoints.isRateLimits)
  const listed = (steps: readonly (Step | undefined)[]) =>
    parts.traces && api.detailedTracing === true ? spannedSteps(used(steps)) : used(steps)
  return {
    api,
    version: version ?? 'Non Versioned',
    inlineVersion: version !== undefined,
    rules,
    cors: ownCors,
    steps: listed([...arrival, ...doors, rateLimits, batch, ...operation, ...admission, ...delivery]),
    redirectedSteps: listed([admitted, ...doors, ...operation, ...admission, ...delivery]),
    inner: listed([expiry, ...operation, dropUnverifiedInside(api), ...delivery]),
    targets,
    apiRate,
    openLimits: apiRate === undefined ? [] : [apiRate],
    responseHeaders: compileTransform(rules.responseHeaders),
    modules: parts.own,
    cache,
    hits: hitPlan(api, parts),
    records,
    metrics: parts.metrics.api(api.apiId),
    metadataAddress: takesTokens(api) ? (x) => parts.endpoints.metadataAddress(x, api) : undefined,
    open: undefined,
  }
}

/** A list that was filtered keeps room for sixteen, a copy of it none. */
const used = (steps: readonly (Step | undefined)[]) => Array.from(steps.filter((step) => step !== undefined))

/** Of APIs whose upstream is another API. */
const NO_TARGETS: Targets = {
  list: [],
  next() {
    throw fault('internal', 'an API without targets was asked for one')
  },
  after: () => NO_TARGETS.next(),
}

/** The internal URL of the API that is the upstream; undefined for a real upstream. */
function innerUpstream({ targets }: UpstreamRules): string | undefined {
  return targets.map(({ url }) => url).find((url) => /^svc:/i.test(url))
}

function chainCache(api: Api, rules: Rules, { responses, clock, words }: CompileParts): ChainCache | undefined {
  const perOperation = rules.operations.some((operation) => operation.cache !== undefined)
  return openChainCache(api, perOperation, responses, clock, words)
}

function apiLimit(api: Api): Limit | undefined {
  if (api.rateLimit === undefined || api.skipRateLimit) return undefined
  return makeLimit('rate', `api|${api.apiId}`, api.rateLimit.rate, api.rateLimit.perMs, 'api')
}

function hitPlan(api: Api, { book, nodeTags }: CompileParts): HitPlan | undefined {
  if (book === undefined || api.record === undefined) return undefined
  const tags = new ApiTags({ apiTags: api.tags ?? [], nodeTags, tagHeaders: api.record.tagHeaders })
  return { book, tags }
}

function recordPlan(api: Api, { book, records, recordsDetailed }: CompileParts): RecordPlan | undefined {
  if (book === undefined || records === undefined || api.record === undefined) return undefined
  return new RecordPlan(api, recordsDetailed, records.timing)
}

function earliest(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Math.min(a, b)
}
