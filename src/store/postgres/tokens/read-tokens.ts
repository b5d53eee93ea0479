import type { Clock } from '../../../model/time/clock.ts'
import type { SessionRow, TicketRow, TicketType, Tokens } from '../../ports/ports.ts'
import { wellFormed } from '../../prepare/cells.ts'
import { pageSize, wholeOffset } from '../../prepare/list-query.ts'
import { prepareSessionFilter } from '../../prepare/session-filter.ts'
import type { Db } from '../connection/db.ts'
import { fromCell, toCell } from '../documents/texts.ts'
import { isEvicted } from '../writer/group-apply.ts'
import { sessionFacts } from '../writer/group-load.ts'
import { countSql, sessionPageSql } from './session-sql.ts'

type Row = Record<string, unknown>

const SESSION = 'number, hash, org_id, client_id, links, evict_at, sealed_key, family, body'
const TICKET = 'hash, sort, api_id, client_id, family, expires_at, keep_until, version, claimed_at, body'

/** `Tokens` of a database. `stallMs`: how long to wait for one row. */
export function tokenReader(db: Db, clock: Clock, stallMs: number): Tokens {
  const session = async (hash: Uint8Array): Promise<Row | undefined> =>
    (await db.read<Row>(`SELECT ${SESSION} FROM session WHERE hash = $1`, [hash], stallMs))[0]
  /** Where a page begins: a cursor is a number, a hash has 64 digits. */
  const numberAfter = async (after: string): Promise<number> => {
    if (after.length < 64) return wholeOffset(Number(after))
    return ((await session(Buffer.from(after, 'hex')))?.number ?? 0) as number
  }
  return {
    async getSession(hash) {
      const row = await session(hash)
      if (row === undefined || isEvicted(row.evict_at as number, clock.wall())) return undefined
      return toSession(row)
    },
    async listSessions(query) {
      const filter = prepareSessionFilter(query)
      const limit = pageSize(query.limit)
      const after = query.after === undefined ? 0 : await numberAfter(query.after)
      const { text, values } = sessionPageSql(filter, {
        after,
        offset: wholeOffset(query.offset),
        limit,
        now: clock.wall(),
      })
      const rows = await db.read<Row>(text, values)
      const last = rows.length < limit ? undefined : rows.at(-1)
      return { rows: rows.map(toSession), next: last && String(last.number) }
    },
    async countSessions(query) {
      const filter = prepareSessionFilter(query)
      const { text, values } = countSql(filter, clock.wall())
      return (await db.read<{ n: number }>(text, values))[0]!.n
    },
    async getTicket(hash) {
      const text = `SELECT ${TICKET} FROM ticket WHERE hash = $1 AND keep_until > $2`
      const [row] = await db.read<Row>(text, [hash, clock.wall()], stallMs)
      return row && toTicket(row)
    },
    async familyTickets(family) {
      const rows = await db.read<Row>(
        `SELECT ${TICKET} FROM ticket WHERE family = $1 AND family <> '' AND keep_until > $2 ORDER BY hash LIMIT 1000`,
        [toCell(wellFormed(family)), clock.wall()],
      )
      return rows.map(toTicket)
    },
  }
}

function toSession(row: Row): SessionRow {
  const { sealedKey: _, family, ...facts } = sessionFacts(row)
  const sealedKey = row.sealed_key as Uint8Array
  return {
    hash: row.hash as Uint8Array,
    body: JSON.parse(row.body as string),
    ...facts,
    ...(sealedKey.length > 0 && { sealedKey }),
    ...(family !== '' && { family }),
  }
}

function toTicket(row: Row): TicketRow {
  return {
    hash: row.hash as Uint8Array,
    sort: row.sort as TicketType,
    apiId: fromCell(row.api_id as string),
    clientId: fromCell(row.client_id as string),
    family: fromCell(row.family as string),
    expiresAt: row.expires_at as number,
    keepUntil: row.keep_until as number,
    version: row.version as number,
    claimedAt: row.claimed_at as number,
    body: JSON.parse(row.body as string),
  }
}
