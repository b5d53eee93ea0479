import { fault } from '../errors/fault.ts'
import type { Millis } from '../model/clock.ts'
import { type DocumentId, isDocumentId } from '../model/ids.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import { KINDS, type KindIndexes } from '../model/kinds.ts'
import type { AuditEntry, Change, FeedEvent, Kind, Revision, SessionInput } from './ports.ts'

/** One entry of the index table: under a unique index, one document only may stand under a value. */
export interface IndexEntry {
  readonly name: string
  readonly value: string
  readonly unique: boolean
}

/** Stands for "no condition" where a revision is expected. */
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

export interface PreparedSession {
  readonly op: 'putSession'
  /** 32 characters, one a byte: a string is copied between threads faster than bytes. So is `sealedKey`, '' for none. */
  readonly hash: string
  readonly text: string
  readonly orgId: string
  readonly clientId: string
  readonly apiIds: readonly string[]
  readonly policyIds: readonly string[]
  readonly evictAt: Millis
  readonly sealedKey: string
  readonly must: 'any' | 'absent' | 'present'
  /** When it was asked for: a row that was due to be forgotten by then counts as absent. */
  readonly now: Millis
}

export interface PreparedSessionDelete {
  readonly op: 'deleteSession'
  readonly hash: string
}

export type PreparedChange = PreparedPut | PreparedDelete | PreparedSession | PreparedSessionDelete

export interface PreparedAudit {
  readonly actor: string
  readonly action: string
  readonly orgId: string
  readonly at: Millis
  readonly text: string
}

/** A commit whose rows have been checked: what is left to fail are its conditions and the disk. */
export interface PreparedCommit {
  readonly changes: readonly PreparedChange[]
  readonly audit: PreparedAudit | undefined
}

/** The declared indexes of a kind. @throws Fault `internal` for a kind that is not declared */
export function indexesOf(kind: Kind): KindIndexes {
  if (!Object.hasOwn(KINDS, kind)) throw fault('internal', `no such kind of document: ${kind}`)
  return KINDS[kind]!
}

/** Checks that an index is declared for the kind. @throws Fault `internal` */
export function checkIndex(kind: Kind, index: string): void {
  const { unique, lookup } = indexesOf(kind)
  if (Object.hasOwn(unique, index) || Object.hasOwn(lookup, index)) return
  throw fault('internal', `kind ${kind} has no index ${index}`)
}

/** The values that a body is filed under, each once. */
export function indexEntries(kind: Kind, body: JsonObject): IndexEntry[] {
  const { unique, lookup } = indexesOf(kind)
  const entries: IndexEntry[] = []
  for (const [name, extract] of Object.entries(unique)) {
    const value = extract(body)
    if (value !== undefined) entries.push({ name, value: wellFormed(value), unique: true })
  }
  for (const [name, extract] of Object.entries(lookup)) {
    const values = extract(body)
    if (values === undefined) continue
    const list = typeof values === 'string' ? [values] : values
    for (const value of new Set(list.map(wellFormed))) entries.push({ name, value, unique: false })
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

/** What the feed tells of a commit. */
export function eventOf(commit: PreparedCommit, revision: Revision): FeedEvent {
  const changes: FeedEvent['changes'][number][] = []
  const sessions: Uint8Array[] = []
  for (const change of commit.changes) {
    if (change.op === 'put' || change.op === 'delete') changes.push({ op: change.op, kind: change.kind, id: change.id })
    else sessions.push(hashBytes(change.hash))
  }
  return { revision, changes, sessions }
}

/** The 32 bytes of a hash held as a string of bytes. */
export function hashBytes(text: string): Uint8Array<ArrayBuffer> {
  // Not Buffer.from: its slices of a pool make whoever keeps 32 bytes keep 8 kB.
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

/** Holds a hash as a string of bytes. @throws Fault `internal` unless it has 32 */
export function hashText(hash: Uint8Array): string {
  if (!(hash instanceof Uint8Array) || hash.length !== 32) throw fault('internal', 'a session hash must have 32 bytes')
  return latin1(hash)
}

/** Text as the store keeps it: half a surrogate pair, which UTF-8 cannot hold, becomes U+FFFD. */
export function wellFormed(text: string): string {
  if (typeof text !== 'string') throw fault('internal', 'the store was given something else in the place of a text')
  return text.toWellFormed()
}

function prepareChange(change: Change, now: Millis): PreparedChange {
  switch (change.op) {
    case 'put':
      checkName(change.kind, change.id)
      return {
        op: 'put',
        kind: change.kind,
        id: change.id,
        text: bodyText(change.body),
        entries: indexEntries(change.kind, change.body),
        ifRevision: condition(change.ifRevision),
      }
    case 'delete':
      checkName(change.kind, change.id)
      return { op: 'delete', kind: change.kind, id: change.id, ifRevision: condition(change.ifRevision) }
    case 'putSession':
      return {
        ...prepareSession(change.hash, change.row),
        must: change.ifAbsent ? 'absent' : change.ifPresent ? 'present' : 'any',
        now,
      }
    case 'deleteSession':
      return { op: 'deleteSession', hash: hashText(change.hash) }
    default:
      throw fault('internal', 'a change of an unknown sort')
  }
}

function prepareSession(hash: Uint8Array, row: SessionInput): Omit<PreparedSession, 'must' | 'now'> {
  return {
    op: 'putSession',
    hash: hashText(hash),
    text: bodyText(row.body),
    orgId: wellFormed(row.orgId),
    clientId: wellFormed(row.clientId),
    apiIds: row.apiIds.map(wellFormed),
    policyIds: row.policyIds.map(wellFormed),
    evictAt: wholeNumber(row.evictAt),
    sealedKey: row.sealedKey === undefined ? '' : latin1(row.sealedKey),
  }
}

function prepareAudit(audit: AuditEntry): PreparedAudit {
  return {
    actor: wellFormed(audit.actor),
    action: wellFormed(audit.action),
    orgId: wellFormed(audit.orgId),
    at: wholeNumber(audit.at),
    text: bodyText(audit.detail),
  }
}

function checkName(kind: Kind, id: string): void {
  indexesOf(kind)
  if (!isDocumentId(id)) throw fault('id_malformed', 'not a document id')
}

function bodyText(body: JsonObject): string {
  if (!isObject(body)) throw fault('internal', 'a body must be a JSON object')
  return JSON.stringify(body)
}

function condition(revision: Revision | undefined): Revision {
  return revision === undefined ? ANY_REVISION : wholeNumber(revision)
}

function wholeNumber(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0)
    throw fault('internal', 'a time or revision must be a whole number, 0 or more')
  return value
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}
