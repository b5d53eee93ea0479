import type { Log } from '../../../model/logs/log.ts'
import type { Address } from '../connection/connect.ts'
import type { Db } from '../connection/db.ts'
import { postgresFault } from '../connection/faults.ts'
import type { FeedLine } from './feed-line.ts'
import { NotificationListener } from './listener.ts'

/** So that what was revoked elsewhere is refused here within a second, although a notice was lost. */
const POLL_MS = 400
const LONGEST_POLL_MS = 5_000
/** A group of this process that is under way tells by itself what it has learned. */
const BUSY_REST_MS = 10

export interface FollowParts {
  readonly db: Db
  readonly line: FeedLine
  readonly log: Log
  /** Past the pooler, where there is one. */
  readonly address: Address
  /** True while this process commits. */
  readonly busy: () => boolean
}

/** Keeps the feed of this process up to date with what others commit: notices, and a poll of the revision. */
export class Follow {
  private readonly parts: FollowParts
  private readonly listener: NotificationListener
  private pollTimer: NodeJS.Timeout | undefined
  private noticeTimer: NodeJS.Timeout | undefined
  private failures = 0
  private closed = false

  constructor(parts: FollowParts) {
    this.parts = parts
    this.listener = new NotificationListener(parts.address, parts.log, (revision) => this.hear(revision))
  }

  /** True while notices of other processes are heard. */
  get listening(): boolean {
    return this.listener.up
  }

  /** Resolves when notices are heard, or the first try to has failed. */
  async start(): Promise<void> {
    this.pollLater()
    await this.listener.start()
  }

  async close(): Promise<void> {
    this.closed = true
    clearTimeout(this.pollTimer)
    clearTimeout(this.noticeTimer)
    await this.listener.close()
  }

  private hear(revision: number): void {
    const { line, busy } = this.parts
    if (this.closed || (revision > 0 && revision <= line.reported)) return
    if (!busy()) return void this.catchUp()
    if (this.noticeTimer !== undefined) return
    this.noticeTimer = setTimeout(() => {
      this.noticeTimer = undefined
      if (!this.closed && (revision === 0 || revision > line.reported)) void this.catchUp()
    }, BUSY_REST_MS)
  }

  private async catchUp(): Promise<void> {
    try {
      await this.parts.line.catchUp()
      this.failures = 0
    } catch (error) {
      this.failures++
      if (!this.closed) this.parts.log.debug({ err: postgresFault(error) }, 'cannot read the PostgreSQL feed')
    }
  }

  private pollLater(): void {
    if (this.closed) return
    // A server that is away, or comes back, is not asked by all at once.
    const restMs = Math.min(LONGEST_POLL_MS, POLL_MS * 2 ** Math.min(5, this.failures))
    const spread = this.failures === 0 ? 1 : 0.5 + Math.random()
    this.pollTimer = setTimeout(() => {
      void this.catchUp().then(() => this.pollLater())
    }, restMs * spread)
    this.pollTimer.unref()
  }
}
