import { packBodies } from '../../prepare/audited.ts'
import type { Sql } from '../connection/db.ts'
import { indexedValue, toCell } from '../documents/texts.ts'
import { packEvents } from '../feed/feed-line.ts'
import { sessionWrites } from '../tokens/write-sessions.ts'
import { deliveryWrites, ticketWrites } from '../tokens/write-tickets.ts'
import type { AppliedGroup, AuditDraft } from './group-apply.ts'
import { type Changed, columns, type DocumentDraft, type GroupState } from './group-rows.ts'

/** Channel for the revision. */
export const CHANNEL = 'gatehouse_feed'

interface Group {
  /** Revision before the group. */
  readonly before: number
  readonly state: GroupState
  readonly applied: AppliedGroup
  /** Name of the group in the feed. */
  readonly writer: string
  /** By which declaration documents are filed. */
  readonly declaration: number
}

/** The statements that write the state to the store, in their order, a few for any number of commits. */
export function writesOf({ before, state, applied, writer, declaration }: Group): Sql[] {
  const { revision, lastSession, lastDelivery, lastAudit } = state
  const tell: Sql[] =
    revision === before
      ? []
      : [
          {
            text: 'INSERT INTO feed(upto, first, writer, events) VALUES ($1, $2, $3, $4)',
            values: [revision, before + 1, writer, packEvents(applied.events)],
          },
          { text: `SELECT pg_notify('${CHANNEL}', $1)`, values: [String(revision)] },
        ]
  return [
    ...documentWrites([...state.documents.changed()], declaration),
    ...sessionWrites([...state.sessions.changed()]),
    ...ticketWrites([...state.tickets.changed()]),
    ...deliveryWrites([...state.deliveries.changed()].flatMap(({ now }) => (now === undefined ? [] : [now]))),
    ...auditWrites(applied.audits),
    ...tell,
    {
      text: 'UPDATE store_state SET revision = $1, last_session = $2, last_delivery = $3, last_audit = $4',
      values: [revision, lastSession, lastDelivery, lastAudit],
    },
  ]
}

function documentWrites(changed: readonly Changed<DocumentDraft>[], declaration: number): Sql[] {
  const there = changed.flatMap(({ before }) => (before === undefined ? [] : [before]))
  const gone = changed.flatMap(({ before, now }) => (before !== undefined && now === undefined ? [before] : []))
  const put = changed.flatMap(({ now }) => (now === undefined ? [] : [now]))
  const ofDocuments = 'USING unnest($1::text[], $2::text[]) w(kind, id) WHERE t.kind = w.kind AND t.id = w.id'
  const names = (rows: readonly DocumentDraft[]) =>
    columns(
      rows,
      ({ kind }) => kind,
      ({ id }) => id,
    )
  return [
    ...(there.length > 0 ? [{ text: `DELETE FROM document_index t ${ofDocuments}`, values: names(there) }] : []),
    ...(gone.length > 0 ? [{ text: `DELETE FROM document t ${ofDocuments}`, values: names(gone) }] : []),
    ...(put.length > 0 ? [upsertDocuments(put, declaration), insertEntries(put)] : []),
  ]
}

function upsertDocuments(rows: readonly DocumentDraft[], declaration: number): Sql {
  const values = columns(
    rows,
    ({ kind }) => kind,
    ({ id }) => id,
    ({ revision }) => revision,
    ({ text }) => text,
  )
  return {
    text: `INSERT INTO document(kind, id, revision, body, filed)
      SELECT kind, id, revision, body, $5::int FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[])
        w(kind, id, revision, body)
      ON CONFLICT (kind, id) DO UPDATE SET revision = excluded.revision, body = excluded.body, filed = excluded.filed`,
    values: [...values, declaration],
  }
}

/** The index entries of documents, as rows of `document_index`. */
export function insertEntries(rows: readonly Pick<DocumentDraft, 'kind' | 'id' | 'entries'>[]): Sql {
  const entries = rows.flatMap(({ kind, id, entries = [] }) =>
    entries.map(({ name, value, unique }) => ({ kind, id, name, value, unique, cell: indexedValue(value) })),
  )
  const values = columns(
    entries,
    ({ kind }) => kind,
    ({ name }) => name,
    ({ cell }) => cell,
    ({ id }) => id,
    ({ unique }) => unique,
    ({ value, cell }) => (toCell(value) === cell ? null : toCell(value)),
  )
  return {
    text: `INSERT INTO document_index(kind, name, value, id, uniq, whole)
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::text[])`,
    values,
  }
}

function auditWrites(audits: readonly AuditDraft[]): Sql[] {
  if (audits.length === 0) return []
  const changes = audits.flatMap(({ number, changes }) =>
    changes.map((change, place) => ({ number, place, ...change })),
  )
  return [
    {
      text: `INSERT INTO audit(number, revision, at_ms, actor, action, org_id, detail, request, who, method, path, ip, status)
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[],
          $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::int[])`,
      values: columns(
        audits,
        ({ number }) => number,
        ({ revision }) => revision,
        ({ entry }) => entry.at,
        ({ entry }) => toCell(entry.actor),
        ({ entry }) => toCell(entry.action),
        ({ entry }) => toCell(entry.orgId),
        ({ entry }) => entry.text,
        ({ entry }) => entry.request,
        ({ entry }) => toCell(entry.user),
        ({ entry }) => toCell(entry.method),
        ({ entry }) => toCell(entry.path),
        ({ entry }) => toCell(entry.ip),
        ({ entry }) => entry.status,
      ),
    },
    ...(changes.length > 0
      ? [
          {
            text: `INSERT INTO audit_change(audit, place, kind, id, bodies)
              SELECT * FROM unnest($1::bigint[], $2::int[], $3::text[], $4::text[], $5::bytea[])`,
            values: columns(
              changes,
              ({ number }) => number,
              ({ place }) => place,
              ({ kind }) => kind,
              ({ id }) => id,
              ({ bodies }) => packBodies(bodies),
            ),
          },
        ]
      : []),
  ]
}
