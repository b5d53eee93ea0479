import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '../../../model/logs/log.ts'
import type { Clock, Millis } from '../../../model/time/clock.ts'
import { PeriodicJob } from '../../../runtime/periodic-job.ts'
import { DEAD_RETENTION_MS } from '../../ports/ports.ts'
import type { Db } from '../connection/db.ts'
import { isLost, postgresFault } from '../connection/faults.ts'
import type { Reindexing } from '../documents/declare-indexes.ts'
import type { HitJournal } from '../hits/hit-journal.ts'
import { TRANSACTION_BOUNDS } from '../migrations/schema.ts'
import { removeRefs } from '../tokens/write-sessions.ts'
import { sessionFacts } from './group-load.ts'
import type { Writer } from './writer.ts'

const EVERY_MS = 1_000
const FEED_EVERY_MS = 30_000
const FOLD_EVERY_MS = 5_000
const STEP_ROWS = 500
const FEED_ROWS = 2_000
/** How long the feed is kept for those who are away, and how many revisions at most. */
const FEED_KEPT_S = 3_600
const FEED_KEPT_REVISIONS = 5_000_000
/** The number of maintenance among the advisory locks: one process at a time is enough. */
const LOCK = 0x4761746b

/**
 * Deletes old feed entries, unless another process is at it; returns how many groups of commits. The last one stays: by it a process
 * finds out that the store holds another history (`FeedLine`).
 */
export function shortenFeed(db: Db): Promise<number> {
  return db.transact(async (tx) => {
    const [row] = await tx.query<{ mine: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS mine', [LOCK])
    if (row?.mine !== true) return 0
    return tx.run(
      `DELETE FROM feed WHERE upto IN (
        SELECT upto FROM (SELECT upto, at FROM feed ORDER BY upto LIMIT ${FEED_ROWS}) oldest
        WHERE (at < now() - interval '${FEED_KEPT_S} seconds'
          OR upto < (SELECT revision FROM store_state) - ${FEED_KEPT_REVISIONS})
          AND upto < (SELECT max(upto) FROM feed))`,
    )
  })
}

interface KeeperParts {
  readonly db: Db
  readonly writer: Writer
  readonly clock: Clock
  readonly log: Log
  readonly refiling: Reindexing
  readonly journal: HitJournal
  /** Hits that nobody has read are worked in when they have waited for so long. */
  readonly foldAfterMs: Millis
}

/**
 * Deletes due rows, in rounds that leave room for others: sessions, tickets, messages, and old feed entries; and
 * rolls up hits that nobody has read.
 */
export class StoreMaintenance {
  private readonly db: Db
  private readonly writer: Writer
  private readonly clock: Clock
  private readonly log: Log
  private readonly refiling: Reindexing
  private readonly journal: HitJournal
  private readonly foldAfterMs: Millis
  private readonly jobs: readonly PeriodicJob[]
  private running: Promise<number> | undefined
  private closed = false

  constructor(parts: KeeperParts) {
    this.db = parts.db
    this.writer = parts.writer
    this.clock = parts.clock
    this.log = parts.log
    this.refiling = parts.refiling
    this.journal = parts.journal
    this.foldAfterMs = parts.foldAfterMs
    // The server is away: the next time tries again.
    this.jobs = [
      new PeriodicJob({ everyMs: EVERY_MS, run: () => this.run(true), onError() {} }),
      new PeriodicJob({
        everyMs: FEED_EVERY_MS,
        run: () => this.tidy(),
        onError: (error) => this.warn(error, 'PostgreSQL maintenance failed'),
      }),
      new PeriodicJob({
        everyMs: FOLD_EVERY_MS,
        run: () => this.journal.foldOld(this.foldAfterMs),
        onError: (error) => this.warn(error, 'cannot roll up hits, they stay in the journal'),
      }),
    ]
  }

  /** Forgets all that is due by now; answers how many rows. `shared`: leaves it to another process that is at it. */
  async run(shared = false): Promise<number> {
    // One that is under way may have asked for an earlier time.
    await this.running?.catch(() => {})
    this.running ??= this.runOnce(shared).finally(() => {
      this.running = undefined
    })
    return this.running
  }

  async close(): Promise<void> {
    this.closed = true
    for (const job of this.jobs) void job.close()
    await this.running?.catch(() => {})
  }

  /** Shortens the feed, and re-indexes what programs of an older version wrote. */
  private async tidy(): Promise<void> {
    await shortenFeed(this.db)
    await this.refiling.refile()
  }

  private warn(error: unknown, what: string): void {
    // Of a server that is away the watch tells.
    if (!this.closed) this.log[isLost(error) ? 'debug' : 'warn']({ err: postgresFault(error) }, what)
  }

  private async runOnce(shared: boolean): Promise<number> {
    let deleted = 0
    while (!this.closed) {
      const startedAt = performance.now()
      const rows = await this.round(shared)
      if (rows === 0) break
      deleted += rows
      // Commits come before it: three quarters of the time are theirs.
      await wait(Math.min(100, 3 * (performance.now() - startedAt)))
    }
    return deleted
  }

  /** The lock of the commits is held meanwhile, so that none of them has read what goes. */
  private async round(shared: boolean): Promise<number> {
    const now = await this.dueBy()
    if (now === undefined) return 0
    let deleted = 0
    await this.writer.between(async (client) => {
      deleted = 0
      await client.query(`BEGIN; ${TRANSACTION_BOUNDS}`)
      if (shared && !(await client.query('SELECT pg_try_advisory_xact_lock($1) AS mine', [LOCK])).rows[0].mine) {
        return void (await client.query('ROLLBACK'))
      }
      await client.query('SELECT 1 FROM store_state FOR UPDATE')
      const sessions = await client.query(
        `DELETE FROM session WHERE number IN (SELECT number FROM session WHERE evict_at > 0 AND evict_at <= $1
          ORDER BY evict_at LIMIT ${STEP_ROWS}) RETURNING number, org_id, client_id, links, evict_at, sealed_key, family`,
        [now],
      )
      if (sessions.rows.length > 0) {
        const { text, values } = removeRefs(
          sessions.rows.map((row) => ({ number: row.number as number, facts: sessionFacts(row) })),
        )
        await client.query(text, [...values])
        await client.query('DELETE FROM session_alias WHERE session = ANY($1::bigint[])', [
          sessions.rows.map(({ number }) => number),
        ])
      }
      const tickets = await client.query(
        `DELETE FROM ticket WHERE hash IN (SELECT hash FROM ticket WHERE keep_until <= $1
          ORDER BY keep_until LIMIT ${STEP_ROWS})`,
        [now],
      )
      const messages = await client.query(
        `DELETE FROM delivery WHERE id IN (SELECT id FROM delivery WHERE dead AND created_at < $1 LIMIT ${STEP_ROWS})`,
        [now - DEAD_RETENTION_MS],
      )
      await client.query('COMMIT')
      deleted = sessions.rows.length + (tickets.rowCount ?? 0) + (messages.rowCount ?? 0)
    })
    return deleted
  }

  /** The time by which something is due; undefined where nothing is. A clock that is ahead of the database's deletes nothing early. */
  private async dueBy(): Promise<Millis | undefined> {
    const [row] = await this.db.read<{ now: Millis; due: boolean }>(
      `WITH by AS (SELECT least($1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now)
        SELECT now, EXISTS (SELECT 1 FROM session WHERE evict_at > 0 AND evict_at <= now)
          OR EXISTS (SELECT 1 FROM ticket WHERE keep_until <= now)
          OR EXISTS (SELECT 1 FROM delivery WHERE dead AND created_at < now - $2) AS due FROM by`,
      [this.clock.wall(), DEAD_RETENTION_MS],
    )
    return row?.due === true ? row.now : undefined
  }
}
