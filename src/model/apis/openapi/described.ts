import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { textOf } from '../definition/members.ts'
import { getAt, type TreePath } from '../definition/tree.ts'
import { MAX_REFERENCES, targetOf } from './effective-schema.ts'
import type { ExampleMaker } from './example-of-schema.ts'

/** An operation as the OpenAPI document describes it. */
export interface DescribedOperation {
  readonly document: JsonObject
  /** Path of the document in the input, for the names of errors. */
  readonly root: TreePath
  /** Path of the operation and of its path item in the document. */
  readonly at: TreePath
  readonly itemAt: TreePath
  /** Makes the examples of the document, for all its operations. */
  readonly examples: ExampleMaker
}

/** The operations that an OpenAPI document describes: methods in upper case, paths as the document spells them. */
export interface Described {
  find(method: string, path: string): DescribedOperation | undefined
  list(): readonly { readonly method: string; readonly path: string }[]
}

/** The value at a path of a document, and its actual path after references within the document are followed. */
export interface Found {
  readonly value: Json | undefined
  readonly at: TreePath
}

/** Follows `$ref` from a place; `value` is undefined where a reference leads nowhere, out of the document, or in circles. */
export function follow(document: JsonObject, from: TreePath): Found {
  let at = from
  for (let i = 0; i < MAX_REFERENCES; i++) {
    const value = getAt(document, at)
    const reference = isObject(value ?? null) ? textOf(value as JsonObject, '$ref') : ''
    if (reference === '') return { value, at }
    const target = targetOf(reference)
    if (target === undefined) break
    at = target
  }
  return { value: undefined, at }
}

/** The object at a place, references followed; an empty one where there is none. */
export function describedAt(
  document: JsonObject,
  from: TreePath,
): { readonly object: JsonObject; readonly at: TreePath } {
  const { value, at } = follow(document, from)
  return { object: value !== undefined && isObject(value) ? value : {}, at }
}
