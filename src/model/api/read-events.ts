import { type EventHandler, readEventHandlers } from '../event-handlers.ts'
import type { JsonObject } from '../json.ts'
import { eventsToClassic } from './convert-events.ts'
import { EXTENSION } from './extension.ts'
import { objectOf } from './members.ts'

/** The event handlers of a stored API of either format, without reading the rest of its definition. */
export function eventHandlersOf({ format, definition }: JsonObject): EventHandler[] {
  const held = objectOf({ definition: definition ?? null }, 'definition')
  if (format !== 'oas') return readEventHandlers(held)
  const classic: JsonObject = {}
  eventsToClassic(objectOf(held, EXTENSION), classic)
  return readEventHandlers(classic)
}
