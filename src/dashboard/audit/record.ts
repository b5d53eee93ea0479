import { Type } from 'typebox'
import type { Json, JsonObject } from '../../model/json/json.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { redact } from '../../model/secrets/redact.ts'
import { redactDocument } from '../../model/secrets/secret-places.ts'
import { WorkSlice } from '../../runtime/turns.ts'
import type { AuditRow } from '../../store/ports/ports.ts'
import { diffOf } from './diff.ts'

const text = Type.String()

/** A document before or after a change; null where there was none. */
const Document = Type.Unknown(describedAs({ type: ['object', 'null'], additionalProperties: true }))

/** One record of the audit log as callers see it. */
export const RecordShape = Type.Object(
  {
    _id: Type.String({ pattern: '^[0-9a-f]{24}$' }),
    req_id: text,
    org_id: text,
    date: Type.String({ description: 'RFC 1123' }),
    timestamp: Type.Integer({ description: 'Seconds since 1970' }),
    ip: text,
    user: text,
    action: text,
    method: text,
    url: text,
    status: Type.Integer({ description: '0 where no call of the dashboard brought it about' }),
    diff: Type.Optional(Type.String({ description: 'Of changes: what differs' })),
    request_dump: Type.Optional(text),
    response_dump: Type.Optional(text),
    detail: Type.Optional(Type.Object({}, { additionalProperties: true })),
    changes: Type.Optional(
      Type.Array(
        Type.Object({
          kind: text,
          id: text,
          before: Document,
          after: Document,
        }),
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
