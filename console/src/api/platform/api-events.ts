import { WEBHOOKS } from '../../texts/webhooks.ts'

const PREFIX = 'apiHooks.event.'

type NameIn<Text> = Text extends `${typeof PREFIX}${infer Name}` ? Name : never

/** Something that an API tells its webhooks. Each has a text: `apiHooks.event.<name>`. */
export type EventName = NameIn<keyof typeof WEBHOOKS>

/** All of them, in the order of their texts. */
export const EVENT_NAMES: readonly EventName[] = Object.keys(WEBHOOKS)
  .filter((name) => name.startsWith(PREFIX))
  .map((name) => name.slice(PREFIX.length) as EventName)

/** Events of documents, in lower case, which the dashboard raises. Handlers in a definition do not take them. */
export const isDashboardEvent = (name: EventName): boolean => /^[a-z]+(?:_[a-z]+)*_event\b/.test(name)

/** Events that `key_event` covers too. */
export const isTokenEvent = (name: EventName): boolean => name.startsWith('Token')
