import { isDeepStrictEqual } from 'node:util'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'

/** Member names (and list positions, as text) from the root of a JSON tree. */
export type TreePath = readonly string[]

const POSITION = /^(?:0|[1-9]\d{0,8})$/
/** In names that RFC 6901 escapes. */
const ESCAPED = /[~/]/

/** Splits `a.b.c`. Only for names of our tables: names from outside may contain dots. */
export function pathOf(dotted: string): TreePath {
  return dotted.split('.')
}

/** Writes an own member, even one called `__proto__`, which an assignment would not make. */
export function setMember(target: JsonObject, name: string, value: Json): void {
  if (name !== '__proto__') {
    target[name] = value
    return
  }
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}

/** The own member of an object, or the element of a list; undefined when there is none. */
export function member(tree: Json | undefined, name: string): Json | undefined {
  if (typeof tree !== 'object' || tree === null) return undefined
  if (Array.isArray(tree)) return POSITION.test(name) ? tree[Number(name)] : undefined
  return Object.hasOwn(tree, name) ? (tree as JsonObject)[name] : undefined
}

/** The value at a path, undefined without one. */
export function getAt(tree: Json | undefined, path: TreePath): Json | undefined {
  let at = tree
  for (const name of path) at = member(at, name)
  return at
}

/** Puts a value at a path and makes the objects on the way. False when something that holds no members is in the way. */
export function putAt(tree: JsonObject, path: TreePath, value: Json): boolean {
  let at: Json = tree
  for (const name of path.slice(0, -1)) {
    let next = member(at, name)
    if (next === undefined && isObject(at)) {
      next = {}
      setMember(at, name, next)
    }
    if (typeof next !== 'object' || next === null) return false
    at = next
  }
  const last = path.at(-1)!
  if (isObject(at)) {
    setMember(at, last, value)
    return true
  }
  if (!Array.isArray(at) || member(at, last) === undefined) return false
  at[Number(last)] = value
  return true
}

/** Takes the member at a path away; objects on the way stay, even when they are empty then. */
export function removeAt(tree: JsonObject, path: TreePath): void {
  const holder = getAt(tree, path.slice(0, -1))
  if (isObject(holder)) delete holder[path.at(-1)!]
}

/** A copy that shares nothing. Deep trees are refused before they get here (`checkBounds`). */
export function copyTree<T extends Json>(tree: T): T {
  if (Array.isArray(tree)) return tree.map(copyTree) as T
  if (!isObject(tree)) return tree
  const copy: JsonObject = {}
  for (const name of Object.keys(tree)) setMember(copy, name, copyTree(tree[name]!))
  return copy as T
}

/** True when two trees are equal, in any order of their members. */
export function sameTree(a: Json | undefined, b: Json | undefined): boolean {
  return isDeepStrictEqual(a, b)
}

/** RFC 6901 text of a path. */
export function toPointer(path: TreePath): string {
  let pointer = ''
  for (const name of path) pointer += `/${ESCAPED.test(name) ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name}`
  return pointer
}

/** Path of an RFC 6901 text; undefined when it is not one. */
export function fromPointer(pointer: string): TreePath | undefined {
  return pointer.startsWith('/') ? pointer.slice(1).split('/').map(unescaped) : undefined
}

/** The name that a part of an RFC 6901 text means. */
function unescaped(part: string): string {
  return part.includes('~') ? part.replaceAll('~1', '/').replaceAll('~0', '~') : part
}

/** A path as people write it: `a.b[0]["x.y"]`. */
export function toWords(path: TreePath): string {
  let text = ''
  for (const name of path) {
    if (/^\d+$/.test(name)) text += `[${name}]`
    else if (/^[\w$-]+$/.test(name)) text += text === '' ? name : `.${name}`
    else text += `[${JSON.stringify(name)}]`
  }
  return text === '' ? 'the document' : text
}

/** One thing that is wrong with a document: where, and what, in words that follow a colon. */
export interface Flaw {
  readonly at: readonly string[]
  readonly reason: string
}

/**
 * A tree with other values in some places. Objects and lists on the way to them are copied once and found by their pointers, so that a
 * document with very many such places costs little more than one with few; everything else is shared with the original.
 */
export class PointedCopy {
  readonly top: JsonObject
  /** By RFC 6901 pointer; undefined = nothing there holds members. */
  readonly #holders: Map<string, JsonObject | Json[] | undefined>

  constructor(tree: JsonObject) {
    this.top = { ...tree }
    this.#holders = new Map([['', this.top]])
  }

  /** Puts a value where an RFC 6901 pointer leads, if its holder is there, and answers the one before. */
  put(pointer: string, value: Json): Json | undefined {
    const end = pointer.lastIndexOf('/')
    const holder = end === -1 ? undefined : this.#holderAt(pointer.slice(0, end))
    if (holder === undefined) return undefined
    const name = unescaped(pointer.slice(end + 1))
    const before = member(holder, name)
    if (!Array.isArray(holder)) setMember(holder, name, value)
    else if (before !== undefined) holder[Number(name)] = value
    return before
  }

  #holderAt(pointer: string): JsonObject | Json[] | undefined {
    if (this.#holders.has(pointer)) return this.#holders.get(pointer)
    const end = pointer.lastIndexOf('/')
    const above = end === -1 ? undefined : this.#holderAt(pointer.slice(0, end))
    const name = unescaped(pointer.slice(end + 1))
    const found = member(above, name)
    const copy =
      typeof found !== 'object' || found === null ? undefined : Array.isArray(found) ? [...found] : { ...found }
    this.#holders.set(pointer, copy)
    if (copy === undefined) return undefined
    if (Array.isArray(above)) above[Number(name)] = copy
    else setMember(above!, name, copy)
    return copy
  }
}
