import { fault } from '../../errors/fault.ts'
import type { DocumentId } from '../../model/documents/ids.ts'
import type { Kind, ListQuery, Revision, StoredDocument } from '../ports/ports.ts'
import { type ListCondition, type PreparedList, prepareList } from '../prepare/list-query.ts'
import {
  ANY_REVISION,
  checkIndex,
  type IndexEntry,
  indexEntries,
  type PreparedDelete,
  type PreparedPut,
  wellFormed,
} from '../prepare/prepare.ts'
import { byBytes, type Undo } from './order.ts'

interface Held {
  readonly revision: Revision
  readonly text: string
  readonly entries: readonly IndexEntry[]
}

/** Documents as JSON text, so that every reader gets a separate body; lists are sorted when asked for. */
export class MemoryDocuments {
  private readonly kinds = new Map<Kind, Map<DocumentId, Held>>()
  private readonly unique = new Map<string, DocumentId>()

  /** One document by storage id. */
  get<K extends Kind>(kind: K, id: DocumentId): StoredDocument<K> | undefined {
    const held = this.kinds.get(kind)?.get(id)
    return held && { kind, id, revision: held.revision, body: JSON.parse(held.text) }
  }

  /** The body of a document as JSON text, and its revision; '' and 0 when there is none. */
  current(kind: Kind, id: DocumentId): { text: string; revision: Revision } {
    const { text = '', revision = 0 } = this.kinds.get(kind)?.get(id) ?? {}
    return { text, revision }
  }

  /** One document by a declared unique index. */
  find<K extends Kind>(kind: K, index: string, value: string): StoredDocument<K> | undefined {
    checkIndex(kind, index)
    const id = this.unique.get(uniqueName(kind, index, wellFormed(value)))
    return id === undefined ? undefined : this.get(kind, id)
  }

  /** A page and the number of all that match. */
  list<K extends Kind>(kind: K, query: ListQuery): { rows: StoredDocument<K>[]; total: number } {
    const list = prepareList(kind, query)
    const ids = this.sortedIds(kind, list)
    const page = ids.slice(list.offset, list.offset + list.limit)
    return { rows: page.map((id) => this.get(kind, id)!), total: ids.length }
  }

  /** Ids of all that match, in the order asked for. */
  matchingIds(kind: Kind, query: Omit<ListQuery, 'offset' | 'limit'>): DocumentId[] {
    return this.sortedIds(kind, prepareList(kind, { ...query, limit: 0 }))
  }

  /** Values under an index and how many documents each, of those that match. */
  values(kind: Kind, index: string, query: Pick<ListQuery, 'where' | 'and'>): { value: string; count: number }[] {
    checkIndex(kind, index)
    const list = prepareList(kind, { ...query, limit: 0 })
    const counts = new Map<string, number>()
    for (const [, held] of this.matching(kind, list)) {
      for (const { name, value } of held.entries) if (name === index) counts.set(value, (counts.get(value) ?? 0) + 1)
    }
    const found = [...counts].map(([value, count]) => ({ value, count }))
    return found.sort((a, b) => byBytes(a.value, b.value))
  }

  valuesBy(kind: Kind, by: string, index: string, query: Pick<ListQuery, 'where' | 'and'>): Map<string, string[]> {
    checkIndex(kind, by)
    checkIndex(kind, index)
    const groups = new Map<string, string[]>()
    for (const [, { entries }] of this.matching(kind, prepareList(kind, { ...query, limit: 0 }))) {
      const values = entries.filter(({ name }) => name === index).map(({ value }) => value)
      for (const { name, value } of entries)
        if (name === by && values.length > 0) groups.set(value, [...(groups.get(value) ?? []), ...values])
    }
    return new Map([...groups].sort(([a], [b]) => byBytes(a, b)))
  }

  /** Ids of a kind in order. */
  ids(kind: Kind): DocumentId[] {
    return [...(this.kinds.get(kind)?.keys() ?? [])].sort(byBytes)
  }

  /** @throws Fault `revision_conflict`, `already_exists` */
  put(change: PreparedPut, revision: Revision, undo: Undo): void {
    const { kind, id, text } = change
    const before = this.check(change)
    const entries = indexEntries(kind, JSON.parse(text))
    for (const { name, value, unique } of entries) {
      if (!unique) continue
      const holder = this.unique.get(uniqueName(kind, name, value))
      if (holder !== undefined && holder !== id) throw fault('already_exists', `another ${kind} has this ${name}`)
    }
    this.set(kind, id, { revision, text, entries })
    undo.push(() => this.set(kind, id, before))
  }

  /** @throws Fault `revision_conflict` */
  delete(change: PreparedDelete, undo: Undo): void {
    const before = this.check(change)
    this.set(change.kind, change.id, undefined)
    undo.push(() => this.set(change.kind, change.id, before))
  }

  private sortedIds(kind: Kind, list: PreparedList): DocumentId[] {
    const keyed = this.matching(kind, list).map(([id, { entries }]) => ({ id, key: sortKey(entries, list.order) }))
    keyed.sort((a, b) => byBytes(a.key, b.key) || byBytes(a.id, b.id))
    if (list.descending) keyed.reverse()
    return keyed.map(({ id }) => id)
  }

  private matching(kind: Kind, { conditions, part }: PreparedList): [DocumentId, Held][] {
    const filed = (entries: readonly IndexEntry[], { name, values }: ListCondition) =>
      entries.some((entry) => entry.name === name && values.includes(entry.value))
    const holds = (entries: readonly IndexEntry[]) =>
      part === undefined || entries.some(({ name, value }) => part.names.includes(name) && value.includes(part.text))
    return [...(this.kinds.get(kind) ?? [])].filter(
      ([, { entries }]) => conditions.every((condition) => filed(entries, condition)) && holds(entries),
    )
  }

  private check({ kind, id, ifRevision }: PreparedPut | PreparedDelete): Held | undefined {
    const held = this.kinds.get(kind)?.get(id)
    const revision = held?.revision ?? 0
    if (ifRevision === ANY_REVISION || ifRevision === revision) return held
    throw fault('revision_conflict', `${kind} ${id} is at revision ${revision}, not ${ifRevision}`)
  }

  private set(kind: Kind, id: DocumentId, held: Held | undefined): void {
    const documents = this.kinds.get(kind) ?? new Map<DocumentId, Held>()
    this.kinds.set(kind, documents)
    for (const entry of documents.get(id)?.entries ?? []) {
      if (entry.unique) this.unique.delete(uniqueName(kind, entry.name, entry.value))
    }
    documents.delete(id)
    if (held === undefined) return
    documents.set(id, held)
    for (const entry of held.entries) if (entry.unique) this.unique.set(uniqueName(kind, entry.name, entry.value), id)
  }
}

function uniqueName(kind: Kind, index: string, value: string): string {
  return JSON.stringify([kind, index, value])
}

/** The smallest value under the index, '' where the document has none. */
function sortKey(entries: readonly IndexEntry[], order: string | undefined): string {
  const values = entries.filter(({ name }) => name === order).map(({ value }) => value)
  return values.sort(byBytes)[0] ?? ''
}
