import { Type } from 'typebox'
import type { Json, JsonObject } from '../../model/json/json.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { redact } from '../../model/secrets/redact.ts'
import { redactDocument } from '../../model/secrets/secret-places.ts'
import { WorkSlice } from '../../runtime/turns.ts'
import type { AuditRow } from '../../store/ports/ports.ts'
import { described } from '../routes/described.ts'
import { storageId } from '../routes/text-forms.ts'
import { diffOf } from './diff.ts'

/** A document before or after a change; null where there was none. */
const Document = Type.Unknown(describedAs({ type: ['object', 'null'], additionalProperties: true }))

/** One record of the audit log as callers see it. */
export const RecordShape = Type.Object(
  {
    _id: storageId('Id of the entry: 24 hexadecimal digits.'),
    req_id: Type.String({ description: 'Id of the request. Blank where no call brought the change about.' }),
    org_id: Type.String({ description: 'Id of the organisation.' }),
    date: Type.String({ description: 'Time of the change (RFC 1123).' }),
    timestamp: Type.Integer({ description: 'Time of the change, in Unix seconds.' }),
    ip: Type.String({ description: 'IP address of the caller. Blank where no call brought the change about.' }),
    user: Type.String({ description: 'Email address of the user, or the name of what made the change.' }),
    action: Type.String({ description: 'Change, as text for people.' }),
    method: Type.String({ description: 'Method of the call. Blank where no call brought the change about.' }),
    url: Type.String({ description: 'Path and query of the call, without secrets.' }),
    status: Type.Integer({
      description: 'Status code of the answer. 0: no call of the dashboard brought the change about.',
    }),
    diff: Type.Optional(Type.String({ description: 'Differences between the documents before and after, as text.' })),
    request_dump: Type.Optional(
      Type.String({
        description: 'The request as it was sent, without secrets, where `dashboard.audit.detailed_recording` is set.',
      }),
    ),
    response_dump: Type.Optional(
      Type.String({ description: 'The response, without secrets, where `dashboard.audit.detailed_recording` is set.' }),
    ),
    detail: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: true, description: 'What the entry says besides, such as ids of the objects.' },
      ),
    ),
    changes: Type.Optional(
      Type.Array(
        Type.Object({
          kind: Type.String({ description: 'Kind of document, such as `api` or `policy`.' }),
          id: Type.String({ description: 'Storage id of the document.' }),
          before: described(
            Document,
            'The document before the change, without secrets; null for one that was created.',
          ),
          after: described(Document, 'The document after the change, without secrets; null for one that was deleted.'),
        }),
        { description: 'The documents that were changed. Only in the read of a single entry.' },
      ),
    ),
  },
  { title: 'AuditRecord' },
)

/** Replaces the difference where others own the changed object. */
const OTHERS = 'not shown: others own what was changed'

/** A record without what makes it long. Holds no secret. */
export async function recordOf(row: AuditRow): Promise<JsonObject> {
  const { request_dump, response_dump } = row.detail
  return {
    _id: row.id,
    req_id: row.request?.id ?? '',
    org_id: row.orgId,
    date: new Date(row.at).toUTCString().replace(/GMT$/, 'UTC'),
    timestamp: Math.floor(row.at / 1000),
    ip: row.request?.ip ?? '',
    user: row.request?.user || row.actor,
    action: row.action,
    method: row.request?.method ?? '',
    url: row.request?.url ?? '',
    status: row.request?.status ?? 0,
    ...(row.changes.length > 0 && { diff: await diffOf(row.changes) }),
    ...(row.detail.withheld === true && { diff: OTHERS }),
    ...(typeof request_dump === 'string' && { request_dump }),
    ...(typeof response_dump === 'string' && { response_dump }),
  }
}

/** All that is known of an entry: besides, what it says of itself, and the documents before and after. Holds no secret. */
export async function fullRecordOf(row: AuditRow): Promise<JsonObject> {
  const { request_dump: _request, response_dump: _response, ...detail } = row.detail
  const record = await recordOf(row)
  const slice = new WorkSlice()
  const shown = async (body: JsonObject | null) => {
    if (slice.isOver) await slice.next()
    return redactDocument(body)
  }
  const changes: Json[] = []
  for (const { kind, id, before, after } of row.changes)
    changes.push({ kind, id, before: await shown(before), after: await shown(after) })
  return { ...record, detail: redact(detail), changes }
}

const COLUMNS = [
  '_id',
  'req_id',
  'org_id',
  'date',
  'timestamp',
  'ip',
  'user',
  'action',
  'method',
  'url',
  'status',
  'diff',
]
const FORMULA = /^[=+\-@\t\r]/

/** Rows of a table as CSV (RFC 4180), in batches, after a line of names. No cell is taken for a formula by a spreadsheet. */
export async function* csvOf(batches: AsyncIterable<AuditRow[]>): AsyncIterable<string> {
  yield `${COLUMNS.join(',')}\r\n`
  for await (const batch of batches) {
    for (const row of batch) {
      const record = await recordOf(row)
      yield `${COLUMNS.map((name) => cell(record[name] ?? '')).join(',')}\r\n`
    }
  }
}

function cell(value: unknown): string {
  const plain = String(value)
  const safe = typeof value === 'string' && FORMULA.test(plain) ? `'${plain}` : plain
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
