import type { CompiledOperation } from '../server/exchange.ts'

/** Several rules may speak of one request (classic lists): flags add up, of the rest the first that says something counts. */
export function joined(first: CompiledOperation, second: CompiledOperation): CompiledOperation {
  return joinedWith(first, second, second.checks.length === 0 ? first.checks : [...first.checks, ...second.checks])
}

/** One or more joined in their order, in time that grows with their number. */
export function joinedAll(operations: readonly CompiledOperation[]): CompiledOperation {
  if (operations.length === 1) return operations[0]!
  const checks = operations.flatMap((operation) => operation.checks)
  return operations.reduce((first, second) => joinedWith(first, second, checks))
}

function joinedWith(
  first: CompiledOperation,
  second: CompiledOperation,
  checks: CompiledOperation['checks'],
): CompiledOperation {
  return {
    name: first.name,
    allow: first.allow || second.allow,
    block: first.block || second.block,
    internal: first.internal || second.internal,
    ignoreAuthentication: first.ignoreAuthentication || second.ignoreAuthentication,
    sizeLimitBytes: first.sizeLimitBytes || second.sizeLimitBytes,
    rates: first.rates.length > 0 ? first.rates : second.rates,
    requestHeaders: first.requestHeaders ?? second.requestHeaders,
    responseHeaders: first.responseHeaders ?? second.responseHeaders,
    targets: first.targets ?? second.targets,
    breaker: first.breaker ?? second.breaker,
    track: first.track || second.track,
    doNotTrack: first.doNotTrack || second.doNotTrack,
    mock: first.mock ?? second.mock,
    checks,
    requestBody: first.requestBody ?? second.requestBody,
    answerBody: first.answerBody ?? second.answerBody,
    rewrite: first.rewrite ?? second.rewrite,
    toMethod: first.toMethod || second.toMethod,
    cache: first.cache ?? second.cache,
    scopes: [first.scopes[0] ?? second.scopes[0]],
  }
}

/** The combined restrictions of two operations that a request may match at its upstream; undefined = no operation matches. */
export function stricter(
  first: CompiledOperation | undefined,
  second: CompiledOperation | undefined,
): CompiledOperation | undefined {
  if (first === second) return first
  if (first === undefined) return restricted(second!)
  if (second === undefined) return restricted(first)
  return {
    ...joined(first, second),
    allow: first.allow && second.allow,
    ignoreAuthentication: first.ignoreAuthentication && second.ignoreAuthentication,
    sizeLimitBytes: Math.min(
      first.sizeLimitBytes || second.sizeLimitBytes,
      second.sizeLimitBytes || first.sizeLimitBytes,
    ),
    rates: [...new Set([...first.rates, ...second.rates])],
    doNotTrack: first.doNotTrack && second.doNotTrack,
    cache: first.cache === undefined || second.cache === undefined ? undefined : first.cache,
    scopes: [...first.scopes, ...second.scopes],
  }
}

/** Module state: a cache of immutable values, by the operation that each was made from. */
const restrictions = new WeakMap<CompiledOperation, CompiledOperation>()

/** An operation without what it opens. */
export function restricted(operation: CompiledOperation): CompiledOperation {
  const known = restrictions.get(operation)
  if (known !== undefined) return known
  const made = {
    ...operation,
    ...{ allow: false, ignoreAuthentication: false, doNotTrack: false, cache: undefined },
    scopes: [...operation.scopes, undefined],
  }
  restrictions.set(operation, made)
  return made
}

/** The settings of HEAD beside those of GET: what blocks GET blocks HEAD as well. */
export function closedByGet(
  head: CompiledOperation | undefined,
  get: CompiledOperation | undefined,
): CompiledOperation | undefined {
  if (head === undefined || get === undefined || head === get) return head
  return {
    ...head,
    block: head.block || get.block,
    internal: head.internal || get.internal,
    rates: [...new Set([...head.rates, ...get.rates])],
    checks: [...new Set([...head.checks, ...get.checks])],
    scopes: head.scopes[0] === undefined ? get.scopes : head.scopes,
  }
}

/**
 * True when two operations, of which the upstream may take a request for either, cannot both be had: what each makes of the request or
 * its answer differs. What restricts alone is no difference (`stricter`), nor is an answer of the gateway, a header that is only
 * removed, a rewrite or an edit of the answer where the other has none.
 */
export function clash(first: CompiledOperation | undefined, second: CompiledOperation | undefined): boolean {
  if (first === second) return false
  if (first?.toMethod !== second?.toMethod && (first?.toMethod || second?.toMethod)) return true
  if (first?.requestBody !== second?.requestBody) return true
  const [one, other] = [first?.requestHeaders, second?.requestHeaders]
  if (one !== other && (one?.lines || other?.lines)) return true
  return SINGLE.some(
    (part) => first?.[part] !== undefined && second?.[part] !== undefined && first[part] !== second[part],
  )
}

const SINGLE = ['requestHeaders', 'responseHeaders', 'mock', 'answerBody', 'rewrite'] as const
