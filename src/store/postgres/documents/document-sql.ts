import type { Kind } from '../../ports/ports.ts'
import type { ListCondition, ListPart, PreparedList } from '../../prepare/list-query.ts'
import type { Sql } from '../connection/db.ts'
import { indexedValue, toCell } from './texts.ts'

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
export function pageSql(kind: Kind, list: PreparedList, bodies: boolean): Sql {
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
export function valuesSql(kind: Kind, list: PreparedList, index: string): Sql {
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
export function valuesBySql(kind: Kind, list: PreparedList, by: string, index: string): Sql {
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
