const RANK: Readonly<Record<string, number>> = { read: 1, write: 2 }

const INTENTS: readonly Intent[] = ['read', 'write']

/** Members that are no separate permissions. */
const NO_READ_WRITE: ReadonlySet<string> = new Set(['IsAdmin', 'ResetPassword', 'owned_analytics'])

/** The permissions of users, by name; `read` or `write`. Others may be added by configuration and organisation. */
export const PERMISSION_KEYS = [
  'analytics',
  'api_assets',
  'apis',
  'audit_logs',
  'certs',
  'hooks',
  'idm',
  'keys',
  'log',
  'oauth',
  'policies',
  'portal',
  'system',
  'user_groups',
  'users',
  'websockets',
] as const

export type PermissionKey = (typeof PERMISSION_KEYS)[number]

/** The intent of a call. */
export type Intent = 'read' | 'write'

/** As stored: permission key to `read`, `write` or `deny`; `IsAdmin` and `ResetPassword` to `admin`; `owned_analytics` to `owned` or `all`. */
export type Permissions = Readonly<Record<string, string>>

/** True for an administrator: so marked, or with an empty object, which means everything. */
export function isAdmin(permissions: Permissions): boolean {
  return permissions.IsAdmin === 'admin' || Object.keys(permissions).length === 0
}

/** True when the permission covers the intent. An explicit `deny` holds for administrators too; for others it means what absence means. */
export function mayDo(permissions: Permissions, key: string, intent: Intent): boolean {
  const value = Object.hasOwn(permissions, key) ? permissions[key] : undefined
  if (isAdmin(permissions)) return value !== 'deny'
  return value === 'write' || (value === 'read' && intent === 'read')
}

/** True where analytics are limited to data that can be separated by API. Has a meaning only with `analytics: read`. */
export function ownAnalyticsOnly(permissions: Permissions): boolean {
  return !isAdmin(permissions) && permissions.analytics === 'read' && permissions.owned_analytics === 'owned'
}

/** Members of permissions that every installation knows; `mcp` is sent by existing clients and gives nothing here. */
export const KNOWN_PERMISSIONS: ReadonlySet<string> = new Set([
  ...PERMISSION_KEYS,
  ...['IsAdmin', 'ResetPassword', 'owned_analytics', 'mcp', 'policy'],
])

const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  IsAdmin: ['admin', 'true', 'false', 'deny', '', true, false],
  ResetPassword: ['admin', ''],
  owned_analytics: ['owned', 'all', 'read', ''],
}
const READ_WRITE = ['read', 'write', 'deny', '']

/**
 * Tells why a sent permission is none, in words that follow its name; undefined where it is one. `custom`: the names that an organisation
 * added. An empty value says that it is not given.
 */
export function permissionFlaw(name: string, value: unknown, custom: ReadonlySet<string>): string | undefined {
  if (!KNOWN_PERMISSIONS.has(name) && !custom.has(name)) return 'is no permission'
  const allowed = (Object.hasOwn(VALUES, name) ? VALUES[name] : undefined) ?? READ_WRITE
  if (value === null || allowed.includes(value)) return undefined
  return `must be one of ${allowed.filter((each) => typeof each === 'string' && each !== '').join(', ')}`
}

/**
 * Brings permissions as they come over the wire into the form that is stored: `policy` becomes `policies`, every way of saying
 * yes to `IsAdmin` becomes `admin` and every other one goes away from it (`"IsAdmin":"false"` stays, so that the object is not
 * empty and grants nothing), values that are none are left out.
 */
export function readPermissions(given: Readonly<Record<string, unknown>>): Permissions {
  const found: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(given)) {
    if (name === 'IsAdmin') found.IsAdmin = value === true || value === 'true' || value === 'admin' ? 'admin' : 'false'
    else if (name === 'owned_analytics') {
      if (value === 'owned' || value === 'read') found.owned_analytics = 'owned'
      else if (value === 'all') found.owned_analytics = 'all'
    } else if (typeof value === 'string' && /^(?:read|write|deny|admin)$/.test(value)) {
      found[name === 'policy' ? 'policies' : name] = value
    }
  }
  return { ...found }
}

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
    if (NO_READ_WRITE.has(key)) continue
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
      if (!NO_READ_WRITE.has(name) && rankOf(value) > rankOf(found[name])) found[name] = value
    }
  }
  const analysts = given.filter((set) => rankOf(set.analytics) > 0)
  if (analysts.length > 0 && analysts.every((set) => set.owned_analytics === 'owned')) found.owned_analytics = 'owned'
  return Object.keys(found).length === 0 ? { IsAdmin: 'false' } : { ...found }
}

const rankOf = (value: string | undefined) => (value === undefined ? 0 : (RANK[value] ?? 0))
