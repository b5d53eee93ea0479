import { columnsOf, type TransferTableName } from '../../ports/transfer.ts'

/** Columns of this store that have another name than in a transfer. */
const NAMES: Readonly<Partial<Record<TransferTableName, Readonly<Record<string, string>>>>> = {
  session: { number: 'row' },
  audit: { number: 'row' },
  hit_dimension: { number: 'row' },
  hit_source: { at_s: 'at' },
  record: { number: 'row' },
}

/** The order of each table that has one: that of its rows, without sorting them. */
const ORDER: Readonly<Partial<Record<TransferTableName, string>>> = {
  session: 'row',
  delivery: 'id',
  audit: 'row',
  audit_change: 'audit, row',
  hit_dimension: 'row',
  hit_journal: 'row',
}

/** The columns of a table as this store names them. */
export function storedColumns(table: TransferTableName): string[] {
  return columnsOf(table).map(([name]) => NAMES[table]?.[name] ?? name)
}

/** Reads all rows of a table that this store has as it is: not quotas, whose journal has to be added. */
export function selectSql(table: TransferTableName): string {
  const order = ORDER[table]
  const tail = order === undefined ? '' : ` ORDER BY ${order}`
  if (table !== 'record') return `SELECT ${storedColumns(table).join(', ')} FROM ${table}${tail}`
  const own = storedColumns(table).filter((name) => name !== 'request' && name !== 'response')
  return `SELECT ${own.map((name) => `r.${name}`).join(', ')}, d.request, d.response
    FROM record r LEFT JOIN record_detail d ON d.record = r.row ORDER BY r.row`
}

/** Adds a row to a table, with a value for each of `columns`. `replaces`: instead of one with the same key. */
export function insertSql(table: string, columns: readonly string[], replaces = false): string {
  return `INSERT ${replaces ? 'OR REPLACE ' : ''}INTO ${table}(${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
}
