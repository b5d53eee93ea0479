import { fault } from '../../errors/fault.ts'
import { labelIndexEntry } from '../../model/apis/definition/api-metadata.ts'
import { normaliseText } from '../../model/text/fold.ts'
import type { Where } from '../../store/ports/ports.ts'

const MOST_COLONS = 8
/** Each is looked up in the store. */
const MOST_LABELS = 50

/**
 * The conditions of `labels=name:value` in a list of APIs: one for each label, with all values that were given for it. `keyOf` finds the
 * key of a label by its key or display name, which may have colons itself.
 * For `and` of a list query. @throws Fault `query_invalid` (400) for one without name or value, and for more than 50
 */
export async function labelConditions(
  given: readonly string[],
  keyOf: (named: string) => Promise<string | undefined>,
): Promise<Where[]> {
  const byKey = new Map<string, string[]>()
  const texts = given.filter((entry) => entry !== '')
  if (texts.length > MOST_LABELS) throw fault('query_invalid', `at most ${MOST_LABELS} labels can be given`)
  for (const text of texts) {
    const [first, ...others] = splitsOf(text)
    if (first === undefined) throw fault('query_invalid', 'labels must be given as key:value')
    let [key, value] = [(await keyOf(first.named)) ?? '', first.value]
    for (const { named, value: rest } of others) if (key === '') [key, value] = [(await keyOf(named)) ?? '', rest]
    // One that nobody has defined may be carried all the same.
    if (key === '') [key, value] = [first.named, first.value]
    byKey.set(key, [...(byKey.get(key) ?? []), value])
  }
  return [...byKey].map(([key, values]) => ({ label: values.map((value) => labelIndexEntry(key, value)) }))
}

/** A text cut at each of its first colons, where that leaves a name and a value. */
function splitsOf(text: string): { readonly named: string; readonly value: string }[] {
  const parts = text.split(':')
  return parts
    .slice(1, 1 + MOST_COLONS)
    .map((_, at) => [parts.slice(0, at + 1).join(':'), parts.slice(at + 1).join(':')] as const)
    .map(([named, value]) => ({ named: normaliseText(named.trim()), value: normaliseText(value.trim()) }))
    .filter(({ named, value }) => named !== '' && value !== '')
}
