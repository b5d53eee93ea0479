import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { Fault, fault } from '../../../errors/fault.ts'
import type { Millis, MonoMillis } from '../../../model/time/clock.ts'
import type { Revision } from '../../ports/ports.ts'
import { type Address, breakOff, makeClient } from '../connection/connect.ts'
import type { Sql } from '../connection/db.ts'
import { isLost, postgresFault, sqlState } from '../connection/faults.ts'
import type { Reachability } from '../connection/reachability.ts'
import type { FeedLine, FeedRow } from '../feed/feed-line.ts'
import { checkNeeds } from '../migrations/migrate.ts'
import { TRANSACTION_BOUNDS } from '../migrations/schema.ts'
import { type AppliedGroup, applyGroup, type CommitOutcome, type Work } from './group-apply.ts'
import { loadsOf } from './group-load.ts'
import { emptyState, type GroupState } from './group-rows.ts'
import { writesOf } from './group-write.ts'

/** Feed rows that are read along with a group; readers further behind catch up on their own. */
const ALONG = 50

interface GroupOptions {
  /** Random name, by which it is found in the feed. */
  readonly name: string
  /** Revision up to which the feed of this process has reported. */
  readonly reported: Revision
  readonly declaration: number
  /** Its callers give up then, by `performance.now`: from a moment before it the database no longer commits it, however late it reads it. */
  readonly untilMs: MonoMillis
  /** Called when the transaction is about to be committed: from here on it may be, even without a confirmation. */
  onCommit(done: Committed): void
}

interface Committed {
  readonly applied: AppliedGroup
  /** Revisions of the group, and its feed entry; undefined = nothing to report. */
  readonly row: FeedRow | undefined
  /** Feed entries of other processes before it, as far as requested. */
  readonly others: readonly FeedRow[]
  /** The store was at an earlier revision than this process had reported. */
  readonly wentBack: boolean
}

const BEGIN = `BEGIN; ${TRANSACTION_BOUNDS}`
const NOW = 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now'
/** Fails (22012) when the database reads it after the given time of its own clock. */
const IN_TIME = 'SELECT 1 / (extract(epoch FROM clock_timestamp())::float8 * 1000 < $1)::int'
const DIVISION_BY_ZERO = '22012'
/** The last moment of a group that is left for the commit itself. */
const COMMIT_MS = 250
// From here on no other process commits until this transaction ends.
const LOCK = 'SELECT revision, last_session, last_delivery, last_audit, needs FROM store_state FOR UPDATE'
// With the row of the last reported commit, by which another history is distinguished.
const READ_FEED = `SELECT first, upto, writer, events FROM feed WHERE upto >= $1 ORDER BY upto LIMIT ${ALONG}`

/**
 * Runs a group of commits in one transaction, in two messages there and back: lock and read, then write and commit. `client`
 * must be in pipeline mode, and takes part in nothing else meanwhile.
 */
async function runGroup(client: Client, works: readonly Work[], options: GroupOptions): Promise<Committed> {
  let open = true
  try {
    const { state, others, now } = await readState(client, works, options.reported)
    // Its clock was read before this one.
    const commitBy = now + options.untilMs - performance.now() - COMMIT_MS
    const before = state.revision
    const applied = applyGroup(works, state)
    const wentBack = before < options.reported
    const committed: Committed = { applied, others, row: undefined, wentBack }
    if (applied.events.length + applied.audits.length === 0) {
      open = false
      await client.query('ROLLBACK')
      return committed
    }
    const writes = writesOf({ before, state, applied, writer: options.name, declaration: options.declaration })
    const events = writes.find(({ text }) => text.startsWith('INSERT INTO feed'))?.values[3] as string | undefined
    const row =
      events === undefined ? undefined : { first: before + 1, upto: state.revision, writer: options.name, events }
    open = false
    const done = { applied, others, row, wentBack }
    options.onCommit(done)
    // Where one of them fails, the last one rolls back.
    const results = await Promise.all([
      ...writes.map((write) => send(client, write)),
      client.query(IN_TIME, [commitBy]).catch(tooLate),
      client.query('COMMIT'),
    ])
    if (results.at(-1)!.command !== 'COMMIT') throw fault('internal', 'a commit was rolled back without a reason')
    return done
  } catch (error) {
    if (open) await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** True when a group of this name was committed. Waits until a transaction that may still be committing it has ended. */
async function wasCommitted(client: Client, name: string): Promise<boolean> {
  try {
    const [, , found] = await Promise.all([
      client.query(BEGIN),
      client.query(LOCK),
      client.query('SELECT 1 FROM feed WHERE writer = $1', [name]),
    ])
    return found.rows.length > 0
  } finally {
    await client.query('ROLLBACK').catch(() => {})
  }
}

async function readState(
  client: Client,
  works: readonly Work[],
  reported: Revision,
): Promise<{ state: GroupState; others: FeedRow[]; now: Millis }> {
  const loads = loadsOf(works)
  const [, locked, time, heard, ...read] = await Promise.all([
    client.query(BEGIN),
    client.query(LOCK),
    // After the wait for the lock.
    client.query<{ now: Millis }>(NOW),
    client.query(READ_FEED, [reported]),
    ...loads.map((load) => send(client, load)),
  ])
  const row = locked.rows[0] as Record<string, number> | undefined
  if (row === undefined) throw fault('store_damaged', 'the row of the last revision is gone')
  checkNeeds(row.needs!)
  const state = emptyState()
  Object.assign(state, {
    ...{ revision: row.revision, lastSession: row.last_session },
    ...{ lastDelivery: row.last_delivery, lastAudit: row.last_audit },
  })
  for (const [i, load] of loads.entries()) load.take(read[i]!.rows, state)
  return { state, others: heard.rows as FeedRow[], now: time.rows[0]!.now }
}

/** @throws Fault `store_away`: nothing was written */
function tooLate(error: unknown): never {
  throw sqlState(error) === DIVISION_BY_ZERO ? fault('store_away', 'PostgreSQL read the write too late') : error
}

function send(client: Client, { text, values }: Sql) {
  return client.query(text, [...values])
}

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
