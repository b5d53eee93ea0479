import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Client } from 'pg'
import { type Fault, fault } from '../../../errors/fault.ts'
import type { Log } from '../../../model/logs/log.ts'
import { FROZEN_STORE, outboxHealth, type PartHealth } from '../../../model/nodes/health.ts'
import type { Millis, MonoMillis } from '../../../model/time/clock.ts'
import { endsWithin } from '../../../runtime/bounded-wait.ts'
import { PeriodicJob } from '../../../runtime/periodic-job.ts'
import type { Revision } from '../../ports/ports.ts'
import { FROZEN } from '../migrations/migrate.ts'
import { OLDEST_WAITING } from '../tokens/read-outbox.ts'
import { type Address, breakOff, makeClient } from './connect.ts'
import { hasNoRoom, isEmptied, postgresFault, READ_ONLY, sqlState } from './faults.ts'
import type { PoolDb } from './pool-db.ts'
import type { Reachability } from './reachability.ts'

const EVERY_MS = 1_000
/** A server that has not answered the smallest question by then hangs. */
const ANSWER_MS = 2_500
/** Changes of others are known within a second where all is well. */
const LAG_MS = 5_000

/** The longest wait for an answer through the pool: its connections may all be in use, or hang as well. */
const PROBE_MS = 1_000

const EMPTIED =
  'PostgreSQL was emptied while this node ran: the tables of the store are gone. Stop all nodes, restore the last backup, then start them'

/** The outbox is looked through with every fifth look at the server, for at most this time: it may be large, or locked. */
const OUTBOX_EVERY = 5
const OUTBOX_MS = 1_000
/** The server has ended the statement by then, unless it hangs. */
const OUTBOX_ANSWER_MS = 1_500

const ASK = `SELECT s.revision, current_setting('transaction_read_only') = 'on' AS read_only, s.needs >= ${FROZEN} AS frozen
  FROM store_state s`

/** SQLSTATE of a statement that took too long. */
const CANCELED = '57014'

const SLOW_OUTBOX: PartHealth = {
  part: 'outbox',
  status: 'warn',
  output: 'The outbox is too large, or locked, to be looked through within a second',
}

interface Seen {
  readonly revision: Revision
  readonly read_only: boolean
  /** By `migrate-store`. */
  readonly frozen: boolean
}

export interface ServerWatchParts {
  readonly address: Address
  /** The connections of others. */
  readonly db: PoolDb
  readonly reach: Reachability
  /** Where outages are reported. */
  readonly log: Log
  /** Revision up to which this process knows what was committed. */
  readonly reported: () => Revision
}

/**
 * Asks the server every second, on a connection of its own, whether it answers and takes writes. It says so once for each outage, and lets other
 * calls fail at once while the server does not answer there or on a connection of the pool. Its results are there at once, whatever hangs.
 */
export class ServerWatch {
  readonly #parts: ServerWatchParts
  #client: Client | undefined
  #job: PeriodicJob | undefined
  #trouble: Fault | undefined
  /** Why it has no connection of its own to a server that answers. */
  #unwatched: Fault | undefined
  /** The server answers, and has no store any more. */
  #emptied = false
  #readOnly = false
  #frozen = false
  #outbox = outboxHealth(0)
  /** Looks at the server until the outbox is looked through again. */
  #looksLeft = 0
  /** A revision that the feed of this process has not reported, since it was seen first. */
  #missing: { readonly revision: Revision; readonly sinceMs: MonoMillis } | undefined
  /** When the state that the log says last began. */
  #sinceMs: MonoMillis = performance.now()

  constructor(parts: ServerWatchParts) {
    this.#parts = parts
  }

  start(): void {
    // An error is its result.
    this.#job = new PeriodicJob({ everyMs: EVERY_MS, run: () => this.#look(), onError() {}, atOnce: true })
  }

  async close(): Promise<void> {
    void this.#job?.close()
    this.#drop()
  }

  get health(): readonly PartHealth[] {
    return [this.#store(), this.#feed(), this.#outbox]
  }

  #store(): PartHealth {
    const part = 'store'
    if (this.#emptied) return { part, status: 'fail', output: EMPTIED, fault: 'store_emptied' }
    if (this.#trouble !== undefined)
      return { part, status: 'fail', output: 'PostgreSQL does not answer', fault: this.#trouble.code }
    if (this.#readOnly) return { part, status: 'fail', output: 'PostgreSQL takes no changes', fault: 'store_read_only' }
    if (this.#frozen) return FROZEN_STORE
    if (this.#unwatched !== undefined)
      return { part, status: 'warn', output: 'PostgreSQL answers, and has no connection for the check of its state' }
    return { part, status: 'pass' }
  }

  /** How long something that was committed is not known here. */
  #feed(): PartHealth {
    const lagMs = this.#missing === undefined ? 0 : performance.now() - this.#missing.sinceMs
    const seen = { part: 'feed', value: lagMs / 1000, unit: 's' } as const
    if (lagMs < LAG_MS) return { ...seen, status: 'pass' }
    return { ...seen, status: 'warn', output: 'Changes of other nodes are not known here yet' }
  }

  async #look(): Promise<void> {
    try {
      const seen = await this.#ask()
      this.#parts.reach.reached()
      this.#markAnswered(seen)
      if (await this.#lookThroughOutbox()) return
      // Whether the server or its outbox is late, another connection tells.
      this.#drop()
      this.#markAnswered(await this.#ask())
    } catch (error) {
      this.#drop()
      const trouble = postgresFault(error)
      if (isEmptied(error)) this.#markEmptied(trouble)
      else if (await this.#othersMayReachIt(error)) this.#markUnwatched(trouble)
      else this.#markUnreachable(trouble, error instanceof NoAnswer)
    }
  }

  /** A server without room for this connection, or a pooler that queues it, may still answer others. Standbys answer and take no writes. */
  async #othersMayReachIt(error: unknown): Promise<boolean> {
    if (hasNoRoom(error)) return true
    if (sqlState(error) === READ_ONLY) return false
    const probe = this.#parts.db.probe(PROBE_MS).then(
      () => true,
      (failure: unknown) => hasNoRoom(failure),
    )
    return (await endsWithin(probe, PROBE_MS)) && probe
  }

  async #ask(): Promise<Seen> {
    const answer = this.#client === undefined ? this.#connect() : this.#query(this.#client)
    if (!(await endsInTime(answer))) throw new NoAnswer()
    return answer
  }

  async #connect(): Promise<Seen> {
    const client = makeClient(this.#parts.address, { connectionTimeoutMillis: ANSWER_MS })
    this.#client = client
    await client.connect()
    return this.#query(client)
  }

  async #query(client: Client): Promise<Seen> {
    const { rows } = await client.query<Seen>(ASK)
    if (rows[0] === undefined) throw fault('store_emptied', 'the row of the last revision is gone')
    return rows[0]
  }

  /** False where nothing came back, not even that it takes too long. */
  async #lookThroughOutbox(): Promise<boolean> {
    const client = this.#client
    if (client === undefined || this.#looksLeft-- > 0) return true
    this.#looksLeft = OUTBOX_EVERY - 1
    const looked = outboxOf(client).then((found) => {
      if (found !== undefined) this.#outbox = found
    })
    if (await endsInTime(looked, OUTBOX_ANSWER_MS)) return true
    this.#outbox = SLOW_OUTBOX
    return false
  }

  #drop(): void {
    const client = this.#client
    this.#client = undefined
    if (client !== undefined) breakOff(client)
  }

  #markAnswered({ revision, read_only, frozen }: Seen): void {
    this.#frozen = frozen
    const reported = this.#parts.reported()
    if (revision <= reported) this.#missing = undefined
    else if (this.#missing === undefined || this.#missing.revision <= reported)
      this.#missing = { revision, sinceMs: performance.now() }
    const wasAway = this.#trouble !== undefined || this.#unwatched !== undefined || this.#emptied
    this.#emptied = false
    this.#trouble = undefined
    this.#unwatched = undefined
    const { log } = this.#parts
    if (read_only && !this.#readOnly)
      log.warn({}, 'PostgreSQL takes no changes: what must be written is refused with 503')
    else if (!read_only && (wasAway || this.#readOnly))
      log.info({ after_ms: Math.round(performance.now() - this.#sinceMs) }, 'PostgreSQL is available')
    if (read_only !== this.#readOnly || wasAway) this.#sinceMs = performance.now()
    this.#readOnly = read_only
    // One of several hosts may take writes by now.
    if (read_only) this.#drop()
  }

  #markUnwatched(trouble: Fault): void {
    this.#parts.reach.unknown()
    if (this.#unwatched === undefined) {
      this.#sinceMs = performance.now()
      this.#parts.log.warn({ cause: trouble }, 'PostgreSQL answers, and has no connection for the check of its state')
    }
    this.#emptied = false
    this.#trouble = undefined
    this.#unwatched = trouble
  }

  /** Each call of others finds out by itself: what it is refused with tells nothing of the server. */
  #markEmptied(trouble: Fault): void {
    this.#parts.reach.reached()
    if (!this.#emptied) {
      this.#sinceMs = performance.now()
      this.#parts.log.error({ cause: trouble }, EMPTIED)
    }
    this.#emptied = true
    this.#trouble = undefined
    this.#unwatched = undefined
  }

  #markUnreachable(trouble: Fault, hangs: boolean): void {
    this.#parts.reach.lost(trouble, hangs)
    if (this.#trouble === undefined) {
      this.#sinceMs = performance.now()
      this.#parts.log.warn(
        { cause: trouble },
        'PostgreSQL is unavailable: gateways serve what they have, and what must be written is refused with 503',
      )
    }
    this.#emptied = false
    this.#trouble = trouble
    this.#unwatched = undefined
  }
}

/** The state of the outbox; undefined where the server cannot say it now. The server itself ends a look that takes too long. */
async function outboxOf(client: Client): Promise<PartHealth | undefined> {
  try {
    await client.query(`BEGIN READ ONLY; SET LOCAL statement_timeout = ${OUTBOX_MS}`)
    const { rows } = await client.query<{ waiting_ms: Millis | null }>(OLDEST_WAITING)
    await client.query('COMMIT')
    return outboxHealth(rows[0]?.waiting_ms ?? 0)
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    return sqlState(error) === CANCELED ? SLOW_OUTBOX : undefined
  }
}

/** As that of a client, which means a lost server (`isLost`). */
class NoAnswer extends Error {
  constructor() {
    super(`timeout exceeded: no answer for ${ANSWER_MS} ms`)
  }
}

/** Whether something ends in time, though this process may have been busy with something else when it did. */
async function endsInTime(work: Promise<unknown>, withinMs = ANSWER_MS): Promise<boolean> {
  let ended = false
  const noted = work.then(
    () => {
      ended = true
    },
    (error) => {
      ended = true
      throw error
    },
  )
  noted.catch(() => {})
  if (await endsWithin(noted, withinMs)) return true
  // An answer that is there is read before the next turn.
  for (let turn = 0; turn < 2 && !ended; turn++) await nextTurn()
  return ended
}
