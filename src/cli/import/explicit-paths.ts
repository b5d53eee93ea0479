import type { Containing } from '../../model/apis/definition/api.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'

/** How paths of rights matched at the gateway before, and where its APIs listen. */
export interface PathRules {
  readonly matching: Containing
  /** The listen path of an API by its id; undefined = not known. */
  readonly listenPathOf: (apiId: string) => string | undefined
}

/**
 * Rights whose paths say what the settings of the gateway before made of them: here paths are looked for anywhere. `changes` takes what was
 * rewritten, in words.
 */
export function explicitPaths(rights: JsonObject, rules: PathRules, changes: string[]): JsonObject {
  if (rules.matching === 'contains') return rights
  return Object.fromEntries(
    Object.entries(rights).map(([id, right]) => {
      if (!isObject(right)) return [id, right]
      const listenPath = rules.listenPathOf(id) ?? '/'
      const rewritten = {
        ...listedWith(right, 'allowed_urls', 'url', (url) => wholePath(url, rules.matching, listenPath)),
        ...listedWith(right, 'endpoints', 'path', (path) => wholePath(path, rules.matching, '/')),
      }
      const names = Object.keys(rewritten)
      if (names.length > 0) changes.push(`paths of the right on API ${id} (${names.join(', ')}) are written out`)
      return [id, { ...right, ...rewritten }]
    }),
  )
}

/** The list with its paths rewritten, under its name; nothing where they stay as they are. */
function listedWith(right: JsonObject, list: string, member: string, rewrite: (path: string) => string): JsonObject {
  const entries = right[list]
  if (!Array.isArray(entries)) return {}
  const changed = entries.map((entry: Json) => {
    const path = isObject(entry) ? entry[member] : undefined
    return typeof path === 'string' ? { ...(entry as JsonObject), [member]: rewrite(path) } : entry
  })
  return JSON.stringify(changed) === JSON.stringify(entries) ? {} : { [list]: changed }
}

/**
 * An expression that finds in a whole path what one found there: where only beginnings counted, in the path with and without the listen
 * path. Of alternatives only the first and the last are anchored, as texts were joined there.
 */
function wholePath(path: string, matching: Containing, listenPath: string): string {
  const ended = matching !== 'begins' && !path.endsWith('$') ? `${path}$` : path
  if (matching === 'ends') return ended
  // There it matched nothing.
  if (/^[$^]*$/.test(path)) return '^$'
  const begins = ended.startsWith('/') ? ended : ended.startsWith('^/') ? ended.slice(1) : undefined
  if (begins === undefined) return ended
  const base = listenPath.replace(/(?<!\/)\/+$/, '').replace(/[\\^$.*+?()[\]|]/g, '\\$&')
  return base === '' ? `^${begins}` : `^(?:${base})?${begins}`
}
