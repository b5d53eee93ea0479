import type { SessionFacts } from '../../prepare/audited.ts'
import { hashBytes } from '../../prepare/cells.ts'
import { keyIndexEntries, type SessionRefType } from '../../prepare/session-filter.ts'
import type { Sql } from '../connection/db.ts'
import { indexedValue, toCell } from '../documents/texts.ts'
import { type Changed, columns, type SessionDraft } from '../writer/group-rows.ts'

/** The sorts of `session_ref`: what a session can be listed by. `key`: sessions that are no tokens of clients, see `keyIndexEntries`. */
export const REF: Readonly<Record<SessionRefType, number>> = { org: 1, api: 2, policy: 3, client: 4, key: 5 }

/** The statements that make the stored sessions, and their index entries, equal to their drafts. */
export function sessionWrites(changed: readonly Changed<SessionDraft>[]): Sql[] {
  // One that was deleted and made again has another number.
  const gone = changed.flatMap(({ before, now }) =>
    before !== undefined && now?.number !== before.number ? [before] : [],
  )
  const put = changed.flatMap(({ now }) => (now === undefined ? [] : [now]))
  const moved = changed.filter(({ before, now }) => before !== undefined && !sameRefs(before, now))
  const isNew = ({ before, now }: Changed<SessionDraft>) => now !== undefined && before?.number !== now.number
  const made = changed.filter(isNew).map(({ now }) => now!)
  const edited = changed.filter((one) => one.now !== undefined && !isNew(one)).map(({ now }) => now!)
  const refiled = moved.filter((one) => one.now !== undefined && !isNew(one)).map(({ now }) => now!)
  const aliasFree = changed.filter(({ before, now }) => {
    return before !== undefined && ((now?.row?.alias ?? '') === '' || now?.number !== before.number)
  })
  const aliased = put.filter(({ row }) => row !== undefined && row.alias !== '')
  const numbers = (rows: readonly SessionDraft[]) => [rows.map(({ number }) => number)]
  return [
    ...(moved.length > 0 ? [removeRefs(moved.map(({ before }) => before!))] : []),
    ...(aliasFree.length > 0
      ? [
          {
            text: 'DELETE FROM session_alias WHERE session = ANY($1::bigint[])',
            values: numbers(aliasFree.map(({ before }) => before!)),
          },
        ]
      : []),
    ...(gone.length > 0
      ? [{ text: 'DELETE FROM session WHERE number = ANY($1::bigint[])', values: numbers(gone) }]
      : []),
    // A new number is unused: looking for it first would cost as much again.
    ...(made.length > 0 ? [insertSessions(made), insertRefs(made)] : []),
    ...(edited.length > 0 ? [updateSessions(edited)] : []),
    ...(refiled.length > 0 ? [insertRefs(refiled)] : []),
    ...(aliased.length > 0
      ? [
          {
            text: `INSERT INTO session_alias(session, alias) SELECT * FROM unnest($1::bigint[], $2::text[])
              ON CONFLICT (session) DO UPDATE SET alias = excluded.alias`,
            values: [...numbers(aliased), aliased.map(({ row }) => toCell(row!.alias))],
          },
        ]
      : []),
  ]
}

/** The columns of a session, made once for all sessions of one row. */
interface Cells {
  readonly orgId: string
  readonly clientId: string
  readonly links: string
  readonly sealedKey: Uint8Array
  readonly entries: readonly (readonly [sort: number, value: string])[]
}

/** Module state: a cache of immutable values, by the frozen facts that each was made from. */
const made = new WeakMap<SessionFacts, Cells>()

function cellsOf(facts: SessionFacts): Cells {
  const known = made.get(facts)
  if (known !== undefined) return known
  const cells = {
    orgId: toCell(facts.orgId),
    clientId: toCell(facts.clientId),
    links: JSON.stringify([facts.apiIds, facts.policyIds]),
    sealedKey: hashBytes(facts.sealedKey),
    entries: refEntries(facts),
  }
  made.set(facts, cells)
  return cells
}

/** True when two states of a session are listed by the same. */
function sameRefs(a: SessionDraft | undefined, b: SessionDraft | undefined): boolean {
  if (a === undefined || b === undefined || a.number !== b.number) return a === b
  const [one, two] = [cellsOf(a.facts), cellsOf(b.facts)]
  return one === two || (one.links === two.links && one.orgId === two.orgId && one.clientId === two.clientId)
}

/** The index entries of a session: sort and value, each once. */
function refEntries({ orgId, clientId, apiIds, policyIds }: SessionFacts): (readonly [number, string])[] {
  const whose = clientId === '' ? keyIndexEntries(orgId).map((value) => [REF.key, value] as const) : []
  const entries = [
    [REF.org, orgId] as const,
    ...whose,
    ...(clientId === '' ? [] : [[REF.client, clientId] as const]),
    ...apiIds.map((id) => [REF.api, id] as const),
    ...policyIds.map((id) => [REF.policy, id] as const),
  ]
  const once = new Map(entries.map(([sort, value]) => [`${sort} ${value}`, [sort, indexedValue(value)] as const]))
  return [...once.values()]
}

function refColumns(rows: readonly Pick<SessionDraft, 'number' | 'facts'>[]): unknown[][] {
  const entries = rows.flatMap(({ number, facts }) =>
    cellsOf(facts).entries.map(([sort, value]) => ({ sort, value, number })),
  )
  return columns(
    entries,
    ({ sort }) => sort,
    ({ value }) => value,
    ({ number }) => number,
  )
}

function insertRefs(rows: readonly SessionDraft[]): Sql {
  return {
    text: `INSERT INTO session_ref(sort, value, session)
      SELECT * FROM unnest($1::smallint[], $2::text[], $3::bigint[])`,
    values: refColumns(rows),
  }
}

/** Takes sessions off the lists. */
export function removeRefs(rows: readonly Pick<SessionDraft, 'number' | 'facts'>[]): Sql {
  return {
    text: `DELETE FROM session_ref t USING unnest($1::smallint[], $2::text[], $3::bigint[]) w(sort, value, session)
      WHERE t.sort = w.sort AND t.value = w.value AND t.session = w.session`,
    values: refColumns(rows),
  }
}

function sessionColumns(rows: readonly SessionDraft[]): unknown[][] {
  return columns(
    rows,
    ({ number }) => number,
    ({ hash }) => hashBytes(hash),
    ({ facts }) => cellsOf(facts).orgId,
    ({ facts }) => cellsOf(facts).clientId,
    ({ facts }) => cellsOf(facts).links,
    ({ facts }) => facts.evictAt,
    ({ facts }) => cellsOf(facts).sealedKey,
    ({ facts }) => toCell(facts.family),
    ({ text }) => text,
  )
}

const COLUMNS = 'number, hash, org_id, client_id, links, evict_at, sealed_key, family, body'
const GIVEN = `unnest($1::bigint[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bytea[], $8::text[],
  $9::text[])`

function insertSessions(rows: readonly SessionDraft[]): Sql {
  return { text: `INSERT INTO session(${COLUMNS}) SELECT * FROM ${GIVEN}`, values: sessionColumns(rows) }
}

function updateSessions(rows: readonly SessionDraft[]): Sql {
  return {
    text: `UPDATE session t SET org_id = w.org_id, client_id = w.client_id, links = w.links, evict_at = w.evict_at,
        sealed_key = w.sealed_key, family = w.family, body = w.body
      FROM ${GIVEN} w(${COLUMNS}) WHERE t.number = w.number`,
    values: sessionColumns(rows),
  }
}
