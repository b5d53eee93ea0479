import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { secretsOf, twinsOf } from '../../model/secrets/secret-places.ts'
import type { MoveFlaw, MoveKind } from './kind.ts'
import { type Path, pathText, withValueAt } from './paths.ts'
import { isSecretSentinel } from './placeholders.ts'

/**
 * Where a document holds secrets that a file is not to hold. Values of header fields count by their names alone: what is sent on is
 * part of what people review.
 */
export function secretPlaces(value: Json, path: Path = []): Path[] {
  return secretsOf(value)
    .filter(({ header }) => !header)
    .map((place) => [...path, ...place.path])
}

/** Long enough for any algorithm, as it is and in base64. */
const SHARED_KEY = 'kept'.repeat(24)
/** Values that a secret may have where nobody knows it: a place takes at least one of them. */
const SUBSTITUTES = [SHARED_KEY, 'https://kept.example/', '/kept', 'kept']

/**
 * Checks a body by itself although some of its secrets are not in the file: values replace them, so that everything else is checked.
 * Returns the body with these values too.
 */
export function checkWithoutSecrets(kind: MoveKind, body: JsonObject): { flaws: MoveFlaw[]; body: JsonObject } {
  const kept = keptPlaces(body)
  if (kept.length === 0) return { flaws: kind.flaws(body), body }
  const tried = kept.map(() => 0)
  for (;;) {
    const filled = kept.reduce<Json>((copy, path, at) => withValueAt(copy, path, SUBSTITUTES[tried[at]!]!), body)
    const flaws = kind.flaws(filled as JsonObject)
    const refused = kept.flatMap((path, at) =>
      tried[at]! + 1 < SUBSTITUTES.length && flaws.some((flaw) => isWithin(flaw.path, path)) ? [at] : [],
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

/** A secret that neither the file nor the target has, and why. */
export interface MissingSecret {
  readonly path: Path
  readonly why: string
}

const NONE = 'is kept out of the files, and the target has none'
const AMBIGUOUS = 'is kept out of the files, and the target has another number of entries of this name'

/** A document of a file whose kept secrets are those that the target has in the same place (`twinsOf`). */
export function fillSecrets(value: Json, there: Json | undefined, missing: MissingSecret[], path: Path = []): Json {
  if (isSecretSentinel(value)) {
    if (typeof there === 'string' && there !== '') return there
    missing.push({ path, why: NONE })
    return ''
  }
  if (Array.isArray(value)) {
    const others = Array.isArray(there) ? there : []
    const twins = twinsOf(value, others, isSecretSentinel)
    return value.map((item, index) => {
      const twin = twins[index]
      const unfilled: MissingSecret[] = []
      const filled = fillSecrets(item, twin === undefined ? undefined : others[twin], unfilled, [...path, index])
      missing.push(...(twin === -1 ? unfilled.map((each) => ({ ...each, why: AMBIGUOUS })) : unfilled))
      return filled
    })
  }
  if (!isObject(value)) return value
  const other = isObject(there) ? there : {}
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      const twin = Object.hasOwn(other, name) ? other[name] : undefined
      return [name, fillSecrets(item, twin, missing, [...path, name])]
    }),
  )
}
