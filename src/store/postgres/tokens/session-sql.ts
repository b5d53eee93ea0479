import type { Millis } from '../../../model/time/clock.ts'
import type { PreparedSessionFilter, SessionCondition } from '../../prepare/session-filter.ts'
import type { Sql } from '../connection/db.ts'
import { indexedValue, toCell } from '../documents/texts.ts'
import { REF } from './write-sessions.ts'

export interface SessionPage {
  /** The number that the page begins behind. */
  readonly after: number
  readonly offset: number
  readonly limit: number
  readonly now: Millis
}

/** Rows that may be forgotten but are still there: few. */
const DUE = 'EXISTS (SELECT 1 FROM session e WHERE e.number = f.session AND e.evict_at > 0 AND e.evict_at <= $1)'

/** A page in order of creation. The first condition's rows are in that order, and are read until the page is full. */
export function sessionPageSql(filter: PreparedSessionFilter, { after, offset, limit, now }: SessionPage): Sql {
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
export function countSql(filter: PreparedSessionFilter, now: Millis): Sql {
  const found = foundSql(filter, 1)
  return { text: `SELECT count(*) AS n FROM (${found.text}) f WHERE NOT ${DUE}`, values: [now, ...found.values] }
}

/** The numbers of those that match, each once. `given`: the number of values before its own. */
function foundSql({ refs, reach, part }: PreparedSessionFilter, given: number): Sql {
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
  const aliasSql = () => `SELECT a.session FROM session_alias a WHERE strpos(a.alias, ${add(toCell(part))}) > 0`
  const drives = [
    ...(first === undefined ? [] : [`SELECT r.session FROM session_ref r WHERE ${refSql(first)}`]),
    ...(reach === undefined ? [] : [reachSql(reach)]),
    ...(part === '' ? [] : [aliasSql()]),
  ]
  const [drive = 'SELECT s.number AS session FROM session s', ...more] = drives
  tests.push(...more.map((found) => `f.session IN (${found})`))
  const text = tests.length === 0 ? drive : `SELECT f.session FROM (${drive}) f WHERE ${tests.join(' AND ')}`
  return { text, values }
}
