import { prebuilt } from '../../errors/fault.ts'
import type { OperationRule } from '../../model/api.ts'
import { makeLimit } from '../../model/limit.ts'
import type { BreakerRule } from '../../model/upstream-care.ts'
import { compileRewrite } from '../compile-rewrite.ts'
import { compileTransform } from '../compile-transform.ts'
import type { CompiledOperation, Step, Targets } from '../exchange.ts'
import { PathPattern } from '../path-pattern.ts'
import type { Breaker } from '../upstream/breaker.ts'

const FORBIDDEN = prebuilt('endpoint_forbidden')

interface Matcher {
  readonly method: string
  readonly pattern: PathPattern
  readonly operation: CompiledOperation
}

/** What operations are compiled with. */
export interface OperationParts {
  readonly apiId: string
  readonly version: string
  /** Opens the version's targets under a time limit of their own, milliseconds to the head of the answer. */
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
  const matchers = rules.map((rule) => matcher(rule, parts))
  // Paths without placeholders are looked up; only templates are tried one by one.
  const literals = new Map<string, Matcher[]>()
  const templates: Matcher[] = []
  rules.forEach((rule, index) => {
    const found = matchers[index]!
    if (rule.ignoreCase || /[{*]/.test(rule.path)) templates.push(found)
    else add(literals, withoutLastSlash(rule.path), found)
  })

  return function matchOperation(x) {
    const path = withoutLastSlash(x.rest)
    let operation: CompiledOperation | undefined
    for (const each of literals.get(path) ?? []) {
      if (each.method === '' || each.method === x.method) operation = joined(operation, each.operation)
    }
    for (const each of templates) {
      if ((each.method === '' || each.method === x.method) && each.pattern.matches(path)) {
        operation = joined(operation, each.operation)
      }
    }
    x.operation = operation
    if (operation?.block || (operation?.internal && x.hops === 0)) return FORBIDDEN
    if (allowOnly && !operation?.allow && !operation?.ignoreAuthentication) return FORBIDDEN
    if (operation?.ignoreAuthentication) x.skipAuthentication = true
    return undefined
  }
}

/** Upstreams mostly take `/a/` for `/a`, so a rule for one speaks of both: a block list must not be passed by a slash. */
function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path || '/'
}

function add(map: Map<string, Matcher[]>, path: string, found: Matcher): void {
  const list = map.get(path)
  if (list === undefined) map.set(path, [found])
  else list.push(found)
}

function matcher(rule: OperationRule, parts: OperationParts): Matcher {
  const { apiId, version, openTargets, openOrigin } = parts
  const name = `${rule.method === '' ? 'ANY' : rule.method} ${rule.path}`
  const rate =
    rule.rateLimit === undefined
      ? undefined
      : makeLimit('rate', `api|${apiId}|${version}|${name}`, rule.rateLimit.rate, rule.rateLimit.perMs)
  return {
    method: rule.method,
    pattern: new PathPattern(withoutLastSlash(rule.path), rule.ignoreCase),
    operation: {
      name,
      allow: rule.allow,
      block: rule.block,
      internal: rule.internal,
      ignoreAuthentication: rule.ignoreAuthentication,
      sizeLimitBytes: rule.sizeLimitBytes,
      rate,
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
      scopes: rule.scopes,
    },
  }
}

/** Several rules may speak of one request (classic lists): flags add up, of the rest the first that says something counts. */
function joined(first: CompiledOperation | undefined, second: CompiledOperation): CompiledOperation {
  if (first === undefined) return second
  return {
    name: first.name,
    allow: first.allow || second.allow,
    block: first.block || second.block,
    internal: first.internal || second.internal,
    ignoreAuthentication: first.ignoreAuthentication || second.ignoreAuthentication,
    sizeLimitBytes: first.sizeLimitBytes || second.sizeLimitBytes,
    rate: first.rate ?? second.rate,
    requestHeaders: first.requestHeaders ?? second.requestHeaders,
    responseHeaders: first.responseHeaders ?? second.responseHeaders,
    targets: first.targets ?? second.targets,
    breaker: first.breaker ?? second.breaker,
    track: first.track || second.track,
    doNotTrack: first.doNotTrack || second.doNotTrack,
    mock: first.mock ?? second.mock,
    checks: second.checks.length === 0 ? first.checks : [...first.checks, ...second.checks],
    requestBody: first.requestBody ?? second.requestBody,
    answerBody: first.answerBody ?? second.answerBody,
    rewrite: first.rewrite ?? second.rewrite,
    toMethod: first.toMethod || second.toMethod,
    cache: first.cache ?? second.cache,
    scopes: first.scopes ?? second.scopes,
  }
}
