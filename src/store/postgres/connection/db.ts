/** Runs statements: `$1` is the first of `values`. Buffers and Uint8Arrays are `bytea`, arrays are arrays. */
export interface Tx {
  /**
   * The rows of one statement. `int8` and `numeric` read as numbers, `bytea` as a separate Buffer, `json` as its text.
   * @throws Fault `store_away` (server away, or too slow), `store_full`, `store_refused`; `internal` where the statement itself
   * failed: `sqlState` of faults.ts then tells why
   */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** Runs one statement and answers how many rows it wrote. Throws as `query`. */
  run(text: string, values?: readonly unknown[]): Promise<number>
}

/**
 * A database behind a pool of connections, which may be those of a transaction pooler: nothing may depend on the connection
 * outside a transaction, so no session settings, session locks, temporary tables or named statements.
 */
export interface Db extends Tx {
  /**
   * As `query`, for a statement that only reads: it is run again when the connection was lost, or has not answered `withinMs`
   * (default: one minute).
   */
  read<Row extends object>(text: string, values?: readonly unknown[], withinMs?: number): Promise<Row[]>
  /**
   * One transaction (READ COMMITTED, or as asked) on one connection: committed when `run` resolves, else rolled back and
   * thrown again. `run` must not use the `Db` meanwhile. After `store_away` it may have been committed all the same.
   */
  transact<T>(run: (tx: Tx) => Promise<T>, options?: TransactOptions): Promise<T>
  /** The rows of one statement in batches, as they were when the first was read. Holds a connection until the loop is left. */
  cursor<Row extends object>(text: string, values: readonly unknown[], batchRows: number): AsyncIterable<Row[]>
}

export interface TransactOptions {
  /** `snapshot`: all statements see the same moment (REPEATABLE READ), and nothing may be written. */
  readonly isolation?: 'snapshot'
}

/** A statement and what is bound to it. */
export interface Sql {
  readonly text: string
  readonly values: readonly unknown[]
}
