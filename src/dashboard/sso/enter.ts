import { fault, toFault } from '../../errors/fault.ts'
import type { Change } from '../../store/ports.ts'
import type { Call } from '../call.ts'
import type { DashboardParts } from '../parts.ts'
import { cameByTls } from '../session/origin.ts'
import { type OpenedSession, openSession } from '../session/sessions.ts'
import type { SsoPerson } from './person.ts'
import { admitsAdmins, entryOf, signedInAs } from './rights.ts'

/**
 * Opens the browser session of a person who signed in elsewhere. `changes` use up what led here, in the same commit.
 * @throws Fault `sso_refused`, `rights_exceeded` (403), those of the changes
 */
export async function enterBySso(
  parts: DashboardParts,
  call: Call,
  person: SsoPerson,
  changes: readonly Change[],
): Promise<OpenedSession> {
  const entry = await entryOf(parts, person)
  const who = signedInAs(entry)
  if (entry.is === 'guest' && admitsAdmins(parts) && person.groupIds.length === 0 && !person.mapped)
    parts.log.warn(
      { request_id: call.requestId, email: who.email, org_id: who.orgId },
      'single sign-on let somebody in as an administrator: set dashboard.sso_default_group_id or dashboard.sso_permission_defaults, or refuse them with sso.deny_without_mapping',
    )
  return openSession(parts, who, 'sso', {
    secure: cameByTls(parts, call),
    clientAddress: call.clientAddress,
    changes,
  })
}

/** Two answers to one sign-in: the other one was first. */
export function replayed(error: unknown): unknown {
  const { code } = toFault(error)
  return code === 'already_exists' || code === 'ticket_unusable' ? fault('sso_failed', 'it was used before') : error
}
