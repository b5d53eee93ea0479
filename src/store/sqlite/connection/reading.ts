import { fault } from '../../../errors/fault.ts'
import { storeFault } from './faults.ts'

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
