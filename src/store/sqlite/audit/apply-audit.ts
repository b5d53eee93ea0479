import { performance } from 'node:perf_hooks'
import type { DatabaseSync } from 'node:sqlite'
import type { Millis } from '../../../model/time/clock.ts'
import type { Revision } from '../../ports/ports.ts'
import { AuditCollector, type AuditedChange, packBodies, type StoredState } from '../../prepare/audited.ts'
import { hashBytes, latin1 } from '../../prepare/cells.ts'
import type { PreparedAudit } from '../../prepare/prepare-audit.ts'
import type { ThreadEndGuard } from '../hits/thread-end-guard.ts'
import { OF_HASH } from '../migrations/schema.ts'

/** How long a round of purging may delete; what it changed must be committed as well. */
const ROUND_MS = 4
const STEP_ROWS = 20

export interface AuditRows {
  /** Called for each change of a commit before it is applied. */
  gather(): AuditCollector
  add(entry: PreparedAudit, revision: Revision, changes: readonly AuditedChange[]): void
  /** Deletes entries from before, for a few milliseconds; answers how many. */
  purge(before: Millis): number
}

/** Prepares the statements that write audit entries inside an open transaction. */
export function auditRows(db: DatabaseSync, uncut: ThreadEndGuard): AuditRows {
  const insert = db.prepare(`INSERT INTO
    audit(revision, at, actor, action, org_id, detail, request, user, method, path, ip, status)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const addChange = db.prepare('INSERT INTO audit_change(audit, kind, id, bodies) VALUES (?, ?, ?, ?)')
  const oldest = db.prepare('SELECT row FROM audit WHERE at < ? ORDER BY at LIMIT ?')
  const removeChanges = db.prepare('DELETE FROM audit_change WHERE audit = ?')
  const remove = db.prepare('DELETE FROM audit WHERE row = ?')
  const before = storedBefore(db)
  return {
    gather: () => new AuditCollector(before),
    add(entry, revision, changes) {
      const { at, actor, action, orgId, text, request, user, method, path, ip, status } = entry
      const { lastInsertRowid } = insert.run(
        ...[revision, at, actor, action, orgId, text, request],
        ...[user, method, path, ip, status],
      )
      for (const { kind, id, bodies } of changes) {
        const packed = uncut.do(() => packBodies(bodies))
        addChange.run(lastInsertRowid, kind, id, packed)
      }
    },
    purge(limit) {
      const endsAt = performance.now() + ROUND_MS
      let deleted = 0
      while (true) {
        const rows = oldest.all(limit, STEP_ROWS)
        for (const { row } of rows) {
          removeChanges.run(row as number)
          remove.run(row as number)
        }
        deleted += rows.length
        if (rows.length === 0 || performance.now() >= endsAt) return deleted
      }
    },
  }
}

/** The state of the tables before a change. */
function storedBefore(db: DatabaseSync): StoredState {
  const document = db.prepare('SELECT body FROM document WHERE kind = ? AND id = ?')
  const session = db.prepare(
    `SELECT org_id, client_id, links, evict_at, sealed_key, body, family FROM session WHERE ${OF_HASH}`,
  )
  return {
    document: (kind, id) => (document.get(kind, id)?.body ?? '') as string,
    session(hash) {
      const row = session.get(hashBytes(hash))
      if (row === undefined) return undefined
      const [apiIds, policyIds] = JSON.parse(row.links as string) as [string[], string[]]
      const facts = {
        ...{ apiIds, policyIds },
        orgId: row.org_id as string,
        clientId: row.client_id as string,
        evictAt: row.evict_at as number,
        sealedKey: latin1(row.sealed_key as Uint8Array),
        family: row.family as string,
      }
      return { text: row.body as string, facts }
    },
  }
}
