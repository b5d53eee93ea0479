import type { TicketType } from '../../ports/ports.ts'
import { hashBytes, latin1 } from '../../prepare/cells.ts'
import type { PreparedChange } from '../../prepare/prepare.ts'
import type { Sql } from '../connection/db.ts'
import { fromCell, indexedValue, toCell } from '../documents/texts.ts'
import type { Work } from './group-apply.ts'
import { documentKey, type GroupState, holderKey } from './group-rows.ts'

/** A statement of the first half of a group, and what is done with its rows. */
export interface Load extends Sql {
  take(rows: readonly Record<string, unknown>[], state: GroupState): void
}

/** Whether the body is wanted as well, for the audit. */
type Wanted = Map<string, boolean>

interface Names {
  readonly documents: Wanted
  readonly sessions: Wanted
  readonly tickets: Set<string>
  readonly families: Set<string>
  readonly deliveries: Set<number>
  /** By their keys: kind, name and filed value. */
  readonly holders: Map<string, readonly [kind: string, name: string, value: string]>
}

/** The statements that read all rows that the commits look at, inside the transaction that holds the lock. */
export function loadsOf(works: readonly Work[]): Load[] {
  const names = namesOf(works)
  return [
    ...(names.documents.size > 0 ? [loadDocuments(names.documents), loadHolds(names.documents)] : []),
    ...(names.holders.size > 0 ? [loadHolders(names.holders)] : []),
    ...(names.sessions.size > 0 ? [loadSessions(names.sessions)] : []),
    ...(names.tickets.size > 0 ? [loadTickets(names.tickets)] : []),
    ...(names.families.size > 0 ? [loadFamilySessions(names.families), loadFamilyTickets(names.families)] : []),
    ...(names.deliveries.size > 0 ? [loadDeliveries(names.deliveries)] : []),
  ]
}

function namesOf(works: readonly Work[]): Names {
  const names: Names = {
    ...{ documents: new Map(), sessions: new Map(), holders: new Map() },
    ...{ tickets: new Set(), families: new Set(), deliveries: new Set() },
  }
  for (const work of works) {
    if (work.sort !== 'commit') continue
    const { changes, audit } = work.commit
    for (const change of changes) addName(names, change, audit !== undefined)
  }
  return names
}

function addName(names: Names, change: PreparedChange, audited: boolean): void {
  const want = (wanted: Wanted, key: string) => wanted.set(key, audited || wanted.get(key) === true)
  switch (change.op) {
    case 'put':
      want(names.documents, documentKey(change.kind, change.id))
      for (const { name, value, unique } of change.entries) {
        if (!unique) continue
        const cell = indexedValue(value)
        names.holders.set(holderKey(change.kind, name, cell), [change.kind, name, cell])
      }
      return
    case 'delete':
      return void want(names.documents, documentKey(change.kind, change.id))
    case 'putSession':
    case 'deleteSession':
      return void want(names.sessions, change.hash)
    case 'putTicket':
    case 'claimTicket':
    case 'deleteTicket':
      return void names.tickets.add(change.hash)
    case 'endFamily':
      return void names.families.add(change.family)
    case 'settleDelivery':
      return void names.deliveries.add(change.id)
    default:
  }
}

function loadDocuments(wanted: Wanted): Load {
  const keys = [...wanted.keys()].map(splitKey)
  return {
    text: `SELECT d.kind, d.id, d.revision, CASE WHEN w.body THEN d.body END AS body
      FROM unnest($1::text[], $2::text[], $3::boolean[]) w(kind, id, body)
      JOIN document d ON d.kind = w.kind AND d.id = w.id`,
    values: [keys.map(([kind]) => kind), keys.map(([, id]) => id), [...wanted.values()]],
    take(rows, { documents }) {
      for (const row of rows) {
        const [kind, id] = [row.kind as string, row.id as string]
        const text = (row.body ?? undefined) as string | undefined
        documents.load(documentKey(kind, id), {
          ...{ kind, id, text, revision: row.revision as number },
          ...{ entries: undefined, holds: [] },
        })
      }
    },
  }
}

/** The current unique values of the documents. Comes after the documents. */
function loadHolds(wanted: Wanted): Load {
  const keys = [...wanted.keys()].map(splitKey)
  return {
    text: `SELECT i.kind, i.id, i.name, i.value FROM unnest($1::text[], $2::text[]) w(kind, id)
      JOIN document_index i ON i.kind = w.kind AND i.id = w.id WHERE i.uniq`,
    values: [keys.map(([kind]) => kind), keys.map(([, id]) => id)],
    take(rows, { documents, holders }) {
      const holds = new Map<string, string[]>()
      for (const { kind, id, name, value } of rows as Record<string, string>[]) {
        const key = holderKey(kind!, name!, value!)
        holders.load(key, id!)
        const document = documentKey(kind!, id!)
        holds.set(document, [...(holds.get(document) ?? []), key])
      }
      for (const [key, held] of holds) documents.load(key, { ...documents.get(key)!, holds: held })
    },
  }
}

function loadHolders(wanted: Names['holders']): Load {
  const entries = [...wanted.values()]
  return {
    text: `SELECT i.kind, i.name, i.value, i.id FROM unnest($1::text[], $2::text[], $3::text[]) w(kind, name, value)
      JOIN document_index i ON i.kind = w.kind AND i.name = w.name AND i.value = w.value WHERE i.uniq`,
    values: [entries.map(([kind]) => kind), entries.map(([, name]) => name), entries.map(([, , value]) => value)],
    take(rows, { holders }) {
      for (const { kind, name, value, id } of rows as Record<string, string>[]) {
        holders.load(holderKey(kind!, name!, value!), id!)
      }
    },
  }
}

const SESSION = 's.number, s.hash, s.org_id, s.client_id, s.links, s.evict_at, s.sealed_key, s.family'

function loadSessions(wanted: Wanted): Load {
  return {
    text: `SELECT ${SESSION}, CASE WHEN w.body THEN s.body END AS body
      FROM unnest($1::bytea[], $2::boolean[]) w(hash, body) JOIN session s ON s.hash = w.hash`,
    values: [[...wanted.keys()].map(hashBytes), [...wanted.values()]],
    take: takeSessions,
  }
}

function loadFamilySessions(families: ReadonlySet<string>): Load {
  return {
    text: `SELECT ${SESSION}, NULL AS body FROM session s WHERE s.family = ANY($1::text[]) AND s.family <> ''`,
    values: [[...families].map(toCell)],
    take: takeSessions,
  }
}

function takeSessions(rows: readonly Record<string, unknown>[], { sessions }: GroupState): void {
  for (const row of rows) {
    const hash = latin1(row.hash as Uint8Array)
    // One that was read before may have its body.
    if (sessions.get(hash) !== undefined) continue
    const facts = sessionFacts(row)
    const text = (row.body ?? undefined) as string | undefined
    sessions.load(hash, { number: row.number as number, hash, facts, text, row: undefined })
  }
}

/** The columns of a row of `session` besides its body. */
export function sessionFacts(row: Record<string, unknown>) {
  const [apiIds, policyIds] = JSON.parse(row.links as string) as [string[], string[]]
  return {
    ...{ apiIds, policyIds },
    orgId: fromCell(row.org_id as string),
    clientId: fromCell(row.client_id as string),
    evictAt: row.evict_at as number,
    sealedKey: latin1(row.sealed_key as Uint8Array),
    family: fromCell(row.family as string),
  }
}

const TICKET = 'hash, sort, family, expires_at, keep_until, version, claimed_at'

function loadTickets(hashes: ReadonlySet<string>): Load {
  return {
    text: `SELECT ${TICKET} FROM ticket WHERE hash = ANY($1::bytea[])`,
    values: [[...hashes].map(hashBytes)],
    take: takeTickets,
  }
}

function loadFamilyTickets(families: ReadonlySet<string>): Load {
  return {
    text: `SELECT ${TICKET} FROM ticket WHERE family = ANY($1::text[]) AND family <> ''`,
    values: [[...families].map(toCell)],
    take: takeTickets,
  }
}

function takeTickets(rows: readonly Record<string, unknown>[], { tickets }: GroupState): void {
  for (const row of rows) {
    const hash = latin1(row.hash as Uint8Array)
    if (tickets.get(hash) !== undefined) continue
    tickets.load(hash, {
      hash,
      sort: row.sort as TicketType,
      family: fromCell(row.family as string),
      expiresAt: row.expires_at as number,
      keepUntil: row.keep_until as number,
      version: row.version as number,
      claimedAt: row.claimed_at as number,
      put: undefined,
    })
  }
}

function loadDeliveries(ids: ReadonlySet<number>): Load {
  return {
    text: 'SELECT id FROM delivery WHERE id = ANY($1::bigint[])',
    values: [[...ids]],
    take(rows, { deliveries }) {
      for (const { id } of rows) deliveries.load(String(id), { id: id as number, outcomes: [] })
    },
  }
}

function splitKey(key: string): readonly [kind: string, id: string] {
  const at = key.indexOf('\n')
  return [key.slice(0, at), key.slice(at + 1)]
}
