import type { DatabaseSync } from 'node:sqlite'
import type { Clock, Millis } from '../../model/clock.ts'
import { wellFormed } from '../cells.ts'
import { pageSize, wholeOffset } from '../list-query.ts'
import type { SessionRow, TicketRow, TicketSort, Tokens } from '../ports.ts'
import { type PreparedSessionFilter, prepareSessionFilter } from '../session-filter.ts'
import { isEvicted } from './apply-session.ts'
import type { Sql } from './list-plan.ts'
import { reading } from './reading.ts'
import { OF_HASH } from './schema-sessions.ts'
import {
  canWalk,
  countSql,
  dueSql,
  fewCountSql,
  firstEntriesSql,
  MANY_ENTRIES,
  plainCountSql,
  sortedSql,
  walkSql,
} from './session-plan.ts'
import { statementsOf } from './statements.ts'

/** `Tokens` on a connection of this thread: answers at once. */
export function tokenReader(db: DatabaseSync, clock: Clock): Tokens {
  const one = db.prepare(`SELECT * FROM session WHERE ${OF_HASH}`)
  const ticket = db.prepare('SELECT * FROM ticket WHERE hash = ? AND keep_until > ?')
  // The text of the second condition is that of the index.
  const family = db.prepare(
    "SELECT * FROM ticket WHERE family = ? AND family <> '' AND keep_until > ? ORDER BY hash LIMIT 1000",
  )
  const statement = statementsOf(db)
  const all = ({ text, values }: Sql) => statement(text).all(...values)
  const countOf = (sql: Sql) => all(sql)[0]!.n as number

  /** True when the first condition alone leaves few. */
  const isFew = (filter: PreparedSessionFilter) =>
    filter.refs.length > 0 && countOf(firstEntriesSql(filter)) <= MANY_ENTRIES
  /** Where a page begins: a cursor is the number of a row, a hash has 64 digits. */
  const rowAfter = (after: string): number => {
    if (after.length < 64) return Number(after) || 0
    return (one.get(Buffer.from(after, 'hex'))?.row ?? 0) as number
  }
  return {
    getSession: (hash) =>
      reading(() => {
        const row = one.get(hash)
        if (row === undefined || isEvicted(row.evict_at as Millis, clock.wall())) return undefined
        return toSession(row)
      }),
    listSessions(query) {
      const filter = prepareSessionFilter(query)
      const limit = pageSize(query.limit)
      return reading(() => {
        const after = query.after === undefined ? 0 : rowAfter(query.after)
        const page = { after, offset: wholeOffset(query.offset), limit, now: clock.wall() }
        const walks = canWalk(filter) && (filter.part === '' || isFew(filter))
        const rows = all(walks ? walkSql(filter, page) : sortedSql(filter, page))
        const last = rows.length < limit ? undefined : rows.at(-1)
        return { rows: rows.map(toSession), next: last && String(last.row) }
      })
    },
    countSessions(query) {
      const filter = prepareSessionFilter(query)
      const { refs, part } = filter
      return reading(() => {
        const now = clock.wall()
        const plain = refs.length < 2 && part === '' && canWalk(filter)
        if (plain) return countOf(plainCountSql(filter)) - countOf(dueSql(filter, now))
        return countOf(isFew(filter) ? fewCountSql(filter, now) : countSql(filter, now))
      })
    },
    getTicket: (hash) =>
      reading(() => {
        const row = ticket.get(hash, clock.wall())
        return row && toTicket(row)
      }),
    familyTickets: (name) => reading(() => family.all(wellFormed(name), clock.wall()).map(toTicket)),
  }
}

function toSession(row: Record<string, unknown>): SessionRow {
  const [apiIds, policyIds] = JSON.parse(row.links as string) as [string[], string[]]
  const sealedKey = row.sealed_key as Uint8Array
  return {
    hash: row.hash as Uint8Array,
    body: JSON.parse(row.body as string),
    orgId: row.org_id as string,
    apiIds,
    policyIds,
    clientId: row.client_id as string,
    evictAt: row.evict_at as number,
    ...(sealedKey.length > 0 && { sealedKey }),
    ...(row.family !== '' && { family: row.family as string }),
  }
}

function toTicket(row: Record<string, unknown>): TicketRow {
  return {
    hash: row.hash as Uint8Array,
    sort: row.sort as TicketSort,
    apiId: row.api_id as string,
    clientId: row.client_id as string,
    family: row.family as string,
    expiresAt: row.expires_at as number,
    keepUntil: row.keep_until as number,
    version: row.version as number,
    claimedAt: row.claimed_at as number,
    body: JSON.parse(row.body as string),
  }
}
