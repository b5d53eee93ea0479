import type { SQLInputValue } from 'node:sqlite'
import { partitionedIndex, partitionPrefix } from '../../../model/documents/kinds.ts'
import type { Kind } from '../../ports/ports.ts'
import type { ListCondition, ListPart, PreparedList } from '../../prepare/list-query.ts'
import { indexesOf } from '../../prepare/prepare.ts'

/** A statement and what is bound to it. Its text depends on the shape of the query alone. */
export interface Sql {
  readonly text: string
  readonly values: readonly SQLInputValue[]
}

/** The source of a list: entries of one condition, of the index of a part, or the documents themselves. */
export type Drive = ListCondition | 'part' | 'all'

/** Finding an entry by its document costs about as much as reading so many in a row. */
const PROBE_ROWS = 8
/** Entries beyond are not counted to choose what to read from: first up to a few of each condition, and more only where all have more. */
const COUNTED_ROWS = [500, 50_000] as const

/** From so many looks on at a document by itself, those that match are gathered first. */
const GATHERED = 5_000

// Indexes are named, because without statistics SQLite now and then takes the other one: the first is the primary key
// (kind, name, value, slot), in the order of values and ids; by_id finds the entries of a document.
const WALK = 'document_index c INDEXED BY sqlite_autoindex_document_index_1'
const PROBE = 'document_index w INDEXED BY document_index_by_id WHERE w.kind = c.kind AND w.id = c.id'

/** How many entries a condition has, up to `most`. */
export function entriesSql(kind: Kind, condition: ListCondition, most: (typeof COUNTED_ROWS)[number]): Sql {
  const from = fromCondition(kind, condition)
  return {
    text: `SELECT count(*) AS n FROM (SELECT 1 FROM ${from.text} LIMIT ${most})`,
    values: from.values,
  }
}

/** How many documents there are of a kind. */
export function kindSql(kind: Kind): Sql {
  return { text: 'SELECT count(*) AS n FROM document c WHERE c.kind = ?', values: [kind] }
}

/** Chooses what a list is read from: the condition with fewest entries, whose documents are then looked up under the others. */
export function chooseDrive(
  kind: Kind,
  list: PreparedList,
  entriesOf: (condition: ListCondition, most: (typeof COUNTED_ROWS)[number]) => number,
  documents: () => number,
): Drive {
  if (list.conditions.length === 1 && list.part === undefined) return list.conditions[0]!
  if (list.part !== undefined && partAlone(kind, list)) return 'part'
  const best = fewestEntries(list.conditions, entriesOf)
  if (list.part !== undefined && (best === undefined || best.rows * PROBE_ROWS > documents())) return 'part'
  return best?.condition ?? 'all'
}

function fewestEntries(
  conditions: readonly ListCondition[],
  entriesOf: (condition: ListCondition, most: (typeof COUNTED_ROWS)[number]) => number,
): { readonly condition: ListCondition; readonly rows: number } | undefined {
  const [few, many] = COUNTED_ROWS
  const counted = (most: typeof few | typeof many) =>
    conditions
      .map((condition) => ({ condition, rows: costOf(condition, entriesOf(condition, most)) }))
      .sort((a, b) => a.rows - b.rows)[0]
  const best = counted(few)
  return best === undefined || best.rows < few ? best : counted(many)
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
    // Its entries are in the order of ids: a late page costs a walk along the index, and reads no document.
    const from = fromCondition(kind, drive)
    const text = `SELECT c.id FROM ${from.text} ORDER BY c.slot ${direction} LIMIT ? OFFSET ?`
    return { text, values: [...from.values, ...paging] }
  }
  const gathered = order === undefined ? undefined : fromGathered(kind, list, order, size)
  if (gathered !== undefined || walks(kind, list, size)) {
    const from = gathered ?? (order === undefined ? fromAll(kind, list) : fromOrder(kind, list, order))
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

/** True when the entries that the list is sorted by say all that is asked: no document has to be looked up under anything else. */
export function orderAlone(kind: Kind, list: PreparedList): boolean {
  const { order, sorted, part, conditions } = list
  if (order === undefined || !sorted || (part !== undefined && !isOf(part, order))) return false
  const { within } = walkOf(kind, list, order)
  return conditions.every((condition) => condition === within)
}

/** The same page read from the other end of its order; `shown` of `total` rows are on it. Its rows come in the other order. */
export function fromBehind(list: PreparedList, total: number, shown: number): PreparedList {
  return { ...list, descending: !list.descending, offset: total - list.offset - shown, limit: shown }
}

/** The ids of all documents of a kind in the order of a list, whose index has one value of each. */
export function orderedSql(kind: Kind, { order, descending }: PreparedList): Sql {
  const direction = descending ? 'DESC' : 'ASC'
  const text = `SELECT c.id FROM ${WALK} WHERE c.kind = ? AND c.name = ? ORDER BY c.value ${direction}, c.slot ${direction}`
  return { text, values: [kind, order!] }
}

/** Values under an index of the documents that match, and how many each. */
export function valuesSql(kind: Kind, list: PreparedList, drive: Drive, index: string): Sql {
  if (drive === 'all') {
    const text = `SELECT c.value, count(*) AS n FROM ${WALK} WHERE c.kind = ? AND c.name = ? GROUP BY c.value`
    return { text, values: [kind, index] }
  }
  const from = fromDrive(kind, list, drive)
  const distinct = mayRepeat(list, drive) ? 'DISTINCT ' : ''
  const text = `SELECT v.value, count(*) AS n FROM (SELECT ${distinct}c.kind, c.id FROM ${from.text}) c
    CROSS JOIN document_index v INDEXED BY document_index_by_id ON v.kind = c.kind AND v.id = c.id AND v.name = ?
    GROUP BY v.value ORDER BY v.value`
  return { text, values: [...from.values, index] }
}

/** Values under an index of the documents that match, as one JSON list for each value under the index `by`. */
export function valuesBySql(kind: Kind, list: PreparedList, drive: Drive, by: string, index: string): Sql {
  if (drive !== 'all') {
    // All entries of `by` are many where few documents match: each save asks for the neighbours of one path.
    const from = fromDrive(kind, list, drive)
    const text = `SELECT w.value, json_group_array(v.value) AS held FROM (SELECT DISTINCT c.kind, c.id FROM ${from.text}) c
      CROSS JOIN document_index w INDEXED BY document_index_by_id ON w.kind = c.kind AND w.id = c.id AND w.name = ?
      CROSS JOIN document_index v INDEXED BY document_index_by_id ON v.kind = c.kind AND v.id = c.id AND v.name = ?
      GROUP BY w.value ORDER BY w.value`
    return { text, values: [...from.values, by, index] }
  }
  const tests = conditionTests(list.conditions)
  const text = `SELECT c.value, json_group_array(v.value) AS held FROM ${WALK}
    CROSS JOIN document_index v INDEXED BY document_index_by_id ON v.kind = c.kind AND v.id = c.id AND v.name = ?
    WHERE c.kind = ? AND c.name = ?${tests.text} GROUP BY c.value ORDER BY c.value`
  return { text, values: [index, kind, by, ...tests.values] }
}

/** True when one value under one index is all that is asked for. */
export function isOneValue(list: PreparedList, drive: Drive): drive is ListCondition {
  const one = list.conditions.length === 1 && list.part === undefined
  return one && typeof drive === 'object' && drive.values.length === 1
}

/** Entries of an index in their order: all of a kind, or those within one value of the index that it is kept apart by. */
interface Walk {
  readonly name: string
  /** The prefix of their values; '' = they are not partitioned. */
  readonly prefix: string
  readonly within: ListCondition | undefined
}

/** The fewest entries of an index among which all of a list are. */
function walkOf(kind: Kind, { conditions }: PreparedList, name: string): Walk {
  for (const { by, sorted } of indexesOf(kind).apart ?? []) {
    const within = conditions.find((condition) => condition.name === by && condition.values.length === 1)
    if (within !== undefined && sorted.includes(name))
      return { name: partitionedIndex(by, name), prefix: partitionPrefix(within.values[0]!), within }
  }
  return { name, prefix: '', within: undefined }
}

const isOf = ({ names }: ListPart, index: string) => names.length === 1 && names[0] === index

/** True when the entries that a part is looked for in are those of the one condition alone. */
function partAlone(kind: Kind, list: PreparedList): boolean {
  const [name] = list.part?.names ?? []
  if (name === undefined || list.part?.names.length !== 1 || list.conditions.length !== 1) return false
  return walkOf(kind, list, name).within !== undefined
}

/** How many documents are looked at until a page is full, where those that match are spread evenly. */
function looks({ offset, limit }: PreparedList, { total, documents }: { total: number; documents: number }): number {
  const wanted = limit === -1 ? total : Math.min(offset + limit, total)
  return (wanted * documents) / total
}

/**
 * Entries in the order of a list, deep in a search: those that hold the part, or all others where these are fewer, are gathered once.
 * To look for each document under the part took 157 ms in the middle of 90,000. undefined where that is not all that is asked.
 */
function fromGathered(
  kind: Kind,
  list: PreparedList,
  order: string,
  size: { readonly total: number; readonly documents: number },
): Sql | undefined {
  const { part, sorted, conditions } = list
  if (!sorted || part === undefined || !part.once || isOf(part, order)) return undefined
  const [walk, held] = [walkOf(kind, list, order), walkOf(kind, list, part.names[0]!)]
  if (walk.within !== held.within || conditions.some((condition) => condition !== walk.within)) return undefined
  if (Math.min(size.total, looks(list, size)) < GATHERED) return undefined
  const most = size.total * 2 > size.documents
  const [from, among, own] = [
    fromWalk(kind, walk),
    fromWalk(kind, held),
    ownPart(held, part.text, most ? '= 0' : '> 0'),
  ]
  return {
    text: `${from.text} AND c.slot ${most ? 'NOT ' : ''}IN (SELECT c.slot FROM ${among.text}${own.text})`,
    values: [...from.values, ...among.values, ...own.values],
  }
}

function walks(kind: Kind, list: PreparedList, size: { total: number; documents: number }): boolean {
  const { order, sorted } = list
  if (order !== undefined && !sorted) return false
  if (size.total === 0) return false
  if (orderAlone(kind, list)) return true
  return looks(list, size) <= size.total * 2
}

function fromDrive(kind: Kind, list: PreparedList, drive: Drive): Sql {
  if (drive === 'all') return fromAll(kind, list)
  if (drive === 'part') return fromPart(kind, list, list.part!)
  const from = fromCondition(kind, drive)
  const tests = testsOf(list, drive)
  return { text: from.text + tests.text, values: [...from.values, ...tests.values] }
}

function fromAll(kind: Kind, list: PreparedList): Sql {
  const tests = testsOf(list)
  return { text: `document c WHERE c.kind = ?${tests.text}`, values: [kind, ...tests.values] }
}

function fromPart(kind: Kind, list: PreparedList, part: ListPart): Sql {
  const [name] = part.names
  if (name !== undefined && part.names.length === 1) return fromOrder(kind, list, name)
  const some = partCondition('c', part)
  const tests = conditionTests(list.conditions)
  return {
    text: `${WALK} WHERE c.kind = ? AND ${some.text}${tests.text}`,
    values: [kind, ...some.values, ...tests.values],
  }
}

/** Entries of one index; whether they hold the part is looked at in them where it is theirs. */
function fromOrder(kind: Kind, list: PreparedList, order: string): Sql {
  const walk = walkOf(kind, list, order)
  const from = fromWalk(kind, walk)
  const own = list.part !== undefined && isOf(list.part, order) ? ownPart(walk, list.part.text) : NOTHING
  const rest = { ...list, part: own === NOTHING ? list.part : undefined }
  const tests = testsOf(rest, walk.within)
  return { text: from.text + own.text + tests.text, values: [...from.values, ...own.values, ...tests.values] }
}

const NOTHING: Sql = { text: '', values: [] }

function ownPart({ prefix }: Walk, text: string, holds: '> 0' | '= 0' = '> 0'): Sql {
  if (prefix === '') return { text: ` AND instr(c.value, ?) ${holds}`, values: [text] }
  // SQLite counts characters, not halves of surrogate pairs.
  return { text: ` AND instr(substr(c.value, ?), ?) ${holds}`, values: [[...prefix].length + 1, text] }
}

function fromWalk(kind: Kind, { name, prefix }: Walk): Sql {
  const text = `${WALK} WHERE c.kind = ? AND c.name = ?`
  if (prefix === '') return { text, values: [kind, name] }
  // '0' is the character behind the '/' that a prefix ends with.
  return { text: `${text} AND c.value >= ? AND c.value < ?`, values: [kind, name, prefix, `${prefix.slice(0, -1)}0`] }
}

function fromCondition(kind: Kind, { name, values }: ListCondition): Sql {
  const any = anyOf('c.value', values)
  return { text: `${WALK} WHERE c.kind = ? AND c.name = ? AND ${any.text}`, values: [kind, name, ...any.values] }
}

/** The conditions that a document must meet besides the one that it is read by. */
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
function anyOf(column: string, values: readonly string[]): Sql {
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

function costOf({ values }: ListCondition, entries: number): number {
  if (values.length === 0) return 0
  // Several values: what is read must be freed of repetitions.
  return entries * (values.length > 1 ? 1.5 : 1)
}
