import type { Json, JsonObject } from '../../json/json.ts'
import { fromPointer, getAt, type TreePath } from '../definition/tree.ts'

/** Most references that lead from one to the next. */
export const MAX_REFERENCES = 20

/** Where a `$ref` leads within its document; undefined where it leads out of it. */
export function targetOf(reference: string): TreePath | undefined {
  return reference.startsWith('#') ? fromPointer(decoded(reference.slice(1))) : undefined
}

/** The target of a `$ref`; undefined for none. */
export function referred(document: JsonObject, reference: string): Json | undefined {
  const path = targetOf(reference)
  return path && getAt(document, path)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
