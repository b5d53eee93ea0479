import type { Json, JsonObject } from '../../json/json.ts'
import type { CacheRules, OperationCacheRule } from '../definition/api.ts'
import { flagOf, numberOf, objectOf, textOf, textsOf } from '../definition/members.ts'
import { member } from '../definition/tree.ts'

/** Seconds of paths in the plain list where the API says none: those of the product that definitions come from. */
const PLAIN_LIST_S = 60

/** Reads `cache_options`; undefined where the cache is not switched on, which operations need too. */
export function readCache(classic: JsonObject): CacheRules | undefined {
  const options = objectOf(classic, 'cache_options')
  if (!flagOf(options, 'enable_cache')) return undefined
  return {
    allSafe: flagOf(options, 'cache_all_safe_requests'),
    timeoutS: numberOf(options, 'cache_timeout'),
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
  return { timeoutS: numberOf(entry, 'timeout'), defaultS: 0, statuses: statusesOf(entry) }
}

/** The rule of paths in the plain list `cache`. */
export const PLAIN_CACHE_RULE: OperationCacheRule = { timeoutS: 0, defaultS: PLAIN_LIST_S, statuses: [] }

/** Paths of the plain list `cache`, whose answers are stored as the API says. */
export function plainCachePaths(lists: JsonObject): string[] {
  return textsOf(lists, 'cache')
}

function statusesOf(holder: JsonObject): number[] {
  const list: Json | undefined = member(holder, 'cache_response_codes')
  return Array.isArray(list) ? list.filter((status) => typeof status === 'number') : []
}
