import { DatabaseSync } from 'node:sqlite'
import { type Fault, fault, waitFault } from '../../../errors/fault.ts'
import type { FreezeLevel } from '../../ports/transfer.ts'
import { storeFault } from './faults.ts'

const BUSY_TIMEOUT_MS = 5_000
/** A freeze is over, or given up, in about this time. */
const RETRY_AFTER_MS = 5_000
/** By their number in `user_version`, which is in the header of the file: a writer reads it with every transaction, and a start as well. */
const LEVELS: readonly FreezeLevel[] = ['none', 'commits', 'all']

/** Freezes a database that another process may write to, or lifts that; durable when this returns. @throws Fault `store_away` */
export function freezeFile(file: string, level: FreezeLevel): void {
  try {
    const db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
    try {
      db.exec(`PRAGMA synchronous = FULL; PRAGMA user_version = ${LEVELS.indexOf(level)}`)
    } finally {
      db.close()
    }
  } catch (error) {
    throw storeFault(error)
  }
}

/** Prepares the look at the level; within a transaction it stays for all of it. */
export function freezeReader(db: DatabaseSync): () => FreezeLevel {
  const read = db.prepare('PRAGMA user_version')
  return () => LEVELS[read.get()!.user_version as number] ?? 'none'
}

/** The refusal of a write. */
export function frozenFault(): Fault {
  return waitFault('store_frozen', RETRY_AFTER_MS)
}

/** @throws Fault `store_frozen` for a database whose data was moved: a server must not write to it */
export function refuseFrozen(file: string, db: DatabaseSync): void {
  if (freezeReader(db)() === 'none') return
  throw fault(
    'store_frozen',
    `${file} was moved to another store: start with the settings of that one; or, where the move was cut short, run bin/gatehouse migrate-store --give-up`,
  )
}
