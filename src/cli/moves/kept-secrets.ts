import type { Json, JsonObject } from '../../model/json/json.ts'
import { isObject } from '../../model/json/json.ts'
import { isSecretSentinel } from './files.ts'
import type { MoveFlaw, MoveKind } from './kind.ts'
import { type Path, pathText, withValueAt } from './paths.ts'

/** Long enough for any algorithm, as it is and in base64. */
const SHARED_KEY = 'kept'.repeat(24)
/** Values that a secret may have where nobody knows it: a place takes at least one of them. */
const STAND_INS = [SHARED_KEY, 'https://kept.example/', '/kept', 'kept']

/**
 * Checks a body by itself although some of its secrets are not in the file: values stand in for them, so that everything else is
 * checked. Returns the body with these values too.
 */
export function checkWithoutSecrets(kind: MoveKind, body: JsonObject): { flaws: MoveFlaw[]; body: JsonObject } {
  const kept = keptPlaces(body)
  if (kept.length === 0) return { flaws: kind.flaws(body), body }
  const tried = kept.map(() => 0)
  for (;;) {
    const filled = kept.reduce<Json>((copy, path, at) => withValueAt(copy, path, STAND_INS[tried[at]!]!), body)
    const flaws = kind.flaws(filled as JsonObject)
    const refused = kept.flatMap((path, at) =>
      tried[at]! + 1 < STAND_INS.length && flaws.some((flaw) => isWithin(flaw.path, path)) ? [at] : [],
    )
    if (refused.length === 0) {
      const known = new Set(kept.map(pathText))
      return { flaws: flaws.filter(({ path }) => !known.has(pathText(path))), body: filled as JsonObject }
    }
    for (const at of refused) tried[at]!++
  }
}

function keptPlaces(value: Json, path: Path = []): Path[] {
  if (isSecretSentinel(value)) return [path]
  if (Array.isArray(value)) return value.flatMap((item, index) => keptPlaces(item, [...path, index]))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, item]) => keptPlaces(item, [...path, name]))
}

/** True for the place itself and for what holds it. */
function isWithin(outer: Path, path: Path): boolean {
  return outer.every((step, at) => String(step) === String(path[at]))
}
