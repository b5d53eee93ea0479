import type { Pool, PoolClient, QueryConfig } from 'pg'
import type { Millis } from '../../../model/time/clock.ts'
import { TRANSACTION_BOUNDS } from '../migrations/schema.ts'
import { breakOff } from './connect.ts'
import type { Db, TransactOptions, Tx } from './db.ts'
import { isLost, postgresFault } from './faults.ts'
import type { Reachability } from './reachability.ts'

/** A server that has not answered for so long, or a network that swallows what is sent. */
const LONGEST_STATEMENT_MS = 60_000
/** Consumers of a long list may be slow. */
const CURSOR_BOUNDS = 'SET LOCAL idle_in_transaction_session_timeout = 120000'

/** Statements and transactions on pooled connections; each result tells `Reachability` of the server. */
export class PoolDb implements Db {
  private readonly pool: Pool
  private readonly reach: Reachability

  constructor(pool: Pool, reach: Reachability) {
    this.pool = pool
    this.reach = reach
  }

  query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.lend((tx) => tx.query<Row>(text, values))
  }

  run(text: string, values: readonly unknown[] = []): Promise<number> {
    return this.lend((tx) => tx.run(text, values))
  }

  async read<Row extends object>(
    text: string,
    values: readonly unknown[] = [],
    withinMs = LONGEST_STATEMENT_MS,
  ): Promise<Row[]> {
    // One bound for all tries to connect: a server that hangs uses it up with the first. A connection that was lost says nothing of others.
    const untilMs = performance.now() + withinMs
    let connected = false
    const ask = () => {
      connected = false
      return this.lend(
        (tx, client) => {
          connected = true
          return this.reach.unlessItHangs(tx.query<Row>(text, values), () => breakOff(client))
        },
        withinMs,
        untilMs,
      )
    }
    try {
      return await this.reach.patiently(ask, () => (connected ? Number.POSITIVE_INFINITY : untilMs))
    } catch (error) {
      throw postgresFault(error)
    }
  }

  /** Asks the server the smallest question on one of the connections that others use, whatever was found about it. @throws what the client throws */
  async probe(withinMs: Millis): Promise<void> {
    const client = await this.pool.connect()
    let isFine = false
    try {
      await client.query({ text: 'SELECT 1', query_timeout: withinMs } as QueryConfig)
      isFine = true
    } finally {
      client.release(!isFine)
    }
  }

  transact<T>(run: (tx: Tx) => Promise<T>, options: TransactOptions = {}): Promise<T> {
    const level = options.isolation === 'snapshot' ? ' ISOLATION LEVEL REPEATABLE READ READ ONLY' : ''
    return this.lend(async (tx) => {
      await tx.run(`BEGIN${level}; ${TRANSACTION_BOUNDS}`)
      try {
        const result = await run(tx)
        await tx.run('COMMIT')
        return result
      } catch (error) {
        // Where the connection is gone there is nothing to roll back.
        if (!isLost(error)) await tx.run('ROLLBACK')
        throw error
      }
    })
  }

  async *cursor<Row extends object>(text: string, values: readonly unknown[], batchRows: number): AsyncIterable<Row[]> {
    const client = await this.checkOut()
    const tx = new ClientTx(client, LONGEST_STATEMENT_MS)
    let ended = false
    try {
      await tx.run(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${CURSOR_BOUNDS}`)
      await tx.run(`DECLARE rows_of NO SCROLL CURSOR FOR ${text}`, values)
      this.reach.reached()
      while (true) {
        const rows = await tx.query<Row>(`FETCH ${Math.max(1, Math.floor(batchRows))} FROM rows_of`)
        if (rows.length > 0) yield rows
        if (rows.length < batchRows) break
      }
      await tx.run('COMMIT')
      ended = true
    } finally {
      // A loop that was left, or failed, leaves its transaction open: the connection goes with it.
      client.release(!ended)
    }
  }

  /** Nothing has been sent when this fails, so that it may be tried again. */
  private async checkOut(untilMs = Number.POSITIVE_INFINITY): Promise<PoolClient> {
    try {
      return await this.reach.patiently(
        () => this.pool.connect(),
        () => untilMs,
      )
    } catch (error) {
      throw postgresFault(error)
    }
  }

  private async lend<T>(
    use: (tx: Tx, client: PoolClient) => Promise<T>,
    withinMs = LONGEST_STATEMENT_MS,
    untilMs?: number,
  ): Promise<T> {
    const client = await this.checkOut(untilMs)
    try {
      const result = await use(new ClientTx(client, withinMs), client)
      this.reach.reached()
      client.release()
      return result
    } catch (error) {
      const lost = isLost(error)
      if (!lost) this.reach.reached()
      client.release(lost)
      throw error
    }
  }
}

class ClientTx implements Tx {
  private readonly client: PoolClient
  private readonly withinMs: number

  constructor(client: PoolClient, withinMs: number) {
    this.client = client
    this.withinMs = withinMs
  }

  async query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.send(text, values)).rows as Row[]
  }

  async run(text: string, values: readonly unknown[] = []): Promise<number> {
    return (await this.send(text, values)).rowCount ?? 0
  }

  private async send(text: string, values: readonly unknown[]) {
    try {
      // Several statements in one text can have no values, not even none.
      const bounds = { text, query_timeout: this.withinMs }
      return await this.client.query(values.length === 0 ? bounds : { ...bounds, values: [...values] })
    } catch (error) {
      throw postgresFault(error)
    }
  }
}
