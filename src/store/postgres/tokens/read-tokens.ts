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
import type { Db, Sql } from '../connection/db.ts'
import { fromCell, indexedValue, toCell } from '../documents/texts.ts'
import { isEvicted } from '../writer/group-apply.ts'
import { sessionFacts } from '../writer/group-load.ts'
import { REF } from './write-sessions.ts'

interface SessionPage {
  /** The number that the page begins behind. */
  readonly after: number
  readonly offset: number
  readonly limit: number
  readonly now: Millis
}

/** Rows that may be forgotten but are still there: few. */
const DUE = 'EXISTS (SELECT 1 FROM session e WHERE e.number = f.session AND e.evict_at > 0 AND e.evict_at <= $1)'

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
      return { rows: await mapInTurns(rows, toSession), next: last && String(last.number) }
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

/** A page in order of creation. The first condition's rows are in that order, and are read until the page is full. */
function sessionPageSql(filter: PreparedSessionFilter, { after, offset, limit, now }: SessionPage): Sql {
  const found = foundSql(filter, 4)
  return {
    text: `SELECT s.number, s.hash, s.org_id, s.client_id, s.links, s.evict_at, s.sealed_key, s.family, s.body
      FROM (SELECT f.session FROM (${found.text}) f WHERE f.session > $2 AND NOT ${DUE} ORDER BY f.session
        LIMIT $3 OFFSET $4) p
      JOIN session s ON s.number = p.session ORDER BY s.number`,
    values: [now, after, limit, offset, ...found.values],
  }
}

/** How many match. */
function countSql(filter: PreparedSessionFilter, now: Millis): Sql {
  const found = foundSql(filter, 1)
  return { text: `SELECT count(*) AS n FROM (${found.text}) f WHERE NOT ${DUE}`, values: [now, ...found.values] }
}

/** The numbers of those that match, each once. `given`: the number of values before its own. */
function foundSql({ refs, reach, part, hashes }: PreparedSessionFilter, given: number): Sql {
  const values: unknown[] = []
  const add = (value: unknown) => `$${given + values.push(value)}`
  const refSql = ({ sort, value }: SessionCondition) =>
    `r.sort = ${REF[sort]} AND r.value = ${add(indexedValue(value))}`
  const reachSql = ({ apiIds, policyIds }: NonNullable<typeof reach>) => {
    const any = (sort: number, ids: readonly string[]) =>
      `SELECT r.session FROM session_ref r WHERE r.sort = ${sort} AND r.value = ANY(${add(ids.map(indexedValue))}::text[])`
    return `${any(REF.api, apiIds)} UNION ${any(REF.policy, policyIds)}`
  }
  const [first, ...others] = refs
  const tests = others.map((ref) => `f.session IN (SELECT r.session FROM session_ref r WHERE ${refSql(ref)})`)
  const nameSql = () => {
    const alias = `SELECT a.session FROM session_alias a WHERE strpos(a.alias, ${add(toCell(part))}) > 0`
    if (hashes === undefined) return alias
    const range = `BETWEEN ${add(Buffer.from(hashes.low))} AND ${add(Buffer.from(hashes.high))}`
    return `${alias} UNION SELECT s.number FROM session s WHERE s.hash ${range}`
  }
  const drives = [
    ...(first === undefined ? [] : [`SELECT r.session FROM session_ref r WHERE ${refSql(first)}`]),
    ...(reach === undefined ? [] : [reachSql(reach)]),
    ...(part === '' ? [] : [nameSql()]),
  ]
  const [drive = 'SELECT s.number AS session FROM session s', ...more] = drives
  tests.push(...more.map((found) => `f.session IN (${found})`))
  const text = tests.length === 0 ? drive : `SELECT f.session FROM (${drive}) f WHERE ${tests.join(' AND ')}`
  return { text, values }
}
