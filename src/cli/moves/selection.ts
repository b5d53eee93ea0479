import { fault } from '../../errors/fault.ts'
import { EXTENSION } from '../../model/apis/definition/members.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { labelKey } from '../../model/labels/label.ts'
import { policyApisOf } from '../../model/policies/policy-body.ts'
import { CHOICES, type Choice, type MoveKind, textsAt } from './kind.ts'
import { namedByKey } from './kind-keys.ts'

/** Which objects are meant. */
export interface MoveSelection {
  /** Chosen sorts; of each all, or those of these ids. */
  readonly kinds: ReadonlyMap<Choice, 'all' | readonly string[]>
  /** APIs with one of these tags, and their dependents; none = all APIs. */
  readonly tags: readonly string[]
  /** APIs with each of these labels, `key:value` or `key`, and what goes with them. */
  readonly labels: readonly string[]
}

/** Everything but keys: what is moved when nobody chooses. */
const BY_DEFAULT: readonly Choice[] = CHOICES.filter((choice) => choice !== 'keys')
/** The kinds that belong to APIs, and so follow their tags and labels. */
const WITH_APIS: readonly Choice[] = ['apis', 'policies', 'clients', 'keys']

/** True when only some APIs are meant. */
export function isNarrow({ tags, labels }: MoveSelection): boolean {
  return tags.length > 0 || labels.length > 0
}

/** The selection of the options over that of the files: what an option says counts, what it does not say is as in the files. */
export function narrowSelection(files: MoveSelection, options: MoveSelection): MoveSelection {
  return {
    kinds: options.kinds.size === 0 ? (isNarrow(options) ? only(files.kinds, WITH_APIS) : files.kinds) : options.kinds,
    tags: options.tags.length > 0 ? options.tags : files.tags,
    labels: options.labels.length > 0 ? options.labels : files.labels,
  }
}

/** The selection of a dump: all but keys unless something is chosen; of some APIs only what belongs to them. */
export function dumpSelection(options: MoveSelection): MoveSelection {
  if (options.kinds.size > 0) return options
  const choices = isNarrow(options) ? BY_DEFAULT.filter((choice) => WITH_APIS.includes(choice)) : BY_DEFAULT
  return { ...options, kinds: new Map(choices.map((choice) => [choice, 'all'])) }
}

function only(kinds: MoveSelection['kinds'], choices: readonly Choice[]): MoveSelection['kinds'] {
  return new Map([...kinds].filter(([choice]) => choices.includes(choice)))
}

/** The bodies of all APIs and policies that there are, in the files and in the dashboard. */
export interface KnownRights {
  readonly apis: readonly JsonObject[]
  readonly policies: readonly JsonObject[]
}

/** Decides object by object what is meant. */
export function selects(
  selection: MoveSelection,
  { apis, policies }: KnownRights,
): (kind: MoveKind, identity: string, body: JsonObject) => boolean {
  const narrow = isNarrow(selection)
  const meant = new Set(narrow ? apis.filter((api) => isMeant(selection, api)).map((api) => String(api.api_id)) : [])
  const isAbout = (body: JsonObject) => policyApisOf(body).some((id) => meant.has(id))
  const given = new Set(narrow ? policies.filter(isAbout).map((policy) => String(policy.id)) : [])
  return (kind, identity, body) => {
    const ids = selection.kinds.get(kind.choice)
    if (ids === undefined) return false
    if (ids !== 'all' && !ids.includes(identity)) return false
    switch (narrow ? kind.choice : '') {
      case 'apis':
        return meant.has(identity)
      case 'policies':
        return isAbout(body)
      case 'clients':
        return textsAt(body, 'api_ids').some((id) => meant.has(id))
      case 'keys': {
        const named = namedByKey(body)
        return named.apis.some((id) => meant.has(id)) || named.policies.some((id) => given.has(id))
      }
      default:
        return true
    }
  }
}

function isMeant({ tags, labels }: MoveSelection, api: JsonObject): boolean {
  if (tags.length > 0 && !tagsOf(api).some((tag) => tags.includes(tag))) return false
  const carried = isObject(api.labels) ? api.labels : {}
  return labels.every((wanted) => {
    const [named = '', value] = wanted.split(/:(.*)/s)
    // A display name gives the key, unless its definition says another.
    const key = [named, labelKey(named)].find((each) => Object.hasOwn(carried, each))
    return key !== undefined && (value === undefined || carried[key] === value)
  })
}

/** Tags that nodes load it by. */
function tagsOf(api: JsonObject): string[] {
  if (isObject(api.api_definition)) return textsAt(api.api_definition, 'tags')
  const tags = member(member(member(api.oas, EXTENSION), 'server'), 'gatewayTags')
  return isObject(tags) ? textsAt(tags, 'tags') : []
}

function member(holder: Json | undefined, name: string): Json | undefined {
  return isObject(holder) ? holder[name] : undefined
}

/** The selection in the format of the dump's description file. */
export function selectionJson({ kinds, tags, labels }: MoveSelection): JsonObject {
  const held = [...kinds].map(([choice, ids]) => [choice, ids === 'all' ? ids : [...ids].sort()] as const)
  return {
    kinds: Object.fromEntries(held.sort(([a], [b]) => CHOICES.indexOf(a) - CHOICES.indexOf(b))),
    ...(tags.length > 0 && { tags: [...tags].sort() }),
    ...(labels.length > 0 && { labels: [...labels].sort() }),
  }
}

/** @throws Fault `files_unreadable` */
export function selectionIn(json: JsonObject, name: string): MoveSelection {
  const kinds = new Map<Choice, 'all' | readonly string[]>()
  for (const [choice, ids] of Object.entries(isObject(json.kinds) ? json.kinds : {})) {
    const known = CHOICES.find((each) => each === choice)
    if (known === undefined) throw fault('files_unreadable', `${name}: kinds.${choice} is not known here`)
    kinds.set(known, Array.isArray(ids) ? ids.map(String) : 'all')
  }
  return { kinds, tags: textsAt(json, 'tags'), labels: textsAt(json, 'labels') }
}

/**
 * The selection of a folder after a dump into it: its earlier one together with what was written. A dump of some APIs only refreshes a
 * folder of all of them. @throws Fault `option_invalid` where nobody could tell afterwards which objects the folder is about
 */
export function selectionAfterDump(before: MoveSelection | undefined, dump: MoveSelection): MoveSelection {
  if (before === undefined) return dump
  const isLike = (one: MoveSelection, other: MoveSelection) =>
    isNarrow(one) === isNarrow(other) && sameWords(one, other)
  const refreshes = !isNarrow(before) && [...dump.kinds.keys()].every((choice) => before.kinds.get(choice) === 'all')
  if (!isLike(before, dump) && !refreshes)
    throw fault('option_invalid', '--target: the folder has a dump of other tags or labels; use another folder')
  const kinds = new Map(before.kinds)
  for (const [choice, ids] of dump.kinds) {
    const held = kinds.get(choice)
    kinds.set(choice, held === 'all' || ids === 'all' ? 'all' : [...new Set([...(held ?? []), ...ids])])
  }
  return { ...before, kinds }
}

function sameWords(one: MoveSelection, other: MoveSelection): boolean {
  const words = ({ tags, labels }: MoveSelection) => JSON.stringify([[...tags].sort(), [...labels].sort()])
  return words(one) === words(other)
}
