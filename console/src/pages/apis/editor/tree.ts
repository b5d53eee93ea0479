import type { Definition, Json } from '../../../api/apis/apis.ts'

/** Member of an OpenAPI document with the gateway settings. */
export const EXTENSION = 'x-svc-api-gateway'

/** True for a JSON object. */
export function isObject(value: Json | undefined): value is Definition {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at a path; undefined without one. */
export function at(tree: Json | undefined, path: readonly string[]): Json | undefined {
  let here = tree
  for (const name of path) {
    if (!isObject(here) || !Object.hasOwn(here, name)) return undefined
    here = here[name]
  }
  return here
}

/** The object that names lead to; an empty one when there is none. */
export function objectAt(tree: Json | undefined, path: readonly string[]): Definition {
  const found = at(tree, path)
  return isObject(found) ? found : {}
}

/** The texts of the list that names lead to. */
export function textsAt(tree: Json | undefined, path: readonly string[]): string[] {
  const found = at(tree, path)
  return Array.isArray(found) ? found.filter((entry) => typeof entry === 'string') : []
}

/** The text that names lead to; '' when there is none. */
export function textAt(tree: Json | undefined, path: readonly string[]): string {
  const found = at(tree, path)
  return typeof found === 'string' ? found : ''
}

/** A copy with the value at this path set, or removed (undefined); missing objects on the path are created. */
export function withAt(tree: Definition, path: readonly string[], value: Json | undefined): Definition {
  const [name, ...rest] = path as [string, ...string[]]
  if (rest.length > 0) {
    const below = Object.hasOwn(tree, name) ? tree[name] : undefined
    if (value === undefined && !isObject(below)) return tree
    return { ...tree, [name]: withAt(isObject(below) ? below : {}, rest, value) }
  }
  if (value !== undefined) return { ...tree, [name]: value }
  const { [name]: _gone, ...others } = tree
  return others as Definition
}

/** A value in its place, or nothing; a place that is not there already stays away. */
export function written(tree: Definition, place: readonly string[], value: Json | undefined): Definition {
  if (value === undefined && at(tree, place) === undefined) return tree
  return withAt(tree, place, value)
}
