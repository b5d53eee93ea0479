import type { Json, JsonObject } from '../../json/json.ts'
import { member, setMember, unescaped } from './tree.ts'

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
