import { Fault, prebuilt } from '../../../errors/fault.ts'
import type { OperationRule, PathMatching } from '../../../model/apis/definition/api.ts'
import type { BreakerRule } from '../../../model/apis/definition/upstream-resilience.ts'
import { makeLimit } from '../../../model/limits/limit.ts'
import { compileRewrite } from '../../apis/compile-rewrite.ts'
import { compileTransform } from '../../apis/compile-transform.ts'
import { operationIndex } from '../../routing/operation-index.ts'
import type { CompiledOperation, Step, Targets } from '../../server/exchange.ts'
import type { Breaker } from '../../upstream/breaker.ts'

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
  const find = operationIndex(
    rules.map((rule) => ({ rule, operation: compileOperation(rule, parts) })),
    parts.matching,
  )

  return function matchOperation(x) {
    const operation = find(x.method, x.rest, x)
    if (operation instanceof Fault) return operation
    x.operation = operation
    if (operation?.block || (operation?.internal && x.hops === 0)) return FORBIDDEN
    if (allowOnly && !operation?.allow && !operation?.ignoreAuthentication) return FORBIDDEN
    if (operation?.ignoreAuthentication) x.skipAuthentication = true
    return undefined
  }
}

const NO_RATES: CompiledOperation['rates'] = []

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
