import { fault, toFault } from '../../errors/fault.ts'
import { hasSecondFactor, securityOf } from '../../model/user-security.ts'
import { stampOf } from '../../publish/sign-in/passwords.ts'
import type { Change, StoredDocument } from '../../store/ports.ts'
import type { Answer } from '../answer.ts'
import type { Call } from '../call.ts'
import type { DashboardParts } from '../parts.ts'
import type { IdpSubject } from '../session/idp-subject.ts'
import { cameByTls } from '../session/origin.ts'
import { openSession } from '../session/sessions.ts'
import { begunSignIn, keepSignIn } from '../session/sign-in-state.ts'
import { goTo } from './answers.ts'
import type { SsoPerson } from './person.ts'
import { admitsAdmins, entryOf, signedInAs } from './rights.ts'

/** How somebody goes in. */
export interface Entering {
  readonly path: string
  readonly changes: readonly Change[]
  /** Who a SAML identity provider said it is. */
  readonly subject?: IdpSubject | undefined
}

/**
 * Opens the browser session of a person who signed in elsewhere, and sends the browser to `path`. Whoever has a second factor here is sent
 * to show it first, with a ticket for `POST /api/login/continue` behind `#`. `changes` use up what led here, in the same commit.
 * @throws Fault `sso_refused`, `rights_exceeded` (403), those of the changes
 */
export async function enterBySso(
  parts: DashboardParts,
  call: Call,
  person: SsoPerson,
  { path, changes, subject }: Entering,
): Promise<Answer> {
  const entry = await entryOf(parts, person)
  const who = signedInAs(entry)
  if (entry.is === 'guest' && admitsAdmins(parts) && person.groupIds.length === 0 && !person.mapped)
    parts.log.warn(
      { request_id: call.requestId, email: who.email, org_id: who.orgId },
      'single sign-on let somebody in as an administrator: set dashboard.sso_default_group_id or dashboard.sso_permission_defaults, or refuse them with sso.deny_without_mapping',
    )
  const user = entry.is === 'user' ? await parts.documents.get('user', entry.user.id) : undefined
  if (user !== undefined && hasSecondFactor(securityOf(user.body)))
    return goTo(`/#${new URLSearchParams({ sign_in: await begin(parts, user, changes, subject), to: path })}`)
  const { cookie } = await openSession(parts, who, 'sso', {
    secure: cameByTls(parts, call),
    clientAddress: call.clientAddress,
    agent: call.header('user-agent'),
    subject,
    changes,
  })
  return goTo(path, cookie)
}

/** Begins a sign-in that lacks the second factor. Answers its ticket. */
async function begin(
  parts: DashboardParts,
  user: StoredDocument,
  changes: readonly Change[],
  subject: IdpSubject | undefined,
): Promise<string> {
  const signIn = begunSignIn([{ id: user.id, stamp: stampOf(user) }], 'sso', subject)
  return (await keepSignIn(parts, signIn, changes)).text
}

/** Two answers to one sign-in: the other one was first. */
export function replayed(error: unknown): unknown {
  const { code } = toFault(error)
  return code === 'already_exists' || code === 'ticket_unusable' ? fault('sso_failed', 'it was used before') : error
}
