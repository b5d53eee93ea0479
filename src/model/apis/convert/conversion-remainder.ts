import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { isEmpty } from '../definition/members.ts'
import {
  copyTree,
  fromPointer,
  getAt,
  member,
  putAt,
  removeAt,
  sameTree,
  type TreePath,
  toPointer,
} from '../definition/tree.ts'

/**
 * The remainder of a converted document, with which the reverse conversion gives the original: RFC 6901 pointer to
 * `is` (the original's value), `was` (the value of the reverse conversion), or `put` (additional entries of a list).
 * An entry is applied to the result of the reverse conversion only where that still is as it `was`, so that edits of
 * the visible part of a converted document take effect.
 */
export type PreservedMembers = JsonObject

/** The remainder with which `made` becomes `original` again. */
export function preservedMembersOf(original: JsonObject, made: JsonObject): PreservedMembers {
  const kept: PreservedMembers = {}
  compareObjects(original, made, [], kept)
  return kept
}

/**
 * Applies the remainder to `made`, in place. Returns the pointers that could not be applied: there the document
 * has a different value now, which contradicts the remainder.
 */
export function restorePreserved(kept: Json | undefined, made: JsonObject): string[] {
  if (kept === undefined || kept === null) return []
  if (!isObject(kept)) return ['/']
  return Object.keys(kept).filter((pointer) => {
    const path = fromPointer(pointer)
    const entry = kept[pointer]!
    return path === undefined || !isObject(entry) || !layOne(path, entry, made)
  })
}

/** Pointers of members that only the original's format can name. */
export function preservedPointers(kept: PreservedMembers): string[] {
  return Object.keys(kept).filter((pointer) => {
    const entry = kept[pointer]!
    return !isEmpty(member(entry, 'is')) || member(entry, 'put') !== undefined
  })
}

function compareObjects(original: JsonObject, made: JsonObject, path: TreePath, kept: PreservedMembers): void {
  for (const name of new Set([...Object.keys(original), ...Object.keys(made)])) {
    compare(member(original, name), member(made, name), [...path, name], kept)
  }
}

function compare(is: Json | undefined, was: Json | undefined, path: TreePath, kept: PreservedMembers): void {
  if (sameTree(is, was)) return
  if (is !== undefined && was !== undefined && isObject(is) && isObject(was)) {
    compareObjects(is, was, path, kept)
    return
  }
  if (Array.isArray(is) && Array.isArray(was)) {
    if (is.length === was.length) {
      is.forEach((item, index) => {
        compare(item, was[index], [...path, String(index)], kept)
      })
      return
    }
    const put = insertions(is, was)
    if (put !== undefined) {
      kept[toPointer(path)] = { put }
      return
    }
  }
  kept[toPointer(path)] = {
    ...(was === undefined ? {} : { was: copyTree(was) }),
    ...(is === undefined ? {} : { is: copyTree(is) }),
  }
}

/** Position and value of what `is` has besides `was`, when that is all the difference. */
function insertions(is: readonly Json[], was: readonly Json[]): Json[] | undefined {
  const put: Json[] = []
  let next = 0
  is.forEach((item, index) => {
    if (next < was.length && sameTree(item, was[next])) next++
    else put.push([index, copyTree(item)])
  })
  return next === was.length ? put : undefined
}

function layOne(path: TreePath, entry: JsonObject, made: JsonObject): boolean {
  const now = getAt(made, path)
  const put = member(entry, 'put')
  if (Array.isArray(put)) return insert(put, now, path, made)
  const is = member(entry, 'is')
  const was = member(entry, 'was')
  if (was !== undefined) {
    if (!sameTree(now, was)) return true // edited since: what is visible counts
    if (is === undefined) removeAt(made, path)
    else putAt(made, path, copyTree(is))
    return true
  }
  if (is === undefined) return true
  return now === undefined ? putAt(made, path, copyTree(is)) : join(is, now)
}

/** Adds what is missing to what appeared meanwhile. False when they contradict each other. */
function join(kept: Json, now: Json): boolean {
  if (isEmpty(kept) || sameTree(kept, now)) return true
  if (!isObject(kept) || !isObject(now)) return false
  return Object.keys(kept).every((name) => {
    const known = member(now, name)
    return known === undefined ? putAt(now, [name], copyTree(kept[name]!)) : join(kept[name]!, known)
  })
}

function insert(put: readonly Json[], now: Json | undefined, path: TreePath, made: JsonObject): boolean {
  if (now !== undefined && !Array.isArray(now)) return false
  const list = now ?? []
  for (const each of put) {
    if (!Array.isArray(each) || each.length !== 2 || typeof each[0] !== 'number') return false
    list.splice(Math.max(0, each[0]), 0, copyTree(each[1]!))
  }
  return now === undefined ? putAt(made, path, list) : true
}
