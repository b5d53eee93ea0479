import { fault } from '../../errors/fault.ts'
import { type DocumentId, isDocumentId } from '../../model/documents/ids.ts'
import { DOCUMENT_KINDS, type KindIndexes, partitionedIndex, partitionPrefix } from '../../model/documents/kinds.ts'
import { asJson, type Json, type JsonObject } from '../../model/json/json.ts'
import type { Millis } from '../../model/time/clock.ts'
import type { AuditEntry, Change, FeedEvent, Kind, Revision, SessionInput } from '../ports/ports.ts'
import { bodyText, hashBytes, hashText, latin1, wellFormed, wholeNumber } from './cells.ts'
import { type PreparedAudit, prepareAudit } from './prepare-audit.ts'
import { type PreparedTicketChange, prepareTicketChange } from './prepare-tickets.ts'
import { foldedAlias } from './session-filter.ts'

/** The handlers of an adapter for each type of change; `place` is its context. */
export type Appliers<Place> = {
  readonly [Op in PreparedChange['op']]: (change: Extract<PreparedChange, { op: Op }>, place: Place) => void
}

export { wellFormed }

/** One entry of the index table: in a unique index, a value has only one document. */
export interface IndexEntry {
  readonly name: string
  readonly value: string
  readonly unique: boolean
}

/** Means "no condition" where a revision is expected. */
export const ANY_REVISION = -1

export interface PreparedPut {
  readonly op: 'put'
  readonly kind: Kind
  readonly id: DocumentId
  /** The body as JSON text. */
  readonly text: string
  readonly entries: readonly IndexEntry[]
  readonly ifRevision: Revision
}

export interface PreparedDelete {
  readonly op: 'delete'
  readonly kind: Kind
  readonly id: DocumentId
  readonly ifRevision: Revision
}

/** A session without the hash that it is found by: what several may have in common. */
export interface PreparedRow {
  /** The body as JSON text. */
  readonly text: string
  readonly orgId: string
  readonly clientId: string
  readonly apiIds: readonly string[]
  readonly policyIds: readonly string[]
  readonly evictAt: Millis
  /** A string of bytes; '' = none. */
  readonly sealedKey: string
  /** '' = none. */
  readonly family: string
  /** Folded; '' = none. */
  readonly alias: string
}

const ANY_EVICTION = -1

/**
 * Checks the conditions of a session against the one that is stored, which is `undefined` where there is none, and where it is due to be forgotten.
 * @throws Fault `already_exists`, `not_found`, `revision_conflict`
 */
export function checkConditions({ must, ifEvictAt, now }: PreparedSession, evictAt: Millis | undefined): void {
  const isPresent = evictAt !== undefined && !(evictAt > 0 && evictAt <= now)
  if (isPresent && must === 'absent') throw fault('already_exists', 'there is a key of this value')
  if (!isPresent && must === 'present') throw fault('not_found', 'no such key')
  if (isPresent && ifEvictAt !== ANY_EVICTION && ifEvictAt !== evictAt)
    throw fault('revision_conflict', 'the key was changed meanwhile')
}

export interface PreparedSession {
  readonly op: 'putSession'
  /** 32 characters, one a byte: a string is copied between threads faster than bytes. */
  readonly hash: string
  /** One object for all sessions that were made of one frozen row: it goes to another thread once a message. */
  readonly row: PreparedRow
  readonly must: 'any' | 'absent' | 'present'
  /** ANY_EVICTION = none is asked for. */
  readonly ifEvictAt: Millis
  /** When it was asked for: a row that was due to be forgotten by then counts as absent. */
  readonly now: Millis
}

interface PreparedSessionDelete {
  readonly op: 'deleteSession'
  readonly hash: string
}

export type PreparedChange =
  | PreparedPut
  | PreparedDelete
  | PreparedSession
  | PreparedSessionDelete
  | PreparedTicketChange

/** A commit whose rows have been checked: what is left to fail are its conditions and the disk. */
export interface PreparedCommit {
  readonly changes: readonly PreparedChange[]
  readonly audit: PreparedAudit | undefined
}

/** The declared indexes of a kind. @throws Fault `internal` for a kind that is not declared */
export function indexesOf(kind: Kind): KindIndexes {
  if (!Object.hasOwn(DOCUMENT_KINDS, kind)) throw fault('internal', `no such kind of document: ${kind}`)
  return DOCUMENT_KINDS[kind]!
}

/** Checks that an index is declared for the kind. @throws Fault `internal` */
export function checkIndex(kind: Kind, index: string): void {
  const { unique, lookup, sorted = {} } = indexesOf(kind)
  if (Object.hasOwn(unique, index) || Object.hasOwn(lookup, index) || Object.hasOwn(sorted, index)) return
  throw fault('internal', `kind ${kind} has no index ${index}`)
}

/** Each once. */
function valuesOf(values: string | readonly string[] | undefined): Set<string> {
  if (values === undefined) return new Set()
  return new Set((typeof values === 'string' ? [values] : values).map(wellFormed))
}

/** The values that a body is filed under, each once. */
export function indexEntries(kind: Kind, body: JsonObject): IndexEntry[] {
  const { unique, lookup, sorted = {}, apart = [] } = indexesOf(kind)
  const entries: IndexEntry[] = []
  for (const [name, extract] of Object.entries(unique)) {
    for (const value of valuesOf(extract(body))) entries.push({ name, value, unique: true })
  }
  for (const [name, extract] of Object.entries(lookup)) {
    for (const value of valuesOf(extract(body))) entries.push({ name, value, unique: false })
  }
  for (const [name, extract] of Object.entries(sorted)) {
    entries.push({ name, value: wellFormed(extract(body) ?? ''), unique: false })
  }
  for (const { by, sorted: names } of apart) {
    const value = lookup[by]?.(body)
    if (typeof value !== 'string') continue
    const prefix = partitionPrefix(wellFormed(value))
    for (const name of names) {
      const own = wellFormed(sorted[name]?.(body) ?? '')
      entries.push({ name: partitionedIndex(by, name), value: prefix + own, unique: false })
    }
  }
  return entries
}

/**
 * Checks and copies a commit into rows, so that nothing that the caller does afterwards changes it and no row can fail a
 * group of others. @throws Fault `id_malformed` (400), `internal` for a malformed change (a mistake of the calling code)
 */
export function prepareCommit(changes: readonly Change[], audit: AuditEntry | undefined, now: Millis): PreparedCommit {
  return { changes: changes.map((change) => prepareChange(change, now)), audit: audit && prepareAudit(audit) }
}

/** The feed entry of a commit. `ended`: hashes of the sessions that were revoked with families, which the commit itself does not name. */
export function eventOf(commit: PreparedCommit, revision: Revision, ended: readonly string[]): FeedEvent {
  const changes: FeedEvent['changes'][number][] = []
  const sessions: Uint8Array[] = []
  for (const change of commit.changes) {
    if (change.op === 'put' || change.op === 'delete') changes.push({ op: change.op, kind: change.kind, id: change.id })
    else if (change.op === 'putSession' || change.op === 'deleteSession') sessions.push(hashBytes(change.hash))
  }
  for (const hash of ended) sessions.push(hashBytes(hash))
  return { revision, changes, sessions }
}

function prepareChange(change: Change, now: Millis): PreparedChange {
  switch (change.op) {
    case 'put': {
      checkName(change.kind, change.id)
      const body = asJson(change.body)
      return {
        op: 'put',
        kind: change.kind,
        id: change.id,
        text: bodyText(body),
        entries: indexEntries(change.kind, body),
        ifRevision: condition(change.ifRevision),
      }
    }
    case 'delete':
      checkName(change.kind, change.id)
      return { op: 'delete', kind: change.kind, id: change.id, ifRevision: condition(change.ifRevision) }
    case 'putSession':
      return {
        op: 'putSession',
        hash: hashText(change.hash),
        row: rowOf(change.row),
        must: change.ifAbsent ? 'absent' : change.ifPresent ? 'present' : 'any',
        ifEvictAt: change.ifEvictAt ?? ANY_EVICTION,
        now,
      }
    case 'deleteSession':
      return { op: 'deleteSession', hash: hashText(change.hash) }
    default:
      return prepareTicketChange(change, now)
  }
}

/** Module state: a cache of immutable values: prepared rows, by the frozen row that each was made from. */
const prepared = new WeakMap<SessionInput, PreparedRow>()

function rowOf(row: SessionInput): PreparedRow {
  if (!Object.isFrozen(row)) return prepareRow(row)
  const known = prepared.get(row)
  if (known !== undefined) return known
  const made = prepareRow(row)
  prepared.set(row, made)
  return made
}

function prepareRow(row: SessionInput): PreparedRow {
  return {
    text: bodyText(row.body),
    orgId: wellFormed(row.orgId),
    clientId: wellFormed(row.clientId),
    apiIds: row.apiIds.map(wellFormed),
    policyIds: row.policyIds.map(wellFormed),
    evictAt: wholeNumber(row.evictAt),
    sealedKey: row.sealedKey === undefined ? '' : latin1(row.sealedKey),
    family: row.family === undefined ? '' : wellFormed(row.family),
    alias: foldedAlias(row.body.alias),
  }
}

function checkName(kind: Kind, id: string): void {
  indexesOf(kind)
  if (!isDocumentId(id)) throw fault('id_malformed', 'not a document id')
}

function condition(revision: Revision | undefined): Revision {
  return revision === undefined ? ANY_REVISION : wholeNumber(revision)
}

/** Does what the table says for a change. @throws Fault of the change */
export function applyChange<Place>(appliers: Appliers<Place>, change: PreparedChange, place: Place): void {
  const apply = appliers[change.op] as (change: PreparedChange, place: Place) => void
  apply(change, place)
}

/** The cells of a session of another store, see the table of `transfer.ts`. */
export interface SessionCells {
  readonly orgId: string
  readonly clientId: string
  readonly links: string
  readonly evictAt: number
  readonly sealedKey: Uint8Array
  readonly family: string
  readonly body: string
}

/** The row of a session of another store, with what it is searched by. */
export function loadedSession({ links, sealedKey, body, ...plain }: SessionCells): PreparedRow {
  const [apiIds, policyIds] = JSON.parse(links) as [string[], string[]]
  const { alias } = JSON.parse(body) as { alias?: Json }
  return { ...plain, text: body, apiIds, policyIds, sealedKey: latin1(sealedKey), alias: foldedAlias(alias) }
}
