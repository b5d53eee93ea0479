import { type Intent, isAdmin, mayDo, PERMISSION_KEYS, type Permissions } from './permission.ts'

const INTENTS: readonly Intent[] = ['read', 'write']
/** Members that are no separate permissions. */
const MARKS: ReadonlySet<string> = new Set(['IsAdmin', 'ResetPassword', 'owned_analytics'])

/**
 * True when `held` includes everything that `wanted` allows: the permissions that a user may grant, and the users that it may
 * change.
 */
export function covers(held: Permissions, wanted: Permissions): boolean {
  if (isAdmin(wanted) && !isAdmin(held)) return false
  if (isMarked(wanted) && !isMarked(held) && !isAdmin(held)) return false
  if (seesOwnedOnly(held) && mayDo(wanted, 'analytics', 'read') && !seesOwnedOnly(wanted)) return false
  const keys = new Set([...PERMISSION_KEYS, ...Object.keys(held), ...Object.keys(wanted)])
  for (const key of keys) {
    if (MARKS.has(key)) continue
    if (INTENTS.some((intent) => mayDo(wanted, key, intent) && !mayDo(held, key, intent))) return false
  }
  return true
}

/** True for rights that let others' passwords be set. */
function isMarked(permissions: Permissions): boolean {
  return Object.hasOwn(permissions, 'ResetPassword') && permissions.ResetPassword === 'admin'
}

/** True for rights that show analytics of owned APIs alone; they count only where `analytics` is to be read. */
function seesOwnedOnly(permissions: Permissions): boolean {
  return !isAdmin(permissions) && permissions.analytics === 'read' && permissions.owned_analytics === 'owned'
}
