import { Fault, fault } from '../../../errors/fault.ts'
import type { Millis } from '../../../model/time/clock.ts'
import type { FeedEvent, Revision } from '../../ports/ports.ts'
import { AuditCollector, type AuditedChange, type StoredState } from '../../prepare/audited.ts'
import {
  ANY_REVISION,
  type Appliers,
  applyChange,
  checkConditions,
  eventOf,
  type PreparedCommit,
  type PreparedDelete,
  type PreparedPut,
  type PreparedSession,
} from '../../prepare/prepare.ts'
import type { PreparedAudit } from '../../prepare/prepare-audit.ts'
import { ANY_VERSION, type PreparedTicket } from '../../prepare/prepare-tickets.ts'
import { indexedValue } from '../documents/texts.ts'
import { documentKey, type GroupState, holderKey, type SessionDraft, type Undo } from './group-rows.ts'

/** A commit, or an entry of the audit without one. */
export type Work =
  | { readonly sort: 'commit'; readonly commit: PreparedCommit }
  | { readonly sort: 'note'; readonly entry: PreparedAudit }

/** The result of a task: the revision, or why nothing of it was written. */
export type CommitOutcome = Revision | Fault

export interface AuditDraft {
  readonly number: number
  readonly revision: Revision
  readonly entry: PreparedAudit
  readonly changes: readonly AuditedChange[]
}

/** The effects of a group on its state. */
export interface AppliedGroup {
  readonly outcomes: readonly CommitOutcome[]
  readonly events: readonly FeedEvent[]
  readonly audits: readonly AuditDraft[]
}

interface Place {
  readonly state: GroupState
  readonly revision: Revision
  readonly undo: Undo
  /** Hashes of the sessions that went with families. */
  readonly ended: string[]
}

/**
 * Applies the commits of a group one after the other. One whose condition does not hold leaves nothing, and the others continue.
 * The store is locked, so what was read is current.
 */
export function applyGroup(works: readonly Work[], state: GroupState): AppliedGroup {
  const outcomes: CommitOutcome[] = []
  const events: FeedEvent[] = []
  const audits: AuditDraft[] = []
  const before = storedBefore(state)
  const record = (entry: PreparedAudit, changes: readonly AuditedChange[]) => {
    audits.push({ number: ++state.lastAudit, revision: state.revision, entry, changes })
  }
  for (const work of works) {
    if (work.sort === 'note') {
      record(work.entry, [])
      outcomes.push(state.revision)
      continue
    }
    const { commit } = work
    const place: Place = { state, revision: state.revision + 1, undo: [], ended: [] }
    const gathering = commit.audit && new AuditCollector(before)
    const { lastSession, lastDelivery } = state
    try {
      for (const change of commit.changes) {
        gathering?.note(change)
        applyChange(APPLIERS, change, place)
      }
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      for (const step of place.undo.reverse()) step()
      Object.assign(state, { lastSession, lastDelivery })
      outcomes.push(error)
      continue
    }
    state.revision = place.revision
    if (commit.audit !== undefined) record(commit.audit, gathering!.changes)
    events.push(eventOf(commit, place.revision, place.ended))
    outcomes.push(place.revision)
  }
  return { outcomes, events, audits }
}

function storedBefore({ documents, sessions }: GroupState): StoredState {
  return {
    document: (kind, id) => documents.get(documentKey(kind, id))?.text ?? '',
    session(hash) {
      const found = sessions.get(hash)
      if (found === undefined) return undefined
      const { orgId, apiIds, policyIds, clientId, evictAt, sealedKey, family } = found.facts
      return { text: found.text ?? '', facts: { orgId, apiIds, policyIds, clientId, evictAt, sealedKey, family } }
    },
  }
}

const APPLIERS: Appliers<Place> = {
  put: putDocument,
  delete(change, { state, undo }) {
    const key = documentKey(change.kind, change.id)
    checkRevision(change, state)
    const found = state.documents.get(key)
    if (found === undefined) return
    for (const held of found.holds) state.holders.set(held, undefined, undo)
    state.documents.set(key, undefined, undo)
  },
  putSession,
  deleteSession({ hash }, { state, undo }) {
    if (state.sessions.get(hash) !== undefined) state.sessions.set(hash, undefined, undo)
  },
  putTicket,
  claimTicket({ hash, sort, now }, { state, undo }) {
    const found = state.tickets.get(hash)
    const usable = found !== undefined && found.sort === sort && found.claimedAt === 0 && found.expiresAt > now
    if (!usable) throw fault('ticket_unusable', `no ${sort} that can be used`)
    state.tickets.set(hash, { ...found, claimedAt: now }, undo)
  },
  deleteTicket({ hash }, { state, undo }) {
    if (state.tickets.get(hash) !== undefined) state.tickets.set(hash, undefined, undo)
  },
  endFamily({ family }, { state, undo, ended }) {
    const tickets = [...state.tickets.entries()].filter(([, row]) => row.family === family)
    for (const [hash] of tickets) state.tickets.set(hash, undefined, undo)
    const sessions = [...state.sessions.entries()].filter(([, { facts }]) => facts.family === family)
    for (const [hash] of sessions) {
      state.sessions.set(hash, undefined, undo)
      ended.push(hash)
    }
  },
  putDelivery({ queue, sealed, createdAt }, { state, undo }) {
    const id = ++state.lastDelivery
    state.deliveries.set(String(id), { id, outcomes: [], made: { queue, sealed, createdAt } }, undo)
  },
  settleDelivery({ id, outcome }, { state, undo }) {
    const found = state.deliveries.get(String(id))
    if (found === undefined || found.outcomes.at(-1)?.is === 'delivered') return
    state.deliveries.set(String(id), { ...found, outcomes: [...found.outcomes, outcome] }, undo)
  },
}

function checkRevision({ kind, id, ifRevision }: PreparedPut | PreparedDelete, { documents }: GroupState): void {
  const found = documents.get(documentKey(kind, id))?.revision ?? 0
  if (ifRevision === ANY_REVISION || ifRevision === found) return
  throw fault('revision_conflict', `${kind} ${id} is at revision ${found}, not ${ifRevision}`)
}

function putDocument(change: PreparedPut, { state, revision, undo }: Place): void {
  const { kind, id, entries, text } = change
  checkRevision(change, state)
  const unique = entries.filter((entry) => entry.unique)
  const holds = unique.map(({ name, value }) => holderKey(kind, name, indexedValue(value)))
  for (const [i, { name }] of unique.entries()) {
    const holder = state.holders.get(holds[i]!)
    if (holder !== undefined && holder !== id) throw fault('already_exists', `another ${kind} has this ${name}`)
  }
  const key = documentKey(kind, id)
  for (const held of state.documents.get(key)?.holds ?? []) state.holders.set(held, undefined, undo)
  for (const held of holds) state.holders.set(held, id, undo)
  state.documents.set(key, { kind, id, revision, text, entries, holds }, undo)
}

function putSession(session: PreparedSession, { state, undo }: Place): void {
  const { hash, row } = session
  const found = state.sessions.get(hash)
  checkConditions(session, found?.facts.evictAt)
  const number = found?.number ?? ++state.lastSession
  state.sessions.set(hash, { number, hash, facts: row, text: row.text, row } satisfies SessionDraft, undo)
}

/** True once a row may be forgotten: from then on nobody finds it, whether it is still there or not. */
export function isEvicted(evictAt: Millis, now: Millis): boolean {
  return evictAt > 0 && evictAt <= now
}

function putTicket(ticket: PreparedTicket, { state, undo }: Place): void {
  const { hash, sort, family, expiresAt, keepUntil, apiId, clientId, text, ifAbsent, ifVersion, now } = ticket
  const found = state.tickets.get(hash)
  const present = found !== undefined && found.keepUntil > now ? found : undefined
  if (ifAbsent && present !== undefined && present.expiresAt > now) {
    throw fault('already_exists', 'there is a ticket of this value')
  }
  if (ifVersion !== ANY_VERSION && (present?.version !== ifVersion || present.claimedAt > 0)) {
    throw fault('ticket_unusable', 'the ticket was changed or used before')
  }
  const version = (present?.version ?? 0) + 1
  const claimedAt = ifAbsent ? 0 : (present?.claimedAt ?? 0)
  const row = { hash, sort, family, expiresAt, keepUntil, version, claimedAt, put: { apiId, clientId, text } }
  state.tickets.set(hash, row, undo)
}
