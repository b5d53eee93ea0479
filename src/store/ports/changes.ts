import type { DocumentId } from '../../model/documents/ids.ts'
import type { BodyOf, DocumentBodies, NewBodyOf } from '../../model/documents/kinds.ts'
import type { JsonObject, Stored } from '../../model/json/json.ts'
import type { Session } from '../../model/sessions/session.ts'
import type { Millis } from '../../model/time/clock.ts'

// The parts of a commit, and the form in which its rows are read: the terms of `ports.ts`, which passes them on.

/** Grows by one with every commit; 0 before the first. */
export type Revision = number

/** A noun that the store keeps. Its indexes are declared in `model/documents/kinds.ts`. */
export type Kind = string

export interface StoredDocument<K extends Kind = Kind> {
  readonly kind: K
  readonly id: DocumentId
  /** Revision of the commit that wrote it last. */
  readonly revision: Revision
  readonly body: BodyOf<K>
}

interface Put<K extends Kind> {
  op: 'put'
  kind: K
  id: DocumentId
  body: NewBodyOf<K>
  ifRevision?: Revision
}

export type Change =
  /** Writes the whole body. `ifRevision`: 0 = must not exist yet; n = must be at that revision. @throws Fault `revision_conflict` */
  | { [K in keyof DocumentBodies]: Put<K> }[keyof DocumentBodies]
  | Put<Kind>
  /** Deletes; a document that is not there is no error. */
  | { op: 'delete'; kind: Kind; id: DocumentId; ifRevision?: Revision }
  /**
   * Writes the session stored under `hash` (32 bytes). `ifAbsent`: fails with `already_exists` if there is one; `ifPresent`: fails with
   * `not_found` if there is none. `ifEvictAt`: fails with `revision_conflict` if the one that is there is to be forgotten at another time.
   */
  | {
      op: 'putSession'
      hash: Uint8Array
      row: SessionInput
      ifAbsent?: boolean
      ifPresent?: boolean
      ifEvictAt?: Millis
    }
  | { op: 'deleteSession'; hash: Uint8Array }
  /**
   * Writes a ticket under `hash` (32 bytes); one that was used stays used. `ifAbsent`: fails with `already_exists` if there is
   * one that has not expired, else it is a new one, unused. `ifVersion`: fails with `ticket_unusable` unless it is there with this version, unused.
   */
  | { op: 'putTicket'; hash: Uint8Array; row: TicketInput; ifAbsent?: boolean; ifVersion?: number }
  /** Uses a ticket up. Fails with `ticket_unusable` when there is none of the sort, it has expired by `now`, or it was used before. */
  | { op: 'claimTicket'; hash: Uint8Array; sort: TicketType; now: Millis }
  | { op: 'deleteTicket'; hash: Uint8Array }
  /** Deletes all sessions and all tickets of a family, used ones too; the feed names the sessions. */
  | { op: 'endFamily'; family: string }
  /** Puts a message into the outbox. Messages of one queue are delivered in the order of their commits. */
  | { op: 'putDelivery'; row: DeliveryInput }
  /** Results of an attempt: `delivered` messages are deleted, others wait for `nextAt`, or are kept as dead until they are resent. */
  | { op: 'settleDelivery'; id: number; outcome: DeliveryOutcome }

/**
 * A short-lived record, of which most are used once: an authorization code, a refresh token, a device code and its user code, a pushed
 * request, the id of a proof that was seen, the lease of the node that assigns a listen path, and those of the dashboard.
 */
export type TicketType = (typeof TICKET_TYPES)[number]

/** A browser session, a sign-in on its way, the link of a mail, a challenge or secret that a browser must answer to, single sign-on, the session of a developer at the portal. */
export type DashboardTicketType = (typeof DASHBOARD_TICKET_TYPES)[number]

const DASHBOARD_TICKET_TYPES = [
  'login',
  'sign_in',
  'password_link',
  'challenge',
  'sso',
  'portal_login',
  'portal_access',
] as const

/** All of them. */
export const TICKET_TYPES = [
  'code',
  'refresh',
  'device',
  'user_code',
  'request',
  'proof',
  'lease',
  ...DASHBOARD_TICKET_TYPES,
] as const

export interface TicketInput {
  readonly sort: TicketType
  readonly apiId: string
  /** '' for proofs. */
  readonly clientId: string
  /** Its token family; '' = none. */
  readonly family: string
  /** Afterwards it cannot be used; it is still found, so that a late use is distinguished from an unknown one. */
  readonly expiresAt: Millis
  /** From then on nobody finds it, and the store forgets it. Not before `expiresAt`. */
  readonly keepUntil: Millis
  readonly body: JsonObject
}

export interface TicketRow extends TicketInput {
  readonly hash: Uint8Array
  /** 1 when it was put first, one more with each put since. */
  readonly version: number
  /** When it was used; 0 = not yet. */
  readonly claimedAt: Millis
}

export interface DeliveryInput {
  /** The unit of ordered delivery: the API. */
  readonly queue: string
  /** The message, sealed: it may hold tokens. */
  readonly sealed: Uint8Array
  readonly createdAt: Millis
}

export interface DeliveryRow extends DeliveryInput {
  /** Grows with every message. */
  readonly id: number
  readonly attempts: number
  /** Not to be tried before; 0 until the first try, so that a clock that was set back holds nothing up. */
  readonly nextAt: Millis
  /** Given up: it holds nothing up any more. */
  readonly dead: boolean
  /** Of the last try; '' = none yet. Holds no secret. */
  readonly error: string
}

export type DeliveryOutcome =
  | { readonly is: 'delivered' }
  | { readonly is: 'failed'; readonly nextAt: Millis; readonly error: string }
  | { readonly is: 'dead'; readonly error: string }
  /** A dead one is to be sent again, as the first of its queue; its attempts are recounted. */
  | { readonly is: 'again'; readonly nextAt: Millis }

/**
 * The columns of a session besides its body, for lists and expiry. Freezing one promises that nothing
 * of it changes any more, including its body: it is then read once, for all sessions that are made of it.
 */
export interface SessionInput {
  readonly body: JsonObject
  readonly orgId: string
  /** API ids and policy ids that the session names, for lists. */
  readonly apiIds: readonly string[]
  readonly policyIds: readonly string[]
  /** Client id of an OAuth token, '' for a key. */
  readonly clientId: string
  /** When the store may forget the row; 0 = never. Not the expiry that callers see. */
  readonly evictAt: Millis
  /** The raw key, encrypted, where it must be shown again; else undefined. */
  readonly sealedKey?: Uint8Array
  /**
   * The grant that an access token came from, so that all of it can be ended at once; '' or absent = none. Names that begin with
   * a time are filed at a quarter less cost than random ones.
   */
  readonly family?: string
}

export interface SessionRow extends SessionInput {
  readonly body: Stored<Session>
  readonly hash: Uint8Array
}
