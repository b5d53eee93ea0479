import type { Containing } from '../apis/definition/api.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'

/** How paths of rights matched at the gateway before, and where its APIs listen. */
export interface PathRules {
  readonly matching: Containing
  /** The listen path of an API by its id; undefined = not known. */
  readonly listenPathOf: (apiId: string) => string | undefined
}

/** The lists of a right that name paths, with the member that does. */
const LISTS = [
  ['allowed_urls', 'url'],
  ['endpoints', 'path'],
] as const

/** Rights with their paths written out, and the lists of each right in which any changed. */
export interface ExplicitPaths {
  readonly rights: JsonObject
  readonly changed: readonly { readonly apiId: string; readonly lists: readonly string[] }[]
}

/**
 * Rights whose paths say what the settings of the gateway before made of them: here paths are looked for anywhere. Paths that a right of
 * `before` has as they are stay so: they were read here and sent back.
 */
export function explicitPaths(rights: JsonObject, rules: PathRules, before: JsonObject = {}): ExplicitPaths {
  const changed: ExplicitPaths['changed'][number][] = []
  const entries = Object.entries(rights).map(([apiId, right]): [string, Json] => {
    if (!isObject(right)) return [apiId, right]
    const known = isObject(before[apiId]) ? before[apiId] : {}
    const listenPath = rules.listenPathOf(apiId) ?? '/'
    const bases = { allowed_urls: listenPath, endpoints: '/' }
    const rewritten = Object.fromEntries(
      LISTS.flatMap(([list, member]) => {
        const kept = new Set(pathsOf(known[list], member))
        const rewrite = (path: string) => (kept.has(path) ? path : wholePath(path, rules.matching, bases[list]))
        const listed = listedWith(right[list], member, rewrite)
        return listed === undefined ? [] : [[list, listed] as const]
      }),
    )
    const lists = Object.keys(rewritten)
    if (lists.length > 0) changed.push({ apiId, lists })
    return [apiId, { ...right, ...rewritten }]
  })
  return { rights: Object.fromEntries(entries), changed }
}

function pathsOf(entries: Json | undefined, member: string): Json[] {
  return Array.isArray(entries) ? entries.flatMap((entry) => (isObject(entry) ? [entry[member] ?? null] : [])) : []
}

/** The entries with their paths rewritten; undefined where they stay as they are. */
function listedWith(entries: Json | undefined, member: string, rewrite: (path: string) => string): Json[] | undefined {
  if (!Array.isArray(entries)) return undefined
  const changed = entries.map((entry: Json) => {
    const path = isObject(entry) ? entry[member] : undefined
    return typeof path === 'string' ? { ...(entry as JsonObject), [member]: rewrite(path) } : entry
  })
  return JSON.stringify(changed) === JSON.stringify(entries) ? undefined : changed
}

/** Of two stars that share a slash only the first was a segment there, the second any tail. */
function withStars(path: string): string {
  return path.includes('/*/*') ? path.replaceAll('/*/', '/[^/]+/').replaceAll('/*', '/.*') : path
}

/**
 * An expression that finds in a whole path what one found there: where only beginnings counted, in the path with and without the listen
 * path. Of alternatives only the first and the last are anchored, as texts were joined there.
 */
function wholePath(written: string, matching: Containing, listenPath: string): string {
  const path = withStars(written)
  if (matching === 'contains') return path
  const ended = matching !== 'begins' && !path.endsWith('$') ? `${path}$` : path
  if (matching === 'ends') return ended
  // There it matched nothing.
  if (/^[$^]*$/.test(path)) return '^$'
  const begins = ended.startsWith('/') ? ended : ended.startsWith('^/') ? ended.slice(1) : undefined
  if (begins === undefined) return ended
  const base = listenPath.replace(/(?<!\/)\/+$/, '').replace(/[\\^$.*+?()[\]|]/g, '\\$&')
  return base === '' ? `^${begins}` : `^(?:${base})?${begins}`
}
