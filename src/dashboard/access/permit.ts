import { type Fault, fault } from '../../errors/fault.ts'
import { type Intent, isAdmin, mayDo, ownAnalyticsOnly } from '../../model/people/permission.ts'
import type { Route } from '../routes/route.ts'
import { type Actor, isUnbounded } from './actor.ts'

/** The facts of a request for the decision on its admission. */
export interface AccessRequest {
  readonly route: Pick<Route, 'access' | 'method' | 'own'>
  readonly params: Readonly<Record<string, string>>
  /** Path as it came, without the query: the refusal names it. */
  readonly path: string
  readonly actor: Actor | undefined
  /** True when `admin-auth` holds the admin secret. */
  readonly installation: boolean
}

/**
 * Decides by role alone, before anything is known of what the call names. The only place that does.
 * Answers undefined, or the Fault `login_required` (401) or `permission_missing` (403).
 */
export function permit({ route, params, path, actor, installation }: AccessRequest): Fault | undefined {
  const { access, own } = route
  if (access === 'public') return undefined
  if (access === 'installation') return installation ? undefined : fault('login_required')
  if (actor === undefined) return fault('login_required')
  if (access === 'signed-in') return undefined
  if (own !== undefined && params[own] === actor.userId) return undefined
  const intent = intentOf(route)
  // An unbounded user sees everything and writes only the own record.
  if (isUnbounded(actor) && intent === 'write') return refusal(path)
  const may = access === 'admin' ? isAdmin(actor.permissions) : mayDo(actor.permissions, access.permission, intent)
  if (typeof access === 'object' && access.beyondApis === true && ownAnalyticsOnly(actor.permissions))
    return refusal(path)
  return may ? undefined : refusal(path)
}

/** The intent of a route: as declared, else by its method. */
export function intentOf({ access, method }: Pick<Route, 'access' | 'method'>): Intent {
  if (typeof access === 'object' && access.intent !== undefined) return access.intent
  return method === 'GET' ? 'read' : 'write'
}

/** Two spaces before the path: clients compare the text. */
function refusal(path: string): Fault {
  return fault('permission_missing', `access denied: You do not have permission to access  ${path}`)
}
