import { hash } from 'node:crypto'
import { toFault } from '../../errors/fault.ts'
import type { Api } from '../../model/apis/definition/api.ts'
import { type DocumentId, isDocumentId } from '../../model/documents/ids.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { toEmail } from '../../model/people/user.ts'
import { type SealKey, seal, unseal } from '../../model/secrets/secret.ts'
import type { Millis } from '../../model/time/clock.ts'
import { type EventHandler, handlerName } from '../../model/webhooks/event-handlers.ts'
import type { Change, DeliveryInput, Documents } from '../../store/ports/ports.ts'
import { hookSecretsOf } from '../webhooks/hooks.ts'

/** Categories of events. */
export type EventType = 'key_event' | 'hashed_key_event' | 'key_request_event' | 'api_event'

/** The receiver: a stored webhook, the URL that the organisation names for a category of events, or a handler of an API (`handlerName`). */
export type EventReceiver =
  | { readonly hook: string; readonly orgId: string }
  | { readonly sort: EventType; readonly orgId: string }
  | { readonly handler: string; readonly apiId: string; readonly orgId: string }

/** A message about something that happened. */
export interface EventMessage {
  readonly to: EventReceiver
  /** JSON: `{event, data}`. */
  readonly body: string
}

/** Where and how a message goes. `headers` and `secret` are for the wire alone. */
export interface EventTarget {
  readonly target: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  /** The key that signs it; '' = unsigned. */
  readonly secret: string
}

const QUEUE = 'event:'

/** True for a queue of events: those of token notifications are called as their API, whose id its author chooses. */
export function isEventQueue(queue: string): boolean {
  return queue.startsWith(QUEUE)
}

/** The queue of the outbox for messages of a stored webhook. */
export function hookQueue(orgId: string, hookId: string): string {
  return `${QUEUE}${orgId}:${hookId}`
}

/** The organisation of a queue of events; undefined for one of token notifications. */
export function orgOfQueue(queue: string): string | undefined {
  return isEventQueue(queue) ? queue.split(':')[1] : undefined
}

/** The change that puts a message into the outbox. It belongs in the commit of its event. */
export function eventDelivery(sealKey: SealKey, message: EventMessage, createdAt: Millis): Change {
  const { to } = message
  const place = { queue: queueOf(to), createdAt }
  return { op: 'putDelivery', row: { ...place, sealed: seal(sealKey, JSON.stringify(message), contextOf(place)) } }
}

/** Each receiver has its own, so that one that is away holds up no other. */
function queueOf(to: EventReceiver): string {
  if ('hook' in to) return hookQueue(to.orgId, to.hook)
  if ('sort' in to) return `${QUEUE}${to.orgId}:${to.sort}`
  return `${QUEUE}${to.orgId}:${to.apiId}:${hash('sha256', to.handler, 'hex').slice(0, 16)}`
}

/** The message of a row of the outbox; undefined for a token notification. */
export function openEvent(sealKey: SealKey, row: DeliveryInput): EventMessage | undefined {
  if (!isEventQueue(row.queue)) return undefined
  try {
    return JSON.parse(unseal(sealKey, row.sealed, contextOf(row)).toString('utf8')) as EventMessage
  } catch (error) {
    // An API may have an id that begins like this; its notices are sealed for another place.
    if (toFault(error).code === 'seal_broken') return undefined
    throw error
  }
}

/** Where a message goes as things are now; undefined when nobody wants it any more. @throws Fault `store_away`, `seal_broken` */
export async function eventTarget(
  parts: {
    readonly documents: Documents
    readonly sealKey: SealKey
    readonly findApi: (apiId: string) => Pick<Api, 'orgId' | 'events'> | undefined
  },
  { to }: EventMessage,
): Promise<EventTarget | undefined> {
  if ('handler' in to) return handlerTarget(parts.findApi(to.apiId), to)
  const id = 'hook' in to ? to.hook : to.orgId
  if (!isDocumentId(id)) return undefined
  if (!('hook' in to)) {
    const organisation = await parts.documents.get('organisation', id)
    return organisation && toAddress(eventAddress(organisation.body, to.sort))
  }
  const found = await parts.documents.get('hook', id)
  if (found === undefined || found.body.org_id !== to.orgId) return undefined
  const { target_path: target, method } = found.body
  const { header_map: headers, shared_secret: secret } = hookSecretsOf(parts, found)
  return { target, method, headers, secret }
}

function handlerTarget(
  api: Pick<Api, 'orgId' | 'events'> | undefined,
  { handler, orgId }: { readonly handler: string; readonly orgId: string },
): EventTarget | undefined {
  const isIt = (each: EventHandler) => each.type === 'webhook' && handlerName(each) === handler
  const found = api?.orgId === orgId ? api.events?.handlers.find(isIt) : undefined
  return found && { target: found.target, method: found.method, headers: found.headers, secret: '' }
}

/** The address that an organisation names for a sort of event; '' = none. */
export function eventAddress(organisation: JsonObject, sort: EventType): string {
  const { webhook } = optionIn(organisation, sort)
  return typeof webhook === 'string' ? webhook : ''
}

/** The mail address that an organisation names for a sort of event; undefined = none, or no address. */
export function mailAddressIn(organisation: JsonObject, sort: EventType): string | undefined {
  return toEmail(optionIn(organisation, sort).email)
}

function optionIn({ event_options: options }: JsonObject, sort: EventType): JsonObject {
  const option = isObject(options) && Object.hasOwn(options, sort) ? options[sort] : undefined
  return isObject(option) ? option : {}
}

/** The id of the stored webhook that a reference of an API means: by id, else by name; undefined when there is none in the organisation. */
export async function referencedHook(
  { documents }: { readonly documents: Documents },
  orgId: string,
  { hook }: JsonObject,
): Promise<DocumentId | undefined> {
  if (!isObject(hook)) return undefined
  const stored = isDocumentId(hook.id) ? await documents.get('hook', hook.id) : undefined
  if (stored !== undefined) return stored.body.org_id === orgId ? stored.id : undefined
  if (typeof hook.name !== 'string' || hook.name === '') return undefined
  const { rows } = await documents.list('hook', { where: { org_id: orgId, name: hook.name }, limit: 1 })
  return rows[0]?.id
}

function toAddress(target: string): EventTarget | undefined {
  return target === '' ? undefined : { target, method: 'POST', headers: {}, secret: '' }
}

function contextOf({ queue, createdAt }: Pick<DeliveryInput, 'queue' | 'createdAt'>): string {
  return `event:${queue}:${createdAt}`
}
