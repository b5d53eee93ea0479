import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { fault } from '../../../errors/fault.ts'
import { systemClock } from '../../../model/time/clock.ts'
import { UsageLink } from '../hits/usage-link.ts'
import { checkKnown, MIGRATIONS, readVersion } from '../migrations/schema.ts'
import { makeParts, type Parts } from '../writer/parts.ts'
import { openReadable } from './database.ts'
import { reading } from './faults.ts'
import { fileExists, folderPaths } from './folder.ts'
import { freezeReader } from './freeze.ts'
import { checkFile } from './integrity.ts'
import { folderHolder } from './lock.ts'

/** A check of every page of a larger file takes more than some seconds. */
const CHECKED_BYTES = 256 * 1024 * 1024

/** An embedded store as it is found without starting it. */
export interface FileState {
  readonly file: string
  readonly bytes: number
  /** The process that runs on the data folder; undefined = none. */
  readonly holder: string | undefined
  /** Of the data. */
  readonly version: number
  /** Of this program. */
  readonly known: number
  /** True: the data was moved to another store, or a move was cut short. */
  readonly frozen: boolean
  /** The first thing that is wrong; undefined = nothing. */
  readonly damage: string | undefined
  /** False: the file is too large to be looked through unless all of it is asked for. */
  readonly checked: boolean
}

/**
 * Looks at the database of a data folder, beside a running server too; writes nothing. undefined = there is none yet. `full`: a large
 * file is looked through as well. @throws Fault `store_damaged`, `store_newer`, `store_away`, `data_folder_unreadable`
 */
export function inspectFile(folder: string, full: boolean): FileState | undefined {
  const paths = folderPaths(folder)
  if (!fileExists(paths.database)) return undefined
  const bytes = statSync(paths.database).size
  const db = openReadable(paths.database)
  const { version, frozen } = headOf(db)
  const checked = full || bytes <= CHECKED_BYTES
  return {
    ...{ file: paths.database, bytes, version, frozen, checked, known: MIGRATIONS.length, holder: folderHolder(paths) },
    damage: checked ? checkFile(paths.database, full ? ['ticket'] : []) : undefined,
  }
}

function headOf(db: DatabaseSync): { version: number; frozen: boolean } {
  try {
    const version = reading(() => readVersion(db))
    checkKnown(version)
    return { version, frozen: freezeReader(db)() !== 'none' }
  } finally {
    db.close()
  }
}

/** Opens a data folder of the newest version for reading alone, beside a running server too. @throws Fault `store_away`, `store_damaged` */
export function openReader(folder: string): Parts & { close(): Promise<void> } {
  const { database } = folderPaths(folder)
  const db = openReadable(database)
  const usage = new UsageLink(database)
  const refuse = () => Promise.reject(fault('store_read_only'))
  return {
    ...makeParts(db, systemClock, refuse, usage),
    async close() {
      await usage.close()
      db.close()
    },
  }
}
