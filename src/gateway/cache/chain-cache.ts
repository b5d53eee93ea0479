import type { Api } from '../../model/apis/definition/api.ts'
import type { CacheRules } from '../../model/apis/definition/cache-rules.ts'
import { schemeOfRules } from '../../model/authentication/schemes.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { ApiResponses } from './api-responses.ts'
import type { ResponseCache } from './response-cache.ts'

/** The context of storing the responses of one version of an API. */
export interface ChainCache {
  readonly pool: ResponseCache
  readonly responses: ApiResponses
  readonly rules: CacheRules
  readonly clock: Clock
  /** Fields of upstreams (lower case) that are no part of a stored answer. */
  readonly unstored: ReadonlySet<string>
  /** True where an `Authorization` is what the caller was identified by, and nothing else. */
  readonly ownAuthorization: boolean
  /** True where callers with one session have sent one credential. */
  readonly oneCredential: boolean
}

/** Age is recalculated; limits come from the gateway or belong to another caller. */
const UNSTORED: ReadonlySet<string> = new Set([
  'age',
  'ratelimit',
  'ratelimit-policy',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-svc-cached-response',
])
/** Opens the cache of one version of an API; undefined when none of its answers is stored. */
export function openChainCache(
  api: Api,
  perOperation: boolean,
  pool: ResponseCache,
  clock: Clock,
): ChainCache | undefined {
  const { cache: rules, auth } = api
  if (rules === undefined || (!rules.allSafe && !perOperation) || pool.bounds.maxBytes === 0) return undefined
  const told = auth !== undefined && auth.alternatives === undefined && auth.certificate !== true
  const there = auth?.header === 'authorization' && auth.query === undefined && auth.cookie === undefined
  const oneCredential = told && schemeOfRules(auth).identifies
  return {
    pool,
    responses: pool.open(api.apiId),
    rules,
    clock,
    unstored: UNSTORED,
    ownAuthorization: oneCredential && there && !rules.shared,
    oneCredential,
  }
}
