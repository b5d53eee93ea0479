const FORMULA = /^[=+\-@\t\r]/

/** One line of a table as CSV (RFC 4180). No cell is taken for a formula by a spreadsheet; numbers stay as they are. */
export function csvLine(cells: readonly (string | number | boolean)[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`
}

function cellOf(value: string | number | boolean): string {
  const safe = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value)
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
