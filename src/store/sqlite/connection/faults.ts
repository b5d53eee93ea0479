import { Fault, fault } from '../../../errors/fault.ts'

// Primary result codes of SQLite, https://www.sqlite.org/rescode.html
const SQLITE_BUSY = 5
const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
const SQLITE_NOTADB = 26
/**
 * Extended codes of a file that ends before a page which others refer to: beside a log of changes the sizes are not compared when a file
 * is opened, and the rest of long bodies is read past the cache of pages.
 */
const CUT_SHORT = new Set([522, 8458])

/** The primary result code of an error of `node:sqlite`; undefined for any other error. */
export function sqliteCode(error: unknown): number | undefined {
  const code = extendedCode(error)
  return code === undefined ? undefined : code & 0xff
}

function extendedCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : undefined
}

/** True when another connection holds a lock that was not let go in time. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_BUSY
}

/** Turns what a database call threw into a fault: `store_full`, `store_damaged`, otherwise `store_away`. */
export function storeFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  const code = sqliteCode(error)
  const detail = error instanceof Error ? error.message : String(error)
  if (code === SQLITE_FULL || isOutOfSpace(error)) return fault('store_full', detail, error)
  if (CUT_SHORT.has(extendedCode(error) ?? 0)) return fault('store_damaged', `the file is cut short: ${detail}`, error)
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) return fault('store_damaged', detail, error)
  if (code === undefined) return fault('internal', detail, error)
  return fault('store_away', `${detail} (SQLite ${code})`, error)
}

/** True for the system errors of a full disk or a used-up disk quota. */
export function isOutOfSpace(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** Runs a read, to its end, and turns what SQLite throws into a fault. @throws Fault `store_damaged`, `store_away` (closed too) */
export function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE') {
      throw fault('store_away', 'the store is closed', error)
    }
    // Only the decoding of a stored text throws it.
    if (error instanceof SyntaxError) throw fault('store_damaged', `a row cannot be decoded: ${error.message}`, error)
    throw storeFault(error)
  }
}
