import type { Revision } from '../../ports/ports.ts'
import type { ThreadFeed } from '../../prepare/feed.ts'
import type { Db } from '../connection/db.ts'
import { type FeedRow, unpackEvents } from './events.ts'

/** Groups of commits that are read at once. */
const BATCH = 200

/**
 * Tells this process what any process has committed: in the order of revisions, each once, however often and from where
 * it is heard of.
 */
export class FeedLine {
  /** Revision of the last commit that was reported. */
  told: Revision
  private readonly db: Db
  private readonly feed: ThreadFeed
  private readonly stallMs: number
  private running: Promise<void> | undefined
  private again = false
  private closed = false

  /** `stallMs`: how long one reading may take. */
  constructor(db: Db, feed: ThreadFeed, told: Revision, stallMs: number) {
    this.stallMs = stallMs
    this.db = db
    this.feed = feed
    this.told = told
  }

  /** Reports those of these rows that follow on the last reported one. Rows after a gap are left for `catchUp`. */
  take(rows: readonly FeedRow[]): void {
    for (const row of rows) {
      if (row.upto <= this.told || row.first > this.told + 1) continue
      for (const event of unpackEvents(row)) {
        if (this.closed || event.revision <= this.told) continue
        this.told = event.revision
        this.feed.publish(event)
      }
    }
  }

  /** Reads and tells everything that was committed before the call. @throws Fault `store_away` */
  async catchUp(): Promise<void> {
    if (this.running !== undefined) {
      // What is under way may have read before.
      this.again = true
      return this.running
    }
    this.running = this.readAll()
    try {
      await this.running
    } finally {
      this.running = undefined
      this.again = false
    }
  }

  /** Tells nothing any more. */
  close(): void {
    this.closed = true
  }

  private async readAll(): Promise<void> {
    do {
      this.again = false
      while (!this.closed) {
        const rows = await this.db.read<FeedRow>(
          `SELECT first, upto, events FROM feed WHERE upto > $1 ORDER BY upto LIMIT ${BATCH}`,
          [this.told],
          this.stallMs,
        )
        const [oldest] = rows
        if (oldest !== undefined && oldest.first > this.told + 1) this.skipTo(oldest.first - 1)
        this.take(rows)
        if (rows.length < BATCH) break
      }
    } while (this.again && !this.closed)
  }

  /** The missed commits are deleted already: caches must reload. */
  private skipTo(revision: Revision): void {
    this.told = revision
    this.feed.publish({ revision, changes: [], sessions: [], missed: true })
  }
}
