import type { Definition, Json } from '../../../api/apis/apis.ts'
import { at, EXTENSION, isObject, objectAt, withAt } from '../editor/tree.ts'

/** A thing of a list as the form sees it, and where its format has it. */
export interface LocatedItem {
  readonly entry: Definition
  readonly place: readonly string[]
}

/** A list of entries of one kind: as objects, in any form of the definition. */
export interface Listing {
  readonly read: (definition: Definition, isOas: boolean) => readonly LocatedItem[]
  readonly write: (definition: Definition, isOas: boolean, entries: readonly Definition[]) => Definition
  /** The path of the list itself, for errors about the whole list. */
  readonly places: (isOas: boolean) => readonly (readonly string[])[]
}

type FormatPaths = readonly [oas: string, classic: string]

const pathIn = ([oas, classic]: FormatPaths, isOas: boolean) =>
  isOas ? [EXTENSION, ...oas.split('.')] : classic.split('.')

const objectsIn = (list: Json | undefined): readonly Definition[] =>
  Array.isArray(list) ? list.filter((each): each is Definition => isObject(each)) : []

const held = (list: Json | undefined, path: readonly string[]): readonly LocatedItem[] =>
  objectsIn(list).map((entry, index) => ({ entry, place: [...path, String(index)] }))

/** Writes a list at its path; an empty one is removed. */
function put(definition: Definition, path: readonly string[], list: readonly Json[]): Definition {
  if (list.length === 0 && at(definition, path) === undefined) return definition
  return withAt(definition, path, list.length === 0 ? undefined : list)
}

/** A plain list in both formats. */
export function plainList(paths: FormatPaths): Listing {
  return {
    read: (definition, isOas) => held(at(definition, pathIn(paths, isOas)), pathIn(paths, isOas)),
    write: (definition, isOas, entries) => put(definition, pathIn(paths, isOas), entries),
    places: (isOas) => [pathIn(paths, isOas)],
  }
}

/** A list of `{domain, [member]}` in OpenAPI; in the classic format a map from domain to a text, here with the same members. */
export function domainMap(paths: FormatPaths, member: string): Listing {
  const plain = plainList(paths)
  return {
    ...plain,
    read: (definition, isOas) => {
      if (isOas) return plain.read(definition, isOas)
      const path = pathIn(paths, false)
      return Object.entries(objectAt(definition, path)).map(([domain, value]) => ({
        ...{ entry: { domain, [member]: value }, place: [...path, domain] },
      }))
    },
    write: (definition, isOas, entries) => {
      if (isOas) return plain.write(definition, isOas, entries)
      const pairs = entries.map(({ domain, [member]: value }) => [String(domain ?? ''), value ?? ''] as const)
      const path = pathIn(paths, false)
      if (pairs.length === 0 && at(definition, path) === undefined) return definition
      return withAt(definition, path, pairs.length === 0 ? undefined : Object.fromEntries(pairs))
    },
  }
}

const HANDLERS_PATH = ['event_handlers', 'events']

/** A list of handlers in OpenAPI; lists by event in the classic format, here with the event as `trigger`. */
export const HANDLERS: Listing = {
  places: (isOas) => (isOas ? [[EXTENSION, 'server', 'eventHandlers']] : [HANDLERS_PATH]),
  read: (definition, isOas) => {
    if (isOas) return OAS_HANDLERS.read(definition, isOas)
    return Object.entries(objectAt(definition, HANDLERS_PATH)).flatMap(([trigger, list]) =>
      held(list, [...HANDLERS_PATH, trigger]).map(({ entry, place }) => ({ entry: { ...entry, trigger }, place })),
    )
  },
  write: (definition, isOas, entries) => {
    if (isOas) return OAS_HANDLERS.write(definition, isOas, entries)
    const events = new Map<string, Json[]>()
    for (const { trigger, ...entry } of entries) {
      const name = String(trigger ?? '')
      events.set(name, [...(events.get(name) ?? []), entry as Definition])
    }
    if (events.size === 0 && at(definition, HANDLERS_PATH) === undefined) return definition
    return withAt(definition, HANDLERS_PATH, Object.fromEntries(events))
  },
}

const OAS_HANDLERS = plainList(['server.eventHandlers', ''])

/** Where on the way of a request modules are called, as `phase` here, and the list that each format has for it. */
export const PHASES = {
  pre: ['middleware.global.prePlugins', 'custom_middleware.pre'],
  postAuthentication: ['middleware.global.postAuthenticationPlugins', 'custom_middleware.post_key_auth'],
  post: ['middleware.global.postPlugins', 'custom_middleware.post'],
  response: ['middleware.global.responsePlugins', 'custom_middleware.response'],
} as const satisfies Readonly<Record<string, FormatPaths>>

const PHASE_NAMES = Object.keys(PHASES) as readonly (keyof typeof PHASES)[]
const DRIVER: FormatPaths = ['middleware.global.pluginConfig.driver', 'custom_middleware.driver']

/** One list for each phase, here one list with the phase as `phase`. */
export const MODULE_LIST: Listing = {
  places: (isOas) => PHASE_NAMES.map((phase) => pathIn(PHASES[phase], isOas)),
  read: (definition, isOas) =>
    PHASE_NAMES.flatMap((phase) =>
      plainList(PHASES[phase])
        .read(definition, isOas)
        .map(({ entry, place }) => ({ entry: { ...entry, phase }, place })),
    ),
  write: (definition, isOas, entries) => {
    let next = definition
    for (const phase of PHASE_NAMES) {
      const own = entries
        .filter((entry) => entry.phase === phase)
        .map(({ phase: _phase, ...entry }) => entry as Definition)
      next = plainList(PHASES[phase]).write(next, isOas, own)
    }
    const driver = pathIn(DRIVER, isOas)
    // Only TypeScript is called; a definition that says so of another language is refused by name.
    return entries.length === 0 || at(next, driver) !== undefined ? next : withAt(next, driver, 'typescript')
  },
}
