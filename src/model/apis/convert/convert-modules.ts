import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { copyTree, member } from '../definition/tree.ts'

const NAMES = [
  ['name', 'functionName'],
  ['path', 'path'],
  ['require_session', 'requireSession'],
  ['raw_body_only', 'rawBodyOnly'],
  ['body_limit_bytes', 'bodyLimitBytes'],
] as const

/** Entries of `custom_middleware` and of lists such as `prePlugins`. */
export const MODULES = {
  toOas: (value: Json) =>
    eachEntry(value, (entry) => ({ enabled: entry.disabled !== true, ...renamed(entry, ([from, to]) => [from, to]) })),
  toClassic: (value: Json) =>
    eachEntry(value, (entry) => ({
      ...(entry.enabled === true ? {} : { disabled: true }),
      ...renamed(entry, ([to, from]) => [from, to]),
    })),
}

function eachEntry(value: Json, write: (entry: JsonObject) => JsonObject): Json | undefined {
  return Array.isArray(value) ? value.map((entry) => (isObject(entry) ? write(entry) : entry)) : undefined
}

function renamed(entry: JsonObject, way: (names: (typeof NAMES)[number]) => readonly [string, string]): JsonObject {
  const written: JsonObject = {}
  for (const names of NAMES) {
    const [from, to] = way(names)
    const value = member(entry, from)
    if (value !== undefined) written[to] = copyTree(value)
  }
  return written
}
