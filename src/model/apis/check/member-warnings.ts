import { nearest } from '../../../errors/suggest.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import type { ApiDocument } from '../definition/api.ts'
import { EXTENSION, extensionOf, flagOf } from '../definition/members.ts'
import type { Flaw, TreePath } from '../definition/tree.ts'
import type { Schema } from '../schema/schema.ts'
import { CLASSIC_SCHEMA } from '../schema/schema-classic.ts'
import { EXTENSION_SCHEMA } from '../schema/schema-oas.ts'
import { CLASSIC_UNSERVED } from '../schema/schema-unserved-classic.ts'
import { EXTENSION_UNSERVED } from '../schema/schema-unserved-oas.ts'
import { refusedMembersOf } from './refused-members.ts'
import { asks } from './unknown-members.ts'

/** Members that are listed one by one; of more only the number is. A gateway makes this list for each definition that it loads. */
const MOST_REPORTED = 100

const NO_EFFECT = 'has no effect on this gateway'

/** Members that only the dashboard's wrapper of a classic definition has, and are read from there. */
const WRAPPED: ReadonlySet<string> = new Set([
  'hook_references',
  'is_site',
  'sort_by',
  'user_group_owners',
  'user_owners',
])

/** Switches that turn the section off that holds them. */
const isOff = (value: JsonObject) =>
  ['enabled', 'enable', 'is_enabled', 'use_discovery_service'].some((name) => value[name] === false) ||
  flagOf(value, 'disabled')

/** The schemas of a member at one place of a definition. */
interface Known {
  readonly served: Schema | undefined
  readonly unserved: Schema | undefined
}

/** Members of a definition that are kept without effect, and those that nothing here knows, each with the reason. */
export function memberWarnings({ format, definition }: Pick<ApiDocument, 'format' | 'definition'>): Flaw[] {
  const root = format === 'oas' ? [EXTENSION] : []
  const value = format === 'oas' ? extensionOf(definition) : definition
  if (value === undefined) return []
  const known: Known =
    format === 'oas'
      ? { served: EXTENSION_SCHEMA, unserved: EXTENSION_UNSERVED }
      : { served: CLASSIC_SCHEMA, unserved: CLASSIC_UNSERVED }
  const refused = refusedMembersOf(value, format, root).map((each) => ({
    at: each.at,
    reason: `${each.feature}: has no effect on this gateway, which refuses it when it is saved`,
  }))
  const flaws: Flaw[] = []
  let left: TreePath | undefined
  let more = 0
  walk(value, known, root, undefined, (path, reason) => {
    if (refused.some(({ at }) => isWithin(path, at))) return
    if (flaws.length < MOST_REPORTED) flaws.push({ at: path, reason: reason() })
    else if (left === undefined) left = path
    else more++
  })
  if (left !== undefined)
    flaws.push({
      at: left,
      reason: `has no effect or is not known here${more === 0 ? '' : `, as ${more} more members`}`,
    })
  return [...refused, ...flaws]
}

/** Reports the member at a path; the reason is made only where it is listed. */
type Report = (path: TreePath, reason: () => string) => void

function walk(value: Json, known: Known, path: TreePath, reason: string | undefined, tell: Report): void {
  if (!asks(value)) return
  if (known.served === undefined && known.unserved !== undefined && isAny(known.unserved)) {
    tell(path, () => reason ?? NO_EFFECT)
    return
  }
  if (Array.isArray(value)) {
    const items = step(known, ({ items }) => items)
    if (isNothing(items)) return
    for (const [index, item] of value.entries()) walk(item, items, [...path, String(index)], reason, tell)
    return
  }
  if (!isObject(value)) {
    if (known.served === undefined) tell(path, () => reason ?? NO_EFFECT)
    return
  }
  if (isOff(value)) return
  for (const [name, item] of Object.entries(value)) {
    const below = step(known, (schema) => memberOf(schema, name))
    const at = [...path, name]
    if (!isNothing(below)) {
      const ownReason = below.served === undefined ? (below.unserved?.description as string | undefined) : undefined
      walk(item, below, at, ownReason ?? reason, tell)
    } else if (!isOpen(known) && asks(item) && !name.startsWith('x-') && !(path.length === 0 && WRAPPED.has(name)))
      tell(at, () => unknownReason(name, namesOf(known)))
  }
}

/** The reason of a member that no table holds. */
function unknownReason(name: string, known: Iterable<string>): string {
  const near = nearest(name, known)
  return `is a member that nothing here knows${near === undefined ? '' : `: did you mean "${near}"?`}`
}

function step({ served, unserved }: Known, into: (schema: Schema) => Json | undefined): Known {
  const of = (schema: Schema | undefined) => {
    const below = schema === undefined ? undefined : into(schema)
    return below !== undefined && isObject(below) ? below : undefined
  }
  return { served: of(served), unserved: of(unserved) }
}

const isNothing = ({ served, unserved }: Known) => served === undefined && unserved === undefined

/** Objects that hold whatever their author wants. */
const isOpen = ({ served, unserved }: Known) =>
  [served, unserved].some((schema) => schema !== undefined && isAny(schema))
const isAny = (schema: Schema) =>
  schema.items === undefined &&
  schema.additionalProperties === undefined &&
  (!isObject(schema.properties ?? null) || Object.keys(schema.properties as JsonObject).length === 0) &&
  (schema.type === undefined || [schema.type].flat().includes('object'))

function memberOf({ properties, additionalProperties }: Schema, name: string): Json | undefined {
  if (properties !== undefined && isObject(properties))
    return Object.hasOwn(properties, name) ? properties[name] : undefined
  return additionalProperties
}

function namesOf({ served, unserved }: Known): string[] {
  return [served, unserved].flatMap((schema) =>
    isObject(schema?.properties ?? null) ? Object.keys(schema!.properties as JsonObject) : [],
  )
}

function isWithin(path: TreePath, root: TreePath): boolean {
  return root.every((name, index) => path[index] === name)
}
