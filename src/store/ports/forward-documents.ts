import type { Documents } from './ports.ts'

/** Documents that do `own` themselves and leave everything else to `documents`: the one way to wrap them. */
export function forwardDocuments(documents: Documents, own: Partial<Documents>): Documents {
  return {
    get: (kind, id) => documents.get(kind, id),
    find: (kind, index, value) => documents.find(kind, index, value),
    list: (kind, query) => documents.list(kind, query),
    scan: (kind) => documents.scan(kind),
    each: (kind, query) => documents.each(kind, query),
    values: (kind, index, query) => documents.values(kind, index, query),
    valuesBy: (kind, by, index, query) => documents.valuesBy(kind, by, index, query),
    commit: (changes, audit) => documents.commit(changes, audit),
    note: (entry) => documents.note(entry),
    revision: () => documents.revision(),
    ...own,
  }
}
