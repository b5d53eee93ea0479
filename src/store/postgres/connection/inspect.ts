import { silentLog } from '../../../model/logs/log.ts'
import { checkNeeds, readDatabaseVersion, SCHEMA_STEPS } from '../migrations/migrate.ts'
import { addressText, makePool, readAddress } from './connect.ts'
import { postgresFault } from './faults.ts'

/** A database as it is found without starting on it. */
export interface DatabaseState {
  /** User, server and database, without the password. */
  readonly address: string
  /** Of the data; 0 = the database is empty. */
  readonly version: number
  /** Of this program. */
  readonly known: number
  /** By how much the clock of this machine is ahead of the server's, in milliseconds. */
  readonly aheadMs: number
  readonly readOnly: boolean
  /** False: the connection is in clear. */
  readonly encrypted: boolean
  /** True: over a socket of this machine. */
  readonly local: boolean
}

/** Looks at a database; writes nothing. @throws Fault `store_refused`, `store_away`, `store_newer`, `setting_invalid` */
export async function inspectDatabase(url: string): Promise<DatabaseState> {
  const address = readAddress(url)
  const pool = makePool(address, 1, silentLog)
  const query = async <Row>(text: string, values: readonly unknown[] = []) =>
    (await pool.query(text, [...values])).rows as Row[]
  try {
    const before = Date.now()
    const [row] = await query<{ now: number; readonly: string; tls: boolean | null; local: boolean }>(
      `SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now, current_setting('transaction_read_only') AS readonly,
        (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS tls, inet_server_addr() IS NULL AS local`,
    )
    const aheadMs = (before + Date.now()) / 2 - row!.now
    const { version, needs } = await readDatabaseVersion({ query })
    checkNeeds(needs)
    return {
      ...{ address: addressText(address), version, known: SCHEMA_STEPS.length, aheadMs, local: row!.local },
      ...{ readOnly: row!.readonly === 'on', encrypted: row!.tls === true },
    }
  } catch (error) {
    throw postgresFault(error)
  } finally {
    await pool.end()
  }
}
