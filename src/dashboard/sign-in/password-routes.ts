import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { verifyPassword } from '../../model/passwords/passwords.ts'
import { securityOf } from '../../model/people/user-security.ts'
import { changePassword, sharingPassword } from '../../publish/sign-in/passwords.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { type Actor, isUnbounded } from '../access/actor.ts'
import { userToReset } from '../people/find-people.ts'
import { type Answer, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { withCookie } from './browser.ts'
import { endedCookie } from './cookie.ts'
import { requestLink, resetByLink } from './forgotten-password.ts'
import { cameByTls, checkOrigin } from './origin.ts'
import { OK } from './schemas.ts'
import { withAttemptLimit } from './second-factor.ts'

const MOST_SHARING = 100

/** Setting passwords: one's own, another user's, and one that was forgotten. */
export function passwordRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/users/{id}/actions/reset',
      access: 'signed-in',
      summary: 'Set the password of a user; ends its sessions',
      body: Type.Object({
        current_password: Type.Optional(
          Type.String({ description: 'Needed for the own password, where there is one.' }),
        ),
        new_password: Type.String({ description: 'The new password.' }),
        user_permissions: Type.Optional(Type.Unknown({ description: 'Passed over.' })),
      }),
      answers: { 200: OK },
      run: (call) => reset(parts, call),
    },
    {
      method: 'POST',
      path: '/api/password/forgot',
      access: 'public',
      summary: 'Request a password reset mail; the response is the same for every address',
      refusals: [401, 403],
      body: Type.Object({ email: Type.String({ description: 'Email address of the user.' }) }),
      answers: { 200: OK },
      run: (call) => {
        checkOrigin(parts, call)
        requestLink(parts, String(call.object().email), call)
        return ok('If there is an account with this address, a mail is on its way')
      },
    },
    {
      method: 'POST',
      path: '/api/password/reset',
      access: 'public',
      summary: 'Reset a password with the link of the mail',
      refusals: [401, 403],
      body: Type.Object(
        {
          token: Type.String({ description: 'The fragment of the link, after `#`.' }),
          new_password: Type.String({ description: 'The new password.' }),
        },
        { title: 'PasswordReset' },
      ),
      answers: { 200: OK },
      run: async (call) => {
        checkOrigin(parts, call)
        const { token, new_password: password } = call.object()
        await resetByLink(parts, String(token), String(password))
        return ok('User password updated')
      },
    },
  ]
}

async function reset(parts: DashboardParts, call: Call): Promise<Answer> {
  const actor = call.actor!
  const { current_password: current, new_password: sent } = call.object()
  const password = String(sent)
  const history = parts.config.dashboard.security.enforce_password_history
  const own = call.param('id') === actor.userId
  const user = own ? await found(parts, actor.userId) : await another(parts, actor, call.param('id'))
  if (own && !(await mayReplace(parts, call, user, typeof current === 'string' ? current : undefined, password)))
    return ok('User password updated')
  const users = own ? [user, ...(await sharingPassword(parts, user, MOST_SHARING))] : [user]
  await changePassword(parts, { users, password, history, actor: actor.email })
  const answer = ok('User password updated')
  return own && actor.sessionId !== undefined ? withCookie(answer, endedCookie(cameByTls(parts, call))) : answer
}

/**
 * Whether the caller's password is to be replaced. Sending the present one as the new one, without `current_password`, has shown
 * that they know it, and there is nothing to do: set-up scripts create a user with a password and then set the same.
 * @throws Fault `current_password_wrong`, `verification_needed` (403), `sign_in_throttled` (429)
 */
async function mayReplace(
  parts: DashboardParts,
  call: Call,
  { id, body }: StoredDocument,
  current: string | undefined,
  password: string,
): Promise<boolean> {
  const { password_hash: stored } = securityOf(body)
  if (stored === undefined && call.actor?.guarantor) throw fault('verification_needed')
  if (stored === undefined) return true
  return withAttemptLimit(parts, `own:${id}`, call, async () => {
    if (!(await verifyPassword(stored, current ?? password))) throw fault('current_password_wrong')
    return current !== undefined
  })
}

/** The user whose password an administrator sets. @throws as `userToReset` */
async function another(parts: DashboardParts, actor: Actor, id: string): Promise<StoredDocument> {
  if (!actor.admin || isUnbounded(actor)) throw fault('password_not_yours')
  return userToReset(parts, actor, id)
}

async function found({ documents }: DashboardParts, id: string): Promise<StoredDocument> {
  const user = isDocumentId(id) ? await documents.get('user', id) : undefined
  if (user === undefined) throw fault('not_found', 'Could not retrieve user detail.')
  return user
}
