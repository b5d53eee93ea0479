import { fault } from '../../errors/fault.ts'
import type { ApiMetadata } from '../../model/apis/definition/api-metadata.ts'
import { member } from '../../model/apis/definition/tree.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

const MOST = 1000
const LONGEST = 256

/** The metadata of a wrapper, outside the definition; null is as if left out. @throws Fault `body_invalid` (400) naming what is of a wrong type */
export function sentApiMetadata(wrapper: JsonObject): ApiMetadata {
  const users = textsIn(wrapper, 'user_owners')
  const groups = textsIn(wrapper, 'user_group_owners')
  const hooks = listIn(wrapper, 'hook_references')
  const categories = textsIn(wrapper, 'categories')
  return {
    ...(users && { user_owners: users }),
    ...(groups && { user_group_owners: groups }),
    ...(hooks && {
      hook_references: hooks.map((hook, at) => (isObject(hook) ? hook : refuse(`hook_references.${at}`, 'an object'))),
    }),
    ...(categories && { categories: cleanCategories(categories) }),
  }
}

/** With ownership on, a creator who is not an administrator owns what was created: else it would be lost from sight with the first other owner. */
export function newApiMetadata({ config }: DashboardParts, call: Call, given: ApiMetadata): ApiMetadata {
  const { actor } = call
  if (!config.dashboard.enable_ownership || actor === undefined || actor.admin) return given
  return { ...given, user_owners: [...new Set([...(given.user_owners ?? []), actor.userId])] }
}

/** Categories without blanks and duplicates. @throws Fault `query_invalid` (400) for more than an API may have */
export function cleanCategories(given: readonly string[]): string[] {
  refuseMore('categories', given.length)
  return [...new Set(given.map((category) => category.trim()).filter((category) => category !== ''))]
}

function textsIn(wrapper: JsonObject, name: string): string[] | undefined {
  const texts = listIn(wrapper, name)?.map((entry, at) =>
    typeof entry === 'string' && entry.length <= LONGEST
      ? entry
      : refuse(`${name}.${at}`, `a text of at most ${LONGEST} characters`),
  )
  return texts && [...new Set(texts)].filter((entry) => entry !== '')
}

/** @throws Fault `body_invalid` (400) for what is no list, `query_invalid` (400) for one of more owners than an API may have */
function listIn(wrapper: JsonObject, name: string): readonly Json[] | undefined {
  const list = member(wrapper, name)
  if (list === undefined || list === null) return undefined
  if (!Array.isArray(list)) return refuse(name, 'a list')
  refuseMore(name, list.length)
  return list
}

function refuse(place: string, kind: string): never {
  throw fault('body_invalid', `${place}: must be ${kind}`)
}

function refuseMore(name: string, count: number): void {
  if (count > MOST) throw fault('query_invalid', `${name} must not hold more than ${MOST} entries (${count})`)
}
