import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { undoEntry } from '../../publish/audit/undo.ts'
import { WorkSlice } from '../../runtime/turns.ts'
import type { AuditRow } from '../../store/ports/ports.ts'
import { usableBy } from '../apis/store-api.ts'
import { type Answer, bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { OkStatus, OutcomeText, PageCount } from '../routes/envelope.ts'
import { listPieces, pageAnswer, streamed } from '../routes/listed.ts'
import { pageOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { guarantorBody } from '../single-sign-on/person.ts'
import { guarantorFor } from '../single-sign-on/profile-rights.ts'
import { ASKED_KINDS } from './documents-named.ts'
import { auditQueryOf } from './query.ts'
import { csvOf, fullRecordOf, RecordShape, recordOf } from './record.ts'
import { checkUndoRights } from './undo-rights.ts'
import { withheldBatches, withheldRows } from './withhold.ts'

const text = Type.String()
const QUERY = {
  p: Type.Integer(),
  user: text,
  action: text,
  ip: text,
  method: text,
  status: Type.Integer({ minimum: 0, maximum: 999 }),
  url: text,
  kind: Type.Enum([...ASKED_KINDS], { description: 'Only entries that changed a document of this kind. Needs `id`.' }),
  id: Type.String({
    description:
      'Only entries that changed this document: its storage id, or while it is there the id that calls name it by. Keys and tokens are named by their hash. Needs `kind`.',
  }),
  from_date: text,
  to_date: text,
  download: Type.Boolean(),
  type: Type.Enum(['csv', 'json']),
}
const Page = Type.Object(
  { audit_logs: Type.Array(RecordShape, { description: 'Entries of the page, newest first.' }), pages: PageCount },
  { title: 'AuditLogPage' },
)
const Undone = Type.Object(
  {
    Status: OkStatus,
    Message: OutcomeText,
    Meta: Type.Array(
      Type.Object({
        kind: Type.String({ description: 'Kind of document, such as `api` or `policy`.' }),
        id: Type.String({ description: 'Storage id of the document.' }),
      }),
      { description: 'The documents that were written back.' },
    ),
  },
  { title: 'ChangeUndone' },
)

const READ = { permission: 'audit_logs', intent: 'read' } as const
const LIST = { name: 'audit_logs', shape: recordOf }
const UNKNOWN = 'could not retrieve audit record'

/** The audit log: `/api/audit-logs`, and undoing what an entry changed. */
export function auditLogRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/audit-logs',
      access: READ,
      summary: 'List audit log entries; with download=true all of them as a file',
      query: QUERY,
      keysIn: ['url', 'id'],
      // Many generators have no type for "a page or a list": the list is a file to be saved.
      answers: { 200: Type.Union([Page, Type.Array(RecordShape), text], describedAs(Page)) },
      textType: 'text/csv',
      run: (call) => (call.query('download') === 'true' ? download(parts, call) : page(parts, call)),
    },
    {
      method: 'GET',
      path: '/api/audit-logs/{id}',
      access: READ,
      summary: 'Read an entry of the audit log with the documents before and after',
      answers: { 200: RecordShape },
      run: async (call) => {
        const [row] = await withheldRows(parts, call, [await rowOf(parts, call)])
        return bare(await fullRecordOf(row!))
      },
    },
    {
      method: 'POST',
      path: '/api/audit-logs/{id}/undo',
      // Writing needs the permission of what was changed: see `checkUndoRights`.
      access: READ,
      summary: 'Undo the change of an entry, unless it has been changed since',
      answers: { 200: Undone },
      run: (call) => undo(parts, call),
    },
  ]
}

async function page(parts: DashboardParts, call: Call): Promise<Answer> {
  const { audit } = parts.store
  const query = await auditQueryOf(parts, call)
  const asked = pageOf(call)
  if (asked === 'all') return streamed(withheldBatches(parts, call, audit.scan(query)), LIST)
  const { ids, total } = await audit.listIds({ ...query, ...asked })
  const records: JsonObject[] = []
  const slice = new WorkSlice()
  // One by one: the documents of a page together may be more than fits into memory.
  for (const id of ids) {
    const row = await audit.get(id)
    if (row === undefined) continue
    const [shown] = await withheldRows(parts, call, [row])
    records.push(await recordOf(shown!))
    if (slice.isOver) await slice.next()
  }
  return pageAnswer(records, total, asked, { name: LIST.name, shape: (record) => record })
}

async function download(parts: DashboardParts, call: Call): Promise<Answer> {
  const rows = withheldBatches(parts, call, parts.store.audit.scan(await auditQueryOf(parts, call)))
  const csv = call.query('type') === 'csv'
  const name = `audit_logs.${csv ? 'csv' : 'json'}`
  return {
    status: 200,
    body: csv ? csvOf(rows) : listPieces(rows, recordOf),
    type: csv ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8',
    headers: { 'content-disposition': `attachment; filename="${name}"` },
  }
}

async function undo(parts: DashboardParts, call: Call): Promise<Answer> {
  const row = await rowOf(parts, call)
  await checkUndoRights(parts, call, row)
  const entryState = await parts.store.audit.state(row.id)
  if (entryState === undefined) throw fault('not_found', UNKNOWN)
  const sharedEmail = parts.config.dashboard.enable_multi_org_users
  await undoEntry(parts, {
    row,
    entryState,
    audit: parts.store.audit,
    actor: call.actor!.email,
    sharedEmail,
    mayUse: usableBy(call),
    guarantor: guarantorBody(guarantorFor(call.actor!)),
  })
  return ok(
    'Change undone',
    row.changes.map(({ kind, id }) => ({ kind, id })),
  )
}

/** The entry that the path names, of the caller's organisation. @throws Fault `not_found` (404) */
async function rowOf({ store: { audit } }: DashboardParts, call: Call): Promise<AuditRow> {
  const row = await audit.get(call.param('id'))
  const orgId = call.actor?.orgId ?? ''
  if (row === undefined || (orgId !== '' && row.orgId !== orgId)) throw fault('not_found', UNKNOWN)
  return row
}
