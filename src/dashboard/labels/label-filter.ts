import { fault } from '../../errors/fault.ts'
import { labelIndexEntry } from '../../model/apis/definition/api-metadata.ts'
import { normaliseText } from '../../model/text/normalise-text.ts'
import type { Where } from '../../store/ports/ports.ts'

/**
 * The conditions of `labels=key:value` in a list of APIs: one for each key, with all values that were given for it.
 * For `and` of a list query. @throws Fault `query_invalid` (400) for one without key or value
 */
export function labelConditions(given: readonly string[]): Where[] {
  const byKey = new Map<string, string[]>()
  for (const text of given.filter((entry) => entry !== '')) {
    const [key = '', value = ''] = text.split(/:(.*)/s).map((part) => normaliseText(part.trim()))
    if (key === '' || value === '') throw fault('query_invalid', 'labels must be given as key:value')
    byKey.set(key, [...(byKey.get(key) ?? []), value])
  }
  return [...byKey].map(([key, values]) => ({ label: values.map((value) => labelIndexEntry(key, value)) }))
}
