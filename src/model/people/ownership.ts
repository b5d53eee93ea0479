import type { Json, JsonObject } from '../json/json.ts'

/** Users and groups that own an API; nobody in particular when both are empty. */
export interface Owners {
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

/** The owners that a stored API names: `user_owners` and `user_group_owners`, beside its definition. */
export function readOwners(body: JsonObject): Owners {
  return { users: textsOf(body.user_owners), groups: textsOf(body.user_group_owners) }
}

/**
 * The index values of a stored API by owner: `u:<user>` and `g:<group>` of each, or `*` where nobody in particular owns it; none where the
 * last owner was deleted.
 */
export function ownersOf(body: JsonObject): string[] {
  const { users, groups } = readOwners(body)
  const filed = [...users.map((id) => `u:${id}`), ...groups.map((id) => `g:${id}`)]
  return filed.length === 0 && body.ownerless !== true ? ['*'] : filed
}

function textsOf(value: Json | undefined): string[] {
  const texts = Array.isArray(value) ? value.filter((entry) => typeof entry === 'string' && entry !== '') : []
  return [...new Set(texts as string[])]
}
