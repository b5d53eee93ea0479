import { isObject, type Json, type JsonObject } from './json.ts'

/** Applies a JSON merge patch (RFC 7396): members of the patch replace those of the target, null takes one away. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const merged: JsonObject = { ...(isObject(target) ? target : {}) }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else merged[name] = mergePatch(Object.hasOwn(merged, name) ? merged[name] : undefined, value)
  }
  return merged
}
