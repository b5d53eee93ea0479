import { fault } from '../../../errors/fault.ts'
import { type Log, silentLog } from '../../../model/logs/log.ts'
import { type Clock, type Millis, systemClock } from '../../../model/time/clock.ts'
import type { AuditEntry, Change, Counters, Store } from '../../ports/ports.ts'
import { ThreadFeed } from '../../prepare/feed.ts'
import { prepareCommit } from '../../prepare/prepare.ts'
import { prepareAudit } from '../../prepare/prepare-audit.ts'
import { auditReader } from '../audit/read-audit.ts'
import { declareIndexes } from '../documents/declare-indexes.ts'
import { documentReader } from '../documents/read-documents.ts'
import { openFeedLine } from '../feed/feed-line.ts'
import { Follow } from '../feed/follow.ts'
import { HitJournal } from '../hits/hit-journal.ts'
import { HitWriter } from '../hits/hit-writer.ts'
import { openHits } from '../hits/hits.ts'
import { migrate, SCHEMA_STEPS, type SchemaStep } from '../migrations/migrate.ts'
import { openRecords } from '../records/records.ts'
import { outboxReader } from '../tokens/read-outbox.ts'
import { tokenReader } from '../tokens/read-tokens.ts'
import { StoreMaintenance } from '../writer/maintenance.ts'
import { Writer } from '../writer/writer.ts'
import { type Address, addressText, makePool, readAddress } from './connect.ts'
import { ClockWatch } from './database-clock.ts'
import type { Db } from './db.ts'
import { postgresFault } from './faults.ts'
import { PoolDb } from './pool-db.ts'
import { Reachability } from './reachability.ts'
import { ServerWatch } from './server-watch.ts'

const POOL_SIZE = 10
const STALL_MS = 5_000
const FOLD_AFTER_MS = 15_000
const WRITE_WITHIN_MS = 4_500

export interface PostgresOptions {
  /** `storage.postgres_url`, see `readAddress`. Holds the password. */
  readonly url: string
  /** Where notices are listened to, when `url` leads to a transaction pooler. */
  readonly listenUrl?: string
  /** Connections for reading; three more write, listen and watch. 10 by default. */
  readonly poolSize?: number
  readonly clock?: Clock
  readonly log?: Log
  /** Where outages are reported, once each: `log` unless given. */
  readonly outages?: Log
  /** Rates and quotas. Without them every call of `counters` fails. */
  readonly counters?: Counters
  /** How long calls wait for a server that has just gone before they get `store_away`; 4.5 s by default. */
  readonly patienceMs?: number
  /**
   * How long a statement of a commit, or a reading of one row, may go unanswered before the connection is given up; 5 s by default.
   */
  readonly stallMs?: number
  /** A commit that is not durable by then is refused, and not made; 4.5 s by default, or `patienceMs` where that is more. */
  readonly writeWithinMs?: number
  /**
   * Hits that nobody has read are worked in by this process when they have waited for so long; 15 s by default. More where there is
   * other work to do, so that another process comes first.
   */
  readonly foldAfterMs?: Millis
  /** For tests of upgrades. */
  readonly steps?: readonly SchemaStep[]
}

/** A store that several processes share. */
export interface PostgresStore extends Store {
  /** True while PostgreSQL cannot be reached. */
  readonly away: boolean
  /** True while notices of other processes are heard; without them they are polled for. */
  readonly listening: boolean
  /** Forgets all sessions and tickets that are due by now; answers how many. The store does it by itself as well, every second. */
  purge(): Promise<number>
}

/**
 * Opens the store in a PostgreSQL database, and makes its tables in an empty one.
 * @throws Fault `store_refused` (credentials, privileges, no such database), `store_newer`, `store_damaged`, `store_away`,
 * `setting_invalid`
 */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { clock = systemClock, log = silentLog, stallMs = STALL_MS, foldAfterMs = FOLD_AFTER_MS } = options
  const address = readAddress(options.url)
  const listenAddress = options.listenUrl ? readAddress(options.listenUrl, 'storage.postgres_listen_url') : address
  const reach = new Reachability(options.patienceMs)
  const writeReach = new Reachability(options.patienceMs, reach)
  const pool = makePool(address, options.poolSize ?? POOL_SIZE, log)
  const db = new PoolDb(pool, reach)
  try {
    const refiling = await prepare(db, address, options.steps ?? SCHEMA_STEPS)
    const clockWatch = new ClockWatch(db, clock, log)
    await clockWatch.start()
    const documents = documentReader(db, stallMs)
    const feed = new ThreadFeed()
    const line = await openFeedLine({ db, feed, log, stallMs })
    const writer = new Writer({
      ...{ address, line, declaration: refiling.number, stallMs },
      reach: writeReach,
      withinMs: options.writeWithinMs ?? Math.max(WRITE_WITHIN_MS, options.patienceMs ?? 0),
    })
    const follow = new Follow({ db, line, log, address: listenAddress, busy: () => writer.busy })
    const hitWriter = new HitWriter(db)
    const journal = new HitJournal(db, hitWriter)
    const keeper = new StoreMaintenance({ db, writer, clock, log, refiling, journal, foldAfterMs })
    await follow.start()
    const watch = new ServerWatch({ address, db, reach, log: options.outages ?? log, reported: () => line.reported })
    watch.start()
    let closing: Promise<void> | undefined
    const close = async () => {
      clockWatch.close()
      await watch.close()
      await keeper.close()
      await follow.close()
      await writer.close()
      line.close()
      writeReach.close()
      reach.close()
      await pool.end()
    }
    return {
      documents: {
        ...documents,
        async commit(changes: readonly Change[], audit: AuditEntry | undefined) {
          return writer.write({ sort: 'commit', commit: prepareCommit(changes, audit, clock.wall()) })
        },
        async note(entry) {
          await writer.write({ sort: 'note', entry: prepareAudit(entry) })
        },
      },
      audit: auditReader(db),
      tokens: tokenReader(db, clock, stallMs),
      outbox: outboxReader(db),
      counters: options.counters ?? NO_COUNTERS,
      feed,
      hits: openHits(db, hitWriter, journal),
      records: openRecords(db),
      get away() {
        return reach.away
      },
      get listening() {
        return follow.listening
      },
      health: () => watch.health,
      purge: () => keeper.run(),
      close() {
        closing ??= close()
        return closing
      },
    }
  } catch (error) {
    reach.close()
    await pool.end()
    throw error
  }
}

async function prepare(db: Db, address: Address, steps: readonly SchemaStep[]) {
  try {
    await migrate(db, steps)
    return await declareIndexes(db)
  } catch (error) {
    const cause = postgresFault(error)
    throw fault(cause.code, `${addressText(address)}: ${cause.message}`, cause)
  }
}

const refused = (): never => {
  throw fault('store_away', 'this store was opened without counters')
}
const NO_COUNTERS: Counters = { take: refused, peek: refused, resetQuota: refused, carry: refused }
