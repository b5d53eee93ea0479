import type { Json, JsonObject } from '../../json/json.ts'
import type { CacheRules, OperationCacheRule } from '../definition/cache-rules.ts'
import { flagOf, numberOf, objectOf, textOf, textsOf } from '../definition/members.ts'
import { member } from '../definition/tree.ts'

/** The defaults of the product that definitions come from. */
const DEFAULT_TIMEOUT_S = 60

/** Reads `cache_options`; undefined where the cache is switched off, also for operations. */
export function readCache(classic: JsonObject): CacheRules | undefined {
  const options = objectOf(classic, 'cache_options')
  if (member(options, 'enable_cache') === false) return undefined
  return {
    allSafe: flagOf(options, 'enable_cache') && flagOf(options, 'cache_all_safe_requests'),
    timeoutS: numberOf(options, 'cache_timeout') || DEFAULT_TIMEOUT_S,
    statuses: statusesOf(options),
    byHeaders: textsOf(options, 'cache_by_headers').map((name) => name.toLowerCase()),
    upstreamDecides: flagOf(options, 'enable_upstream_cache_control'),
    lifetimeHeader: textOf(options, 'cache_control_ttl_header').toLowerCase(),
    shared: flagOf(options, 'share_between_keys'),
    keepCookies: flagOf(options, 'store_set_cookie'),
    staleWhileRevalidateS: numberOf(options, 'stale_while_revalidate'),
    staleIfErrorS: numberOf(options, 'stale_if_error'),
  }
}

/** Reads an entry of `advance_cache_config`. */
export function readOperationCache(entry: JsonObject): OperationCacheRule {
  return { timeoutS: numberOf(entry, 'timeout'), statuses: statusesOf(entry) }
}

/** Paths of the plain list `cache`, whose answers are stored as the API says. */
export function plainCachePaths(lists: JsonObject): string[] {
  return textsOf(lists, 'cache')
}

function statusesOf(holder: JsonObject): number[] {
  const list: Json | undefined = member(holder, 'cache_response_codes')
  return Array.isArray(list) ? list.filter((status) => typeof status === 'number') : []
}
