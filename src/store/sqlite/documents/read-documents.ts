import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DocumentId } from '../../../model/documents/ids.ts'
import { mapInTurns } from '../../../runtime/turns.ts'
import type { Documents, Kind, StoredDocument } from '../../ports/ports.ts'
import { wellFormed } from '../../prepare/cells.ts'
import { type PreparedList, prepareList } from '../../prepare/list-query.ts'
import { checkIndex } from '../../prepare/prepare.ts'
import { statementsOf } from '../connection/database.ts'
import { reading } from '../connection/faults.ts'
import {
  chooseDrive,
  type Drive,
  entriesSql,
  fromBehind,
  isOneValue,
  kindSql,
  matchingSql,
  orderAlone,
  orderedSql,
  pageSql,
  type Sql,
  totalSql,
  valuesBySql,
  valuesSql,
} from './list-plan.ts'

const SCAN_BATCH = 256
/** Smaller, because the caller serialises each of them. */
const EACH_BATCH = 64
/** Characters of the documents of a batch, but for the last: a batch is in memory, and is decoded at once. */
const BATCH_CHARACTERS = 262_144
const MOST_COUNTS = 1_000
/** They hold a value of each document. */
const MOST_MAPS = 8
/** Counts of longer queries are not kept: they are seldom asked for twice. */
const MOST_WORDS = 16
/** Of a whole list: where fewer than one in so many match, they are sorted rather than picked out of all. */
const FEW = 8

/** The reading half of `Documents`, on a connection of this thread: answers at once. */
export function documentReader(
  db: DatabaseSync,
): Omit<Documents, 'commit' | 'note' | 'revision'> & { revision(): number } {
  const one = db.prepare('SELECT id, revision, body FROM document WHERE kind = ? AND id = ?')
  const held = db.prepare(`SELECT d.id, d.revision, d.body FROM document_index i
    JOIN document d ON d.kind = i.kind AND d.id = i.id WHERE i.kind = ? AND i.name = ? AND i.value = ? AND i.slot = ''`)
  const idsBehind = db.prepare('SELECT id FROM document WHERE kind = ? AND id > ? ORDER BY id LIMIT ?')
  const state = db.prepare('SELECT revision FROM store_state')
  const begin = db.prepare('BEGIN')
  const end = db.prepare('COMMIT')

  const get = <K extends Kind>(kind: K, id: DocumentId): StoredDocument<K> | undefined => {
    const row = one.get(kind, id)
    return row && toDocument(kind, row)
  }
  /** The documents of these ids, from `start` on, as many as one batch holds; and where the next one begins. */
  const batchOf = <K extends Kind>(kind: K, ids: readonly DocumentId[], start: number, most: number) => {
    const documents: StoredDocument<K>[] = []
    let [next, characters] = [start, 0]
    for (; next < ids.length && next - start < most && characters < BATCH_CHARACTERS; next++) {
      const row = one.get(kind, ids[next]!)
      if (row === undefined) continue
      characters += (row.body as string).length
      documents.push(toDocument(kind, row))
    }
    return { documents, next }
  }
  /** Several statements see one state of the data. */
  const together = <T>(work: () => T): T => {
    begin.run()
    try {
      return work()
    } finally {
      end.run()
    }
  }
  const statement = statementsOf(db)
  const all = ({ text, values }: Sql) => statement(text).all(...values)
  const count = untilCommit(db, MOST_COUNTS, (sql) => all(sql)[0]!.n as number)
  const heldBy = untilCommit(db, MOST_MAPS, heldOf(all))
  const driveOf = (kind: Kind, list: PreparedList): Drive => {
    return chooseDrive(
      kind,
      list,
      (condition, most) => count(entriesSql(kind, condition, most)),
      () => count(kindSql(kind)),
    )
  }
  /** Deep in a list its end is nearer than its beginning. */
  const pageIds = (kind: Kind, list: PreparedList, drive: Drive, total: number) => {
    const shown = Math.min(list.limit, total - list.offset)
    const back = list.limit !== -1 && list.offset > total - list.offset - shown
    // Entries of one value are walked however many documents there are, which are not counted then.
    const documents = isOneValue(list, drive) && list.order === undefined ? total : count(kindSql(kind))
    const rows = all(pageSql(kind, back ? fromBehind(list, total, shown) : list, drive, { total, documents }))
    const ids = rows.map((row) => row.id as DocumentId)
    return back ? ids.reverse() : ids
  }
  /** Ids only: sorting whole bodies would copy them all. */
  const listIds = (kind: Kind, list: PreparedList): { total: number; ids: DocumentId[] } => {
    if (matchesNothing(list)) return { total: 0, ids: [] }
    const drive = driveOf(kind, list)
    const total = count(drive === 'all' ? kindSql(kind) : totalSql(kind, list, drive))
    if (total <= list.offset || list.limit === 0) return { total, ids: [] }
    return { total, ids: pageIds(kind, list, drive, total) }
  }
  /** All that match. Where many do, to look each of them up under the conditions is what costs. */
  const allIds = (kind: Kind, list: PreparedList): DocumentId[] => {
    const narrowed = list.conditions.length > 0 || list.part !== undefined
    if (!narrowed || list.order === undefined || !list.sorted || matchesNothing(list)) return listIds(kind, list).ids
    if (orderAlone(kind, list)) return listIds(kind, list).ids
    const found = all(matchingSql(kind, list, driveOf(kind, list))).map(({ id }) => id as DocumentId)
    if (found.length * FEW < count(kindSql(kind))) return listIds(kind, list).ids
    const wanted = new Set(found)
    const ordered = all(orderedSql(kind, list)).map(({ id }) => id as DocumentId)
    return ordered.filter((id) => wanted.has(id))
  }
  return {
    get: (kind, id) => reading(() => get(kind, id)),
    find(kind, index, value) {
      checkIndex(kind, index)
      return reading(() => {
        const row = held.get(kind, index, wellFormed(value))
        return row && toDocument(kind, row)
      })
    },
    list(kind, query) {
      const list = prepareList(kind, query)
      const { total, found } = reading(() =>
        together(() => {
          const { total, ids } = listIds(kind, list)
          return { total, found: ids.map((id) => one.get(kind, id)!) }
        }),
      )
      // Texts are quick to read, and together; to decode them is what takes long.
      const rows = mapInTurns(found, (row) => reading(() => toDocument(kind, row)))
      return rows instanceof Promise ? rows.then((rows) => ({ total, rows })) : { total, rows }
    },
    values(kind, index, query = {}) {
      checkIndex(kind, index)
      const list = prepareList(kind, { ...query, limit: 0 })
      return reading(() => {
        if (matchesNothing(list)) return []
        const found = all(valuesSql(kind, list, driveOf(kind, list), index))
        return found.map(({ value, n }) => ({ value: value as string, count: n as number }))
      })
    },
    valuesBy(kind, by, index, query) {
      checkIndex(kind, by)
      checkIndex(kind, index)
      const list = prepareList(kind, { ...query, limit: 0 })
      return reading(() => {
        return matchesNothing(list) ? new Map() : heldBy(valuesBySql(kind, list, driveOf(kind, list), by, index))
      })
    },
    async *each(kind, query) {
      const list = { ...prepareList(kind, { ...query, limit: 0 }), limit: -1 }
      const ids = reading(() => together(() => allIds(kind, list)))
      for (let start = 0; start < ids.length; ) {
        // Finding out which ones is a separate task.
        if (start > 0 || ids.length > EACH_BATCH) await nextTurn()
        const { documents, next } = reading(() => batchOf(kind, ids, start, EACH_BATCH))
        start = next
        yield documents
      }
    },
    async *scan(kind) {
      let after = ''
      while (true) {
        const ids = reading(() => idsBehind.all(kind, after, SCAN_BATCH).map(({ id }) => id as DocumentId))
        if (ids.length === 0) return
        for (let start = 0; start < ids.length; ) {
          const { documents, next } = reading(() => batchOf(kind, ids, start, SCAN_BATCH))
          start = next
          if (documents.length > 0) yield documents
          // Reads answer at once: without this, loading would keep everything else from running.
          if (start < ids.length || ids.length === SCAN_BATCH) await nextTurn()
        }
        if (ids.length < SCAN_BATCH) return
        after = ids.at(-1)!
      }
    },
    revision: () => reading(() => state.get()!.revision as number),
  }
}

/** The answers of `valuesBySql`. */
function heldOf(all: (sql: Sql) => readonly Record<string, unknown>[]): (sql: Sql) => ReadonlyMap<string, string[]> {
  return (sql) => new Map(all(sql).map(({ value, held }) => [value as string, JSON.parse(held as string) as string[]]))
}

/**
 * Results cached until the next commit: paging asks for the same counts, and to count 100,000 documents of
 * an organisation takes longer than to find a page of them. When there are more than `most`, all go.
 */
function untilCommit<T>(db: DatabaseSync, most: number, ask: (sql: Sql) => T): (sql: Sql) => T {
  const state = db.prepare('SELECT revision FROM store_state')
  const kept = new Map<string, T>()
  let keptAt = -1
  return (sql) => {
    if (sql.values.length > MOST_WORDS) return ask(sql)
    const revision = state.get()!.revision as number
    if (revision !== keptAt || kept.size >= most) kept.clear()
    keptAt = revision
    const key = JSON.stringify([sql.text, ...sql.values])
    const known = kept.get(key) ?? ask(sql)
    kept.set(key, known)
    return known
  }
}

function matchesNothing({ conditions }: PreparedList): boolean {
  return conditions.some(({ values }) => values.length === 0)
}

function toDocument<K extends Kind>(kind: K, row: Record<string, unknown>): StoredDocument<K> {
  return { kind, id: row.id as DocumentId, revision: row.revision as number, body: JSON.parse(row.body as string) }
}
