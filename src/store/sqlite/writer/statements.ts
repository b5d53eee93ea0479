import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** Their texts come from the code alone: more than this many different ones would be a mistake, which must not cost memory. */
const MOST = 500

/** Prepared statements of a connection by their text, for queries that are put together when they are asked for. */
export function statementsOf(db: DatabaseSync): (sql: string) => StatementSync {
  const held = new Map<string, StatementSync>()
  return (sql) => {
    const found = held.get(sql)
    if (found !== undefined) return found
    if (held.size >= MOST) held.clear()
    const statement = db.prepare(sql)
    held.set(sql, statement)
    return statement
  }
}
