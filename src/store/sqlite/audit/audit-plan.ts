import type { SQLInputValue } from 'node:sqlite'
import type { Millis } from '../../../model/time/clock.ts'
import type { PreparedAuditQuery } from '../../prepare/prepare-audit.ts'
import type { Sql } from '../documents/list-plan.ts'

/** Rows of `audit` by the index that holds all that is asked: the rows themselves are never read. */
export interface AuditPlan {
  readonly from: string
  /** The same, read newest first without sorting all that match. */
  readonly ordered: string
  readonly values: readonly SQLInputValue[]
  /** True when only time and organisation are asked for. */
  readonly plain: boolean
}

/** Where the rows that match come from. */
export function auditPlan(query: PreparedAuditQuery): AuditPlan {
  const { orgId, action, method, ip, status, user, path, from, to } = query
  const tests: [test: string, value: SQLInputValue | undefined][] = [
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
  const plain = given.every(([test]) => /^(org_id|at) /.test(test))
  const byTime = orgId === undefined ? 'audit_by_at' : 'audit_by_org'
  const where = ['TRUE', ...given.map(([test]) => test)].join(' AND ')
  return {
    from: `audit INDEXED BY ${plain ? byTime : 'audit_search'} WHERE ${where}`,
    ordered: `audit INDEXED BY ${orgId === undefined || plain ? byTime : 'audit_search'} WHERE ${where}`,
    values: given.map(([, value]) => value),
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
export function auditBatchSql({ ordered, values }: AuditPlan, last: { row: number; at: Millis }, limit: number): Sql {
  return {
    text: `SELECT row, at FROM ${ordered} AND at <= ? AND (at < ? OR row < ?) ORDER BY at DESC, row DESC LIMIT ?`,
    values: [...values, last.at, last.at, last.row, limit],
  }
}
