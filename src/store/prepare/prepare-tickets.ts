import { fault } from '../../errors/fault.ts'
import type { Millis } from '../../model/time/clock.ts'
import { TICKET_TYPES } from '../ports/changes.ts'
import type { Change, DeliveryInput, DeliveryOutcome, TicketType } from '../ports/ports.ts'
import { bodyText, hashText, latin1, wellFormed, wholeNumber } from './cells.ts'

/** Means "no condition" where a version is expected; the versions of tickets begin at 1. */
export const ANY_VERSION = 0

const SORTS: ReadonlySet<TicketType> = new Set(TICKET_TYPES)

export interface PreparedTicket {
  readonly op: 'putTicket'
  /** 32 characters, one a byte. */
  readonly hash: string
  readonly sort: TicketType
  readonly apiId: string
  readonly clientId: string
  readonly family: string
  readonly expiresAt: Millis
  readonly keepUntil: Millis
  readonly text: string
  readonly ifAbsent: boolean
  readonly ifVersion: number
  /** When it was asked for: what nobody finds any more by then counts as absent. */
  readonly now: Millis
}

export interface PreparedClaim {
  readonly op: 'claimTicket'
  readonly hash: string
  readonly sort: TicketType
  /** 1 or more: 0 means "not used". */
  readonly now: Millis
}

export interface PreparedTicketDelete {
  readonly op: 'deleteTicket'
  readonly hash: string
}

export interface PreparedFamilyEnd {
  readonly op: 'endFamily'
  readonly family: string
}

export interface PreparedDelivery {
  readonly op: 'putDelivery'
  readonly queue: string
  /** A string of bytes. */
  readonly sealed: string
  readonly createdAt: Millis
}

export interface PreparedSettlement {
  readonly op: 'settleDelivery'
  readonly id: number
  readonly outcome: DeliveryOutcome
}

export type PreparedTicketChange =
  | PreparedTicket
  | PreparedClaim
  | PreparedTicketDelete
  | PreparedFamilyEnd
  | PreparedDelivery
  | PreparedSettlement

/** Changes of tickets, token families and the outbox. */
export type TicketChange = Extract<Change, { op: PreparedTicketChange['op'] }>

/** Checks and copies a change of a ticket, a token family or the outbox into a row. @throws Fault `internal` for a malformed one */
export function prepareTicketChange(change: TicketChange, now: Millis): PreparedTicketChange {
  switch (change.op) {
    case 'putTicket':
      return prepareTicket(change, now)
    case 'claimTicket':
      return {
        op: 'claimTicket',
        hash: hashText(change.hash),
        sort: sortOf(change.sort),
        now: Math.max(1, wholeNumber(change.now)),
      }
    case 'deleteTicket':
      return { op: 'deleteTicket', hash: hashText(change.hash) }
    case 'endFamily':
      return { op: 'endFamily', family: named(change.family, 'a family') }
    case 'putDelivery':
      return prepareDelivery(change.row)
    case 'settleDelivery':
      return { op: 'settleDelivery', id: wholeNumber(change.id), outcome: prepareOutcome(change.outcome) }
    default:
      throw fault('internal', 'a change of an unknown sort')
  }
}

function prepareTicket(change: Extract<Change, { op: 'putTicket' }>, now: Millis): PreparedTicket {
  const { row, ifAbsent = false, ifVersion } = change
  if (ifAbsent && ifVersion !== undefined) throw fault('internal', 'a ticket of a version is never absent')
  if (row.keepUntil < row.expiresAt) throw fault('internal', 'a ticket must be kept until it has expired')
  return {
    op: 'putTicket',
    hash: hashText(change.hash),
    sort: sortOf(row.sort),
    apiId: wellFormed(row.apiId),
    clientId: wellFormed(row.clientId),
    family: wellFormed(row.family),
    expiresAt: wholeNumber(row.expiresAt),
    keepUntil: wholeNumber(row.keepUntil),
    text: bodyText(row.body),
    ifAbsent: ifAbsent === true,
    ifVersion: ifVersion === undefined ? ANY_VERSION : version(ifVersion),
    now,
  }
}

function prepareDelivery(row: DeliveryInput): PreparedDelivery {
  return {
    op: 'putDelivery',
    queue: wellFormed(row.queue),
    sealed: latin1(row.sealed),
    createdAt: wholeNumber(row.createdAt),
  }
}

function prepareOutcome(outcome: DeliveryOutcome): DeliveryOutcome {
  switch (outcome.is) {
    case 'delivered':
      return { is: 'delivered' }
    case 'failed':
      return { is: 'failed', nextAt: wholeNumber(outcome.nextAt), error: wellFormed(outcome.error) }
    case 'dead':
      return { is: 'dead', error: wellFormed(outcome.error) }
    case 'again':
      return { is: 'again', nextAt: wholeNumber(outcome.nextAt) }
    default:
      throw fault('internal', 'an outcome of an unknown sort')
  }
}

function sortOf(sort: TicketType): TicketType {
  if (!SORTS.has(sort)) throw fault('internal', 'a ticket of an unknown sort')
  return sort
}

/** '' means "none": ending it would end everything that has none. */
function named(text: string, what: string): string {
  if (text === '') throw fault('internal', `${what} must have a name`)
  return wellFormed(text)
}

function version(value: number): number {
  if (wholeNumber(value) === ANY_VERSION) throw fault('internal', 'the versions of tickets begin at 1')
  return value
}
