import type { Client } from 'pg'
import type { Log } from '../../../model/logs/log.ts'
import { type Address, makeClient } from '../connection/connect.ts'
import type { Db } from '../connection/db.ts'
import { isLost, postgresFault } from '../connection/faults.ts'
import { CHANNEL } from '../writer/group-write.ts'
import type { FeedLine } from './feed-line.ts'

const FIRST_BACKOFF_MS = 100
const LONGEST_BACKOFF_MS = 10_000

/**
 * Receives commits of other processes at once, on a separate connection, which must not lead through a transaction pooler.
 * A lost one is made again, sooner or later, not by all at the same moment; meanwhile, and where a notice is lost, polling finds
 * out.
 */
class NotificationListener {
  private readonly address: Address
  private readonly log: Log
  private readonly onNotice: (revision: number) => void
  private client: Client | undefined
  private timer: NodeJS.Timeout | undefined
  private backoffMs = FIRST_BACKOFF_MS
  private closed = false

  /** `onNotice` is called with a revision; with 0 after each new connection, because something may have been missed. */
  constructor(address: Address, log: Log, onNotice: (revision: number) => void) {
    this.address = address
    this.log = log
    this.onNotice = onNotice
  }

  /** True while notices are heard. */
  get up(): boolean {
    return this.client !== undefined
  }

  /** Connects; one that fails is tried again by itself. */
  async start(): Promise<void> {
    const client = makeClient(this.address)
    client.on('notification', ({ payload }) => this.onNotice(Number(payload) || 0))
    client.once('end', () => this.lost(client))
    try {
      await client.connect()
      await client.query(`LISTEN ${CHANNEL}`)
      if (this.closed) return void (await client.end())
      this.client = client
      this.backoffMs = FIRST_BACKOFF_MS
      this.onNotice(0)
    } catch (error) {
      // An outage is logged by the server watch.
      const level = isLost(error) ? 'debug' : 'warn'
      this.log[level]({ err: postgresFault(error) }, 'cannot LISTEN to the PostgreSQL feed, polling instead')
      client.end().catch(() => {})
      this.later()
    }
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    this.closed = true
    clearTimeout(this.timer)
    const client = this.client
    this.client = undefined
    await client?.end().catch(() => {})
  }

  private lost(client: Client): void {
    if (this.client !== client) return
    this.client = undefined
    if (this.closed) return
    this.log.debug({}, 'lost the LISTEN connection to PostgreSQL, polling instead')
    this.later()
  }

  private later(): void {
    if (this.closed || this.timer !== undefined) return
    this.timer = setTimeout(
      () => {
        this.timer = undefined
        void this.start()
      },
      this.backoffMs * (0.5 + Math.random()),
    )
    this.timer.unref()
    this.backoffMs = Math.min(LONGEST_BACKOFF_MS, this.backoffMs * 2)
  }
}

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
