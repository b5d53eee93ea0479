import type { Millis } from '../../../model/time/clock.ts'
import type { DeliveryOutcome, Revision, TicketType } from '../../ports/ports.ts'
import type { SessionFacts } from '../../prepare/audited.ts'
import type { IndexEntry, PreparedRow } from '../../prepare/prepare.ts'

/** The undo steps of a commit, last one first. */
export type Undo = (() => void)[]

/** A row that is another one than in the store. */
export interface Changed<Row> {
  readonly key: string
  readonly before: Row | undefined
  /** undefined: deleted. */
  readonly now: Row | undefined
}

/** Rows of one table as they will be: those that were read, and what the commits of a group have made of them since. */
class Draft<Row> {
  private readonly before = new Map<string, Row>()
  private readonly now = new Map<string, Row>()

  /** Adds a row in its stored state. */
  load(key: string, row: Row): void {
    this.before.set(key, row)
    this.now.set(key, row)
  }

  get(key: string): Row | undefined {
    return this.now.get(key)
  }

  /** Writes a row; undefined deletes it. */
  set(key: string, row: Row | undefined, undo: Undo): void {
    const found = this.now.get(key)
    undo.push(() => this.put(key, found))
    this.put(key, row)
  }

  /** All rows as they are now. */
  entries(): IterableIterator<[string, Row]> {
    return this.now.entries()
  }

  /** Rows that are another one than in the store. */
  *changed(): Generator<Changed<Row>> {
    for (const [key, row] of this.now) {
      const before = this.before.get(key)
      if (before !== row) yield { key, before, now: row }
    }
    for (const [key, before] of this.before) if (!this.now.has(key)) yield { key, before, now: undefined }
  }

  private put(key: string, row: Row | undefined): void {
    if (row === undefined) this.now.delete(key)
    else this.now.set(key, row)
  }
}

/** The columns of rows, each as a list, as `unnest` takes them. */
export function columns<Row>(rows: Iterable<Row>, ...of: readonly ((row: Row) => unknown)[]): unknown[][] {
  const lists: unknown[][] = of.map(() => [])
  for (const row of rows) for (let i = 0; i < of.length; i++) lists[i]!.push(of[i]!(row))
  return lists
}

// The rows that a group of commits reads and writes, as its drafts hold them. Texts are as callers have them, hashes strings of bytes.

export interface DocumentDraft {
  readonly kind: string
  readonly id: string
  readonly revision: Revision
  /** undefined = it was not read, and nothing has written it. */
  readonly text: string | undefined
  /** Its index entries of this group; undefined = it was not written. */
  readonly entries: readonly IndexEntry[] | undefined
  /** Keys of its unique values. */
  readonly holds: readonly string[]
}

export interface SessionDraft {
  readonly number: number
  readonly hash: string
  readonly facts: SessionFacts
  readonly text: string | undefined
  /** The new state of a commit; undefined = unchanged. */
  readonly row: PreparedRow | undefined
}

export interface TicketDraft {
  readonly hash: string
  readonly family: string
  readonly sort: TicketType
  readonly expiresAt: Millis
  readonly keepUntil: Millis
  readonly version: number
  readonly claimedAt: Millis
  /** The new state of a commit; undefined = at most its use has changed. */
  readonly put: { readonly apiId: string; readonly clientId: string; readonly text: string } | undefined
}

export interface DeliveryDraft {
  readonly id: number
  /** The outcomes of existing deliveries, in order; of a new one, its state. */
  readonly outcomes: readonly DeliveryOutcome[]
  readonly made?: { readonly queue: string; readonly sealed: string; readonly createdAt: Millis }
}

/** The state that commits are applied to: the numbers of `store_state`, and rows. */
export interface GroupState {
  revision: Revision
  lastSession: number
  lastDelivery: number
  lastAudit: number
  readonly documents: Draft<DocumentDraft>
  /** Unique values: key to id of the document. */
  readonly holders: Draft<string>
  readonly sessions: Draft<SessionDraft>
  readonly tickets: Draft<TicketDraft>
  readonly deliveries: Draft<DeliveryDraft>
}

/** A state without rows. */
export function emptyState(): GroupState {
  return {
    ...{ revision: 0, lastSession: 0, lastDelivery: 0, lastAudit: 0 },
    documents: new Draft(),
    holders: new Draft(),
    sessions: new Draft(),
    tickets: new Draft(),
    deliveries: new Draft(),
  }
}

/** The key of a document in drafts. */
export function documentKey(kind: string, id: string): string {
  return `${kind}\n${id}`
}

/** The key of a unique value in drafts; `value` in its index form. */
export function holderKey(kind: string, name: string, value: string): string {
  return `${kind}\n${name}\n${value}`
}
