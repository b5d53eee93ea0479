import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { type EventHandler, HANDLER_NAMES, readEventHandlers } from '../../webhooks/event-handlers.ts'
import { EXTENSION, objectOf, objectsOf } from '../definition/members.ts'
import { getAt, member, putAt, setMember } from '../definition/tree.ts'
import { durationMs, durationText } from '../definition/values.ts'

/** Types of handlers that the extension knows, and their names in classic definitions. */
const TYPES: readonly (readonly [type: string, name: string])[] = [
  ['webhook', HANDLER_NAMES.webhook],
  ['log', HANDLER_NAMES.log],
]

/** Members of a handler that say the same in both formats: in `handler_meta`, and in an entry of `server.eventHandlers`. */
const MEMBERS: readonly (readonly [classic: string, oas: string])[] = [
  ['id', 'id'],
  ['name', 'name'],
  ['method', 'method'],
  ['target_path', 'url'],
  ['template_path', 'bodyTemplate'],
  ['prefix', 'logPrefix'],
]

/** Writes the handlers of a classic definition into the extension, event by event. */
export function eventsToOas(classic: JsonObject, extension: JsonObject): void {
  const events = objectOf(objectOf(classic, 'event_handlers'), 'events')
  const list = Object.keys(events).flatMap((trigger) =>
    objectsOf(events, trigger).flatMap((entry) => handlerToOas(trigger, entry) ?? []),
  )
  if (list.length > 0) putAt(extension, ['server', 'eventHandlers'], list)
}

/** Writes the handlers of an extension into a classic definition, each below its event. */
export function eventsToClassic(extension: JsonObject, classic: JsonObject): void {
  const events: JsonObject = {}
  for (const entry of objectsOf(getAt(extension, ['server']), 'eventHandlers')) {
    const handler = handlerToClassic(entry)
    if (handler === undefined || typeof entry.trigger !== 'string') continue
    const before = member(events, entry.trigger)
    setMember(events, entry.trigger, [...(Array.isArray(before) ? before : []), handler])
  }
  if (Object.keys(events).length > 0) putAt(classic, ['event_handlers', 'events'], events)
}

function handlerToOas(trigger: string, entry: JsonObject): JsonObject | undefined {
  const type = TYPES.find(([, name]) => name === entry.handler_name)?.[0]
  if (type === undefined) return undefined
  const meta = objectOf(entry, 'handler_meta')
  const made: JsonObject = { enabled: meta.disabled !== true, trigger, type }
  for (const [classic, oas] of MEMBERS) if (member(meta, classic) !== undefined) made[oas] = meta[classic]!
  const headers = member(meta, 'header_map')
  if (headers !== undefined && isObject(headers))
    made.headers = Object.keys(headers).map((name) => ({ name, value: headers[name] ?? '' }))
  if (typeof meta.event_timeout === 'number') made.cooldownPeriod = durationText(meta.event_timeout)
  return made
}

function handlerToClassic(entry: JsonObject): JsonObject | undefined {
  const name = TYPES.find(([type]) => type === entry.type)?.[1]
  if (name === undefined) return undefined
  const meta: JsonObject = entry.enabled === true ? {} : { disabled: true }
  for (const [classic, oas] of MEMBERS) if (member(entry, oas) !== undefined) meta[classic] = entry[oas]!
  if (Array.isArray(entry.headers)) meta.header_map = headersOf(entry.headers)
  const cooldown = typeof entry.cooldownPeriod === 'string' ? durationMs(entry.cooldownPeriod) : undefined
  if (cooldown !== undefined) meta.event_timeout = cooldown / 1000
  return { handler_name: name, handler_meta: meta }
}

function headersOf(list: readonly Json[]): JsonObject {
  const map: JsonObject = {}
  for (const item of list) setMember(map, String(member(item, 'name') ?? ''), member(item, 'value') ?? '')
  return map
}

/** The event handlers of a stored API of either format, without reading the rest of its definition. */
export function eventHandlersOf({ format, definition }: JsonObject): EventHandler[] {
  const held = objectOf({ definition: definition ?? null }, 'definition')
  if (format !== 'oas') return readEventHandlers(held)
  const classic: JsonObject = {}
  eventsToClassic(objectOf(held, EXTENSION), classic)
  return readEventHandlers(classic)
}
