import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { MASK, redactText } from './redact.ts'

/** Members by which entries of lists are known. */
const KNOWN_BY = ['name', 'id', 'path', 'url', 'method'] as const
/** Of those, what is enough by itself. */
const ENOUGH = ['name', 'id'] as const

/** True for a text that replaces a secret which is left out. */
export type IsLeftOut = (text: string) => boolean

/**
 * Finds the originals of the entries of a list, to take left-out secrets from: by their names, several of one name by their order, and
 * entries without a name by their place. Returns an index for each entry; undefined = there is none, -1 = which one is not clear.
 */
export function twinsOf(
  list: readonly Json[],
  originals: readonly Json[],
  isLeftOut: IsLeftOut,
): (number | undefined)[] {
  const open = list.map((entry) => leavesOut(entry, isLeftOut))
  const [own, theirs] = [new AlikeEntries(list), new AlikeEntries(originals)]
  const paired = new Map<readonly number[], Pairs>()
  return list.map((entry, index) => {
    if (!open[index]) return undefined
    const known = isObject(entry) ? namesOf(entry, isLeftOut) : []
    if (!isObject(entry) || known.length === 0) return index < originals.length ? index : undefined
    const ways = [known, ...ENOUGH.filter((name) => known.length > 1 && known.includes(name)).map((name) => [name])]
    for (const names of ways) {
      const there = theirs.like(entry, names)
      if (there.length === 0) continue
      const here = own.like(entry, names)
      if (!paired.has(here)) paired.set(here, pairsOf(here, there, open))
      const pairs = paired.get(here)
      return pairs === undefined ? -1 : pairs.get(index)
    }
    return undefined
  })
}

/** Indexes of originals by those of entries; undefined = which belong together is not clear. */
type Pairs = ReadonlyMap<number, number> | undefined

/** Pairs alike entries with alike originals in their order, all of them or those that leave out secrets. Made once for all that are alike. */
function pairsOf(here: readonly number[], there: readonly number[], open: readonly boolean[]): Pairs {
  const those = here.length === there.length ? here : here.filter((at) => open[at])
  return those.length === there.length ? new Map(those.map((at, place) => [at, there[place]!])) : undefined
}

/** True where a secret is left out in a value, or in a part of it. */
function leavesOut(value: Json, isLeftOut: IsLeftOut): boolean {
  if (typeof value === 'string') return isLeftOut(value) || value.includes(MASK)
  if (Array.isArray(value)) return value.some((item) => leavesOut(item, isLeftOut))
  return isObject(value) && Object.values(value).some((item) => leavesOut(item, isLeftOut))
}

function namesOf(entry: JsonObject, isLeftOut: IsLeftOut): string[] {
  return KNOWN_BY.filter((name) => {
    const text = entry[name]
    return typeof text === 'string' && text !== '' && !isLeftOut(text)
  })
}

/** The entries of a list by what they are known by. A list is walked once for each set of members. */
class AlikeEntries {
  readonly #list: readonly Json[]
  readonly #byNames = new Map<string, ReadonlyMap<string, number[]>>()

  constructor(list: readonly Json[]) {
    this.#list = list
  }

  /** Indexes of the entries with the same values of these members. */
  like(entry: JsonObject, names: readonly string[]): readonly number[] {
    const id = names.join()
    const places = this.#byNames.get(id) ?? this.#placesBy(names)
    this.#byNames.set(id, places)
    return places.get(keyOf(entry, names)) ?? []
  }

  #placesBy(names: readonly string[]): Map<string, number[]> {
    const places = new Map<string, number[]>()
    for (const [index, entry] of this.#list.entries()) {
      if (!isObject(entry)) continue
      const key = keyOf(entry, names)
      const found = places.get(key)
      if (found === undefined) places.set(key, [index])
      else found.push(index)
    }
    return places
  }
}

/** An address may be written as it was shown: without what is secret of it. */
function keyOf(entry: JsonObject, names: readonly string[]): string {
  return JSON.stringify(
    names.map((name) => {
      const value = entry[name] ?? null
      return typeof value === 'string' ? redactText(value) : value
    }),
  )
}
