import { fault, toFault } from '../../errors/fault.ts'
import { bindTo, boundIdentity, hasSecondFactor, securityOf } from '../../model/people/user-security.ts'
import { withLock } from '../../publish/documents/parts.ts'
import { stampOf } from '../../publish/sign-in/passwords.ts'
import { putUser } from '../../publish/sign-in/rewrite-user.ts'
import { retryOnConflict } from '../../runtime/retry-on-conflict.ts'
import type { Change } from '../../store/ports/ports.ts'
import type { Answer } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import type { IdpSubject } from '../sign-in/idp-subject.ts'
import { cameByTls } from '../sign-in/origin.ts'
import { openSession } from '../sign-in/sessions.ts'
import { newSignIn, storeSignIn } from '../sign-in/sign-in-state.ts'
import { ssoSourceBody } from '../sign-in/sso-source.ts'
import { goTo } from './answers.ts'
import type { SsoPerson } from './person.ts'
import { admitsAdmins, entryOf, signedInAs } from './rights.ts'
import { noteGuarantor } from './session-guarantor.ts'

/** How a user signs in. */
export interface SsoLogin {
  readonly path: string
  readonly changes: readonly Change[]
  /** Who a SAML identity provider said it is. */
  readonly subject?: IdpSubject | undefined
}

/**
 * Opens the browser session of a user of single sign-on, and sends the browser to `path`. A user with a second factor here is sent
 * to verify it first, with a ticket for `POST /api/login/continue` in the fragment. The account is bound to the identity of the first
 * sign-in. `changes` use up the nonce or flow, in the same commit.
 * @throws Fault `sso_refused`, `rights_exceeded` (403), those of the changes
 */
export async function enterBySso(
  parts: DashboardParts,
  call: Call,
  person: SsoPerson,
  { path, changes, subject }: SsoLogin,
): Promise<Answer> {
  // Serialised with all other changes of users in this process: many may sign in as one user at once.
  return retryOnConflict(() => withLock(parts, () => enterNow(parts, call, person, { path, changes, subject })))
}

async function enterNow(
  parts: DashboardParts,
  call: Call,
  person: SsoPerson,
  { path, changes, subject }: SsoLogin,
): Promise<Answer> {
  const entry = await entryOf(parts, person)
  const who = signedInAs(entry)
  if (entry.is === 'guest' && admitsAdmins(parts) && person.groupIds.length === 0 && !person.mapped)
    parts.log.warn(
      { request_id: call.requestId, email: who.email, org_id: who.orgId },
      'single sign-on admitted a user as an administrator: set dashboard.sso_default_group_id or dashboard.sso_permission_defaults, or refuse them with sso.deny_without_mapping',
    )
  const { opener } = person
  const { stored, changes: noted } = noteGuarantor(parts, person.guarantor)
  const identity = entry.is === 'user' ? entry.identity : ''
  const user = entry.is === 'user' ? await parts.documents.get('user', entry.user.id) : undefined
  if (user !== undefined && hasSecondFactor(securityOf(user.body))) {
    const signIn = newSignIn([{ id: user.id, stamp: stampOf(user) }], 'sso', {
      ...(subject !== undefined && { subject }),
      ...(identity !== '' && { identity }),
      ...(opener !== undefined && { opener: ssoSourceBody(opener) }),
      ...(stored !== undefined && { guarantor: stored }),
    })
    const { text } = await storeSignIn(parts, signIn, [...changes, ...noted])
    return goTo(`/#${new URLSearchParams({ sign_in: text, to: path })}`)
  }
  const binds = user !== undefined && identity !== '' && boundIdentity(user.body) !== identity
  const { cookie } = await openSession(parts, who, 'sso', {
    secure: cameByTls(parts, call),
    clientAddress: call.clientAddress,
    agent: call.header('user-agent'),
    subject,
    opener,
    guarantor: stored,
    changes: [...changes, ...noted, ...(binds ? [putUser(user, bindTo(user.body, identity))] : [])],
  })
  return goTo(path, cookie)
}

/** Two answers to one sign-in: the other one was first. */
export function replayed(error: unknown): unknown {
  const { code } = toFault(error)
  return code === 'already_exists' || code === 'ticket_unusable' ? fault('sso_failed', 'it was used before') : error
}
