import { hashBytes } from '../../prepare/cells.ts'
import type { Sql } from '../connection/db.ts'
import { toCell } from '../documents/texts.ts'
import { type Changed, columns, type DeliveryDraft, type TicketDraft } from '../writer/group-rows.ts'

/** The statements that make the stored tickets equal to their drafts. */
export function ticketWrites(changed: readonly Changed<TicketDraft>[]): Sql[] {
  const gone = changed.filter(({ now }) => now === undefined).map(({ before }) => before!)
  const put = changed.flatMap(({ now }) => (now?.put === undefined ? [] : [{ ...now, put: now.put }]))
  const claimed = changed.flatMap(({ now }) => (now !== undefined && now.put === undefined ? [now] : []))
  return [
    ...(gone.length > 0
      ? [
          {
            text: 'DELETE FROM ticket WHERE hash = ANY($1::bytea[])',
            values: [gone.map(({ hash }) => hashBytes(hash))],
          },
        ]
      : []),
    ...(claimed.length > 0 ? [claimTickets(claimed)] : []),
    ...(put.length > 0 ? [upsertTickets(put)] : []),
  ]
}

function claimTickets(rows: readonly TicketDraft[]): Sql {
  return {
    text: `UPDATE ticket t SET claimed_at = w.claimed_at
      FROM unnest($1::bytea[], $2::bigint[]) w(hash, claimed_at) WHERE t.hash = w.hash`,
    values: columns(
      rows,
      ({ hash }) => hashBytes(hash),
      ({ claimedAt }) => claimedAt,
    ),
  }
}

function upsertTickets(rows: readonly (TicketDraft & { readonly put: NonNullable<TicketDraft['put']> })[]): Sql {
  const values = columns(
    rows,
    ({ hash }) => hashBytes(hash),
    ({ sort }) => sort,
    ({ put }) => toCell(put.apiId),
    ({ put }) => toCell(put.clientId),
    ({ family }) => toCell(family),
    ({ expiresAt }) => expiresAt,
    ({ keepUntil }) => keepUntil,
    ({ version }) => version,
    ({ claimedAt }) => claimedAt,
    ({ put }) => put.text,
  )
  return {
    text: `INSERT INTO ticket(hash, sort, api_id, client_id, family, expires_at, keep_until, version, claimed_at, body)
      SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
        $8::bigint[], $9::bigint[], $10::text[])
      ON CONFLICT (hash) DO UPDATE SET sort = excluded.sort, api_id = excluded.api_id, client_id = excluded.client_id,
        family = excluded.family, expires_at = excluded.expires_at, keep_until = excluded.keep_until,
        version = excluded.version, claimed_at = excluded.claimed_at, body = excluded.body`,
    values,
  }
}

/** The statements that make the outbox equal to its drafts. */
export function deliveryWrites(rows: readonly DeliveryDraft[]): Sql[] {
  const made = rows.flatMap(({ id, made }) => (made === undefined ? [] : [{ id, ...made }]))
  return [...(made.length > 0 ? [insertDeliveries(made)] : []), ...rows.flatMap(settlements)]
}

function insertDeliveries(rows: readonly ({ readonly id: number } & NonNullable<DeliveryDraft['made']>)[]): Sql {
  const values = columns(
    rows,
    ({ id }) => id,
    ({ queue }) => toCell(queue),
    ({ createdAt }) => createdAt,
    ({ sealed }) => hashBytes(sealed),
  )
  return {
    text: `INSERT INTO delivery(id, dead, queue, next_at, attempts, created_at, error, sealed)
      SELECT id, false, queue, 0, 0, created_at, '', sealed
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bytea[]) w(id, queue, created_at, sealed)`,
    values,
  }
}

/** There are few: one statement each. */
function settlements({ id, outcomes }: DeliveryDraft): Sql[] {
  return outcomes.map((outcome): Sql => {
    switch (outcome.is) {
      case 'delivered':
        return { text: 'DELETE FROM delivery WHERE id = $1', values: [id] }
      case 'failed':
        return {
          text: 'UPDATE delivery SET dead = false, attempts = attempts + 1, next_at = $2, error = $3 WHERE id = $1',
          values: [id, outcome.nextAt, toCell(outcome.error)],
        }
      case 'dead':
        return {
          text: 'UPDATE delivery SET dead = true, attempts = attempts + 1, error = $2 WHERE id = $1',
          values: [id, toCell(outcome.error)],
        }
      default:
        return {
          text: 'UPDATE delivery SET dead = false, attempts = 0, next_at = $2 WHERE id = $1',
          values: [id, outcome.nextAt],
        }
    }
  })
}
