import { Fault, prebuilt } from '../../../errors/fault.ts'
import { isContaining, type OperationRule, type PathMatching } from '../../../model/apis/definition/api.ts'
import type { MockRule } from '../../../model/apis/definition/operation.ts'
import type { BreakerRule } from '../../../model/apis/definition/upstream-resilience.ts'
import { isEmptyRule, NO_CHECKS } from '../../../model/apis/read/read-rules.ts'
import { makeLimit } from '../../../model/limits/limit.ts'
import { compileRewrite } from '../../apis/compile-rewrite.ts'
import { compileTransform } from '../../apis/compile-transform.ts'
import { joined } from '../../routing/join-operations.ts'
import { type IndexedRule, operationIndex } from '../../routing/operation-index.ts'
import { CORS_FIELDS } from '../../server/cors-fields.ts'
import type { CompiledOperation, Exchange, Step } from '../../server/exchange.ts'
import type { Breaker } from '../../upstream/breaker.ts'
import type { Targets } from '../../upstream/target.ts'

const FORBIDDEN = prebuilt('endpoint_forbidden')

/** The context of compiling operations. */
export interface OperationParts {
  readonly apiId: string
  readonly version: string
  readonly matching: PathMatching
  /** Opens the version's targets with a separate time limit, in milliseconds until the head of the response. */
  readonly openTargets: (timeoutMs: number) => Targets
  /** Opens another origin that an operation leads to. */
  readonly openOrigin: (url: string) => Targets
  readonly openBreaker: (operation: string, rule: BreakerRule) => Breaker
}

/**
 * Finds what the definition says about the request's method and path, and applies its allow and block lists:
 * a blocked path is refused; where any path is allowed, every other is refused.
 */
export function matchOperation(rules: readonly OperationRule[], parts: OperationParts): Step | undefined {
  if (rules.length === 0) return undefined
  const allowOnly = rules.some((rule) => rule.allow)
  const compiled = rules.map((rule) => ({ rule, operation: compileOperation(rule, parts) }))
  const find = isContaining(parts.matching)
    ? findContained(compiled, parts.matching)
    : findBelow(compiled, parts.matching)
  // In lists an ignored path is served even if another entry blocks it.
  const ignoredGoesFirst = parts.matching !== 'openapi'
  return function matchOperation(x) {
    const operation = find(x)
    if (operation instanceof Fault) return operation
    x.operation = operation
    const ignored = ignoredGoesFirst && operation?.ignoreAuthentication === true
    if ((operation?.block && !ignored) || (operation?.internal && x.hops === 0)) return FORBIDDEN
    // The request that a preflight asks for is judged when it comes.
    const isPassedPreflight = x.corsFields === CORS_FIELDS.both
    if (allowOnly && !operation?.allow && !operation?.ignoreAuthentication && !isPassedPreflight) return FORBIDDEN
    if (operation?.ignoreAuthentication) x.skipAuthentication = true
    return undefined
  }
}

type Find = (x: Exchange) => CompiledOperation | Fault | undefined

/** By the path below the listen path. */
function findBelow(rules: readonly IndexedRule[], matching: PathMatching): Find {
  const find = operationIndex(rules, matching)
  return (x) => find(x.method, x.rest, x)
}

/**
 * All rules whose path the whole path contains, or, where they name its beginning, the path below the listen path. Mocks and checks of
 * requests are those of the one operation that OpenAPI finds: they speak of its description. Replies of lists are the lists' own.
 */
function findContained(rules: readonly IndexedRule[], matching: PathMatching): Find {
  const listed = rules.filter(({ rule }) => !isEmptyRule({ ...rule, mock: replyOf(rule.mock), checks: NO_CHECKS }))
  const index = operationIndex(
    listed.map(({ rule, operation }) => ({
      rule,
      operation: { ...operation, mock: replyOf(operation.mock), checks: [] },
    })),
    matching,
  )
  const contained: Find = (x) => index(x.method, x.apiPath, x, x.apiPath.length - x.rest.length)
  if (rules.every(({ rule: { mock, checks } }) => mock === replyOf(mock) && checks.length === 0)) return contained
  const described = operationIndex(
    rules.map(({ rule, operation: { name, mock, checks } }) => ({
      rule,
      operation: { ...NOTHING, name, mock: mock === replyOf(mock) ? undefined : mock, checks },
    })),
    'openapi',
  )
  return (x) => {
    const own = described(x.method, x.rest, x)
    if (own instanceof Fault) return own
    const operation = contained(x)
    if (own === undefined || operation instanceof Fault) return operation
    return operation === undefined ? own : joined(own, operation)
  }
}

const replyOf = (mock: MockRule | undefined) => (mock !== undefined && 'listed' in mock ? mock : undefined)

const NO_RATES: CompiledOperation['rates'] = []

/** An operation that nothing is said of. */
const NOTHING: CompiledOperation = {
  name: '',
  ...{ allow: false, block: false, internal: false, ignoreAuthentication: false, track: false, doNotTrack: false },
  ...{ sizeLimitBytes: 0, rates: NO_RATES, checks: [], toMethod: '', scopes: [undefined] },
  ...{ requestHeaders: undefined, responseHeaders: undefined, targets: undefined, breaker: undefined, mock: undefined },
  ...{ requestBody: undefined, answerBody: undefined, rewrite: undefined, cache: undefined },
}

function compileOperation(rule: OperationRule, parts: OperationParts): CompiledOperation {
  const { apiId, version, openTargets, openOrigin } = parts
  const name = `${rule.method === '' ? 'ANY' : rule.method} ${rule.path}`
  const rates =
    rule.rateLimit === undefined
      ? NO_RATES
      : [makeLimit('rate', `api|${apiId}|${version}|${name}`, rule.rateLimit.rate, rule.rateLimit.perMs, 'operation')]
  return {
    name,
    allow: rule.allow,
    block: rule.block,
    internal: rule.internal,
    ignoreAuthentication: rule.ignoreAuthentication,
    sizeLimitBytes: rule.sizeLimitBytes,
    rates,
    requestHeaders: compileTransform(rule.requestHeaders),
    responseHeaders: compileTransform(rule.responseHeaders),
    targets: rule.timeoutMs > 0 ? openTargets(rule.timeoutMs) : undefined,
    breaker: rule.breaker === undefined ? undefined : parts.openBreaker(name, rule.breaker),
    track: rule.track,
    doNotTrack: rule.doNotTrack,
    mock: rule.mock,
    checks: rule.checks,
    requestBody: rule.requestBody,
    answerBody: rule.answerBody,
    rewrite: rule.rewrite === undefined ? undefined : compileRewrite(rule.rewrite, openOrigin),
    toMethod: rule.toMethod,
    cache: rule.cache,
    scopes: [rule.scopes],
  }
}
