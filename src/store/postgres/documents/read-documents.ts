import type { DocumentId } from '../../../model/documents/ids.ts'
import { mapInTurns } from '../../../runtime/turns.ts'
import type { Documents, Kind, StoredDocument } from '../../ports/ports.ts'
import { wellFormed } from '../../prepare/cells.ts'
import { type ListCondition, type ListPart, type PreparedList, prepareList } from '../../prepare/list-query.ts'
import { checkIndex } from '../../prepare/prepare.ts'
import type { Db, Sql } from '../connection/db.ts'
import { fromCell, indexedValue, toCell } from './texts.ts'

// Statements that list documents. The planner chooses what to read from: it knows how often values are.

/** Values of a statement, as they are named in its text. */
class Values {
  readonly values: unknown[] = []

  /** The name of a value. */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/**
 * A page, in order: `total` in each row, one row without an id where the page is empty. With `bodies`, documents as well, else
 * their ids only.
 */
function pageSql(kind: Kind, list: PreparedList, bodies: boolean): Sql {
  const given = new Values()
  const found = foundSql(kind, list, given)
  const direction = list.descending ? 'DESC' : 'ASC'
  const order = `ORDER BY o.value ${direction}, o.id ${direction}`
  const limit = list.limit === -1 ? 'ALL' : given.add(list.limit)
  const page = `SELECT o.id, row_number() OVER (${order}) AS place FROM (${orderedSql(kind, list, given)}) o
    ${order} LIMIT ${limit} OFFSET ${given.add(list.offset)}`
  const body = bodies ? `JOIN document d ON d.kind = ${given.add(kind)} AND d.id = p.id` : ''
  const columns = bodies ? 'p.id, d.revision, d.body' : 'p.id'
  const text = `SELECT t.n AS total, r.* FROM (SELECT count(*) AS n FROM found) t
    LEFT JOIN (SELECT p.place, ${columns} FROM (${page}) p ${body}) r ON TRUE ORDER BY r.place`
  return { text: `WITH found AS MATERIALIZED (${found}) ${text}`, values: given.values }
}

/** Values under an index of the documents that match, and how many each. */
function valuesSql(kind: Kind, list: PreparedList, index: string): Sql {
  const given = new Values()
  const narrowed = list.conditions.length > 0 || list.part !== undefined
  const all = `SELECT w.id, coalesce(w.whole, w.value) AS value FROM document_index w
    WHERE w.kind = ${given.add(kind)} AND w.name = ${given.add(index)}`
  const of = narrowed
    ? `SELECT unnest(g.held) AS value FROM (
        SELECT array_agg(u.value) FILTER (WHERE NOT u.wanted) AS held FROM (
          SELECT f.id, '' AS value, TRUE AS wanted FROM (${foundSql(kind, list, given)}) f
          UNION ALL SELECT v.id, v.value, FALSE FROM (${all}) v
        ) u GROUP BY u.id HAVING bool_or(u.wanted)
      ) g`
    : all
  const text = `SELECT v.value, count(*) AS n FROM (${of}) v GROUP BY v.value ORDER BY v.value`
  return { text, values: given.values }
}

/**
 * Of each document that matches, its values under two indexes; only of those that have both. Put together by grouping, as
 * `orderedSql` is.
 */
function valuesBySql(kind: Kind, list: PreparedList, by: string, index: string): Sql {
  const given = new Values()
  const held = (name: string, what: number) => `SELECT w.id, coalesce(w.whole, w.value) AS value, ${what} AS what
    FROM document_index w WHERE w.kind = ${given.add(kind)} AND w.name = ${given.add(name)}`
  const all = `SELECT f.id, '' AS value, 0 AS what FROM (${foundSql(kind, list, given)}) f
    UNION ALL ${held(by, 1)} UNION ALL ${held(index, 2)}`
  const text = `SELECT array_agg(u.value) FILTER (WHERE u.what = 1) AS groups, array_agg(u.value) FILTER (WHERE u.what = 2) AS held
    FROM (${all}) u GROUP BY u.id HAVING bool_or(u.what = 0) AND bool_or(u.what = 1) AND bool_or(u.what = 2)`
  return { text, values: given.values }
}

/** The ids of all that match, each once. Each condition is read once, with any table statistics. */
function foundSql(kind: Kind, { conditions, part }: PreparedList, given: Values): string {
  const tests = conditions.map((condition) => conditionSql(kind, condition, given))
  if (part !== undefined) tests.push(partSql(kind, part, given))
  if (tests.length === 0) return `SELECT d.id FROM document d WHERE d.kind = ${given.add(kind)}`
  return tests.join(' INTERSECT ')
}

function conditionSql(kind: Kind, { name, values }: ListCondition, given: Values): string {
  const [one] = values
  const which = `w.kind = ${given.add(kind)} AND w.name = ${given.add(name)}`
  if (values.length === 1)
    return `SELECT w.id FROM document_index w WHERE ${which} AND w.value = ${given.add(indexedValue(one!))}`
  const any = given.add(values.map(indexedValue))
  return `SELECT DISTINCT w.id FROM document_index w WHERE ${which} AND w.value = ANY(${any}::text[])`
}

function partSql(kind: Kind, { names, text, once }: ListPart, given: Values): string {
  return `SELECT ${once ? '' : 'DISTINCT '}w.id FROM document_index w WHERE w.kind = ${given.add(kind)}
    AND w.name = ANY(${given.add(names)}::text[]) AND strpos(w.value, ${given.add(toCell(text))}) > 0`
}

/**
 * Ids of those that match with the value that they are sorted by: the smallest where a document has several, '' where it has
 * none. Put together by grouping: a join would go over all pairs while nothing is known of a table that was just filled.
 */
function orderedSql(kind: Kind, { order }: PreparedList, given: Values): string {
  if (order === undefined) return `SELECT f.id, '' COLLATE "C" AS value FROM found f`
  return `SELECT u.id, coalesce(min(u.value), '') AS value FROM (
      SELECT f.id, NULL::text COLLATE "C" AS value, TRUE AS wanted FROM found f
      UNION ALL SELECT w.id, w.value, FALSE FROM document_index w
      WHERE w.kind = ${given.add(kind)} AND w.name = ${given.add(order)}
    ) u GROUP BY u.id HAVING bool_or(u.wanted)`
}

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
