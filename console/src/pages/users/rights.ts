import type { Rights } from '../../api/people/users.ts'
import { say, type TextName } from '../../texts/say.ts'

/** Permissions that every installation knows, in the order in which they are shown. */
const PERMISSIONS = [
  'apis',
  'policies',
  'keys',
  'oauth',
  'analytics',
  'log',
  'websockets',
  'portal',
  'users',
  'user_groups',
  'idm',
  'audit_logs',
  'hooks',
  'certs',
  'api_assets',
  'system',
] as const

export type Choice = 'none' | 'read' | 'write' | 'deny'

const MARKS: ReadonlySet<string> = new Set(['IsAdmin', 'ResetPassword', 'owned_analytics', 'mcp'])

/** A row of the matrix. */
export interface PermissionRow {
  readonly key: string
  readonly label: string
  readonly gives: string
}

/** Every permission that can be given: those of the product, those of the organisation, and what is set beyond both. */
export function permissionRows(custom: Rights, set: Rights): readonly PermissionRow[] {
  const known: readonly string[] = PERMISSIONS
  const own = [...new Set([...Object.keys(custom), ...Object.keys(set)])]
    .filter((key) => !known.includes(key) && !MARKS.has(key))
    .map((key) => ({ key, label: custom[key] || key, gives: say('permit.custom') }))
  const ours = PERMISSIONS.map((key) => ({ key, label: say(`permit.${key}`), gives: say(givesName(key)) }))
  return [...ours, ...own]
}

function givesName(key: (typeof PERMISSIONS)[number]): TextName {
  return `permit.${key}Gives`
}

/** True for an administrator; an empty object means one too. */
export function isAdministrator(rights: Rights): boolean {
  return rights.IsAdmin === 'admin' || Object.keys(rights).length === 0
}

/** The value of a permission. */
export function choiceOf(rights: Rights, key: string): Choice {
  const value = Object.hasOwn(rights, key) ? rights[key] : undefined
  return value === 'read' || value === 'write' || value === 'deny' ? value : 'none'
}

/** Rights in which this permission is set so. */
export function withChoice(rights: Rights, key: string, choice: Choice): Rights {
  const { [key]: _before, ...rest } = rights
  return notEmpty(choice === 'none' ? rest : { ...rest, [key]: choice })
}

/** Rights of an administrator, or of none. */
export function withAdministrator(rights: Rights, isAdmin: boolean): Rights {
  const { IsAdmin: _before, ...rest } = rights
  return notEmpty(isAdmin ? { ...rest, IsAdmin: 'admin' } : rest)
}

/** Rights that are none say so: an empty object would mean everything. */
function notEmpty(rights: Rights): Rights {
  const { IsAdmin, ...rest } = rights
  if (IsAdmin === 'admin') return rights
  return Object.keys(rest).length === 0 ? { IsAdmin: 'false' } : rest
}

/** Rights in which analytics are limited to own APIs, or not. */
export function withOwnAnalytics(rights: Rights, isOwned: boolean): Rights {
  const { owned_analytics: _before, ...rest } = rights
  return notEmpty(isOwned ? { ...rest, owned_analytics: 'owned' } : rest)
}

/** Permissions that open something. */
export function grantedPermissions(rights: Rights): number {
  return Object.entries(rights).filter(([key, value]) => !MARKS.has(key) && (value === 'read' || value === 'write'))
    .length
}

/** Rights in a few words. */
export function rightsText(rights: Rights): string {
  if (isAdministrator(rights)) return say('users.administrator')
  const number = grantedPermissions(rights)
  if (number === 0) return say('users.noRights')
  return number === 1 ? say('users.oneRight') : say('users.someRights', { count: number })
}
