import { type Limit, type LimitOwner, quotaLimit, rateLimit } from '../limits/limit.ts'
import { type Matcher, matcherFor } from '../patterns/matcher.ts'
import type { PatternWork } from '../patterns/pattern-work.ts'
import type { EffectiveRight, Merged } from '../policies/merge-policies.ts'
import { foldLetters } from '../text/fold.ts'
import { methodName } from '../text/method-name.ts'
import { allowsPath, compilePaths, type PathRule } from './rights.ts'

export interface SessionAccessOptions {
  /** Limits that are checked before those of the key, such as the rate of the API itself. */
  readonly before?: readonly Limit[]
  readonly skipRate?: boolean
  readonly skipQuota?: boolean
  /** The API does not heed letter case, so neither do the limits of endpoints. */
  readonly ignoreCase?: boolean
}

interface EndpointRule {
  readonly method: string
  readonly pattern: Matcher | undefined
  /** undefined = unlimited. */
  readonly rate: Limit | undefined
  readonly limits: readonly Limit[]
}

const NO_ENDPOINTS: readonly EndpointRule[] = []

/** The part of the access that is the same for all sessions that share an access right. */
interface CompiledRight {
  readonly versions: ReadonlySet<string>
  readonly paths: readonly PathRule[] | undefined
  /** Of endpoints with separate limits, in order: case-sensitive, and case-insensitive. */
  readonly endpoints: Map<boolean, readonly (Matcher | undefined)[]>
}

/** Module state: a cache of immutable values, by the right that each was compiled from. */
const compiledRights = new WeakMap<EffectiveRight, CompiledRight>()

function compiledRight(right: EffectiveRight): CompiledRight {
  let compiled = compiledRights.get(right)
  if (compiled === undefined) {
    compiled = { versions: new Set(right.versions), paths: compilePaths(right.allowedUrls), endpoints: new Map() }
    compiledRights.set(right, compiled)
  }
  return compiled
}

function endpointMatchers(right: EffectiveRight, ignoreCase: boolean): readonly (Matcher | undefined)[] {
  const { endpoints } = compiledRight(right)
  let matchers = endpoints.get(ignoreCase)
  if (matchers === undefined) {
    matchers = right.endpoints.map(({ path }) => matcherFor(path, ignoreCase))
    endpoints.set(ignoreCase, matchers)
  }
  return matchers
}

/**
 * The access of a session to one API, compiled once and used for every request without allocating: access rights, and the limits
 * that each request takes from, in order: `before`, rate, quota.
 */
export class SessionAccess {
  // Fields that each request reads come first: with thousands of keys in use each line of memory is waited for.
  private readonly paths: readonly PathRule[] | undefined
  private readonly endpoints: readonly EndpointRule[]
  private readonly limits: readonly Limit[]
  private readonly ignoreCase: boolean
  /** Must allow it too, and counts it too. */
  private readonly narrower: SessionAccess | undefined
  readonly apiId: string
  /** Names of versions; on an API with versions an empty set allows none, on one without it is not looked at. */
  readonly versions: ReadonlySet<string>
  /** The rate of the key at this API; undefined = unlimited. Requests at an endpoint with a separate limit use `rateFor`. */
  readonly rate: Limit | undefined
  /** undefined = no quota is enforced. */
  readonly quota: Limit | undefined
  /** Wait between tries after a refused rate, and how often; 0 in either = off. */
  readonly throttleIntervalMs: number
  readonly throttleRetryLimit: number
  /** Lists of both, by the one and the other: made once. */
  private joined: Map<readonly Limit[], Map<readonly Limit[], readonly Limit[]>> | undefined

  constructor(right: EffectiveRight, counterId: string, options: SessionAccessOptions, owner: LimitOwner = 'key') {
    const before = options.before ?? []
    this.apiId = right.apiId
    const { versions, paths } = compiledRight(right)
    this.versions = versions
    this.paths = paths
    this.rate = options.skipRate === true ? undefined : rateOfKey(right, counterId, owner)
    this.quota = options.skipQuota === true ? undefined : quotaOfKey(right, counterId, owner)
    this.throttleIntervalMs = right.throttle.intervalS * 1000
    this.throttleRetryLimit = right.throttle.retryLimit
    this.limits = listed(before, this.rate, this.quota)
    const { skipRate = false, skipQuota = false, ignoreCase = false } = options
    this.ignoreCase = ignoreCase
    this.endpoints = skipRate
      ? NO_ENDPOINTS
      : endpointRules(right, counterId, { before, quota: this.quota, ignoreCase })
    this.narrower =
      right.narrowedBy &&
      new SessionAccess(right.narrowedBy, `${counterId}|n`, { skipRate, skipQuota, ignoreCase }, 'client')
  }

  /** True when no path is refused, so that nobody has to read it. */
  get allowsAnyPath(): boolean {
    return this.paths === undefined && this.narrower === undefined
  }

  /** The list for `Counters.take` where it is the same for every path; undefined where `limitsFor` must look. */
  get fixedLimits(): readonly Limit[] | undefined {
    return this.endpoints.length === 0 && this.narrower === undefined ? this.limits : undefined
  }

  /** True when the session may call this method and path (readable, listen path included). */
  allows(method: string, fullPath: string, account: PatternWork): boolean {
    if (!allowsPath(this.paths, method, fullPath, account)) return false
    return this.narrower === undefined || this.narrower.allows(method, fullPath, account)
  }

  /** The rate that a request meets: of the first endpoint that matches, else of the key. `path` is without the listen path. */
  rateFor(method: string, path: string, account: PatternWork): Limit | undefined {
    const endpoint = this.endpointFor(method, path, account)
    return endpoint === undefined ? this.rate : endpoint.rate
  }

  /** The list to hand to `Counters.take` for a request. `path` is readable, without the listen path. */
  limitsFor(method: string, path: string, account: PatternWork): readonly Limit[] {
    const endpoint = this.endpointFor(method, path, account)
    const own = endpoint === undefined ? this.limits : endpoint.limits
    return this.narrower === undefined ? own : this.join(own, this.narrower.limitsFor(method, path, account))
  }

  /** The quota of this access, then those of what narrows it. */
  get quotas(): readonly Limit[] {
    return [...(this.quota === undefined ? [] : [this.quota]), ...(this.narrower?.quotas ?? [])]
  }

  private join(own: readonly Limit[], further: readonly Limit[]): readonly Limit[] {
    this.joined ??= new Map()
    let byFurther = this.joined.get(own)
    if (byFurther === undefined) {
      byFurther = new Map()
      this.joined.set(own, byFurther)
    }
    const known = byFurther.get(further)
    if (known !== undefined) return known
    const made = [...own, ...further]
    byFurther.set(further, made)
    return made
  }

  private endpointFor(method: string, path: string, account: PatternWork): EndpointRule | undefined {
    const endpoints = this.endpoints
    if (endpoints.length === 0) return undefined
    const sought = this.ignoreCase ? foldLetters(path) : path
    for (let i = 0; i < endpoints.length; i++) {
      const rule = endpoints[i]!
      if (rule.method === method && rule.pattern?.test(sought, account) === true) return rule
    }
    return method === 'HEAD' ? this.endpointFor('GET', path, account) : undefined
  }
}

/**
 * Compiles what a session may do at one API; undefined when it has no right there. `counterId` is who counts (key hash;
 * client or grant family of a token; a rotated key keeps that of its predecessor).
 */
export function compileAccess(
  merged: Merged,
  apiId: string,
  counterId: string,
  options: SessionAccessOptions = {},
): SessionAccess | undefined {
  const right = merged.rights.get(apiId)
  return right === undefined ? undefined : new SessionAccess(right, counterId, options)
}

function rateOfKey({ rate }: EffectiveRight, counterId: string, owner: LimitOwner): Limit | undefined {
  return rate === undefined ? undefined : rateLimit(counterOf(counterId, rate.scope), rate.rate, rate.per, owner)
}

function quotaOfKey({ quota }: EffectiveRight, counterId: string, owner: LimitOwner): Limit | undefined {
  return quota === undefined
    ? undefined
    : quotaLimit(counterOf(counterId, quota.scope), quota.max, quota.renewalS, owner)
}

function endpointRules(
  right: EffectiveRight,
  counterId: string,
  { before, quota, ignoreCase }: { before: readonly Limit[]; quota: Limit | undefined; ignoreCase: boolean },
): readonly EndpointRule[] {
  if (right.endpoints.length === 0) return NO_ENDPOINTS
  const matchers = endpointMatchers(right, ignoreCase)
  return right.endpoints.flatMap(({ path, methods }, index) =>
    (methods ?? []).map(({ name, limit }) => {
      const id = `${counterOf(counterId, `e.${right.apiId}`)}|${name} ${path}`
      const rate = rateLimit(id, limit.rate, limit.per, 'endpoint')
      return {
        method: methodName(name),
        pattern: matchers[index],
        rate,
        limits: listed(before, rate, quota),
      }
    }),
  )
}

function listed(before: readonly Limit[], rate: Limit | undefined, quota: Limit | undefined): readonly Limit[] {
  // A list that grew, or was filtered, keeps room for sixteen.
  return Array.from([...before, rate, quota].filter((limit) => limit !== undefined))
}

/** Escaped, so that no API or policy id can name another count. */
function counterOf(counterId: string, scope: string): string {
  return `${counterId}|${scope.replaceAll('%', '%25').replaceAll('|', '%7C')}`
}
