import {
  type Cell,
  type CellType,
  columnsOf,
  keyColumnsOf,
  type TransferRow,
  type TransferTableName,
} from '../../ports/transfer.ts'
import { fromCell, toCell } from '../documents/texts.ts'

/** Columns of this store that have another name than in a transfer. */
const NAMES: Readonly<Partial<Record<TransferTableName, Readonly<Record<string, string>>>>> = {
  audit: { at: 'at_ms', user: 'who' },
  record: { at: 'at_ms' },
}

/** The order of each table that has one. */
const ORDER: Readonly<Partial<Record<TransferTableName, string>>> = {
  session: 'number',
  delivery: 'id',
  audit: 'number',
  audit_change: 'audit, place',
  hit_dimension: 'number',
  hit_journal: 'row',
  record: 'number',
}

/** Columns that are made of another type when they are read. */
const READ: Readonly<Record<string, string>> = {
  'delivery.dead': 'dead::int',
  'hit_source.at_s': 'extract(epoch FROM at)::bigint AS at_s',
}

/** The same when they are written. */
const WRITTEN: Readonly<Record<string, string>> = {
  'delivery.dead': 'w.dead <> 0',
  'hit_source.at_s': 'to_timestamp(w.at_s)',
}

const TYPES: Readonly<Record<CellType, string>> = {
  text: 'text',
  number: 'numeric',
  bytes: 'bytea',
  'bytes?': 'bytea',
}

/** The name of a column in this store. */
function storedName(table: TransferTableName, name: string): string {
  return name === 'at_s' ? 'at' : (NAMES[table]?.[name] ?? name)
}

/** Reads all rows of a table. */
export function cursorSql(table: TransferTableName): string {
  const order = ORDER[table]
  const columns = columnsOf(table).map(([name]) => READ[`${table}.${name}`] ?? storedName(table, name))
  return `SELECT ${columns.join(', ')} FROM ${table}${order === undefined ? '' : ` ORDER BY ${order}`}`
}

/** Names and digests of all rows of a table, in the same order. 48 bits of a digest: `Number` has them all. */
export function digestSql(table: TransferTableName, seed: number): string {
  const order = ORDER[table]
  const keys = keyColumnsOf(table).map(([name]) => storedName(table, name))
  const columns = columnsOf(table).map(([name]) => storedName(table, name))
  return `SELECT ${keys.join(', ')}, hashtextextended(ROW(${columns.join(', ')})::text, ${seed}) & 281474976710655 AS digest
    FROM ${table}${order === undefined ? '' : ` ORDER BY ${order}`}`
}

/** The name of a row that `digestSql` read. */
export function keyRowOf(table: TransferTableName, found: Readonly<Record<string, unknown>>): TransferRow {
  return cellsOf(table, keyColumnsOf(table), found)
}

/** Reads rows by their names. */
export function selectRowsSql(
  table: TransferTableName,
  keys: readonly TransferRow[],
): { text: string; values: unknown[] } {
  const { join, values } = namedRows(table, keys)
  const order = ORDER[table]
  const columns = columnsOf(table).map(([name]) => READ[`${table}.${name}`] ?? storedName(table, name))
  return {
    text: `SELECT ${columns.join(', ')} FROM ${table} t WHERE EXISTS (SELECT 1 FROM ${join})${order === undefined ? '' : ` ORDER BY ${order}`}`,
    values,
  }
}

/** A row as it was read. */
export function rowOf(table: TransferTableName, found: Readonly<Record<string, unknown>>): TransferRow {
  return cellsOf(table, columnsOf(table), found)
}

function cellsOf(
  table: TransferTableName,
  columns: ReturnType<typeof columnsOf>,
  found: Readonly<Record<string, unknown>>,
): TransferRow {
  return columns.map(([name, type]): Cell => {
    const value = found[name === 'at_s' ? name : storedName(table, name)]
    return type === 'text' ? fromCell(value as string) : (value as Cell)
  })
}

/** A column besides those of the transfer, with a value for each row. */
export interface OwnColumn {
  readonly name: string
  readonly type: string
  readonly values: readonly unknown[]
}

/** Adds rows to a table. */
export function insertRowsSql(
  table: TransferTableName,
  rows: readonly TransferRow[],
  own: readonly OwnColumn[] = [],
): { text: string; values: unknown[] } {
  const columns = columnsOf(table)
  const names = columns.map(([name]) => name)
  const stored = [...names.map((name) => storedName(table, name)), ...own.map(({ name }) => name)]
  const given = [...names, ...own.map(({ name }) => name)]
  const types = [...columns.map(([, type]) => TYPES[type]), ...own.map(({ type }) => type)]
  const read = given.map((name) => WRITTEN[`${table}.${name}`] ?? `w."${name}"`)
  return {
    text: `INSERT INTO ${table}(${stored.join(', ')}) OVERRIDING SYSTEM VALUE SELECT ${read.join(', ')}
      FROM unnest(${types.map((type, i) => `$${i + 1}::${type}[]`).join(', ')}) w(${given.map((name) => `"${name}"`).join(', ')})`,
    values: [
      ...columns.map(([, type], i) => rows.map((row) => cellOf(type, row[i]!))),
      ...own.map(({ values }) => values),
    ],
  }
}

/** Deletes rows of a table by their names. */
export function deleteRowsSql(
  table: TransferTableName,
  keys: readonly TransferRow[],
): { text: string; values: unknown[] } {
  const { join, values } = namedRows(table, keys)
  return { text: `DELETE FROM ${table} t USING ${join}`, values }
}

/** `t` joined with rows by their names, and what is bound to it. */
function namedRows(table: TransferTableName, keys: readonly TransferRow[]): { join: string; values: unknown[] } {
  const columns = keyColumnsOf(table)
  const names = columns.map(([name]) => storedName(table, name))
  return {
    // Numbers of keys are whole, and an index of theirs is not used for others.
    join: `unnest(${columns.map(([, type], i) => `$${i + 1}::${type === 'number' ? 'bigint' : TYPES[type]}[]`).join(', ')}) w(${names.join(', ')})
      WHERE ${names.map((name) => `t.${name} = w.${name}`).join(' AND ')}`,
    values: columns.map(([, type], i) => keys.map((key) => cellOf(type, key[i]!))),
  }
}

function cellOf(type: CellType, cell: Cell): unknown {
  if (type === 'text') return toCell(cell as string)
  // Views of other memory: the driver looks at Buffers only.
  return cell instanceof Uint8Array ? Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength) : cell
}
