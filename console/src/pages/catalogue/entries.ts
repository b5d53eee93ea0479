import type { CatalogueEntry } from '../../api/portal/catalogue.ts'

/** Names entries apart, in order: by policy or API, and by place where two offer the same. */
export function keysOfEntries(entries: readonly CatalogueEntry[]): string[] {
  const seen = new Map<string, number>()
  return entries.map(({ policy_id, api_id }) => {
    const key = policy_id === '' ? `api:${api_id}` : policy_id
    const times = seen.get(key) ?? 0
    seen.set(key, times + 1)
    return times === 0 ? key : `${key}#${times}`
  })
}

/** The entry of a key. */
export function entryNamed(entries: readonly CatalogueEntry[], key: string): CatalogueEntry | undefined {
  return entries[keysOfEntries(entries).indexOf(key)]
}

/** The entries with one changed; undefined takes it away. */
export function withEntry(
  entries: readonly CatalogueEntry[],
  key: string,
  change: (entry: CatalogueEntry) => CatalogueEntry | undefined,
): CatalogueEntry[] {
  const keys = keysOfEntries(entries)
  return entries.flatMap((entry, at) => (keys[at] === key ? (change(entry) ?? []) : entry))
}

/** The entries in the order of the keys; entries that others have added meanwhile come last. */
export function inOrder(entries: readonly CatalogueEntry[], order: readonly string[]): CatalogueEntry[] {
  const byKey = new Map(keysOfEntries(entries).map((key, at) => [key, entries[at]!] as const))
  const ordered = order.flatMap((key) => byKey.get(key) ?? [])
  return [...ordered, ...entries.filter((entry) => !ordered.includes(entry))]
}
