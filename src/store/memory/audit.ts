import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Millis } from '../../model/time/clock.ts'
import type { Audit, AuditEntryState, AuditQuery, AuditRow, Revision } from '../ports/ports.ts'
import { type AuditedChange, readBodies, toAuditChange } from '../prepare/audited.ts'
import { pageSize, wholeOffset } from '../prepare/list-query.ts'
import { auditId, type PreparedAudit, type PreparedAuditQuery, prepareAuditQuery } from '../prepare/prepare-audit.ts'

/** The most that is kept: this store lives in memory, and so must leave some. */
const MOST_ROWS = 100_000
const MOST_CHARACTERS = 64_000_000
const SCAN_BATCH = 256

interface Held {
  readonly number: number
  readonly revision: Revision
  readonly entry: PreparedAudit
  readonly changes: readonly AuditedChange[]
  readonly characters: number
}

/** The stored text and revision of a document or session, '' and 0 for none. */
export type Current = (kind: string, id: string) => { readonly text: string; readonly revision: Revision }

/** Audit entries, the oldest of which go when there are too many. */
export class MemoryAudit implements Audit {
  /** Oldest first. */
  private rows: Held[] = []
  private lastNumber = 0
  private characters = 0
  private readonly current: Current

  constructor(current: Current) {
    this.current = current
  }

  add(entry: PreparedAudit, revision: Revision, changes: readonly AuditedChange[]): void {
    const characters = changes.reduce((sum, { bodies }) => sum + lengthOf(bodies), entry.text.length)
    this.rows.push({ number: ++this.lastNumber, revision, entry, changes, characters })
    this.characters += characters
    if (this.rows.length > MOST_ROWS || this.characters > MOST_CHARACTERS) this.shorten()
  }

  list(query: AuditQuery & { offset?: number; limit: number }): { rows: AuditRow[]; total: number } {
    const found = this.matching(query)
    const offset = wholeOffset(query.offset)
    return { rows: found.slice(offset, offset + pageSize(query.limit)).map(toRow), total: found.length }
  }

  listIds(query: AuditQuery & { offset?: number; limit: number }): { ids: string[]; total: number } {
    const found = this.matching(query)
    const offset = wholeOffset(query.offset)
    const shown = found.slice(offset, offset + pageSize(query.limit))
    return { ids: shown.map(({ number, entry }) => auditId(number, entry.at)), total: found.length }
  }

  get(id: string): AuditRow | undefined {
    const held = this.find(id)
    return held && toRow(held)
  }

  async *scan(query: AuditQuery): AsyncIterable<AuditRow[]> {
    const found = this.matching(query)
    for (let start = 0; start < found.length; start += SCAN_BATCH) {
      if (start > 0) await nextTurn()
      yield found.slice(start, start + SCAN_BATCH).map(toRow)
    }
  }

  state(id: string): AuditEntryState[] | undefined {
    const held = this.find(id)
    return held?.changes.map((change) => this.entryStateOf(held, change))
  }

  async purgeAudit(before: Millis): Promise<number> {
    const kept = this.rows.filter(({ entry }) => entry.at >= before)
    const gone = this.rows.length - kept.length
    this.keep(kept)
    return gone
  }

  private entryStateOf({ number, revision }: Held, { kind, id, bodies }: AuditedChange): AuditEntryState {
    const touches = (row: Held) => row.changes.some((other) => other.kind === kind && other.id === id)
    const later = this.rows.find((row) => row.number > number && touches(row))
    const now = this.current(kind, id)
    const same = now.revision > 0 ? now.revision === revision : now.text === (bodies?.after ?? '')
    return {
      ...{ kind, id, revision: now.revision, laterId: later && auditId(later.number, later.entry.at) },
      current: later === undefined && same,
    }
  }

  private find(id: string): Held | undefined {
    return this.rows.find(({ number, entry }) => auditId(number, entry.at) === id)
  }

  private matching(query: AuditQuery): Held[] {
    const wanted = prepareAuditQuery(query)
    const found = this.rows.filter(({ entry, changes }) => matches(entry, wanted) && wrote(changes, wanted))
    return found.sort((a, b) => b.entry.at - a.entry.at || b.number - a.number)
  }

  /** Drops the older half at once: row by row, every new one would move all the others. */
  private shorten(): void {
    this.keep(this.rows.slice(Math.ceil(this.rows.length / 2)))
  }

  private keep(rows: Held[]): void {
    this.rows = rows
    this.characters = rows.reduce((sum, { characters }) => sum + characters, 0)
  }
}

function lengthOf(bodies: AuditedChange['bodies']): number {
  return bodies === undefined ? 0 : bodies.before.length + bodies.after.length
}

function matches(entry: PreparedAudit, wanted: PreparedAuditQuery): boolean {
  return (
    (wanted.orgId === undefined || entry.orgId === wanted.orgId) &&
    (wanted.action === undefined || entry.action === wanted.action) &&
    (wanted.method === undefined || entry.method === wanted.method) &&
    (wanted.ip === undefined || entry.ip === wanted.ip) &&
    (wanted.status === undefined || entry.status === wanted.status) &&
    (wanted.user === undefined || entry.user.includes(wanted.user)) &&
    (wanted.path === undefined || entry.path.includes(wanted.path)) &&
    entry.at >= wanted.from &&
    entry.at < wanted.to
  )
}

function wrote(changes: readonly AuditedChange[], { wrote }: PreparedAuditQuery): boolean {
  return wrote === undefined || changes.some(({ kind, id }) => kind === wrote.kind && wrote.ids.includes(id))
}

function toRow({ number, revision, entry, changes }: Held): AuditRow {
  const { actor, action, orgId, at, text, request } = entry
  return {
    id: auditId(number, at),
    ...{ revision, actor, action, orgId, at },
    detail: JSON.parse(text),
    ...(request !== '' && { request: JSON.parse(request) }),
    changes: changes.map(({ kind, id, bodies }) => toAuditChange(kind, id, bodies && readBodies(bodies))),
  }
}
