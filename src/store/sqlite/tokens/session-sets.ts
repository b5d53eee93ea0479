import type { Millis } from '../../../model/time/clock.ts'
import type { HashRange, PreparedSessionFilter, SessionCondition } from '../../prepare/session-filter.ts'
import type { Sql } from '../documents/list-plan.ts'
import { REF } from '../migrations/schema.ts'

/** Numbers of sessions, ascending, each once. */
export type SessionNumbers = Float64Array

/** Up to so many sessions are looked up under what else is asked, one by one; of more, all entries are read. */
export const FEW = 2_000

/** The parts of a filter: `numbers` of all sessions that match it, or of those among a few. */
export interface FilterSource {
  /** How many entries it has, up to one more than `FEW`; undefined = not known without reading them all. */
  readonly entries: Sql | undefined
  readonly all: Sql
  among(few: SessionNumbers): Sql
}

// A set is passed as one JSON text: 100,000 numbers in 8 ms, where as many rows take 20. Tables are in the order in which they
// are read (CROSS JOIN): left to choose, SQLite now and then looked for each session under each value.

/**
 * The sessions that match all values of a filter. Entries are read in the order of the index, and sets of numbers are
 * intersected: SQLite sorts each set into a temporary table first, four times as much.
 */
export function matchingNumbers(filter: PreparedSessionFilter, read: (sql: Sql) => unknown): SessionNumbers {
  const sources = sourcesOf(filter)
  const isFew = ({ entries }: FilterSource) => entries !== undefined && (read(entries) as number) <= FEW
  // Aliases have no order that a part could be found by, so they are gone through once: before long lists, and not beside a short one.
  const first = sources.find(isFew) ?? sources.find(({ entries }) => entries === undefined) ?? sources[0]
  let found = parseNumbers(read(first?.all ?? EVERYTHING))
  for (const source of sources) {
    if (source === first || found.length === 0) continue
    found =
      found.length <= FEW ? parseNumbers(read(source.among(found))) : withinBoth(found, parseNumbers(read(source.all)))
  }
  return found
}

/** Sessions that may be forgotten but are still there. */
export function dueNumbersSql(now: Millis): Sql {
  return {
    text: 'SELECT json_group_array(row) AS found FROM session WHERE evict_at > 0 AND evict_at <= ?',
    values: [now],
  }
}

/** The numbers of a set, from the JSON text that it was read as. */
export function parseNumbers(text: unknown): SessionNumbers {
  const numbers = new Float64Array(JSON.parse(text as string) as number[])
  if (isAscending(numbers)) return numbers
  numbers.sort()
  let length = 0
  for (const number of numbers) if (length === 0 || number !== numbers[length - 1]) numbers[length++] = number
  return numbers.subarray(0, length)
}

/** The numbers that are in both sets. */
function withinBoth(a: SessionNumbers, b: SessionNumbers): SessionNumbers {
  const found = new Float64Array(Math.min(a.length, b.length))
  let [i, j, length] = [0, 0, 0]
  while (i < a.length && j < b.length) {
    const [left, right] = [a[i]!, b[j]!]
    if (left === right) found[length++] = left
    if (left <= right) i++
    if (right <= left) j++
  }
  return found.subarray(0, length)
}

/** The numbers of the first set that are not in the second. */
export function difference(numbers: SessionNumbers, left: SessionNumbers): SessionNumbers {
  if (left.length === 0) return numbers
  let j = 0
  return numbers.filter((number) => {
    while (j < left.length && left[j]! < number) j++
    return left[j] !== number
  })
}

/** How many numbers of a set are at most `number`. */
export function placeBehind(numbers: SessionNumbers, number: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (numbers[middle]! <= number) low = middle + 1
    else high = middle
  }
  return low
}

/** The conditions of a filter, the most selective first. */
export function sourcesOf({ refs, reach, part, hashes }: PreparedSessionFilter): FilterSource[] {
  const sources = refs.map(refSource)
  if (part !== '') sources.unshift(nameSource(part, hashes))
  if (reach !== undefined) sources.unshift(reachSource(JSON.stringify(reach.apiIds), JSON.stringify(reach.policyIds)))
  return sources
}

const EVERYTHING: Sql = { text: 'SELECT json_group_array(row) AS found FROM session', values: [] }

function refSource({ sort, value }: SessionCondition): FilterSource {
  const values = [REF[sort], value]
  const found = (from: string) => `SELECT json_group_array(r.session) AS found FROM ${from}`
  return {
    entries: countedSql('session_ref r WHERE r.sort = ? AND r.value = ?', values),
    all: { text: found('session_ref r WHERE r.sort = ? AND r.value = ?'), values },
    among: (few) => ({
      text: found(`${FEW_ROWS} session_ref r WHERE r.sort = ? AND r.value = ? AND r.session = f.value`),
      values: [textOf(few), ...values],
    }),
  }
}

function reachSource(apiIds: string, policyIds: string): FilterSource {
  const entries = (sort: number) =>
    `SELECT r.session FROM json_each(?) v CROSS JOIN session_ref r WHERE r.sort = ${sort} AND r.value = v.value`
  const either = `(${entries(REF.api)} UNION ALL ${entries(REF.policy)})`
  const values = [apiIds, policyIds]
  const holds = (member: number) =>
    `EXISTS (SELECT 1 FROM json_each(s.links, '$[${member}]') l WHERE l.value IN (SELECT value FROM json_each(?)))`
  return {
    entries: countedSql(either, values),
    all: { text: `SELECT json_group_array(session) AS found FROM ${either}`, values },
    among: (few) => ({
      text: `SELECT json_group_array(s.row) AS found FROM ${FEW_ROWS} session s WHERE s.row = f.value AND (${holds(0)} OR ${holds(1)})`,
      values: [textOf(few), ...values],
    }),
  }
}

/** Those with the part in the alias, or with a hash in the range. */
function nameSource(part: string, hashes: HashRange | undefined): FilterSource {
  const found = (rows: string) => `SELECT json_group_array(session) AS found FROM (${rows})`
  const alias = 'SELECT a.session AS session FROM session_alias a WHERE instr(a.alias, ?) > 0'
  const few = `SELECT a.session AS session FROM ${FEW_ROWS} session_alias a WHERE a.session = f.value AND instr(a.alias, ?) > 0`
  if (hashes === undefined)
    return {
      entries: undefined,
      all: { text: found(alias), values: [part] },
      among: (numbers) => ({ text: found(few), values: [textOf(numbers), part] }),
    }
  const range = [hashes.low, hashes.high]
  const fewHashes = `SELECT s.row AS session FROM ${FEW_ROWS} session s WHERE s.row = f.value AND s.hash BETWEEN ? AND ?`
  return {
    entries: undefined,
    all: { text: found(`${alias} UNION ALL ${BETWEEN_HASHES}`), values: [part, ...range, ...range] },
    among: (numbers) => ({
      text: found(`${few} UNION ALL ${fewHashes}`),
      values: [textOf(numbers), part, textOf(numbers), ...range],
    }),
  }
}

/** Hashes are indexed by their first six bytes. */
const BETWEEN_HASHES = `SELECT s.row AS session FROM session s
  WHERE substr(s.hash, 1, 6) BETWEEN substr(?, 1, 6) AND substr(?, 1, 6) AND s.hash BETWEEN ? AND ?`

const FEW_ROWS = 'json_each(?) f CROSS JOIN'

function countedSql(from: string, values: Sql['values']): Sql {
  return { text: `SELECT count(*) AS found FROM (SELECT 1 FROM ${from} LIMIT ${FEW + 1})`, values }
}

function textOf(numbers: SessionNumbers): string {
  return `[${numbers.join(',')}]`
}

function isAscending(numbers: SessionNumbers): boolean {
  for (let i = 1; i < numbers.length; i++) if (numbers[i - 1]! >= numbers[i]!) return false
  return true
}
