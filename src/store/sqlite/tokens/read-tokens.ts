import type { DatabaseSync } from 'node:sqlite'
import type { Clock, Millis } from '../../../model/time/clock.ts'
import { mapInTurns } from '../../../runtime/turns.ts'
import type { SessionRow, TicketRow, TicketType, Tokens } from '../../ports/ports.ts'
import { wellFormed } from '../../prepare/cells.ts'
import { pageSize, wholeOffset } from '../../prepare/list-query.ts'
import {
  type PreparedSessionFilter,
  prepareSessionFilter,
  type SessionCondition,
} from '../../prepare/session-filter.ts'
import { statementsOf } from '../connection/database.ts'
import { reading } from '../connection/faults.ts'
import type { Sql } from '../documents/list-plan.ts'
import { OF_HASH, REF } from '../migrations/schema.ts'
import { isEvicted } from './apply-session.ts'
import {
  difference,
  dueNumbersSql,
  matchingNumbers,
  parseNumbers,
  placeBehind,
  type SessionNumbers,
} from './session-sets.ts'

const COLUMNS = 's.row, s.hash, s.org_id, s.client_id, s.links, s.evict_at, s.sealed_key, s.body, s.family'

/** Rows that may be forgotten but are still there: few, because the writer forgets them every second. Read once a statement. */
const DUE = 'SELECT row FROM session WHERE evict_at > 0 AND evict_at <= ?'

interface SessionPage {
  /** The row that the page begins behind. */
  readonly after: number
  readonly offset: number
  readonly limit: number
  readonly now: Millis
}

/** One session by its number. */
const ROW_SQL = `SELECT ${COLUMNS} FROM session s WHERE s.row = ?`

type Row = Record<string, unknown>

/** `Tokens` on a connection of this thread: answers at once. */
export function tokenReader(db: DatabaseSync, clock: Clock): Tokens {
  const one = db.prepare(`SELECT * FROM session WHERE ${OF_HASH}`)
  const ticket = db.prepare('SELECT * FROM ticket WHERE hash = ? AND keep_until > ?')
  // The text of the second condition is that of the index.
  const family = db.prepare(
    "SELECT * FROM ticket WHERE family = ? AND family <> '' AND keep_until > ? ORDER BY hash LIMIT 1000",
  )
  const byNumber = db.prepare(ROW_SQL)
  // Changes whenever another connection, of any thread, has written.
  const version = db.prepare('PRAGMA data_version')
  const begin = db.prepare('BEGIN')
  const end = db.prepare('COMMIT')
  const statement = statementsOf(db)
  const all = ({ text, values }: Sql) => statement(text).all(...values)
  const countOf = (sql: Sql) => all(sql)[0]!.n as number
  const found = (sql: Sql) => all(sql)[0]!.found

  /** The last set that was asked for: after the count of a list come its pages. */
  let last: { readonly of: string; readonly version: unknown; readonly numbers: SessionNumbers } | undefined
  /** Several statements see one state of the data. */
  const together = <T>(work: () => T): T => {
    begin.run()
    try {
      return work()
    } finally {
      end.run()
    }
  }
  const matching = (filter: PreparedSessionFilter, now: Millis): SessionNumbers => {
    const of = JSON.stringify(filter)
    const { data_version: state } = version.get()!
    if (last?.of !== of || last.version !== state)
      last = { of, version: state, numbers: matchingNumbers(filter, found) }
    return difference(last.numbers, parseNumbers(found(dueNumbersSql(now))))
  }
  const picked = (filter: PreparedSessionFilter, { after, offset, limit, now }: SessionPage): Row[] => {
    const numbers = matching(filter, now)
    const from = placeBehind(numbers, after) + offset
    return Array.from(numbers.subarray(from, from + limit), (number) => byNumber.get(number)!)
  }
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
      const found = reading(() => {
        const after = query.after === undefined ? 0 : rowAfter(query.after)
        const page = { after, offset: wholeOffset(query.offset), limit, now: clock.wall() }
        return canWalk(filter) ? all(walkSql(filter, page)) : together(() => picked(filter, page))
      })
      const behind = found.length < limit ? undefined : found.at(-1)
      const next = behind && String(behind.row)
      const rows = mapInTurns(found, (row) => reading(() => toSession(row)))
      return rows instanceof Promise ? rows.then((rows) => ({ rows, next })) : { rows, next }
    },
    countSessions(query) {
      const filter = prepareSessionFilter(query)
      return reading(() => {
        const now = clock.wall()
        if (canWalk(filter) && filter.refs.length < 2)
          return countOf(plainCountSql(filter)) - countOf(dueSql(filter, now))
        return together(() => matching(filter, now).length)
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

function toSession(row: Row): SessionRow {
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

function toTicket(row: Row): TicketRow {
  return {
    hash: row.hash as Uint8Array,
    sort: row.sort as TicketType,
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

/** True when a page is read in order until it is full, without reading the rows after it. */
function canWalk({ reach, part }: PreparedSessionFilter): boolean {
  return reach === undefined && part === ''
}

/** How many match: of a filter with one condition or none. `dueSql` of them must be taken off. */
export function plainCountSql({ refs: [first] }: PreparedSessionFilter): Sql {
  if (first === undefined) return { text: 'SELECT count(*) AS n FROM session s', values: [] }
  const only = test('r1', first)
  return { text: `SELECT count(*) AS n FROM session_ref r1 WHERE ${only.text}`, values: only.values }
}

/** How many of those that match one condition or none may be forgotten. */
export function dueSql({ refs: [first] }: PreparedSessionFilter, now: Millis): Sql {
  const due = 'SELECT count(*) AS n FROM session s WHERE s.evict_at > 0 AND s.evict_at <= ?'
  if (first === undefined) return { text: due, values: [now] }
  const only = test('r1', first)
  return {
    text: `${due} AND EXISTS (SELECT 1 FROM session_ref r1 WHERE ${only.text} AND r1.session = s.row)`,
    values: [now, ...only.values],
  }
}

/** A page: the first condition, or all sessions, read in order until it is full. */
export function walkSql({ refs }: PreparedSessionFilter, { after, offset, limit, now }: SessionPage): Sql {
  const paging = [now, limit, offset]
  const [one, ...others] = refs
  if (one === undefined) {
    const rows = `SELECT s.row AS session FROM session s WHERE s.row > ? AND s.row NOT IN (${DUE}) ORDER BY s.row LIMIT ? OFFSET ?`
    return { text: rowsSql(rows), values: [after, ...paging] }
  }
  const first = test('r1', one)
  const tests = others.map((ref, i) => test(`r${i + 2}`, ref))
  const exist = tests.map(
    ({ text }, i) => ` AND EXISTS (SELECT 1 FROM session_ref r${i + 2} WHERE ${text}
    AND r${i + 2}.session = r1.session)`,
  )
  // Rows that are left out are not read: their bodies may be long.
  const rows = `SELECT r1.session FROM session_ref r1
    WHERE ${first.text} AND r1.session > ?${exist.join('')} AND r1.session NOT IN (${DUE}) ORDER BY r1.session LIMIT ? OFFSET ?`
  const values = [...first.values, after, ...tests.flatMap((one) => one.values), ...paging]
  return { text: rowsSql(rows), values }
}

function rowsSql(rows: string): string {
  return `SELECT ${COLUMNS} FROM (${rows}) p CROSS JOIN session s ON s.row = p.session ORDER BY s.row`
}

function test(table: string, { sort, value }: SessionCondition): Sql {
  return { text: `${table}.sort = ? AND ${table}.value = ?`, values: [REF[sort], value] }
}
