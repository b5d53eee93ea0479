import type { JsonObject } from '../../json/json.ts'
import type { ApiDocument } from '../definition/api.ts'
import { EXTENSION, extensionOf } from '../definition/extension.ts'
import type { Flaw } from '../definition/flaw.ts'
import { flagOf, isEmpty, numberOf, objectOf, objectsOf } from '../definition/members.ts'
import type { TreePath } from '../definition/tree.ts'
import { plainCachePaths } from '../read/read-cache.ts'
import { usesExtendedPaths } from '../read/read-rules.ts'

/** The settings of the cache in a definition of either format. */
interface Said {
  readonly at: TreePath
  readonly enabled: boolean
  readonly timeoutS: number
  readonly allSafe: boolean
  readonly upstreamDecides: boolean
  /** The names of its switch and its time. */
  readonly names: readonly [on: string, time: string]
  /** Operations that ask to be cached, with their own seconds; 0 = those of the API. */
  readonly operations: readonly { readonly at: TreePath; readonly timeoutS: number }[]
}

/** Settings of the response cache by which nothing is stored. */
export function cacheWarnings({ format, definition }: Pick<ApiDocument, 'format' | 'definition'>): Flaw[] {
  const said = format === 'oas' ? saidInExtension(extensionOf(definition) ?? {}) : saidInClassic(definition)
  const [on, time] = said.names
  if (!said.enabled) {
    const [first] = said.operations
    return first === undefined
      ? []
      : [{ at: first.at, reason: `stores nothing without "${on}": true in ${where(said)}` }]
  }
  if (said.upstreamDecides || said.timeoutS > 0) return []
  if (said.allSafe) return [{ at: [...said.at, time], reason: 'stores nothing: it is 0' }]
  const timeless = said.operations.find(({ timeoutS }) => timeoutS === 0)
  return timeless === undefined
    ? []
    : [{ at: timeless.at, reason: `stores nothing: its timeout and "${time}" in ${where(said)} are 0` }]
}

const where = ({ at }: Said) => at.join('.')

function saidInExtension(extension: JsonObject): Said {
  const cache = objectOf(objectOf(objectOf(extension, 'middleware'), 'global'), 'cache')
  const operations = objectOf(objectOf(extension, 'middleware'), 'operations')
  return {
    at: [EXTENSION, 'middleware', 'global', 'cache'],
    enabled: flagOf(cache, 'enabled'),
    timeoutS: numberOf(cache, 'timeout'),
    allSafe: flagOf(cache, 'cacheAllSafeRequests'),
    upstreamDecides: flagOf(cache, 'enableUpstreamCacheControl'),
    names: ['enabled', 'timeout'],
    operations: Object.keys(operations).flatMap((id) => {
      const own = objectOf(objectOf(operations, id), 'cache')
      if (!flagOf(own, 'enabled')) return []
      return [{ at: [EXTENSION, 'middleware', 'operations', id, 'cache'], timeoutS: numberOf(own, 'timeout') }]
    }),
  }
}

function saidInClassic(classic: JsonObject): Said {
  const cache = objectOf(classic, 'cache_options')
  const versions = objectOf(objectOf(classic, 'version_data'), 'versions')
  const lists = Object.keys(versions)
    .filter((name) => usesExtendedPaths(objectOf(versions, name)))
    .map((name) => ({ name, lists: objectOf(objectOf(versions, name), 'extended_paths') }))
  return {
    at: ['cache_options'],
    enabled: flagOf(cache, 'enable_cache'),
    timeoutS: numberOf(cache, 'cache_timeout'),
    allSafe: flagOf(cache, 'cache_all_safe_requests'),
    upstreamDecides: flagOf(cache, 'enable_upstream_cache_control'),
    names: ['enable_cache', 'cache_timeout'],
    operations: lists.flatMap(({ name, lists: own }) => {
      const at = ['version_data', 'versions', name, 'extended_paths']
      const listed = objectsOf(own, 'advance_cache_config').flatMap((entry, index) =>
        flagOf(entry, 'disabled')
          ? []
          : [{ at: [...at, 'advance_cache_config', String(index)], timeoutS: numberOf(entry, 'timeout') }],
      )
      // Its paths have a time of their own where the API has none.
      const plain = isEmpty(plainCachePaths(own)) ? [] : [{ at: [...at, 'cache'], timeoutS: 1 }]
      return [...listed, ...plain]
    }),
  }
}
