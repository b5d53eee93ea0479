import { setImmediate as nextTurn } from 'node:timers/promises'
import { mapInTurns } from '../../../runtime/turns.ts'
import {
  AUDITED_SESSION,
  type Audit,
  type AuditChange,
  type AuditEntryState,
  type AuditRow,
} from '../../ports/ports.ts'
import { toAuditChange, unpackBodies } from '../../prepare/audited.ts'
import { wholeNumber } from '../../prepare/cells.ts'
import { pageSize, wholeOffset } from '../../prepare/list-query.ts'
import { auditId, auditNumber, type PreparedAuditQuery, prepareAuditQuery } from '../../prepare/prepare-audit.ts'
import type { Db, Sql, Tx } from '../connection/db.ts'
import { fromCell, toCell } from '../documents/texts.ts'

type Row = Record<string, unknown>

const COLUMNS = 'number, revision, at_ms, actor, action, org_id, detail, request'
const SCAN_BATCH = 100
const PURGED_AT_ONCE = 1_000

/** `Audit` of a database. */
export function auditReader(db: Db): Audit {
  const read = ({ text, values }: Sql) => db.read<Row>(text, values)
  const rowsOf = async (found: readonly Row[]): Promise<AuditRow[]> => {
    if (found.length === 0) return []
    const changes = await db.read<Row>(
      'SELECT audit, kind, id, bodies FROM audit_change WHERE audit = ANY($1::bigint[]) ORDER BY audit, place',
      [found.map(({ number }) => number)],
    )
    const by = Map.groupBy(changes, ({ audit }) => audit as number)
    return mapInTurns(found, (row) => toRow(row, (by.get(row.number as number) ?? []).map(toChange)))
  }
  const find = async (id: string): Promise<AuditRow | undefined> => {
    const number = auditNumber(id)
    if (number === undefined) return undefined
    const [row] = await rowsOf(await db.read<Row>(`SELECT ${COLUMNS} FROM audit WHERE number = $1`, [number]))
    return row?.id === id ? row : undefined
  }
  return {
    async list(query) {
      const plan = auditPlan(prepareAuditQuery(query))
      const [counted] = await read({ text: `SELECT count(*) AS n FROM audit WHERE ${plan.text}`, values: plan.values })
      const total = counted!.n as number
      const [limit, offset] = [pageSize(query.limit), wholeOffset(query.offset)]
      if (total <= offset || limit === 0) return { total, rows: [] }
      return { total, rows: await rowsOf(await read(pagedSql(plan, 'TRUE', [], limit, offset))) }
    },
    async listIds(query) {
      const plan = auditPlan(prepareAuditQuery(query))
      const [counted] = await read({ text: `SELECT count(*) AS n FROM audit WHERE ${plan.text}`, values: plan.values })
      const total = counted!.n as number
      const [limit, offset] = [pageSize(query.limit), wholeOffset(query.offset)]
      if (total <= offset || limit === 0) return { total, ids: [] }
      const found = await read(pagedSql(plan, 'TRUE', [], limit, offset))
      return { total, ids: found.map(({ number, at_ms }) => auditId(number as number, at_ms as number)) }
    },
    get: find,
    async *scan(query) {
      const plan = auditPlan(prepareAuditQuery(query))
      const [top] = await db.read<{ number: number }>('SELECT coalesce(max(number), 0) AS number FROM audit')
      const newest = top!.number
      let last = { number: newest + 1, at: Number.MAX_SAFE_INTEGER }
      while (true) {
        const n = plan.values.length
        // One that came meanwhile and says that it is older is left out; so is one that was purged.
        const behind = `at_ms <= $${n + 1} AND (at_ms < $${n + 1} OR number < $${n + 2}) AND number <= $${n + 3}`
        const found = await read(pagedSql(plan, behind, [last.at, last.number, newest], SCAN_BATCH, 0))
        const rows = await rowsOf(found)
        if (rows.length > 0) yield rows
        if (found.length < SCAN_BATCH) return
        const end = found.at(-1)!
        last = { number: end.number as number, at: end.at_ms as number }
        await nextTurn()
      }
    },
    async state(id) {
      const row = await find(id)
      if (row === undefined) return undefined
      // All changes are looked at in one moment.
      return db.transact(
        async (tx) => {
          const state: AuditEntryState[] = []
          for (const change of row.changes) state.push(await entryStateOf(tx, row, change))
          return state
        },
        { isolation: 'snapshot' },
      )
    },
    async purgeAudit(before) {
      wholeNumber(before)
      let purged = 0
      while (true) {
        const rows = await db.transact(async (tx) => {
          const gone = await tx.query<{ number: number }>(
            `DELETE FROM audit WHERE number IN (
              SELECT number FROM audit WHERE at_ms < $1 ORDER BY at_ms LIMIT ${PURGED_AT_ONCE} FOR UPDATE SKIP LOCKED)
              RETURNING number`,
            [before],
          )
          const numbers = gone.map(({ number }) => number)
          if (numbers.length > 0) await tx.run('DELETE FROM audit_change WHERE audit = ANY($1::bigint[])', [numbers])
          return numbers.length
        })
        purged += rows
        if (rows < PURGED_AT_ONCE) return purged
        await nextTurn()
      }
    },
  }
}

async function entryStateOf(tx: Tx, row: AuditRow, { kind, id, after }: AuditChange): Promise<AuditEntryState> {
  const [next] = await tx.query<{ number: number; at_ms: number }>(
    `SELECT a.number, a.at_ms FROM audit_change c JOIN audit a ON a.number = c.audit
      WHERE c.kind = $1 AND c.id = $2 AND c.audit > $3 ORDER BY c.audit LIMIT 1`,
    [kind, id, auditNumber(row.id)],
  )
  const laterId = next && auditId(next.number, next.at_ms)
  const isSession = kind === AUDITED_SESSION
  const [now] = isSession
    ? await tx.query<Row>('SELECT body FROM session WHERE hash = $1', [Buffer.from(id, 'hex')])
    : await tx.query<Row>('SELECT revision, body FROM document WHERE kind = $1 AND id = $2', [kind, id])
  const revision = isSession || now === undefined ? 0 : (now.revision as number)
  const same = revision > 0 ? revision === row.revision : sameBody(now?.body as string | undefined, after)
  return { kind, id, revision, laterId, current: laterId === undefined && same }
}

function auditPlan(query: PreparedAuditQuery): Sql {
  const { orgId, action, method, ip, status, user, path, from, to, wrote } = query
  const cell = (text: string | undefined) => (text === undefined ? undefined : toCell(text))
  const tests: [test: (place: string) => string, value: unknown][] = [
    [(place) => `org_id = ${place}`, cell(orgId)],
    [(place) => `at_ms >= ${place}`, from || undefined],
    [(place) => `at_ms < ${place}`, to === Number.MAX_SAFE_INTEGER ? undefined : to],
    [(place) => `action = ${place}`, cell(action)],
    [(place) => `method = ${place}`, cell(method)],
    [(place) => `ip = ${place}`, cell(ip)],
    [(place) => `status = ${place}`, status],
    [(place) => `strpos(who, ${place}) > 0`, cell(user)],
    [(place) => `strpos(path, ${place}) > 0`, cell(path)],
    [ofDocuments, wrote && [wrote.kind, ...wrote.ids].map(toCell)],
  ]
  const given = tests.filter(([, value]) => value !== undefined)
  return {
    text: ['TRUE', ...given.map(([test], i) => test(`$${i + 1}`))].join(' AND '),
    values: given.map(([, value]) => value),
  }
}

/** Rows of the commits that wrote documents, given as a list: their kind, then their ids. */
function ofDocuments(place: string): string {
  const list = `${place}::text[]`
  return `number IN (SELECT audit FROM audit_change WHERE kind = (${list})[1] AND id = ANY((${list})[2:]))`
}

/** Newest first. */
function pagedSql(plan: Sql, behind: string, more: readonly unknown[], limit: number, offset: number): Sql {
  return {
    text: `SELECT ${COLUMNS} FROM audit WHERE ${plan.text} AND ${behind}
      ORDER BY at_ms DESC, number DESC LIMIT ${limit} OFFSET ${offset}`,
    values: [...plan.values, ...more],
  }
}

function sameBody(now: string | undefined, after: AuditChange['after']): boolean {
  if (now === undefined || after === null) return now === undefined && after === null
  return JSON.stringify(JSON.parse(now)) === JSON.stringify(after)
}

function toChange({ kind, id, bodies }: Row): AuditChange {
  return toAuditChange(kind as string, id as string, unpackBodies(bodies as Uint8Array))
}

function toRow(row: Row, changes: readonly AuditChange[]): AuditRow {
  const at = row.at_ms as number
  return {
    id: auditId(row.number as number, at),
    revision: row.revision as number,
    actor: fromCell(row.actor as string),
    action: fromCell(row.action as string),
    orgId: fromCell(row.org_id as string),
    at,
    detail: JSON.parse(row.detail as string),
    ...(row.request !== '' && { request: JSON.parse(row.request as string) }),
    changes,
  }
}
