import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { fault } from '../../errors/fault.ts'
import { TOMBSTONE } from '../../model/documents/tombstone.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { AUDITED_SESSION, type AuditChange, type SessionInput } from '../ports/ports.ts'
import { hashBytes } from './cells.ts'
import type { PreparedChange, PreparedRow } from './prepare.ts'
import { AUDIT_BODY_CHARACTERS } from './prepare-audit.ts'

/** First byte of what is kept: JSON as it is, or compressed. */
const PLAIN = 0

const ZSTD = 1

/** Below, compressing saves less than it costs. */
const LEAST_BYTES = 512

/** Largest size of the bodies of one commit, in UTF-8, with the facts of their sessions. */
const MOST_BYTES = AUDIT_BODY_CHARACTERS * 4

/** Columns of a session besides its body, to restore it. `sealedKey` is a string of bytes, '' for none. */
export type SessionFacts = Pick<
  PreparedRow,
  'orgId' | 'apiIds' | 'policyIds' | 'clientId' | 'evictAt' | 'sealedKey' | 'family'
>

/** Bodies as JSON text, '' where there was none. `facts` of the session before, where there was one. */
export interface Bodies {
  readonly before: string
  readonly after: string
  readonly facts?: SessionFacts
}

/** One change as the audit keeps it. */
export interface AuditedChange {
  readonly kind: string
  readonly id: string
  /** undefined = too large to keep. */
  readonly bodies: Bodies | undefined
}

/** Looks up the stored state in an adapter. */
export interface StoredState {
  /** The body of a document as JSON text; '' for none. */
  document(kind: string, id: string): string
  /** A session by its hash, a string of bytes, for as long as there is a trace of it. */
  session(hash: string): { readonly text: string; readonly facts: SessionFacts } | undefined
}

/**
 * Collects the changes of one commit for the audit log: called for each change before it is applied, because the second one to a
 * document finds what the first one wrote. Tickets, messages and what is remembered of deleted documents are not kept.
 */
export class AuditCollector {
  readonly changes: AuditedChange[] = []
  private readonly before: StoredState
  private room = AUDIT_BODY_CHARACTERS

  constructor(before: StoredState) {
    this.before = before
  }

  /** Notes what a change is about to do. */
  note(change: PreparedChange): void {
    if ('kind' in change && change.kind === TOMBSTONE) return
    switch (change.op) {
      case 'put':
        return void this.add(change.kind, change.id, {
          before: this.before.document(change.kind, change.id),
          after: change.text,
        })
      case 'delete': {
        const before = this.before.document(change.kind, change.id)
        if (before !== '') this.add(change.kind, change.id, { before, after: '' })
        return
      }
      case 'putSession':
        return void this.addSession(change.hash, change.row.text)
      case 'deleteSession':
        return void this.addSession(change.hash, '')
      default:
    }
  }

  private addSession(hash: string, after: string): void {
    const found = this.before.session(hash)
    if (found === undefined && after === '') return
    const id = Buffer.from(hash, 'latin1').toString('hex')
    this.add(AUDITED_SESSION, id, { before: found?.text ?? '', after, ...(found && { facts: found.facts }) })
  }

  private add(kind: string, id: string, bodies: Bodies): void {
    const length = bodies.before.length + bodies.after.length
    const fits = length <= this.room
    if (fits) this.room -= length
    this.changes.push({ kind, id, bodies: fits ? bodies : undefined })
  }
}

/** `Bodies` as JSON values; null = none. */
export interface ReadBodies {
  readonly before: JsonObject | null
  readonly after: JsonObject | null
  readonly facts: SessionFacts | null
}

/** The bodies of a change, read from their texts. */
export function readBodies({ before, after, facts }: Bodies): ReadBodies {
  const read = (text: string) => (text === '' ? null : (JSON.parse(text) as JsonObject))
  return { before: read(before), after: read(after), facts: facts ?? null }
}

/** A change as callers see it; without bodies it was too large to keep. */
export function toAuditChange(kind: string, id: string, bodies: ReadBodies | undefined): AuditChange {
  if (bodies === undefined) return { kind, id, before: null, after: null, omitted: true }
  const { before, after, facts } = bodies
  return { kind, id, before, after, ...(facts !== null && before !== null && { session: toSession(before, facts) }) }
}

function toSession(body: JsonObject, facts: SessionFacts): SessionInput {
  const { orgId, apiIds, policyIds, clientId, evictAt, sealedKey, family } = facts
  return {
    ...{ body, orgId, apiIds, policyIds, clientId, evictAt },
    ...(sealedKey !== '' && { sealedKey: hashBytes(sealedKey) }),
    ...(family !== '' && { family }),
  }
}

/**
 * Bodies as bytes: the JSON of `[before, after, facts]`. Both are compressed as one text, in which the second costs next to
 * nothing where it is like the first. Without bodies: no bytes.
 */
export function packBodies(bodies: Bodies | undefined): Uint8Array {
  if (bodies === undefined) return new Uint8Array(0)
  const { before, after, facts } = bodies
  const json = `[${before || 'null'},${after || 'null'},${facts === undefined ? 'null' : JSON.stringify(facts)}]`
  const plain = Buffer.from(json)
  if (plain.length < LEAST_BYTES) return Buffer.concat([Buffer.of(PLAIN), plain])
  return Buffer.concat([Buffer.of(ZSTD), zstdCompressSync(plain)])
}

/** Unpacks the result of `packBodies`; undefined for no bytes. @throws Fault `store_damaged` */
export function unpackBodies(bytes: Uint8Array): ReadBodies | undefined {
  if (bytes.length === 0) return undefined
  const packed = Buffer.from(bytes.buffer, bytes.byteOffset + 1, bytes.length - 1)
  try {
    const json = bytes[0] === ZSTD ? zstdDecompressSync(packed, { maxOutputLength: MOST_BYTES }) : packed
    const [before, after, facts] = JSON.parse(json.toString('utf8'))
    return { before, after, facts }
  } catch (error) {
    throw fault('store_damaged', 'an audit entry cannot be read', error)
  }
}
