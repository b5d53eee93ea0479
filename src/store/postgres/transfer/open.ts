import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Fault, fault } from '../../../errors/fault.ts'
import { type Log, silentLog } from '../../../model/logs/log.ts'
import {
  type Cell,
  keyColumnsOf,
  type LoadEdit,
  type MovedSource,
  type MovedTarget,
  STATE_TABLE_NAMES,
  type StoreHead,
  type StoreSnapshot,
  TRANSFER_TABLE_NAMES,
  type TransferRow,
  type TransferTableName,
} from '../../ports/transfer.ts'
import { breakOff, makeClient, makePool, readAddress } from '../connection/connect.ts'
import type { Db, Tx } from '../connection/db.ts'
import { postgresFault } from '../connection/faults.ts'
import { PoolDb } from '../connection/pool-db.ts'
import { Reachability } from '../connection/reachability.ts'
import { declareIndexes } from '../documents/declare-indexes.ts'
import { checkNeeds, FROZEN, migrate } from '../migrations/migrate.ts'
import { type TransferQuotas, tableWriter } from './load.ts'
import { cursorSql, deleteRowsSql, digestSql, keyRowOf, rowOf, selectRowsSql } from './tables.ts'

const BATCH_ROWS = 500
const BATCH_DIGESTS = 5000
const LOOKS = 20
const LOOK_EVERY_MS = 100
/** The other side may be slow: a disk, or a person's pipe. */
const UNBOUNDED = 'SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = 0'

interface TransferOptions {
  /** `storage.postgres_url`. */
  readonly url: string
  readonly quotas: TransferQuotas
  readonly log?: Log
}

/** "Move" among the advisory locks of the database. */
const MOVE_LOCK = 0x4d6f7665
const CONNECT_MS = 5_000

/**
 * Takes the lock of moves on a connection of its own, in a transaction that stays open: a pooler keeps the connection for it, and the lock ends
 * with the process. Answers what ends it. @throws Fault `move_running`, `store_away`, `store_refused`
 */
async function claimMove(url: string): Promise<() => void> {
  const client = makeClient(readAddress(url), { connectionTimeoutMillis: CONNECT_MS })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(`BEGIN; ${UNBOUNDED}`)
    const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS mine', [MOVE_LOCK])
    if (rows[0]?.mine !== true)
      throw fault('move_running', 'another migrate-store moves this database: wait for its end, or stop it')
    return () => breakOff(client)
  } catch (error) {
    breakOff(client)
    throw error instanceof Fault ? error : postgresFault(error)
  }
}

/** Reads a database, in one read-only transaction. @throws Fault `store_refused`, `store_away`, `store_newer`, `setting_invalid` */
export function openPostgresSource({ url, quotas, log = silentLog }: TransferOptions): MovedSource {
  const { db, close } = connect(url, log)
  // Nobody can make two rows of one digest who does not know it.
  const seed = randomInt(1, 2 ** 31)
  let endClaim = () => {}
  return {
    async claim() {
      endClaim = await claimMove(url)
    },
    snapshot: (read) =>
      db.transact(
        async (tx) => {
          await tx.run(UNBOUNDED)
          return read(snapshotOf(tx, await readHead(tx), quotas, seed))
        },
        { isolation: 'snapshot' },
      ),
    // Nodes write counts of requests in statements of their own: those of the last seconds are not waited for.
    freeze: async (level) => {
      await db.run('UPDATE store_state SET needs = needs % $1 + $2', [FROZEN, level === 'none' ? 0 : FROZEN])
    },
    async isFrozen() {
      const [row] = await db.query<{ needs: number }>('SELECT needs FROM store_state')
      return row !== undefined && row.needs >= FROZEN
    },
    async close() {
      endClaim()
      await close()
    },
  }
}

/**
 * A database to write into, in one transaction: a load that is cut short leaves its tables empty.
 * @throws Fault as `openPostgresSource`, `store_not_empty` also beside a running server
 */
export function openPostgresTarget({ url, quotas, log = silentLog }: TransferOptions): MovedTarget {
  const { db, close } = connect(url, log)
  return {
    async load(fill) {
      await refuseServers(db)
      await migrate(db)
      const { number: declaration } = await declareIndexes(db)
      await db.transact(async (tx) => {
        await tx.run(UNBOUNDED)
        // Two loads, and the first commit of a server that is started meanwhile, wait for each other here.
        await tx.query('SELECT 1 FROM store_state FOR UPDATE')
        await refuseRows(tx)
        const { write, finish } = tableWriter(tx, { declaration, quotas })
        const head = await fill(write, loadEdit(tx))
        await finish()
        await writeHead(tx, head)
      })
    },
    close,
  }
}

function loadEdit(tx: Tx): LoadEdit {
  const removeWith = async (table: TransferTableName, keys: readonly TransferRow[]) => {
    const { text, values } = deleteRowsSql(table, keys)
    await tx.run(text, values)
  }
  return {
    async remove(table, keys) {
      if (keys.length === 0) return
      if (table === 'document')
        await tx.run(
          'DELETE FROM document_index t USING unnest($1::text[], $2::text[]) w(kind, id) WHERE t.kind = w.kind AND t.id = w.id',
          [keys.map(([kind]) => kind), keys.map(([, id]) => id)],
        )
      if (table === 'session')
        for (const derived of ['session_ref', 'session_alias'])
          await tx.run(`DELETE FROM ${derived} WHERE session = ANY($1::bigint[])`, [keys.map(([number]) => number)])
      await removeWith(table, keys)
    },
    count: async (table) => (await tx.query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))[0]!.n,
    // The server writes ahead; the end of the transaction syncs that alone.
    async settle() {},
  }
}

function connect(url: string, log: Log): { db: Db; close(): Promise<void> } {
  const reach = new Reachability()
  const pool = makePool(readAddress(url), 1, log)
  return {
    db: new PoolDb(pool, reach),
    async close() {
      reach.close()
      await pool.end()
    },
  }
}

async function readHead(tx: Tx): Promise<StoreHead> {
  const [there] = await tx.query<{ name: string | null }>("SELECT to_regclass('store_state')::text AS name")
  if (there?.name === null) throw fault('store_away', 'the database holds no store')
  const [row] = await tx.query<Record<keyof StoreHead | 'needs', number>>(
    `SELECT revision, last_session AS "lastSession", last_delivery AS "lastDelivery", last_audit AS "lastAudit", needs,
      (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM record_number) AS "lastRecord" FROM store_state`,
  )
  const { needs, ...head } = row!
  checkNeeds(needs % FROZEN)
  return head
}

function snapshotOf(tx: Tx, head: StoreHead, quotas: TransferQuotas, seed: number): StoreSnapshot {
  let cursors = 0
  const read = async function* (sql: string, batch: number) {
    const cursor = `transfer_${++cursors}`
    await tx.run(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`)
    for (;;) {
      const found = await tx.query<Record<string, unknown>>(`FETCH ${batch} FROM ${cursor}`)
      if (found.length > 0) yield found
      if (found.length < batch) break
    }
    await tx.run(`CLOSE ${cursor}`)
  }
  const digestsOf = async function* (table: TransferTableName) {
    for await (const found of read(digestSql(table, seed), BATCH_DIGESTS))
      yield found.map((row) => [keyRowOf(table, row), row.digest as number] as const)
  }
  return {
    head,
    async count(table) {
      if (table === 'quota') return 0
      return (await tx.query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))[0]!.n
    },
    async *rows(table) {
      if (table === 'quota') return yield* quotaRows(quotas)
      for await (const found of read(cursorSql(table), BATCH_ROWS)) yield found.map((row) => rowOf(table, row))
    },
    digests: {
      of: (table) => (table === 'quota' || keyColumnsOf(table).length === 0 ? undefined : digestsOf(table)),
      async rows(table, keys) {
        const { text, values } = selectRowsSql(table, keys)
        return (await tx.query<Record<string, unknown>>(text, values)).map((row) => rowOf(table, row))
      },
    },
  }
}

async function* quotaRows(quotas: TransferQuotas) {
  let batch: Cell[][] = []
  for await (const { id, used, endsAt } of quotas.read()) {
    batch.push([id, used, endsAt])
    if (batch.length < BATCH_ROWS) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** @throws Fault `store_not_empty` */
async function refuseRows(tx: Tx): Promise<void> {
  const tables = TRANSFER_TABLE_NAMES.filter((table) => table !== 'quota' && !STATE_TABLE_NAMES.includes(table))
  const [found] = await tx.query<Partial<Record<TransferTableName, boolean>>>(
    `SELECT ${tables.map((table) => `EXISTS (SELECT 1 FROM ${table}) AS ${table}`).join(', ')}`,
  )
  const filled = tables.find((table) => found?.[table] === true)
  if (filled !== undefined) throw fault('store_not_empty', `the database holds data (${filled}); name an empty one`)
}

/** Waits a moment for connections that are just ending. @throws Fault `store_not_empty` while a server is connected */
async function refuseServers(db: Db): Promise<void> {
  for (let left = LOOKS; ; left--) {
    const [others] = await db.query<{ n: number }>(
      `SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user
        AND application_name = current_setting('application_name') AND pid <> pg_backend_pid()`,
    )
    if (others!.n === 0) return
    if (left === 0) throw fault('store_not_empty', 'a server is running on this database: stop it first')
    await wait(LOOK_EVERY_MS)
  }
}

async function writeHead(
  tx: Tx,
  { revision, lastSession, lastDelivery, lastAudit, lastRecord }: StoreHead,
): Promise<void> {
  await tx.run(
    `UPDATE store_state SET revision = $1,
      last_session = greatest($2, (SELECT coalesce(max(number), 0) FROM session)),
      last_delivery = greatest($3, (SELECT coalesce(max(id), 0) FROM delivery)),
      last_audit = greatest($4, (SELECT coalesce(max(number), 0) FROM audit))`,
    [revision, lastSession, lastDelivery, lastAudit],
  )
  const sequences = [
    ["'record_number'", 'record', lastRecord],
    ["pg_get_serial_sequence('hit_dimension', 'number')", 'hit_dimension', 0],
  ] as const
  for (const [sequence, table, last] of sequences)
    await tx.query(
      `SELECT setval(${sequence}, n) FROM (SELECT greatest($1::bigint, (SELECT coalesce(max(number), 0) FROM ${table})) AS n) s WHERE n > 0`,
      [last],
    )
}
