import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import type { Json } from '../../model/json/json.ts'
import { NEVER } from '../../model/people/user.ts'
import { hasSecondFactor, isPasswordTooOld, securityOf } from '../../model/people/user-security.ts'
import { stampOf } from '../../publish/sign-in/passwords.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import type { DashboardParts } from '../server/parts.ts'
import type { SignInState } from './sign-in-state.ts'
import { maySignIn } from './users-with-password.ts'

/** The missing factors of a sign-in, and its account. */
export type SignInProgress =
  | { readonly need: 'organisation'; readonly users: readonly StoredDocument[] }
  | { readonly need: 'second_factor' | 'new_password' | 'enrolment' | 'nothing'; readonly user: StoredDocument }

/**
 * The state of a sign-in: determined again at each step from the store, so that every change counts.
 * @throws Fault `sign_in_failed` (401) when none of the accounts may be used, `sign_in_void` (401) when the chosen one was changed
 */
export async function signInProgressOf(parts: DashboardParts, state: SignInState): Promise<SignInProgress> {
  const users = await usable(parts, state)
  if (state.user === '' && users.length > 1) return { need: 'organisation', users }
  const user = state.user === '' ? users[0] : users.find(({ id }) => id === state.user)
  if (user === undefined)
    throw fault(state.user === '' || state.candidates.length === 1 ? 'sign_in_failed' : 'sign_in_void')
  if (!state.second && hasSecondFactor(securityOf(user.body))) return { need: 'second_factor', user }
  if (state.via === 'password' && !state.renewed && (await needsNewPassword(parts, user)))
    return { need: 'new_password', user }
  // The organisation asks for more than a password, and single sign-on is that.
  const alone = state.via !== 'sso' && !hasSecondFactor(securityOf(user.body))
  if (alone && (await requiresSecondFactor(parts, user.body.org_id))) return { need: 'enrolment', user }
  return { need: 'nothing', user }
}

/** True when an organisation lets nobody in by a password alone. */
export async function requiresSecondFactor({ documents }: DashboardParts, orgId: Json | undefined): Promise<boolean> {
  const organisation = isDocumentId(orgId) ? await documents.get('organisation', orgId) : undefined
  return organisation?.body.require_second_factor === true
}

async function usable(parts: DashboardParts, { candidates }: SignInState): Promise<StoredDocument[]> {
  const found: StoredDocument[] = []
  for (const { id, stamp } of candidates) {
    const user = await parts.documents.get('user', id)
    if (user !== undefined && stampOf(user) === stamp && (await maySignIn(parts, user))) found.push(user)
  }
  return found
}

async function needsNewPassword(parts: DashboardParts, { body }: StoredDocument): Promise<boolean> {
  const { security } = parts.config.dashboard
  const { last_login_date: last = NEVER, group_id: groupId } = body
  if (security.force_first_login_pw_reset && (last === NEVER || last === '')) return true
  const group = isDocumentId(groupId) ? await parts.documents.get('user_group', groupId) : undefined
  const bounds = [security.user_password_max_days, body.password_max_days ?? 0, group?.body.password_max_days ?? 0]
  return isPasswordTooOld(securityOf(body), bounds, parts.clock.wall())
}
