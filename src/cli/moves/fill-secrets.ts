import { isObject, type Json } from '../../model/json/json.ts'
import { twinsOf } from '../../model/secrets/entry-twins.ts'
import { isSecretSentinel } from './files.ts'
import type { Path } from './paths.ts'

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
