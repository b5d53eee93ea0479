import type { DocumentId } from '../../../model/documents/ids.ts'
import { mapInTurns } from '../../../runtime/turns.ts'
import type { Documents, Kind, StoredDocument } from '../../ports/ports.ts'
import { wellFormed } from '../../prepare/cells.ts'
import { type PreparedList, prepareList } from '../../prepare/list-query.ts'
import { checkIndex } from '../../prepare/prepare.ts'
import type { Db, Sql } from '../connection/db.ts'
import { pageSql, valuesBySql, valuesSql } from './document-sql.ts'
import { fromCell, indexedValue } from './texts.ts'

const SCAN_BATCH = 256
const EACH_BATCH = 64

interface DocumentRow {
  readonly id: string
  readonly revision: number
  readonly body: string
}

/** The reading half of `Documents`. `stallMs`: how long to wait for one row. */
export function documentReader(db: Db, stallMs: number): Omit<Documents, 'commit' | 'note'> {
  const read = <Row extends object>({ text, values }: Sql) => db.read<Row>(text, values)
  const listed = async <K extends Kind>(
    kind: K,
    list: PreparedList,
  ): Promise<{ rows: StoredDocument<K>[]; total: number }> => {
    if (matchesNothing(list)) return { rows: [], total: 0 }
    const found = await read<DocumentRow & { total: number }>(pageSql(kind, list, true))
    const matching = found.filter(({ id }) => id !== null)
    const rows = await mapInTurns(matching, (row) => toDocument<K>(kind, row))
    return { total: found[0]?.total ?? 0, rows }
  }
  const idsOf = async (kind: Kind, list: PreparedList): Promise<string[]> => {
    if (matchesNothing(list)) return []
    const found = await read<{ id: string | null }>(pageSql(kind, list, false))
    return found.flatMap(({ id }) => (id === null ? [] : [id]))
  }
  return {
    async get(kind, id) {
      const text = 'SELECT id, revision, body FROM document WHERE kind = $1 AND id = $2'
      const [row] = await db.read<DocumentRow>(text, [kind, id], stallMs)
      return row && toDocument(kind, row)
    },
    async find(kind, index, value) {
      checkIndex(kind, index)
      const [row] = await db.read<DocumentRow>(
        `SELECT d.id, d.revision, d.body FROM document_index i JOIN document d ON d.kind = i.kind AND d.id = i.id
          WHERE i.kind = $1 AND i.name = $2 AND i.value = $3 AND i.uniq`,
        [kind, index, indexedValue(wellFormed(value))],
        stallMs,
      )
      return row && toDocument(kind, row)
    },
    list: async (kind, query) => listed(kind, prepareList(kind, query)),
    async values(kind, index, query = {}) {
      checkIndex(kind, index)
      const list = prepareList(kind, { ...query, limit: 0 })
      if (matchesNothing(list)) return []
      const found = await read<{ value: string; n: number }>(valuesSql(kind, list, index))
      return found.map(({ value, n }) => ({ value: fromCell(value), count: n }))
    },
    async valuesBy(kind, by, index, query) {
      checkIndex(kind, by)
      checkIndex(kind, index)
      const list = prepareList(kind, { ...query, limit: 0 })
      const rows = matchesNothing(list)
        ? []
        : await read<{ groups: string[]; held: string[] }>(valuesBySql(kind, list, by, index))
      const found = new Map<string, string[]>()
      for (const { groups, held } of rows) {
        for (const group of groups)
          found
            .set(group, found.get(group) ?? [])
            .get(group)!
            .push(...held)
      }
      const texts = [...found].map(([value, held]) => [fromCell(value), held.map(fromCell)] as const)
      return new Map(texts.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
    },
    async *each(kind, query) {
      const ids = await idsOf(kind, { ...prepareList(kind, { ...query, limit: 0 }), limit: -1 })
      for (let start = 0; start < ids.length; start += EACH_BATCH) {
        const batch = ids.slice(start, start + EACH_BATCH)
        const rows = await db.read<DocumentRow>(
          'SELECT id, revision, body FROM document WHERE kind = $1 AND id = ANY($2::text[])',
          [kind, batch],
        )
        const found = new Map(rows.map((row) => [row.id, row]))
        const there = batch.flatMap((id) => found.get(id) ?? [])
        yield await mapInTurns(there, (row) => toDocument(kind, row))
      }
    },
    async *scan(kind) {
      let after = ''
      while (true) {
        const rows = await db.read<DocumentRow>(
          `SELECT id, revision, body FROM document WHERE kind = $1 AND id > $2 ORDER BY id LIMIT ${SCAN_BATCH}`,
          [kind, after],
        )
        if (rows.length > 0) yield await mapInTurns(rows, (row) => toDocument(kind, row))
        if (rows.length < SCAN_BATCH) return
        after = rows.at(-1)!.id
      }
    },
    async revision() {
      const [row] = await db.read<{ revision: number }>('SELECT revision FROM store_state', [], stallMs)
      return row!.revision
    },
  }
}

function matchesNothing({ conditions }: PreparedList): boolean {
  return conditions.some(({ values }) => values.length === 0)
}

function toDocument<K extends Kind>(kind: K, row: DocumentRow): StoredDocument<K> {
  return { kind, id: row.id as DocumentId, revision: row.revision, body: JSON.parse(row.body) }
}
