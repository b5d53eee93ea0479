import type { ApiBeside } from '../../model/api/beside.ts'
import { member } from '../../model/api/tree.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { Call } from '../call.ts'
import type { DashboardParts } from '../parts.ts'

const MOST = 1000

/**
 * What a wrapper says to stand beside its definition; null and what is no list say nothing. Owners need not exist: a definition that
 * comes from another installation names those of there, and being owned by nobody here is safer than being everybody's.
 */
export function besideSent(wrapper: JsonObject): ApiBeside {
  const users = textsIn(member(wrapper, 'user_owners'))
  const groups = textsIn(member(wrapper, 'user_group_owners'))
  const hooks = member(wrapper, 'hook_references')
  const categories = textsIn(member(wrapper, 'categories'))
  return {
    ...(users && { user_owners: users }),
    ...(groups && { user_group_owners: groups }),
    ...(Array.isArray(hooks) && { hook_references: hooks.filter(isObject).slice(0, MOST) }),
    ...(categories && { categories: cleanCategories(categories) }),
  }
}

/** With ownership on, a creator who is not an administrator owns what was created: else it would be lost from sight with the first other owner. */
export function besideNew({ config }: DashboardParts, call: Call, given: ApiBeside): ApiBeside {
  const { actor } = call
  if (!config.dashboard.enable_ownership || actor === undefined || actor.admin) return given
  return { ...given, user_owners: [...new Set([...(given.user_owners ?? []), actor.userId])] }
}

/** Categories without blanks and duplicates. */
export function cleanCategories(given: readonly string[]): string[] {
  return [...new Set(given.map((category) => category.trim()).filter((category) => category !== ''))]
}

function textsIn(list: Json | undefined): string[] | undefined {
  if (!Array.isArray(list)) return undefined
  const texts = list.filter(
    (entry): entry is string => typeof entry === 'string' && entry !== '' && entry.length <= 256,
  )
  return [...new Set(texts)].slice(0, MOST)
}
