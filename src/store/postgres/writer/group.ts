import type { Client } from 'pg'
import { fault } from '../../../errors/fault.ts'
import type { Millis, MonoMillis } from '../../../model/time/clock.ts'
import type { Revision } from '../../ports/ports.ts'
import type { Sql } from '../connection/db.ts'
import { sqlState } from '../connection/faults.ts'
import type { FeedRow } from '../feed/feed-line.ts'
import { checkNeeds } from '../migrations/migrate.ts'
import { TRANSACTION_BOUNDS } from '../migrations/schema.ts'
import { type AppliedGroup, applyGroup, type Work } from './group-apply.ts'
import { loadsOf } from './group-load.ts'
import { emptyState, type GroupState } from './group-rows.ts'
import { writesOf } from './group-write.ts'

/** Feed rows that are read along with a group; readers further behind catch up on their own. */
const ALONG = 50

export interface GroupOptions {
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

export interface Committed {
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
export async function runGroup(client: Client, works: readonly Work[], options: GroupOptions): Promise<Committed> {
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
export async function wasCommitted(client: Client, name: string): Promise<boolean> {
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
