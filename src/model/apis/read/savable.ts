import type { JsonObject } from '../../json/json.ts'
import { withSavableFields } from '../check/written-fields.ts'
import { withSavableCors } from './cors.ts'

/** A definition of another product as it can be saved, and what was changed for it. */
export interface Savable {
  readonly definition: JsonObject
  readonly changes: readonly string[]
}

/** A definition of another product without what is refused when a definition is saved here, and what was changed for it. */
export function asSavable(format: 'classic' | 'oas', definition: JsonObject): Savable {
  const saved: { definition: JsonObject; changes: string[] } = { definition, changes: [] }
  for (const step of [withSavableCors, withSavableFields]) {
    const changed = step(format, saved.definition)
    if (changed === undefined) continue
    saved.definition = changed.definition
    saved.changes.push(...changed.changes)
  }
  return saved
}
