import { randomBytes } from 'node:crypto'
import type { FaultCode } from '../../errors/catalog.ts'
import { toFault } from '../../errors/fault.ts'
import { PointedCopy, type TreePath, toPointer } from '../../model/apis/definition/tree.ts'
import { asJson, isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { type SealKey, seal, unseal } from '../../model/secrets/secret.ts'
import { hexOf } from '../../model/text/hex.ts'
import { endsWithin } from '../../runtime/bounded-wait.ts'
import { mapInTurns, WorkSlice } from '../../runtime/turns.ts'
import { forwardDocuments } from '../ports/forward-documents.ts'
import {
  AUDITED_SESSION,
  type Audit,
  type AuditChange,
  type AuditRow,
  type Awaitable,
  type Change,
  type Documents,
  type SessionInput,
  type Store,
  type StoredDocument,
  type TicketInput,
  type Tokens,
} from '../ports/ports.ts'
import { definitionPlaces, documentPlaces, placesBelow, sessionPlaces, ticketPlaces } from './places.ts'

/** Between two probes. */
const PROBE_EVERY_MS = 1000
/** Health calls answer within a second. */
const ANSWER_MS = 500
/** Of what is written on trial. */
const MOST_BYTES = 1_000_000
/** Refusals that are the store's. */
const REFUSALS: ReadonlySet<FaultCode> = new Set(['store_full', 'store_read_only', 'store_away'])

/**
 * Notes whether a store takes what it is to keep. What is small may still fit where something larger was refused: a refusal counts until
 * something as large is taken. While it counts, a question causes a trial write, at most one a second, so that the answer follows the
 * store without a write of others.
 */
class StoreCapacity {
  readonly #documents: Documents
  /** Of the largest write that was refused and not followed by one as large that was taken; 0 = none. */
  #refusedBytes = 0
  #why: FaultCode = 'store_full'
  #nextProbeAt = 0
  #probing: Promise<void> | undefined

  constructor(documents: Documents) {
    this.#documents = documents
  }

  /** Passes on what a write comes to. */
  async note<Done>(changes: readonly Change[], write: Awaitable<Done>): Promise<Done> {
    try {
      const done = await write
      if (this.#refusedBytes > 0) this.#taken(bytesOf(changes))
      return done
    } catch (error) {
      const { code } = toFault(error)
      if (REFUSALS.has(code)) this.#refused(code, bytesOf(changes))
      throw error
    }
  }

  /** Why it does not; undefined where it does. */
  async refusal(): Promise<FaultCode | undefined> {
    const probing = this.#look()
    if (probing !== undefined) await endsWithin(probing, ANSWER_MS)
    return this.#refusedBytes > 0 ? this.#why : undefined
  }

  /** The same without waiting for the trial write. */
  lastRefusal(): FaultCode | undefined {
    void this.#look()
    return this.#refusedBytes > 0 ? this.#why : undefined
  }

  /** The trial write, where one is due. */
  #look(): Promise<void> | undefined {
    if (this.#refusedBytes === 0 || performance.now() < this.#nextProbeAt) return undefined
    this.#probing ??= this.#probe()
    return this.#probing
  }

  #taken(bytes: number): void {
    if (bytes >= this.#refusedBytes) this.#refusedBytes = 0
    // A sign that there is room again.
    else this.#nextProbeAt = 0
  }

  #refused(why: FaultCode, bytes: number): void {
    this.#why = why
    this.#refusedBytes = Math.max(bytes, this.#refusedBytes)
    this.#nextProbeAt = performance.now() + PROBE_EVERY_MS
  }

  async #probe(): Promise<void> {
    const hash = randomBytes(32)
    const expiresAt = Date.now() + PROBE_EVERY_MS
    const body = { trial: 'x'.repeat(this.#refusedBytes) }
    const row = { sort: 'proof', apiId: '', clientId: '', family: '', expiresAt, keepUntil: expiresAt, body } as const
    try {
      await this.#documents.commit([{ op: 'putTicket', hash, row, ifAbsent: true }], undefined)
      this.#refusedBytes = 0
      await this.#documents.commit([{ op: 'deleteTicket', hash }], undefined)
    } catch {
      this.#nextProbeAt = performance.now() + PROBE_EVERY_MS
    } finally {
      this.#probing = undefined
    }
  }
}

function bytesOf(changes: readonly Change[]): number {
  let bytes = 1
  for (const change of changes) {
    if ('body' in change) bytes += JSON.stringify(change.body).length
    else if ('row' in change && 'body' in change.row) bytes += JSON.stringify(change.row.body).length
  }
  return Math.min(bytes, MOST_BYTES)
}

/** Member of a stored body that holds, sealed, the texts that were taken out of it. Nobody writes it from outside. */
const SEALED = 'sealed_members'

const TICKET = 'ticket'
/** Where bodies of each kind have secrets that must be known in clear. Other kinds seal their own, or have none. */
const PLACES: ReadonlyMap<string, (body: JsonObject) => readonly TreePath[]> = new Map([
  ['api', definitionPlaces],
  ['asset', definitionPlaces],
  ['policy', documentPlaces],
  ['hook', documentPlaces],
  ['portal_configuration', documentPlaces],
  ['catalogue', documentPlaces],
  ['key_request', documentPlaces],
  ['developer', placesBelow('fields')],
  ['oauth_client', placesBelow('metadata', 'dcr_registration')],
  // Secrets of providers are sealed by the profile itself.
  ['idp_profile', placesBelow('ProviderConfig', 'IdentityHandlerConfig')],
  ['organisation', placesBelow('event_options')],
  [AUDITED_SESSION, sessionPlaces],
  [TICKET, ticketPlaces],
])

/**
 * A store that keeps sealed, under a key of 32 bytes, what sessions and definitions hold of shared secrets: files, copies, backups and
 * the audit of `store` never have them in clear. Callers here read and write them in clear. Rows that were written
 * before in clear are read as well, and sealed when they are written next.
 */
export function sealedStore(store: Store, sealKey: SealKey): Store {
  const rows = new SealedRows(sealKey)
  const { outbox, counters, feed, hits, records, pending } = store
  const capacity = new StoreCapacity(store.documents)
  return {
    ...{ outbox, counters, feed, hits, records },
    documents: sealedDocuments(store.documents, rows, capacity),
    tokens: sealedTokens(store.tokens, rows),
    audit: sealedAudit(store.audit, rows),
    close: () => store.close(),
    refusing: () => capacity.refusal(),
    refused: () => capacity.lastRefusal(),
    ...(store.health && { health: () => store.health!() }),
    ...(store.clock && { clock: store.clock }),
    ...(store.catchUp && { catchUp: store.catchUp }),
    ...(store.damaged && { damaged: () => store.damaged!() }),
    ...(store.offerMetrics && { offerMetrics: (metrics) => store.offerMetrics!(metrics) }),
    ...(store.threads && { threads: store.threads }),
    ...(store.behind && { behind: () => store.behind!() }),
    ...(pending && {
      pending: {
        get away() {
          return pending.away
        },
        keep: (session) => pending.keep({ ...session, row: rows.sealRow(AUDITED_SESSION, session.hash, session.row) }),
      },
    }),
  }
}

class SealedRows {
  readonly #sealKey: SealKey

  constructor(sealKey: SealKey) {
    this.#sealKey = sealKey
  }

  /** The same object if nothing is to be sealed: callers that froze it rely on that. */
  sealRow<Row extends SessionInput | TicketInput>(kind: string, hash: Uint8Array, row: Row): Row {
    const body = this.#seal(kind, hexOf(hash), row.body)
    return body === row.body ? row : { ...row, body }
  }

  /** @throws Fault `seal_broken` */
  openRow<Row extends (SessionInput | TicketInput) & { readonly hash: Uint8Array }>(kind: string, row: Row): Row {
    const body = this.#open(kind, hexOf(row.hash), row.body)
    return body === row.body ? row : { ...row, body }
  }

  /** @throws Fault `seal_broken` */
  openDocument = <K extends string>(document: StoredDocument<K>): StoredDocument<K> => {
    const body = this.#open(document.kind, document.id, document.body)
    return body === document.body ? document : { ...document, body }
  }

  seal = (change: Change): Change => {
    // Malformed values are left for the store to refuse.
    if (!isWellFormed(change)) return change
    switch (change.op) {
      case 'put':
        return { ...change, body: this.#seal(change.kind, change.id, asJson(change.body)) }
      case 'putSession':
        return { ...change, row: this.sealRow(AUDITED_SESSION, change.hash, change.row) }
      case 'putTicket':
        return { ...change, row: this.sealRow(TICKET, change.hash, change.row) }
      default:
        return change
    }
  }

  /** Secrets of a change from before a seal key that is gone are left out, and the change cannot be undone. */
  openEntry = (row: AuditRow): AuditRow => ({
    ...row,
    changes: row.changes.map((change): AuditChange => {
      if (PLACES.get(change.kind) === undefined) return change
      try {
        return this.#openChange(change, (body) => this.#open(change.kind, change.id, body))
      } catch (error) {
        if (toFault(error).code !== 'seal_broken') throw error
        return { ...this.#openChange(change, withoutSealed), omitted: true }
      }
    }),
  })

  #openChange(change: AuditChange, open: (body: JsonObject) => JsonObject): AuditChange {
    const { before, after, session } = change
    const opened = { ...change, before: before && open(before), after: after && open(after) }
    return session === undefined ? opened : { ...opened, session: { ...session, body: open(session.body) } }
  }

  #seal(kind: string, id: string, body: JsonObject): JsonObject {
    const places = PLACES.get(kind)
    return places === undefined ? body : sealMembers(body, places, this.#of(kind, id))
  }

  /** Opened members have the type that the sealed ones have. */
  #open<Body extends JsonObject>(kind: string, id: string, body: Body): Body {
    return PLACES.get(kind) === undefined ? body : (unsealMembers(body, this.#of(kind, id)) as Body)
  }

  #of(kind: string, id: string) {
    return { sealKey: this.#sealKey, context: `${kind}:${id}` }
  }
}

function isWellFormed(change: Change): boolean {
  if (change.op === 'put') return isObject(change.body)
  return !('row' in change && 'hash' in change) || (isObject(change.row?.body) && change.hash instanceof Uint8Array)
}

function sealedDocuments(documents: Documents, rows: SealedRows, capacity: StoreCapacity): Documents {
  const one = <K extends string>(found: StoredDocument<K> | undefined) => found && rows.openDocument(found)
  return forwardDocuments(documents, {
    get: (kind, id) => inOwnTurn(() => later(documents.get(kind, id), one), bodyIn),
    find: (kind, index, value) => inOwnTurn(() => later(documents.find(kind, index, value), one), bodyIn),
    list: (kind, query) =>
      later(documents.list(kind, query), (page) =>
        later(mapInTurns(page.rows, rows.openDocument), (opened) => ({ ...page, rows: opened })),
      ),
    scan: (kind) => batches(documents.scan(kind), rows.openDocument),
    each: (kind, query) => batches(documents.each(kind, query), rows.openDocument),
    commit: async (changes, audit) => {
      const slice = new WorkSlice()
      const sealed = changes.map(rows.seal)
      const turn = slice.nextAfter(...changes.map((change) => ('body' in change ? asJson(change.body) : undefined)))
      if (turn !== undefined) await turn
      return capacity.note(changes, documents.commit(sealed, audit))
    },
  })
}

function sealedTokens(tokens: Tokens, rows: SealedRows): Tokens {
  return {
    getSession: (hash) => later(tokens.getSession(hash), (row) => row && rows.openRow(AUDITED_SESSION, row)),
    listSessions: (query) =>
      later(tokens.listSessions(query), (page) =>
        later(
          mapInTurns(page.rows, (row) => rows.openRow(AUDITED_SESSION, row)),
          (opened) => ({ ...page, rows: opened }),
        ),
      ),
    countSessions: (query) => tokens.countSessions(query),
    getTicket: (hash) => later(tokens.getTicket(hash), (row) => row && rows.openRow(TICKET, row)),
    familyTickets: (family) =>
      later(tokens.familyTickets(family), (tickets) => tickets.map((row) => rows.openRow(TICKET, row))),
  }
}

function sealedAudit(audit: Audit, rows: SealedRows): Audit {
  return {
    list: (query) =>
      later(audit.list(query), (page) =>
        later(mapInTurns(page.rows, rows.openEntry), (opened) => ({ ...page, rows: opened })),
      ),
    listIds: (query) => audit.listIds(query),
    get: (id) => inOwnTurn(() => later(audit.get(id), (row) => row && rows.openEntry(row)), bodiesIn),
    scan: (query) => batches(audit.scan(query), rows.openEntry),
    state: (id) => audit.state(id),
    purgeAudit: (before) => audit.purgeAudit(before),
  }
}

/** Values that are at hand stay so: the path of a request waits for no promise that it need not wait for. */
function later<Found, Made>(found: Awaitable<Found>, make: (found: Found) => Awaitable<Made>): Awaitable<Made> {
  return found instanceof Promise ? found.then(make) : make(found)
}

/** Reads at once; where a large document took long, others go first before it is used. */
function inOwnTurn<Found>(
  read: () => Awaitable<Found>,
  bodies: (found: Found) => readonly (Json | undefined)[],
): Awaitable<Found> {
  const slice = new WorkSlice()
  const found = read()
  if (found instanceof Promise) return found
  const turn = slice.nextAfter(...bodies(found))
  return turn === undefined ? found : turn.then(() => found)
}

const bodyIn = (found: StoredDocument | undefined) => [found?.body]

const bodiesIn = (row: AuditRow | undefined) =>
  row === undefined ? [] : row.changes.flatMap(({ before, after }) => [before ?? undefined, after ?? undefined])

async function* batches<Row>(rows: AsyncIterable<Row[]>, open: (row: Row) => Row): AsyncIterable<Row[]> {
  for await (const batch of rows) yield await mapInTurns(batch, open)
}

/** The stored form of a body: the texts at `places` are removed, and sealed separately. `context` is its row. */
export function sealMembers(
  body: JsonObject,
  places: (body: JsonObject) => readonly TreePath[],
  { sealKey, context }: { readonly sealKey: SealKey; readonly context: string },
): JsonObject {
  const found = places(body)
  if (found.length === 0 && !Object.hasOwn(body, SEALED)) return body
  const { [SEALED]: _theirs, ...own } = body
  if (found.length === 0) return own
  const stored = new PointedCopy(own)
  const texts: Record<string, string> = {}
  for (const path of found) {
    const pointer = toPointer(path)
    const text = stored.put(pointer, '')
    // A place that is found in two ways is empty by now.
    if (text !== '') texts[pointer] = text as string
  }
  return { ...stored.top, [SEALED]: seal(sealKey, JSON.stringify(texts), `members:${context}`).toString('base64') }
}

/** The stored body without its secrets. */
function withoutSealed(stored: JsonObject): JsonObject {
  const { [SEALED]: _sealed, ...body } = stored
  return body
}

/** The body that was stored so; the same object where nothing of it is sealed. @throws Fault `seal_broken` */
export function unsealMembers(
  stored: JsonObject,
  { sealKey, context }: { readonly sealKey: SealKey; readonly context: string },
): JsonObject {
  const sealed = stored[SEALED]
  if (typeof sealed !== 'string') return stored
  const text = unseal(sealKey, Buffer.from(sealed, 'base64'), `members:${context}`).toString('utf8')
  const secrets: Record<string, string> = JSON.parse(text)
  const body = new PointedCopy(withoutSealed(stored))
  for (const pointer of Object.keys(secrets)) body.put(pointer, secrets[pointer]!)
  return body.top
}
