import { toFault } from '../../../errors/fault.ts'
import type { JsonObject } from '../../json/json.ts'
import { apiEventOf } from '../../webhooks/api-events.ts'
import { HANDLER_NAMES } from '../../webhooks/event-handlers.ts'
import { readHook } from '../../webhooks/hook.ts'
import { EXTENSION } from '../definition/extension.ts'
import type { Flaw } from '../definition/flaw.ts'
import { flagOf, objectOf, objectsOf, textOf } from '../definition/members.ts'

const UNKNOWN_EVENT = 'is not an event of this gateway'

/** The errors of the event handlers of a classic definition. */
export function classicEventFlaws(classic: JsonObject): Flaw[] {
  const events = objectOf(objectOf(classic, 'event_handlers'), 'events')
  return Object.keys(events).flatMap((name) => {
    const at = ['event_handlers', 'events', name]
    const entries = objectsOf(events, name)
    const active = entries.some(isServed)
    if (active && apiEventOf(name) === undefined) return [{ at, reason: UNKNOWN_EVENT }]
    return entries.flatMap((entry, index) => {
      const meta = objectOf(entry, 'handler_meta')
      if (!isServed(entry) || textOf(entry, 'handler_name') !== HANDLER_NAMES.webhook) return []
      const hook = { ...receiver(textOf(meta, 'method'), meta.target_path), header_map: objectOf(meta, 'header_map') }
      return receiverFlaws(hook).map((reason) => ({ at: [...at, String(index), 'handler_meta'], reason }))
    })
  })
}

/** Inactive handlers, and handlers of other kinds, are not checked here. */
function isServed(entry: JsonObject): boolean {
  const known: readonly string[] = Object.values(HANDLER_NAMES)
  return known.includes(textOf(entry, 'handler_name')) && !flagOf(objectOf(entry, 'handler_meta'), 'disabled')
}

/** The same for `server.eventHandlers` of an extension. */
export function oasEventFlaws(extension: JsonObject): Flaw[] {
  return objectsOf(objectOf(extension, 'server'), 'eventHandlers').flatMap((entry, index) => {
    const type = textOf(entry, 'type')
    if (!flagOf(entry, 'enabled') || !Object.hasOwn(HANDLER_NAMES, type)) return []
    const at = [EXTENSION, 'server', 'eventHandlers', String(index)]
    if (apiEventOf(textOf(entry, 'trigger')) === undefined) return [{ at: [...at, 'trigger'], reason: UNKNOWN_EVENT }]
    if (type !== 'webhook') return []
    const headers = Object.fromEntries(
      objectsOf(entry, 'headers').map((each) => [textOf(each, 'name'), textOf(each, 'value')]),
    )
    const hook = { ...receiver(textOf(entry, 'method'), entry.url), header_map: headers }
    return receiverFlaws(hook).map((reason) => ({ at, reason }))
  })
}

function receiver(method: string, target: JsonObject[string] | undefined): JsonObject {
  return { method: method || 'POST', target_path: target ?? null }
}

/** Its address is judged by its form alone: what it leads to is looked at when something is sent there. */
function receiverFlaws(hook: JsonObject): string[] {
  try {
    readHook(hook, { allowPrivate: true })
    return []
  } catch (error) {
    return [toFault(error).message]
  }
}
