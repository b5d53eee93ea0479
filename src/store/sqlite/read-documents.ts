import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DocumentId } from '../../model/ids.ts'
import type { Documents, Kind, ListQuery, StoredDocument } from '../ports.ts'
import { checkIndex, wellFormed } from '../prepare.ts'
import { reading } from './reading.ts'

const SCAN_BATCH = 256
const MAX_PAGE = 1_000

/** The reading half of `Documents`, on a connection of this thread: answers at once. */
export function documentReader(db: DatabaseSync): Omit<Documents, 'commit' | 'revision'> & { revision(): number } {
  const one = db.prepare('SELECT id, revision, body FROM document WHERE kind = ? AND id = ?')
  const held = db.prepare(`SELECT d.id, d.revision, d.body FROM document_index i
    JOIN document d ON d.kind = i.kind AND d.id = i.id WHERE i.kind = ? AND i.name = ? AND i.value = ? AND i.slot = ''`)
  const batch = db.prepare('SELECT id, revision, body FROM document WHERE kind = ? AND id > ? ORDER BY id LIMIT ?')
  const state = db.prepare('SELECT revision FROM store_state')
  const begin = db.prepare('BEGIN')
  const end = db.prepare('COMMIT')

  const get = (kind: Kind, id: DocumentId): StoredDocument | undefined => {
    const row = one.get(kind, id)
    return row && toDocument(kind, row)
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
      for (const index of Object.keys(query.where ?? {})) checkIndex(kind, index)
      if (query.order !== undefined) checkIndex(kind, query.order)
      return reading(() =>
        together(() => {
          const { total, ids } = listIds(db, kind, query)
          return { total, rows: ids.map((id) => get(kind, id)!) }
        }),
      )
    },
    async *scan(kind) {
      let after = ''
      while (true) {
        const rows = reading(() => batch.all(kind, after, SCAN_BATCH).map((row) => toDocument(kind, row)))
        if (rows.length === 0) return
        yield rows
        if (rows.length < SCAN_BATCH) return
        after = rows.at(-1)!.id
        // Reads answer at once: without this, loading would keep everything else from running.
        await nextTurn()
      }
    },
    revision: () => reading(() => state.get()!.revision as number),
  }
}

/** Ids only: sorting whole bodies would copy them all. */
function listIds(db: DatabaseSync, kind: Kind, query: ListQuery): { total: number; ids: DocumentId[] } {
  const conditions = ['d.kind = ?']
  const values: SQLInputValue[] = [kind]
  for (const [index, value] of Object.entries(query.where ?? {})) {
    conditions.push(
      'EXISTS (SELECT 1 FROM document_index w WHERE w.kind = d.kind AND w.id = d.id AND w.name = ? AND w.value = ?)',
    )
    values.push(index, wellFormed(value))
  }
  const where = conditions.join(' AND ')
  const total = db.prepare(`SELECT count(*) AS n FROM document d WHERE ${where}`).get(...values)!.n as number
  const direction = query.descending ? 'DESC' : 'ASC'
  const sorted = query.order === undefined ? [] : [query.order]
  const key =
    "coalesce((SELECT min(o.value) FROM document_index o WHERE o.kind = d.kind AND o.id = d.id AND o.name = ?), '')"
  const order = sorted.length === 0 ? `d.id ${direction}` : `${key} ${direction}, d.id ${direction}`
  const rows = db
    .prepare(`SELECT d.id FROM document d WHERE ${where} ORDER BY ${order} LIMIT ? OFFSET ?`)
    .all(...values, ...sorted, pageSize(query.limit), Math.max(0, query.offset ?? 0))
  return { total, ids: rows.map((row) => row.id as DocumentId) }
}

/** The number of rows of a page: whole, 0 to 1,000. */
export function pageSize(limit: number): number {
  return Math.min(MAX_PAGE, Math.max(0, Math.floor(limit)))
}

function toDocument(kind: Kind, row: Record<string, unknown>): StoredDocument {
  return { kind, id: row.id as DocumentId, revision: row.revision as number, body: JSON.parse(row.body as string) }
}
