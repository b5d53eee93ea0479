import { flagOf, numberOf, objectOf, objectsOf, textOf } from '../apis/definition/members.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import { type ApiEventName, apiEventOf } from './api-events.ts'

/** The handler of an event: a webhook, or the log. */
export interface EventHandler {
  readonly event: ApiEventName
  readonly type: 'webhook' | 'log'
  /** Of a webhook. Its fields may hold secrets: they are for the wire alone. */
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  /** The prefix of the log line. */
  readonly prefix: string
  /** Cooldown after a message about the same event; 0 = every event is reported. */
  readonly cooldownMs: number
}

/** A webhook of the organisation that an API names for an event (`hook_references`). */
export interface EventReference {
  readonly event: ApiEventName
  /** As the API names it: `hook` holds its id or name. */
  readonly reference: JsonObject
  readonly cooldownMs: number
}

/** The event handlers of an API. */
export interface EventRules {
  readonly handlers: readonly EventHandler[]
  readonly references: readonly EventReference[]
}

/** Names of handlers in classic definitions that are served. */
export const HANDLER_NAMES = { webhook: 'eh_web_hook_handler', log: 'eh_log_handler' } as const

/** The handlers of a classic definition that are not switched off. */
export function readEventHandlers(classic: JsonObject): EventHandler[] {
  const events = objectOf(objectOf(classic, 'event_handlers'), 'events')
  return Object.keys(events).flatMap((name) => {
    const event = apiEventOf(name)
    return event === undefined ? [] : objectsOf(events, name).flatMap((entry) => readHandler(event, entry) ?? [])
  })
}

function readHandler(event: ApiEventName, entry: JsonObject): EventHandler | undefined {
  const meta = objectOf(entry, 'handler_meta')
  if (flagOf(meta, 'disabled')) return undefined
  const handlerName = textOf(entry, 'handler_name')
  const nothing = { method: '', target: '', headers: {}, prefix: '', cooldownMs: 0 }
  if (handlerName === HANDLER_NAMES.log) return { ...nothing, event, type: 'log', prefix: textOf(meta, 'prefix') }
  if (handlerName !== HANDLER_NAMES.webhook) return undefined
  return {
    ...nothing,
    event,
    type: 'webhook',
    method: textOf(meta, 'method').toUpperCase() || 'POST',
    target: textOf(meta, 'target_path'),
    headers: textsByName(objectOf(meta, 'header_map')),
    cooldownMs: Math.round(numberOf(meta, 'event_timeout') * 1000),
  }
}

/** The webhooks in an API's metadata for traffic events; webhooks for other events are called by the code that raises them. */
function readEventReferences(references: readonly JsonObject[]): EventReference[] {
  return references.flatMap((reference) => {
    const event = apiEventOf(textOf(reference, 'event_name'))
    const cooldownMs = Math.round(Math.max(0, numberOf(reference, 'event_timeout')) * 1000)
    return event === undefined || !isObject(reference.hook ?? null) ? [] : [{ event, reference, cooldownMs }]
  })
}

/** Whom an API tells; undefined when it tells nobody. */
export function eventRules(classic: JsonObject, references: readonly JsonObject[]): EventRules | undefined {
  const rules = { handlers: readEventHandlers(classic), references: readEventReferences(references) }
  return rules.handlers.length + rules.references.length === 0 ? undefined : rules
}

/** Names a receiver within its API: two handlers with the same event, method and address are one. */
export function handlerName({ event, method, target }: EventHandler): string {
  return `${event} ${method} ${target}`
}

function textsByName(map: JsonObject): Record<string, string> {
  const texts = Object.entries(map).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return Object.fromEntries(texts)
}
