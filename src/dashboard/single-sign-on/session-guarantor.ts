import type { JsonObject } from '../../model/json/json.ts'
import { activeFamily } from '../../model/people/user-security.ts'
import { newSecret } from '../../model/secrets/secret.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { Change } from '../../store/ports/ports.ts'
import type { DashboardParts } from '../server/parts.ts'
import { ticketHash } from '../sign-in/sessions.ts'
import { SIGN_IN_MS } from '../sign-in/sign-in-state.ts'
import type { SsoSource } from '../sign-in/sso-source.ts'
import { guarantorBody, guarantorOf, type SsoGuarantor } from './person.ts'
import { currentGuarantor } from './profiles.ts'

/** The stored facts of a session's guarantor. */
export interface NotedGuarantor {
  /** Undefined where nobody does: an administrator or the installation let the person in. */
  readonly stored: JsonObject | undefined
  /** Must be in the commit that opens the session. */
  readonly changes: readonly Change[]
}

/**
 * Notes the guarantor of a session that is about to open. The note ends when that user is switched off or deleted, and does
 * not come back with that user.
 */
export function noteGuarantor({ config, clock }: DashboardParts, guarantor: SsoGuarantor | undefined): NotedGuarantor {
  if (guarantor === undefined) return { stored: undefined, changes: [] }
  const note = newSecret()
  const { dashboard_session_lifetime: dashboardS, portal_session_lifetime: portalS } = config.dashboard
  const expiresAt = clock.wall() + SIGN_IN_MS + Math.max(dashboardS, portalS) * 1000
  const family = activeFamily(guarantor.userId)
  const body = { use: 'note' }
  const row = newTicket('sso', expiresAt, { family, body })
  return {
    stored: { ...guarantorBody(guarantor), note },
    changes: [{ op: 'putTicket', hash: hashOf(note), row, ifAbsent: true }],
  }
}

/**
 * The current guarantor of a session, with its present group and permissions: the author of its identity profile, or the creator of its nonce.
 * Undefined: none is needed. `ended`: the guarantor was deleted, or was inactive at some time since. `kept` is `NotedGuarantor.stored`.
 */
export async function guarantorOfSession(
  parts: DashboardParts,
  opener: SsoSource | undefined,
  kept: JsonObject = {},
): Promise<SsoGuarantor | undefined | 'ended'> {
  const { profile = '' } = opener ?? {}
  const stored = profile === '' ? undefined : await parts.documents.find('idp_profile', 'id', profile)
  const noted = guarantorOf(kept)
  const guarantor = stored === undefined ? noted : guarantorOf(stored.body)
  if (guarantor === undefined) return undefined
  const { note } = kept
  const hasNote = noted?.userId === guarantor.userId && typeof note === 'string'
  if (hasNote && (await parts.tokens.getTicket(hashOf(note))) === undefined) return 'ended'
  return (await currentGuarantor(parts, guarantor)) ?? 'ended'
}

const hashOf = (note: string) => ticketHash('sso_note', note)
