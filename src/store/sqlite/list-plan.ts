import type { SQLInputValue } from 'node:sqlite'
import type { ListCondition, PreparedList } from '../list-query.ts'
import type { Kind } from '../ports.ts'

/** A statement and what is bound to it. Its text depends on the shape of the query alone. */
export interface Sql {
  readonly text: string
  readonly values: readonly SQLInputValue[]
}

/** What a list is read from: entries of one condition, of the index of a part, or the documents themselves. */
export type Drive = ListCondition | 'part' | 'all'

/** Finding an entry by its document costs about as much as reading so many in a row. */
const PROBE_ROWS = 8
/** Entries beyond are not counted to choose what to read from. */
export const COUNTED_ROWS = 50_000

// Indexes are named, because without statistics SQLite now and then takes the other one: the first is the primary key
// (kind, name, value, slot), in the order of values and ids; by_id finds the entries of a document.
const WALK = 'document_index c INDEXED BY sqlite_autoindex_document_index_1'
const PROBE = 'document_index w INDEXED BY document_index_by_id WHERE w.kind = c.kind AND w.id = c.id'

/** How many entries a condition has, up to `COUNTED_ROWS`. */
export function entriesSql(kind: Kind, condition: ListCondition): Sql {
  const from = fromCondition(kind, condition)
  return {
    text: `SELECT count(*) AS n FROM (SELECT 1 FROM ${from.text} LIMIT ${COUNTED_ROWS})`,
    values: from.values,
  }
}

/** How many documents there are of a kind. */
export function kindSql(kind: Kind): Sql {
  return { text: 'SELECT count(*) AS n FROM document c WHERE c.kind = ?', values: [kind] }
}

/** Chooses what a list is read from: the condition with fewest entries, whose documents are then looked up under the others. */
export function chooseDrive(
  list: PreparedList,
  entriesOf: (condition: ListCondition) => number,
  documents: () => number,
): Drive {
  if (list.conditions.length === 1 && list.part === undefined) return list.conditions[0]!
  const counted = list.conditions.map((condition) => ({ condition, rows: costOf(condition, entriesOf) }))
  const best = counted.sort((a, b) => a.rows - b.rows)[0]
  if (list.part !== undefined && (best === undefined || best.rows * PROBE_ROWS > documents())) return 'part'
  return best?.condition ?? 'all'
}

/** How many match. */
export function totalSql(kind: Kind, list: PreparedList, drive: Drive): Sql {
  const from = fromDrive(kind, list, drive)
  const what = mayRepeat(list, drive) ? 'count(DISTINCT c.id)' : 'count(*)'
  return { text: `SELECT ${what} AS n FROM ${from.text}`, values: from.values }
}

/**
 * The ids of a page. `total` match of `documents`: where many do, the index that they are sorted by is walked until the page is
 * full; else those that match are sorted.
 */
export function pageSql(
  kind: Kind,
  list: PreparedList,
  drive: Drive,
  size: { readonly total: number; readonly documents: number },
): Sql {
  const { order, descending, offset, limit } = list
  const direction = descending ? 'DESC' : 'ASC'
  const paging = [limit, offset]
  if (order === undefined && isOneValue(list, drive)) {
    // Its entries stand in the order of ids: a page far behind costs a walk along the index, and no look at a document.
    const from = fromCondition(kind, drive)
    const text = `SELECT c.id FROM ${from.text} ORDER BY c.slot ${direction} LIMIT ? OFFSET ?`
    return { text, values: [...from.values, ...paging] }
  }
  if (walks(list, size)) {
    const from = order === undefined ? fromAll(kind, list) : fromOrder(kind, list, order)
    const by = order === undefined ? `c.id ${direction}` : `c.value ${direction}, c.slot ${direction}`
    return {
      text: `SELECT c.id FROM ${from.text} ORDER BY ${by} LIMIT ? OFFSET ?`,
      values: [...from.values, ...paging],
    }
  }
  const from = fromDrive(kind, list, drive)
  const distinct = mayRepeat(list, drive) ? 'DISTINCT ' : ''
  const found = `SELECT ${distinct}c.kind, c.id FROM ${from.text}`
  if (order === undefined) {
    const text = `SELECT c.id FROM (${found}) c ORDER BY c.id ${direction} LIMIT ? OFFSET ?`
    return { text, values: [...from.values, ...paging] }
  }
  // The smallest value where a document has several, '' where it has none.
  const key = `coalesce((SELECT min(w.value) FROM ${PROBE} AND w.name = ?), '')`
  const text = `SELECT c.id FROM (${found}) c ORDER BY ${key} ${direction}, c.id ${direction} LIMIT ? OFFSET ?`
  return { text, values: [...from.values, order, ...paging] }
}

/** The ids of all that match, in no order; one may be there twice. */
export function matchingSql(kind: Kind, list: PreparedList, drive: Drive): Sql {
  const from = fromDrive(kind, list, drive)
  return { text: `SELECT c.id FROM ${from.text}`, values: from.values }
}

/** The ids of all documents of a kind in the order of a list, whose index has one value of each. */
export function orderedSql(kind: Kind, { order, descending }: PreparedList): Sql {
  const direction = descending ? 'DESC' : 'ASC'
  const text = `SELECT c.id FROM ${WALK} WHERE c.kind = ? AND c.name = ? ORDER BY c.value ${direction}, c.slot ${direction}`
  return { text, values: [kind, order!] }
}

/** Values under an index of the documents that match, and how many each. */
export function valuesSql(kind: Kind, list: PreparedList, drive: Drive, index: string, limit: number): Sql {
  if (drive === 'all') {
    const text = `SELECT c.value, count(*) AS n FROM ${WALK} WHERE c.kind = ? AND c.name = ? GROUP BY c.value LIMIT ?`
    return { text, values: [kind, index, limit] }
  }
  const from = fromDrive(kind, list, drive)
  const distinct = mayRepeat(list, drive) ? 'DISTINCT ' : ''
  const text = `SELECT v.value, count(*) AS n FROM (SELECT ${distinct}c.kind, c.id FROM ${from.text}) c
    CROSS JOIN document_index v INDEXED BY document_index_by_id ON v.kind = c.kind AND v.id = c.id AND v.name = ?
    GROUP BY v.value ORDER BY v.value LIMIT ?`
  return { text, values: [...from.values, index, limit] }
}

/** True when one value under one index is all that is asked for. */
function isOneValue(list: PreparedList, drive: Drive): drive is ListCondition {
  const one = list.conditions.length === 1 && list.part === undefined
  return one && typeof drive === 'object' && drive.values.length === 1
}

function walks({ order, sorted, offset, limit }: PreparedList, size: { total: number; documents: number }): boolean {
  if (order !== undefined && !sorted) return false
  if (size.total === 0) return false
  const wanted = limit === -1 ? size.total : Math.min(offset + limit, size.total)
  return (wanted * size.documents) / size.total <= size.total * 2
}

function fromDrive(kind: Kind, list: PreparedList, drive: Drive): Sql {
  if (drive === 'all') return fromAll(kind, list)
  if (drive === 'part') {
    const part = partCondition('c', list.part!)
    const tests = conditionTests(list.conditions)
    return {
      text: `${WALK} WHERE c.kind = ? AND ${part.text}${tests.text}`,
      values: [kind, ...part.values, ...tests.values],
    }
  }
  const from = fromCondition(kind, drive)
  const tests = testsOf(list, drive)
  return { text: from.text + tests.text, values: [...from.values, ...tests.values] }
}

function fromAll(kind: Kind, list: PreparedList): Sql {
  const tests = testsOf(list)
  return { text: `document c WHERE c.kind = ?${tests.text}`, values: [kind, ...tests.values] }
}

function fromOrder(kind: Kind, list: PreparedList, order: string): Sql {
  const tests = testsOf(list)
  return { text: `${WALK} WHERE c.kind = ? AND c.name = ?${tests.text}`, values: [kind, order, ...tests.values] }
}

function fromCondition(kind: Kind, { name, values }: ListCondition): Sql {
  const any = anyOf('c.value', values)
  return { text: `${WALK} WHERE c.kind = ? AND c.name = ? AND ${any.text}`, values: [kind, name, ...any.values] }
}

/** What a document must meet besides what it is read by. */
function testsOf(list: PreparedList, drive?: ListCondition): Sql {
  const tests = conditionTests(list.conditions.filter((condition) => condition !== drive))
  if (list.part === undefined) return tests
  const part = partCondition('w', list.part)
  return {
    text: `${tests.text} AND EXISTS (SELECT 1 FROM ${PROBE} AND ${part.text})`,
    values: [...tests.values, ...part.values],
  }
}

function conditionTests(conditions: readonly ListCondition[]): Sql {
  const tests = conditions.map(({ name, values }) => {
    // A document has few entries: one look at all of them beats one for each value.
    const any = anyOf(values.length > 1 ? '+w.value' : 'w.value', values)
    return {
      text: ` AND EXISTS (SELECT 1 FROM ${PROBE} AND w.name = ? AND ${any.text})`,
      values: [name, ...any.values],
    }
  })
  return { text: tests.map(({ text }) => text).join(''), values: tests.flatMap(({ values }) => values) }
}

function partCondition(table: string, { names, text }: NonNullable<PreparedList['part']>): Sql {
  const any = anyOf(`${table}.name`, names)
  return { text: `${any.text} AND instr(${table}.value, ?) > 0`, values: [...any.values, text] }
}

/** The number of places grows in powers of two, filled up with the last value: few statements serve every number of values. */
export function anyOf(column: string, values: readonly string[]): Sql {
  if (values.length === 0) return { text: 'FALSE', values: [] }
  if (values.length === 1) return { text: `${column} = ?`, values }
  const places = 2 ** Math.ceil(Math.log2(values.length))
  const filled = Array.from({ length: places }, (_, i) => values[Math.min(i, values.length - 1)]!)
  return { text: `${column} IN (${filled.map(() => '?').join(', ')})`, values: filled }
}

/** True when one document may be read twice. */
function mayRepeat(list: PreparedList, drive: Drive): boolean {
  if (drive === 'all') return false
  return drive === 'part' ? !list.part!.once : drive.values.length > 1
}

function costOf(condition: ListCondition, entriesOf: (condition: ListCondition) => number): number {
  if (condition.values.length === 0) return 0
  // Several values: what is read must be freed of repetitions.
  return entriesOf(condition) * (condition.values.length > 1 ? 1.5 : 1)
}
