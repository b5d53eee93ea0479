import { eventHandlersOf } from '../../model/apis/convert/convert-events.ts'
import { objectsOf } from '../../model/apis/definition/members.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { asJson, isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { withoutHidden } from '../../model/keys/key.ts'
import { entriesOf } from '../../model/portal/catalogue/catalogue.ts'
import { redact } from '../../model/secrets/redact.ts'
import type { SealKey } from '../../model/secrets/secret.ts'
import { redactDocument } from '../../model/secrets/secret-places.ts'
import { hexOf } from '../../model/text/hex.ts'
import type { Clock } from '../../model/time/clock.ts'
import { API_EVENT_NAMES, apiEventRow } from '../../model/webhooks/api-events.ts'
import { handlerName } from '../../model/webhooks/event-handlers.ts'
import { forwardDocuments } from '../../store/ports/forward-documents.ts'
import type { Change, Documents, SessionInput, StoredDocument, Tokens } from '../../store/ports/ports.ts'
import { apiOfOrg } from '../apis/api-ids.ts'
import { wrapperOf } from '../apis/api-wrapper.ts'
import { changesNothing } from '../documents/changes-nothing.ts'
import { checkDeletedIds } from '../documents/deleted-ids.ts'
import { tombstonesOf } from '../documents/tombstones.ts'
import { catalogueOf } from '../portal/catalogue/catalogue.ts'
import { toRequestView } from '../portal/key-requests/request-view.ts'
import {
  type EventReceiver,
  type EventType,
  eventAddress,
  eventDelivery,
  mailAddressIn,
  referencedHook,
} from './events.ts'
import { eventBody } from './traffic-events.ts'

/** The dependencies of finding events. */
export interface EventParts {
  readonly documents: Documents
  readonly tokens: Tokens
  readonly clock: Clock
  readonly sealKey: SealKey
  /** True = it is remembered who owned the APIs and policies that are deleted. */
  readonly keepsTombstones?: boolean
  /** True = it is remembered whose the ids of what is deleted were. */
  readonly notesDeletedIds?: boolean
  /** As in `DeletedIdParts`. */
  readonly keepsDeletedIds?: boolean
  /** Sends a mail, after the commit; absent = none are sent. Must not throw. */
  readonly mail?: (mail: EventMail) => void
}

/** A mail about something that happened, to the address that the organisation names for such events. */
export interface EventMail {
  readonly to: string
  readonly orgId: string
  readonly event: string
  readonly data: Json
}

/** The notifications of a commit: messages for the same commit, and mails for afterwards. */
interface EventNotices {
  readonly changes: readonly Change[]
  readonly mails: readonly EventMail[]
}

type Did = 'created' | 'updated' | 'deleted' | 'submitted' | 'approved'

/** An event of a commit. */
interface DomainEvent {
  readonly sorts: readonly EventType[]
  readonly did: Did
  readonly orgId: string
  /** The APIs whose webhooks are notified as well. */
  readonly apis: readonly JsonObject[]
  /** Made for those who receive it: most events have nobody, and to redact a definition takes as long as to read it. */
  readonly data: () => Json
}

const KEY_SORTS: readonly EventType[] = ['key_event', 'hashed_key_event']
/** Of a key that names very many APIs. */
const MOST_APIS = 50

/**
 * The messages about what a commit changes, for the same commit: to the address that the organisation names for such events
 * (`event_options`), and to the webhooks that the APIs concerned name for them (`hook_references`); and the mails, for afterwards.
 * They hold no secret.
 */
export async function eventsOf(parts: EventParts, changes: readonly Change[]): Promise<EventNotices> {
  const all: EventNotices[] = []
  for (const change of changes) {
    const event = await eventIn(parts, change)
    if (event !== undefined) all.push(await noticesOf(parts, event))
  }
  return { changes: all.flatMap((each) => each.changes), mails: all.flatMap((each) => each.mails) }
}

async function eventIn(parts: EventParts, change: Change): Promise<DomainEvent | undefined> {
  if (change.op === 'put' || change.op === 'delete') {
    if (change.kind === 'api') return apiEvent(parts, change)
    return change.kind === 'key_request' ? requestEvent(parts, change) : undefined
  }
  if (change.op === 'putSession' || change.op === 'deleteSession') return keyEvent(parts, change)
  return undefined
}

type DocumentChange = Change & { op: 'put' | 'delete' }

async function apiEvent({ documents }: EventParts, change: DocumentChange): Promise<DomainEvent | undefined> {
  const before = await documents.get('api', change.id)
  const now = afterOf(change, before)
  if (now === undefined) return undefined
  const data = () => redactDocument(wrapperOf(now, undefined))
  return { sorts: ['api_event'], did: didOf(change, before), orgId: orgOf(now.body), apis: [now.body], data }
}

async function requestEvent(parts: EventParts, change: DocumentChange): Promise<DomainEvent | undefined> {
  const before = await parts.documents.get(change.kind, change.id)
  const now = afterOf(change, before)
  if (now === undefined) return undefined
  const approved = before?.body.approved !== true && now.body.approved === true
  const did = before === undefined ? 'submitted' : approved ? 'approved' : didOf(change, before)
  const orgId = orgOf(now.body)
  const entries = entriesOf((await catalogueOf(parts, orgId))?.body)
  const view = await toRequestView(parts, now, entries)
  const data = () => redact(view)
  return { sorts: ['key_request_event'], did, orgId, apis: [], data }
}

/** The document that a change leaves, or takes away. */
function afterOf(change: DocumentChange, before: StoredDocument | undefined): StoredDocument | undefined {
  return change.op === 'delete' ? before : { kind: change.kind, id: change.id, revision: 0, body: asJson(change.body) }
}

function didOf({ op }: DocumentChange, before: StoredDocument | undefined): Did {
  if (op === 'delete') return 'deleted'
  return before === undefined ? 'created' : 'updated'
}

/** Keys alone: tokens of clients come and go without a word. */
async function keyEvent(
  { documents, tokens }: EventParts,
  change: Change & { op: 'putSession' | 'deleteSession' },
): Promise<DomainEvent | undefined> {
  const before = await tokens.getSession(change.hash)
  const row: SessionInput | undefined = change.op === 'putSession' ? change.row : before
  if (row === undefined || row.clientId !== '') return undefined
  const did = change.op === 'deleteSession' ? 'deleted' : before === undefined ? 'created' : 'updated'
  const keyHash = hexOf(change.hash)
  const apis = await Promise.all(
    row.apiIds.slice(0, MOST_APIS).map(async (apiId) => (await apiOfOrg(documents, row.orgId, apiId))?.body),
  )
  return {
    ...{ sorts: KEY_SORTS, did, orgId: row.orgId },
    apis: apis.filter((body) => body !== undefined),
    data: () => ({ key_hash: keyHash, org_id: row.orgId, ...(redactDocument(withoutHidden(row.body)) as JsonObject) }),
  }
}

async function noticesOf(parts: EventParts, { sorts, did, orgId, apis, data }: DomainEvent): Promise<EventNotices> {
  const organisation = isDocumentId(orgId) ? await parts.documents.get('organisation', orgId) : undefined
  const now = parts.clock.wall()
  const changes: Change[] = []
  const mails: EventMail[] = []
  for (const sort of sorts) {
    const event = `${sort}.${did}`
    const receivers = await hooksFor(parts, orgId, apis, [sort, event])
    if (organisation !== undefined && eventAddress(organisation.body, sort) !== '') receivers.push({ sort, orgId })
    const body = receivers.length === 0 ? '' : JSON.stringify({ event, data: data() })
    changes.push(...receivers.map((to) => eventDelivery(parts.sealKey, { to, body }, now)))
    const to = organisation === undefined ? undefined : mailAddressIn(organisation.body, sort)
    if (to !== undefined) mails.push({ to, orgId, event, data: data() })
  }
  if (sorts === KEY_SORTS) changes.push(...(await tokenEvents(parts, { sorts, did, orgId, apis, data })))
  return { changes, mails }
}

/** The settings of a key's APIs for its events: their own handlers, and webhooks that they name for such events. */
async function tokenEvents(parts: EventParts, { did, orgId, apis, data: dataOf }: DomainEvent): Promise<Change[]> {
  const event = API_EVENT_NAMES.find((name) => apiEventRow(name).key === did)
  const data = event === undefined || apis.length === 0 ? undefined : dataOf()
  if (event === undefined || data === undefined || !isObject(data)) return []
  const now = parts.clock.wall()
  const detail = {
    message: `A key was ${did}`,
    key: typeof data.key_hash === 'string' ? data.key_hash : '',
    alias: typeof data.alias === 'string' ? data.alias : '',
  }
  const own = apis.flatMap((api) => {
    const apiId = typeof api.api_id === 'string' ? api.api_id : ''
    const body = eventBody(event, { apiId, orgId: orgOf(api) }, detail, now)
    return eventHandlersOf(api)
      .filter((handler) => handler.event === event && handler.type === 'webhook')
      .map((handler) => ({ to: { handler: handlerName(handler), apiId, orgId: orgOf(api) }, body }))
  })
  const body = JSON.stringify({ event, data })
  const named = (await hooksFor(parts, orgId, apis, [event])).map((to) => ({ to, body }))
  return [...own, ...named].map((message) => eventDelivery(parts.sealKey, message, now))
}

/** The webhooks that these APIs name for an event, each once. */
async function hooksFor(
  parts: EventParts,
  orgId: string,
  apis: readonly JsonObject[],
  names: readonly string[],
): Promise<EventReceiver[]> {
  const hooks = new Set<string>()
  for (const reference of apis.flatMap((body) => objectsOf(body, 'hook_references'))) {
    if (typeof reference.event_name !== 'string' || !names.includes(reference.event_name)) continue
    const id = isObject(reference) ? await referencedHook(parts, orgId, reference) : undefined
    if (id !== undefined) hooks.add(id)
  }
  return [...hooks].map((hook) => ({ hook, orgId }))
}

function orgOf({ org_id }: JsonObject): string {
  return typeof org_id === 'string' ? org_id : ''
}

/** The documents that a commit replaces, each read once for all that is found out about it. */
function readOnce(documents: Documents): Documents {
  const read = new Map<string, ReturnType<Documents['get']>>()
  return forwardDocuments(documents, {
    get(kind, id) {
      const name = `${kind} ${id}`
      const found = read.has(name) ? read.get(name) : documents.get(kind, id)
      read.set(name, found)
      return found as ReturnType<typeof documents.get<typeof kind>>
    },
  })
}

/**
 * Wraps documents so that a commit with an audit entry also raises its events, in the same commit; one that would change nothing is not made.
 */
export function withEvents(parts: EventParts): Documents {
  const { documents } = parts
  return forwardDocuments(documents, {
    async commit(changes, entry) {
      if (entry === undefined) return documents.commit(changes, entry)
      const read = { ...parts, documents: readOnce(documents) }
      if (await changesNothing(read, changes)) return documents.revision()
      const conditions = await checkDeletedIds(read, changes)
      const events = await eventsOf(read, changes)
      const tombstones = await tombstonesOf(read.documents, changes, entry, {
        ids: parts.notesDeletedIds === true,
        ownership: parts.keepsTombstones === true,
      })
      const noted = new Set(tombstones.map((change) => 'id' in change && change.id))
      const free = conditions.filter((change) => !('id' in change && noted.has(change.id)))
      const revision = await documents.commit([...changes, ...tombstones, ...free, ...events.changes], entry)
      for (const mail of events.mails) parts.mail?.(mail)
      return revision
    },
  })
}
