import { isAdmin, type Permissions } from './permission.ts'

/** Members that are not `read` or `write`. */
const MARKS: ReadonlySet<string> = new Set(['IsAdmin', 'ResetPassword', 'owned_analytics'])
const RANK: Readonly<Record<string, number>> = { read: 1, write: 2 }

/**
 * The union of these permissions: of each permission the higher one. A `deny` takes nothing away from what another set
 * gives. No sets, or sets that give nothing, make rights that are none; an empty set counts as none, never as an administrator's.
 */
export function unitePermissions(sets: readonly Permissions[]): Permissions {
  const given = sets.filter((set) => Object.keys(set).length > 0)
  if (given.some((set) => isAdmin(set))) return { IsAdmin: 'admin' }
  const found: Record<string, string> = Object.create(null)
  for (const set of given) {
    for (const [name, value] of Object.entries(set)) {
      if (!MARKS.has(name) && rankOf(value) > rankOf(found[name])) found[name] = value
    }
  }
  const analysts = given.filter((set) => rankOf(set.analytics) > 0)
  if (analysts.length > 0 && analysts.every((set) => set.owned_analytics === 'owned')) found.owned_analytics = 'owned'
  return Object.keys(found).length === 0 ? { IsAdmin: 'false' } : { ...found }
}

const rankOf = (value: string | undefined) => (value === undefined ? 0 : (RANK[value] ?? 0))
