import type { DatabaseSync } from 'node:sqlite'
import type { Millis } from '../../../model/time/clock.ts'
import { hashBytes, latin1 } from '../../prepare/cells.ts'
import { checkConditions, type PreparedRow, type PreparedSession } from '../../prepare/prepare.ts'
import { keyIndexEntries } from '../../prepare/session-filter.ts'
import { OF_HASH, REF } from '../migrations/schema.ts'

export interface SessionRows {
  /** @throws Fault `already_exists`, `not_found`, `revision_conflict` */
  put(session: PreparedSession): void
  delete(hash: string): void
  /** Deletes the sessions of a family; answers their hashes as strings of bytes. */
  endFamily(family: string): string[]
  /** Adds a session that another store had, under its number there. */
  load(number: number, hash: Uint8Array, row: PreparedRow): void
  /** Deletes at most `limit` rows that nobody finds any more; answers how many. */
  purge(now: Millis, limit: number): number
}

/** Prepares the statements that write sessions, and what they are listed by, inside an open transaction. */
export function sessionRows(db: DatabaseSync): SessionRows {
  const current = db.prepare(`SELECT row, org_id, client_id, links, evict_at FROM session WHERE ${OF_HASH}`)
  const insert = db.prepare(
    'INSERT INTO session(hash, org_id, client_id, links, evict_at, sealed_key, body, family) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const insertNumbered = db.prepare(
    'INSERT INTO session(row, hash, org_id, client_id, links, evict_at, sealed_key, body, family) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const update = db.prepare(
    'UPDATE session SET org_id = ?, client_id = ?, links = ?, evict_at = ?, sealed_key = ?, body = ?, family = ? WHERE row = ?',
  )
  const remove = db.prepare('DELETE FROM session WHERE row = ?')
  /** By how many entries they write, less one. */
  const adders = Array.from({ length: ENTRIES_AT_ONCE }, (_, i) => db.prepare(insertEntriesSql(i + 1)))
  const removeRef = db.prepare('DELETE FROM session_ref WHERE sort = ? AND value = ? AND session = ?')
  const addAlias = db.prepare(
    'INSERT INTO session_alias(session, alias) VALUES (?, ?) ON CONFLICT DO UPDATE SET alias = excluded.alias',
  )
  const removeAlias = db.prepare('DELETE FROM session_alias WHERE session = ?')
  const saveAlias = (row: number, alias: string) => (alias === '' ? removeAlias.run(row) : addAlias.run(row, alias))
  const refColumns = 'row, org_id, client_id, links'
  const evicted = db.prepare(
    `SELECT ${refColumns} FROM session WHERE evict_at > 0 AND evict_at <= ? ORDER BY evict_at LIMIT ?`,
  )
  // The partial index is taken only by a statement that names its condition.
  const related = db.prepare(`SELECT hash, ${refColumns} FROM session WHERE family = ? AND family <> ''`)

  const addRefs = (entries: readonly Entry[], row: number) => {
    for (let from = 0; from < entries.length; from += ENTRIES_AT_ONCE) {
      const to = Math.min(from + ENTRIES_AT_ONCE, entries.length)
      const values: (number | string)[] = []
      for (let i = from; i < to; i++) values.push(...entries[i]!, row)
      adders[to - from - 1]!.run(...values)
    }
  }
  const removeRefs = (entries: readonly Entry[], row: number) => {
    for (const [sort, value] of entries) removeRef.run(sort, value, row)
  }
  const put = (session: PreparedSession) => {
    const hash = hashBytes(session.hash)
    const found = current.get(hash)
    checkConditions(session, found?.evict_at as Millis | undefined)
    const { orgId, clientId, evictAt, text, family, alias } = session.row
    const { links, sealedKey, entries } = cellsOf(session.row)
    if (found === undefined) {
      const { lastInsertRowid } = insert.run(hash, orgId, clientId, links, evictAt, sealedKey, text, family)
      addRefs(entries, lastInsertRowid as number)
      if (alias !== '') addAlias.run(lastInsertRowid, alias)
      return
    }
    const row = found.row as number
    if (found.org_id !== orgId || found.client_id !== clientId || found.links !== links) {
      removeRefs(entriesOf(storedRefs(found)), row)
      addRefs(entries, row)
    }
    update.run(orgId, clientId, links, evictAt, sealedKey, text, family, row)
    saveAlias(row, alias)
  }
  const drop = (found: Record<string, unknown>) => {
    const row = found.row as number
    removeRefs(entriesOf(storedRefs(found)), row)
    removeAlias.run(row)
    remove.run(row)
  }
  return {
    put,
    load(number, hash, row) {
      const { orgId, clientId, evictAt, text, family, alias } = row
      const { links, sealedKey, entries } = cellsOf(row)
      insertNumbered.run(number, hash, orgId, clientId, links, evictAt, sealedKey, text, family)
      addRefs(entries, number)
      if (alias !== '') addAlias.run(number, alias)
    },
    delete(hash) {
      const found = current.get(hashBytes(hash))
      if (found !== undefined) drop(found)
    },
    endFamily(family) {
      const rows = related.all(family)
      for (const row of rows) drop(row)
      return rows.map(({ hash }) => latin1(hash as Uint8Array))
    },
    purge(now, limit) {
      const rows = evicted.all(now, limit)
      for (const row of rows) drop(row)
      return rows.length
    },
  }
}

/** The index entries of a session. */
type Entry = readonly [sort: number, value: string]

/** Entries that one statement writes, so that few statements serve every number. */
const ENTRIES_AT_ONCE = 8

function insertEntriesSql(count: number): string {
  const places = new Array(count).fill('(?, ?, ?)').join(', ')
  return `INSERT OR IGNORE INTO session_ref(sort, value, session) VALUES ${places}`
}

/** The columns of a row, made once for all sessions of a message that share it. */
interface Cells {
  readonly links: string
  readonly sealedKey: Uint8Array
  readonly entries: readonly Entry[]
}

/** Module state: a cache of immutable values, by the prepared row that each was made from. */
const cells = new WeakMap<PreparedRow, Cells>()

function cellsOf(row: PreparedRow): Cells {
  const known = cells.get(row)
  if (known !== undefined) return known
  const links = JSON.stringify([row.apiIds, row.policyIds])
  const made = { links, sealedKey: hashBytes(row.sealedKey), entries: entriesOf(row) }
  cells.set(row, made)
  return made
}

function entriesOf({ orgId, clientId, apiIds, policyIds }: Refs): Entry[] {
  const whose: Entry[] =
    clientId === '' ? keyIndexEntries(orgId).map((value): Entry => [REF.key, value]) : [[REF.client, clientId]]
  return [
    [REF.org, orgId],
    ...whose,
    ...apiIds.map((apiId): Entry => [REF.api, apiId]),
    ...policyIds.map((policyId): Entry => [REF.policy, policyId]),
  ]
}

/** True once a row may be forgotten: from then on nobody finds it, whether it is still there or not. */
export function isEvicted(evictAt: Millis, now: Millis): boolean {
  return evictAt > 0 && evictAt <= now
}

interface Refs {
  readonly orgId: string
  readonly clientId: string
  readonly apiIds: readonly string[]
  readonly policyIds: readonly string[]
}

function storedRefs(row: Record<string, unknown>): Refs {
  const [apiIds, policyIds] = JSON.parse(row.links as string) as [string[], string[]]
  return { orgId: row.org_id as string, clientId: row.client_id as string, apiIds, policyIds }
}
