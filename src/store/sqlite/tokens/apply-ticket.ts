import type { DatabaseSync } from 'node:sqlite'
import { fault } from '../../../errors/fault.ts'
import type { Millis } from '../../../model/time/clock.ts'
import { hashBytes } from '../../prepare/cells.ts'
import { ANY_VERSION, type PreparedClaim, type PreparedTicket } from '../../prepare/prepare-tickets.ts'

export interface TicketRows {
  /** @throws Fault `already_exists`, `ticket_unusable` */
  put(ticket: PreparedTicket): void
  /** @throws Fault `ticket_unusable` */
  claim(claim: PreparedClaim): void
  delete(hash: string): void
  endFamily(family: string): void
  /** Deletes at most `limit` rows that nobody finds any more; answers how many. */
  purge(now: Millis, limit: number): number
}

/** Prepares the statements that write tickets inside an open transaction. */
export function ticketRows(db: DatabaseSync): TicketRows {
  const current = db.prepare('SELECT row, expires_at, keep_until, version, claimed_at FROM ticket WHERE hash = ?')
  const insert = db.prepare(`INSERT INTO
    ticket(hash, sort, api_id, client_id, family, expires_at, keep_until, version, claimed_at, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, 1, 0, ?)`)
  const update = db.prepare(`UPDATE ticket SET sort = ?, api_id = ?, client_id = ?, family = ?, expires_at = ?,
    keep_until = ?, version = ?, claimed_at = ?, body = ? WHERE row = ?`)
  const claim = db.prepare(
    'UPDATE ticket SET claimed_at = ? WHERE hash = ? AND sort = ? AND claimed_at = 0 AND expires_at > ?',
  )
  const remove = db.prepare('DELETE FROM ticket WHERE hash = ?')
  // The partial index is taken only by a statement that names its condition.
  const removeFamily = db.prepare("DELETE FROM ticket WHERE family = ? AND family <> ''")
  const purge = db.prepare(
    'DELETE FROM ticket WHERE row IN (SELECT row FROM ticket WHERE keep_until <= ? ORDER BY keep_until LIMIT ?)',
  )
  return {
    put(ticket) {
      const { sort, apiId, clientId, family, expiresAt, keepUntil, text } = ticket
      const hash = hashBytes(ticket.hash)
      const found = current.get(hash) as Found | undefined
      const present = found !== undefined && found.keep_until > ticket.now ? found : undefined
      check(ticket, present)
      if (found === undefined) {
        insert.run(hash, sort, apiId, clientId, family, expiresAt, keepUntil, text)
        return
      }
      const version = (present?.version ?? 0) + 1
      const claimedAt = ticket.ifAbsent ? 0 : (present?.claimed_at ?? 0)
      update.run(sort, apiId, clientId, family, expiresAt, keepUntil, version, claimedAt, text, found.row)
    },
    claim({ hash, sort, now }) {
      const { changes } = claim.run(now, hashBytes(hash), sort, now)
      if (changes !== 1) throw fault('ticket_unusable', `no ${sort} that can be used`)
    },
    delete(hash) {
      remove.run(hashBytes(hash))
    },
    endFamily(family) {
      removeFamily.run(family)
    },
    purge: (now, limit) => purge.run(now, limit).changes as number,
  }
}

interface Found {
  readonly row: number
  readonly expires_at: Millis
  readonly keep_until: Millis
  readonly version: number
  readonly claimed_at: Millis
}

function check({ ifAbsent, ifVersion, now }: PreparedTicket, present: Found | undefined): void {
  if (ifAbsent && present !== undefined && present.expires_at > now) {
    throw fault('already_exists', 'there is a ticket of this value')
  }
  if (ifVersion === ANY_VERSION) return
  if (present?.version !== ifVersion || present.claimed_at > 0) {
    throw fault('ticket_unusable', 'the ticket was changed or used before')
  }
}
