import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Millis } from '../../../model/time/clock.ts'
import { mapInTurns, WorkSlice } from '../../../runtime/turns.ts'
import {
  AUDITED_SESSION,
  type Audit,
  type AuditChange,
  type AuditEntryState,
  type AuditRow,
} from '../../ports/ports.ts'
import { toAuditChange, unpackBodies } from '../../prepare/audited.ts'
import { pageSize, wholeOffset } from '../../prepare/list-query.ts'
import { auditId, auditNumber, type PreparedAuditQuery, prepareAuditQuery } from '../../prepare/prepare-audit.ts'
import { statementsOf } from '../connection/database.ts'
import { reading } from '../connection/faults.ts'
import type { Sql } from '../documents/list-plan.ts'
import { OF_HASH } from '../migrations/schema.ts'

/** Rows of `audit` by the index that holds all that is asked: the rows themselves are never read. */
interface AuditPlan {
  readonly from: string
  /** The same, read newest first without sorting all that match. */
  readonly ordered: string
  readonly values: readonly SQLInputValue[]
  /** True when only time and organisation are asked for. */
  readonly plain: boolean
}

const SCAN_BATCH = 100
/** So many rows are looked for at once: when there are fewer, how many match is known with them. */
const LOOKED_FOR = 2_000

/** The reading half of `Audit`, on a connection of this thread: answers at once. */
export function auditReader(db: DatabaseSync): Omit<Audit, 'purgeAudit'> {
  const one = db.prepare('SELECT row, revision, at, actor, action, org_id, detail, request FROM audit WHERE row = ?')
  const changes = db.prepare('SELECT kind, id, bodies FROM audit_change WHERE audit = ? ORDER BY row')
  const time = db.prepare('SELECT row, at FROM audit WHERE row = ?')
  const later = db.prepare(`SELECT a.row, a.at FROM audit_change c INDEXED BY audit_change_by_document
    JOIN audit a ON a.row = c.audit WHERE c.kind = ? AND c.id = ? AND c.audit > ? ORDER BY c.audit LIMIT 1`)
  const document = db.prepare('SELECT revision, body FROM document WHERE kind = ? AND id = ?')
  const top = db.prepare('SELECT coalesce(max(row), 0) AS row FROM audit')
  const session = db.prepare(`SELECT body FROM session WHERE ${OF_HASH}`)
  const statement = statementsOf(db)
  const all = ({ text, values }: Sql) => statement(text).all(...values)

  const changesOf = (row: number): AuditChange[] =>
    changes
      .all(row)
      .map(({ kind, id, bodies }) => toAuditChange(kind as string, id as string, unpackBodies(bodies as Uint8Array)))
  const read = (number: number): AuditRow | undefined => {
    const row = one.get(number)
    return row && toRow(row, changesOf(number))
  }
  const find = (id: string): AuditRow | undefined => {
    const number = auditNumber(id)
    const row = number === undefined ? undefined : read(number)
    return row?.id === id ? row : undefined
  }
  /** Numbers of a page, and how many match. */
  const page = (query: PreparedAuditQuery, offset: number, limit: number): { numbers: number[]; total: number } => {
    const plan = auditPlan(query)
    // A search that finds little has gone through everything: once is enough.
    const wanted = plan.plain ? offset + limit : Math.max(LOOKED_FOR, offset + limit)
    const skipped = plan.plain ? offset : 0
    const found = all(auditPageSql(plan, skipped, wanted - skipped)).map(({ row }) => row as number)
    const known = !plan.plain && found.length < wanted
    const total = known ? found.length : (all(auditCountSql(plan))[0]!.n as number)
    return { numbers: found.slice(offset - skipped, offset - skipped + limit), total }
  }
  const entryStateOf = (row: AuditRow, { kind, id, after }: AuditChange): AuditEntryState => {
    const next = later.get(kind, id, auditNumber(row.id)!)
    const laterId = next && auditId(next.row as number, next.at as number)
    const isSession = kind === AUDITED_SESSION
    const now = isSession ? session.get(Buffer.from(id, 'hex')) : document.get(kind, id)
    const revision = isSession || now === undefined ? 0 : (now.revision as number)
    const same = revision > 0 ? revision === row.revision : sameBody(now?.body as string | undefined, after)
    return { kind, id, revision, laterId, current: laterId === undefined && same }
  }
  return {
    list: (query) => {
      const wanted = prepareAuditQuery(query)
      const { numbers, total } = reading(() => page(wanted, wholeOffset(query.offset), pageSize(query.limit)))
      const found = mapInTurns(numbers, (number) => reading(() => read(number)))
      const answer = (rows: (AuditRow | undefined)[]) => ({ total, rows: rows.filter((row) => row !== undefined) })
      return found instanceof Promise ? found.then(answer) : answer(found)
    },
    listIds: (query) => {
      const wanted = prepareAuditQuery(query)
      return reading(() => {
        const { numbers, total } = page(wanted, wholeOffset(query.offset), pageSize(query.limit))
        const found = numbers.flatMap((number) => time.all(number))
        return { total, ids: found.map(({ row, at }) => auditId(row as number, at as number)) }
      })
    },
    get: (id) => reading(() => find(id)),
    async *scan(query) {
      const plan = auditPlan(prepareAuditQuery(query))
      const newest = reading(() => top.get()!.row as number)
      let last = { row: newest + 1, at: Number.MAX_SAFE_INTEGER }
      while (true) {
        const found = reading(() => all(auditBatchSql(plan, last, SCAN_BATCH)))
        const rows = found.map(({ row, at }) => ({ row: row as number, at: at as number }))
        // One that came meanwhile and says that it is older is left out; so is one that was purged.
        const wanted = rows.filter(({ row }) => row <= newest)
        const slice = new WorkSlice()
        let batch: AuditRow[] = []
        for (const { row } of wanted) {
          // Rows are in memory until they are used: large ones come in small batches.
          if (slice.isOver) {
            if (batch.length > 0) yield batch
            batch = []
            await slice.next()
          }
          const found = reading(() => read(row))
          if (found !== undefined) batch.push(found)
        }
        if (batch.length > 0) yield batch
        if (rows.length < SCAN_BATCH) return
        last = rows.at(-1)!
        await nextTurn()
      }
    },
    state: (id) =>
      reading(() => {
        const row = find(id)
        return row?.changes.map((change) => entryStateOf(row, change))
      }),
  }
}

function sameBody(now: string | undefined, after: AuditChange['after']): boolean {
  if (now === undefined || after === null) return now === undefined && after === null
  return JSON.stringify(JSON.parse(now)) === JSON.stringify(after)
}

function toRow(row: Record<string, unknown>, changes: readonly AuditChange[]): AuditRow {
  const at = row.at as number
  return {
    id: auditId(row.row as number, at),
    revision: row.revision as number,
    actor: row.actor as string,
    action: row.action as string,
    orgId: row.org_id as string,
    at,
    detail: JSON.parse(row.detail as string),
    ...(row.request !== '' && { request: JSON.parse(row.request as string) }),
    changes,
  }
}

/** Rows of the commits that wrote documents, given as a list in JSON: their kind, then their ids. */
const OF_DOCUMENTS = `row IN (SELECT c.audit FROM json_each(?1) AS wanted CROSS JOIN audit_change AS c INDEXED BY audit_change_by_document
  WHERE wanted.key > 0 AND c.kind = json_extract(?1, '$[0]') AND c.id = wanted.value)`

/** Where the rows that match come from. */
export function auditPlan(query: PreparedAuditQuery): AuditPlan {
  const { orgId, action, method, ip, status, user, path, from, to, wrote } = query
  const tests: [test: string, value: SQLInputValue | undefined][] = [
    [OF_DOCUMENTS, wrote && JSON.stringify([wrote.kind, ...wrote.ids])],
    ['org_id = ?', orgId],
    ['at >= ?', from || undefined],
    ['at < ?', to === Number.MAX_SAFE_INTEGER ? undefined : to],
    ['action = ?', action],
    ['method = ?', method],
    ['ip = ?', ip],
    ['status = ?', status],
    ['instr(user, ?) > 0', user],
    ['instr(path, ?) > 0', path],
  ]
  const given = tests.filter((test): test is [string, SQLInputValue] => test[1] !== undefined)
  const values = given.map(([, value]) => value)
  // The documents name the rows, which are few: none is looked for.
  if (wrote !== undefined) {
    const rows = `audit NOT INDEXED WHERE ${given.map(([test]) => test).join(' AND ')}`
    return { from: rows, ordered: rows, values, plain: false }
  }
  const plain = given.every(([test]) => /^(org_id|at) /.test(test))
  const byTime = orgId === undefined ? 'audit_by_at' : 'audit_by_org'
  const where = ['TRUE', ...given.map(([test]) => test)].join(' AND ')
  return {
    from: `audit INDEXED BY ${plain ? byTime : 'audit_search'} WHERE ${where}`,
    ordered: `audit INDEXED BY ${orgId === undefined || plain ? byTime : 'audit_search'} WHERE ${where}`,
    values,
    plain,
  }
}

/** How many match. */
export function auditCountSql({ from, values }: AuditPlan): Sql {
  return { text: `SELECT count(*) AS n FROM ${from}`, values }
}

/** Numbers of the rows of a page, newest first. */
export function auditPageSql({ from, values }: AuditPlan, offset: number, limit: number): Sql {
  return {
    text: `SELECT row FROM ${from} ORDER BY at DESC, row DESC LIMIT ? OFFSET ?`,
    values: [...values, limit, offset],
  }
}

/** Rows of a batch, newest first, after one that was the last of the batch before. */
function auditBatchSql({ ordered, values }: AuditPlan, last: { row: number; at: Millis }, limit: number): Sql {
  return {
    text: `SELECT row, at FROM ${ordered} AND at <= ? AND (at < ? OR row < ?) ORDER BY at DESC, row DESC LIMIT ?`,
    values: [...values, last.at, last.at, last.row, limit],
  }
}
