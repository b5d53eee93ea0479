import type { JsonObject } from '../../json/json.ts'
import { type EventHandler, readEventHandlers } from '../../webhooks/event-handlers.ts'
import { eventsToClassic } from '../convert/convert-events.ts'
import { EXTENSION } from '../definition/extension.ts'
import { objectOf } from '../definition/members.ts'

/** The event handlers of a stored API of either format, without reading the rest of its definition. */
export function eventHandlersOf({ format, definition }: JsonObject): EventHandler[] {
  const held = objectOf({ definition: definition ?? null }, 'definition')
  if (format !== 'oas') return readEventHandlers(held)
  const classic: JsonObject = {}
  eventsToClassic(objectOf(held, EXTENSION), classic)
  return readEventHandlers(classic)
}
