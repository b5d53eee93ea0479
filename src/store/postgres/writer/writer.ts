import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { Fault, fault } from '../../../errors/fault.ts'
import type { Millis, MonoMillis } from '../../../model/time/clock.ts'
import type { Revision } from '../../ports/ports.ts'
import { type Address, breakOff, makeClient } from '../connection/connect.ts'
import { isLost, postgresFault } from '../connection/faults.ts'
import type { Reachability } from '../connection/reachability.ts'
import type { FeedLine } from '../feed/feed-line.ts'
import { type Committed, runGroup, wasCommitted } from './group.ts'
import type { CommitOutcome, Work } from './group-apply.ts'

/** One transaction holds at most this many changes, or this much text, so that nobody waits long for a group of others. */
const GROUP_CHANGES = 500
const GROUP_CHARACTERS = 8 * 1024 * 1024
/** Large commits have longer. */
const MS_A_CHANGE = 2
const EXPIRE_EVERY_MS = 100

interface Waiting {
  readonly work: Work
  /** By `performance.now`: then its caller gets a refusal, and it is not written. */
  readonly untilMs: MonoMillis
  readonly resolve: (revision: Revision) => void
  readonly reject: (fault: Fault) => void
}

interface WriterParts {
  readonly address: Address
  readonly reach: Reachability
  readonly line: FeedLine
  readonly declaration: number
  readonly stallMs: Millis
  readonly withinMs: Millis
}

/** Something that must not run beside the commits of this process, on their connection. */
type Turn = (client: Client) => Promise<void>

/**
 * Writes all commits of this process on one connection: what arrives while a group is under way makes the next one. When the
 * connection is lost in the middle, the group is looked for in the feed and, where it is not there, written again.
 */
export class Writer {
  private readonly address: Address
  private readonly reach: Reachability
  private readonly line: FeedLine
  private readonly declaration: number
  private readonly stallMs: number
  private readonly withinMs: Millis
  private expiry: NodeJS.Timeout | undefined
  private client: Client | undefined
  private queue: Waiting[] = []
  private turns: { turn: Turn; done: (error?: unknown) => void }[] = []
  private running: Promise<void> | undefined
  private closed = false

  /**
   * `reach`: as this connection sees the server, for it may take reads and no writes. `stallMs`: a connection on which a statement has not been
   * answered for so long is given up. `withinMs`: a write that is not committed by then is refused.
   */
  constructor(parts: WriterParts) {
    this.stallMs = parts.stallMs
    this.withinMs = parts.withinMs
    this.address = parts.address
    this.reach = parts.reach
    this.line = parts.line
    this.declaration = parts.declaration
  }

  /** True while a group is on its way: reports of other processes are handled at its end. */
  get busy(): boolean {
    return this.running !== undefined
  }

  /** Writes; resolves with the revision once it is durable and reported. @throws Fault of the work, `store_full`, `store_away`, `write_unconfirmed` */
  write(work: Work): Promise<Revision> {
    if (this.closed) return Promise.reject(fault('store_away', 'the store is closed'))
    const changes = work.sort === 'commit' ? work.commit.changes.length : 0
    const untilMs = performance.now() + this.withinMs + changes * MS_A_CHANGE
    return new Promise((resolve, reject) => {
      this.queue.push({ work, untilMs, resolve, reject })
      this.start()
    })
  }

  /** Runs statements between two groups of this process; they hold the lock of the commits themselves where they need it. */
  between(turn: Turn): Promise<void> {
    if (this.closed) return Promise.reject(fault('store_away', 'the store is closed'))
    return new Promise((resolve, reject) => {
      this.turns.push({ turn, done: (error) => (error === undefined ? resolve() : reject(postgresFault(error))) })
      this.start()
    })
  }

  /** Writes what was accepted, then closes the connection. */
  async close(): Promise<void> {
    this.closed = true
    await this.running
    clearInterval(this.expiry)
    this.drop()
  }

  private start(): void {
    this.expiry ??= setInterval(() => this.expire(), EXPIRE_EVERY_MS).unref()
    // After the events that are waiting, so that all that have come in this turn make one group.
    this.running ??= new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.drain())
      .finally(() => {
        this.running = undefined
        if (this.queue.length + this.turns.length > 0) this.start()
        else {
          clearInterval(this.expiry)
          this.expiry = undefined
        }
      })
  }

  /** Refuses writes that have waited behind others for too long: they are not sent any more. */
  private expire(): void {
    const now = performance.now()
    if (!this.queue.some(({ untilMs }) => untilMs <= now)) return
    const late = this.queue.filter(({ untilMs }) => untilMs <= now)
    this.queue = this.queue.filter(({ untilMs }) => untilMs > now)
    for (const { reject } of late) reject(fault('store_away', 'PostgreSQL did not take the write in time'))
  }

  private async drain(): Promise<void> {
    while (this.queue.length + this.turns.length > 0) {
      if (this.queue.length > 0) await this.runAll(takeGroup(this.queue))
      const next = this.turns.shift()
      if (next !== undefined) await this.runTurn(next.turn).then(() => next.done(), next.done)
    }
  }

  private async runAll(group: readonly Waiting[]): Promise<void> {
    try {
      const { applied, others, row, wentBack } = await this.runGroup(
        group.map(({ work }) => work),
        Math.min(...group.map(({ untilMs }) => untilMs)),
      )
      const isReported = !wentBack && this.line.take(row === undefined ? others : [...others, row])
      if (!isReported || (row !== undefined && this.line.reported < row.upto)) await this.line.catchUp()
      for (const [i, { resolve, reject }] of group.entries()) settle(applied.outcomes[i]!, resolve, reject)
    } catch (error) {
      const cause = postgresFault(error)
      // One failing commit must not fail the rest of its group.
      const mayBeOne = group.length > 1 && (cause.code === 'internal' || cause.code === 'store_full')
      if (mayBeOne) for (const one of group) await this.runAll([one])
      else for (const { reject } of group) reject(cause)
    }
  }

  /** @throws Fault `write_unconfirmed` where the group was sent to be committed, and what became of it is not known in time */
  private async runGroup(works: readonly Work[], untilMs: MonoMillis): Promise<Committed> {
    let name = randomUUID()
    /** The outcome of a group that was sent to be committed and never answered. */
    const sent: { done: Committed | undefined } = { done: undefined }
    const attempt = () =>
      this.lend(async (client) => {
        if (sent.done !== undefined) {
          if (await wasCommitted(client, name)) return sent.done
          sent.done = undefined
          name = randomUUID()
        }
        const onCommit = (done: Committed) => {
          sent.done = done
        }
        try {
          return await runGroup(client, works, {
            ...{ name, onCommit, untilMs },
            ...{ reported: this.line.reported, declaration: this.declaration },
          })
        } catch (error) {
          // The database answered: it rolled the group back.
          if (!isLost(error)) sent.done = undefined
          // Entries of the audit without a commit leave no trace to be found by.
          const lost = sent.done as Committed | undefined
          if (lost === undefined || lost.row !== undefined) throw error
          throw fault('write_unconfirmed', 'the connection was lost while an audit entry was written')
        }
      }, untilMs)
    try {
      return await this.reach.patiently(attempt, () => untilMs)
    } catch (error) {
      if (sent.done === undefined || (error instanceof Fault && error.code === 'write_unconfirmed')) throw error
      throw fault('write_unconfirmed', 'PostgreSQL has not confirmed the commit in time', error)
    }
  }

  private runTurn(turn: Turn): Promise<void> {
    return this.reach.patiently(() => this.lend(turn))
  }

  /** The connection, for as long as `untilMs` at most: it is ended then. */
  private async lend<T>(use: (client: Client) => Promise<T>, untilMs?: MonoMillis): Promise<T> {
    const leftMs = untilMs === undefined ? undefined : Math.max(1, untilMs - performance.now())
    this.client ??= await this.connect(leftMs)
    const client = this.client
    const timer = untilMs && setTimeout(() => this.drop(), Math.max(1, untilMs - performance.now()))
    try {
      const result = await use(client)
      this.reach.reached()
      return result
    } catch (error) {
      // After anything but a refusal nobody knows what the connection is in the middle of.
      if (!(error instanceof Fault)) this.drop()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  private async connect(withinMs: Millis | undefined): Promise<Client> {
    const client = makeClient(this.address, {
      ...{ pipeline: true, query_timeout: this.stallMs },
      ...(withinMs !== undefined && { connectionTimeoutMillis: withinMs }),
    })
    client.once('end', () => {
      if (this.client === client) this.client = undefined
    })
    await client.connect()
    return client
  }

  private drop(): void {
    const client = this.client
    this.client = undefined
    if (client !== undefined) breakOff(client)
  }
}

function takeGroup(queue: Waiting[]): Waiting[] {
  let changes = 0
  let characters = 0
  const end = queue.findIndex(({ work }) => {
    if (changes >= GROUP_CHANGES || characters >= GROUP_CHARACTERS) return true
    if (work.sort !== 'commit') return false
    changes += work.commit.changes.length
    for (const change of work.commit.changes) {
      if (change.op === 'putSession') characters += change.row.text.length
      else if ('text' in change) characters += change.text.length
    }
    return false
  })
  return queue.splice(0, end === -1 ? queue.length : end)
}

function settle(outcome: CommitOutcome, resolve: (revision: Revision) => void, reject: (fault: Fault) => void): void {
  if (outcome instanceof Fault) reject(outcome)
  else resolve(outcome)
}
