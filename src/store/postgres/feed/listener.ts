import type { Client } from 'pg'
import type { Log } from '../../../model/logs/log.ts'
import { type Address, makeClient } from '../connection/connect.ts'
import { isLost, postgresFault } from '../connection/faults.ts'
import { CHANNEL } from '../writer/group-write.ts'

const FIRST_BACKOFF_MS = 100
const LONGEST_BACKOFF_MS = 10_000

/**
 * Receives commits of other processes at once, on a separate connection, which must not lead through a transaction pooler.
 * A lost one is made again, sooner or later, not by all at the same moment; meanwhile, and where a notice is lost, polling finds
 * out.
 */
export class NotificationListener {
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
