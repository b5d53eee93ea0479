import type { Json, JsonObject } from '../../json/json.ts'
import { copyTree, getAt, pathOf, putAt, type TreePath } from '../definition/tree.ts'
import { durationMs, durationText } from '../definition/values.ts'

/** How a value is written in the other format. Either way may answer undefined: "cannot be written there". */
export interface Codec {
  toOas(value: Json): Json | undefined
  toClassic(value: Json): Json | undefined
  /** Where the other format has a member below the value, whose path in the classic one this is; the same unless given. */
  below?(path: TreePath): TreePath
}

/** Seconds and `10s`. */
export const DURATION: Codec = {
  toOas: (value) => (typeof value === 'number' ? durationText(value) : undefined),
  toClassic: (value) => {
    const ms = typeof value === 'string' ? durationMs(value) : undefined
    return ms === undefined ? undefined : ms / 1000
  },
}

/** Two members that say the same, below a classic definition (or its main version) and below the extension. */
export interface Pair {
  readonly classic: TreePath
  readonly oas: TreePath
  readonly as?: Codec
}

/** Two members, by their dotted paths. */
export function pair(classic: string, oas: string, as?: Codec): Pair {
  return { classic: pathOf(classic), oas: pathOf(oas), ...(as === undefined ? {} : { as }) }
}

/** Copies what the pairs name from one tree into the other. */
export function copyPairs(list: readonly Pair[], from: JsonObject, into: JsonObject, way: 'toOas' | 'toClassic'): void {
  const [source, target] = way === 'toOas' ? (['classic', 'oas'] as const) : (['oas', 'classic'] as const)
  for (const each of list) {
    const value = getAt(from, each[source])
    if (value === undefined) continue
    const written = each.as === undefined || value === null ? copyTree(value) : each.as[way](value)
    if (written !== undefined) putAt(into, each[target], written)
  }
}
