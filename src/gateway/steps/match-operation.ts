import { prebuilt } from '../../errors/fault.ts'
import type { OperationRule } from '../../model/api.ts'
import { makeLimit } from '../../model/limit.ts'
import { compileTransform } from '../compile-transform.ts'
import type { CompiledOperation, Step, Targets } from '../exchange.ts'
import { PathPattern } from '../path-pattern.ts'

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
    if (operation?.block) return FORBIDDEN
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

function matcher(rule: OperationRule, { apiId, version, openTargets }: OperationParts): Matcher {
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
      ignoreAuthentication: rule.ignoreAuthentication,
      sizeLimitBytes: rule.sizeLimitBytes,
      rate,
      requestHeaders: compileTransform(rule.requestHeaders),
      responseHeaders: compileTransform(rule.responseHeaders),
      targets: rule.timeoutMs > 0 ? openTargets(rule.timeoutMs) : undefined,
      track: rule.track,
      doNotTrack: rule.doNotTrack,
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
    ignoreAuthentication: first.ignoreAuthentication || second.ignoreAuthentication,
    sizeLimitBytes: first.sizeLimitBytes || second.sizeLimitBytes,
    rate: first.rate ?? second.rate,
    requestHeaders: first.requestHeaders ?? second.requestHeaders,
    responseHeaders: first.responseHeaders ?? second.responseHeaders,
    targets: first.targets ?? second.targets,
    track: first.track || second.track,
    doNotTrack: first.doNotTrack || second.doNotTrack,
    scopes: first.scopes ?? second.scopes,
  }
}
