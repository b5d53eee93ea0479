import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CallError, call, keepCsrf } from '../calls/call.ts'
import { readSignInOptions } from './endpoints.ts'

/** Who is signed in, as `GET /api/session` tells. */
export interface Session {
  readonly user: {
    readonly id: string
    readonly email_address: string
    readonly first_name: string
    readonly last_name: string
    readonly group_id: string
    readonly is_admin: boolean
    readonly permissions: Readonly<Record<string, string>>
  }
  /** The user's own; for a user without one, the viewed one, or null for all. */
  readonly organisation: { readonly id: string; readonly name: string } | null
  /** True for a user who belongs to no organisation, and cannot write. */
  readonly unbounded: boolean
  readonly csrf_token: string
  readonly via: string
}

export const SESSION_KEY = ['session'] as const

/** Reads who is signed in. @throws CallError 401 when nobody is */
export async function readSession(): Promise<Session> {
  // Asked first, so that nobody being signed in is an answer and no error in the browser's console.
  if (!(await readSignInOptions()).signed_in) throw new CallError(401, '', '', undefined)
  const session = await call<Session>('GET', '/api/session')
  keepCsrf(session.csrf_token)
  return session
}

/** The signed-in user. Pages are inside the gate that waits for it, so it is present. @throws Error outside of that gate */
export function useSession(): Session {
  const { data } = useQuery({ queryKey: SESSION_KEY, queryFn: readSession, staleTime: 60_000, retry: false })
  if (data === undefined) throw new Error('no session')
  return data
}

/** Forgets everything that was read, when another person or organisation has come. */
export function useForget(): () => void {
  const client = useQueryClient()
  return () => client.clear()
}

export type Intent = 'read' | 'write'

/** Whether the person may, by the rule of the dashboard; it decides again on every call. */
export function mayDo({ user, unbounded }: Session, permission: string, intent: Intent): boolean {
  if (unbounded && intent === 'write') return false
  const value = user.permissions[permission]
  if (user.is_admin) return value !== 'deny'
  return value === 'write' || (value === 'read' && intent === 'read')
}

/** Whether the person who is signed in may. */
export function useMay(permission: string, intent: Intent = 'read'): boolean {
  return mayDo(useSession(), permission, intent)
}

/** Whether the person who is signed in is an administrator who may change things. */
export function useIsAdministrator(): boolean {
  const { user, unbounded } = useSession()
  return user.is_admin && !unbounded
}
