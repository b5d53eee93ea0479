import type { DatabaseSync } from 'node:sqlite'
import { fault } from '../../errors/fault.ts'
import type { Millis } from '../../model/clock.ts'
import { hashBytes, latin1 } from '../cells.ts'
import type { PreparedSession } from '../prepare.ts'
import { keyFiled } from '../session-filter.ts'
import { REF } from './schema.ts'

export interface SessionRows {
  /** @throws Fault `already_exists`, `not_found` */
  put(session: PreparedSession): void
  delete(hash: string): void
  /** Deletes the sessions of a family; answers their hashes as strings of bytes. */
  endFamily(family: string): string[]
  /** Deletes at most `limit` rows that nobody finds any more; answers how many. */
  purge(now: Millis, limit: number): number
}

/** Prepares the statements that write sessions, and what they are listed by, inside an open transaction. */
export function sessionRows(db: DatabaseSync): SessionRows {
  const current = db.prepare('SELECT row, org_id, client_id, links, evict_at FROM session WHERE hash = ?')
  const insert = db.prepare(
    'INSERT INTO session(hash, org_id, client_id, links, evict_at, sealed_key, body, family) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const update = db.prepare(
    'UPDATE session SET org_id = ?, client_id = ?, links = ?, evict_at = ?, sealed_key = ?, body = ?, family = ? WHERE row = ?',
  )
  const remove = db.prepare('DELETE FROM session WHERE row = ?')
  const addRef = db.prepare('INSERT OR IGNORE INTO session_ref(sort, value, session) VALUES (?, ?, ?)')
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

  const eachRef = (refs: Refs, row: number, statement: typeof addRef) => {
    statement.run(REF.org, refs.orgId, row)
    if (refs.clientId !== '') statement.run(REF.client, refs.clientId, row)
    else for (const value of keyFiled(refs.orgId)) statement.run(REF.key, value, row)
    for (const apiId of refs.apiIds) statement.run(REF.api, apiId, row)
    for (const policyId of refs.policyIds) statement.run(REF.policy, policyId, row)
  }
  const put = (session: PreparedSession) => {
    const hash = hashBytes(session.hash)
    const found = current.get(hash)
    const present = found !== undefined && !isEvicted(found.evict_at as Millis, session.now)
    if (present && session.must === 'absent') throw fault('already_exists', 'there is a key of this value')
    if (!present && session.must === 'present') throw fault('not_found', 'no such key')
    const { orgId, clientId, evictAt, text, family, alias } = session
    const links = JSON.stringify([session.apiIds, session.policyIds])
    const sealedKey = hashBytes(session.sealedKey)
    if (found === undefined) {
      const { lastInsertRowid } = insert.run(hash, orgId, clientId, links, evictAt, sealedKey, text, family)
      eachRef(session, lastInsertRowid as number, addRef)
      if (alias !== '') addAlias.run(lastInsertRowid, alias)
      return
    }
    const row = found.row as number
    if (found.org_id !== orgId || found.client_id !== clientId || found.links !== links) {
      eachRef(storedRefs(found), row, removeRef)
      eachRef(session, row, addRef)
    }
    update.run(orgId, clientId, links, evictAt, sealedKey, text, family, row)
    saveAlias(row, alias)
  }
  const drop = (found: Record<string, unknown>) => {
    const row = found.row as number
    eachRef(storedRefs(found), row, removeRef)
    removeAlias.run(row)
    remove.run(row)
  }
  return {
    put,
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
