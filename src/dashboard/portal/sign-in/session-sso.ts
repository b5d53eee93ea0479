import { fault } from '../../../errors/fault.ts'
import { rewriteDeveloper } from '../../../publish/portal/developers/developers-write.ts'
import { portalConfiguration } from '../../../publish/portal/settings/configuration.ts'
import type { StoredDocument } from '../../../store/ports/ports.ts'
import type { Call } from '../../routes/call.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { readSsoSource } from '../../sign-in/sso-source.ts'
import { findNonce } from '../../single-sign-on/nonce.ts'
import { currentGuarantor } from '../../single-sign-on/profiles.ts'
import { newPortalSession, type OpenedPortalSession } from './session.ts'

/**
 * Opens the session of the developer whose record contains the nonce that a trusted program created for the portal. The subject of
 * the nonce is not compared: the program has written it to the record of the developer it means. It is used up in the same commit.
 * @throws Fault `sso_nonce_void`, `sso_refused`, `portal_login_off` (403), `ticket_unusable` for two browsers with one nonce
 */
export async function enterPortalByNonce(
  parts: DashboardParts,
  call: Call,
  nonce: string,
): Promise<OpenedPortalSession & { readonly orgId: string }> {
  const { person, claim } = await findNonce(parts, nonce, 'portal')
  const { orgId, opener, guarantor } = person
  if (opener !== undefined && !(await readSsoSource(parts, opener)).holds) throw fault('sso_nonce_void')
  if (guarantor !== undefined && (await currentGuarantor(parts, guarantor)) === undefined) throw fault('sso_nonce_void')
  if ((await portalConfiguration(parts, orgId)).disable_login) throw fault('portal_login_off')
  const { rows } = await parts.documents.list('developer', { where: { nonce }, limit: 2 })
  const [developer] = rows
  // One that two records carry does not say whose it is.
  if (developer === undefined || rows.length > 1 || developer.body.org_id !== orgId)
    throw fault('sso_refused', 'no developer, or more than one, carries the nonce')
  if (developer.body.inactive === true) throw fault('sso_refused', 'the developer is inactive')
  const by = { developerId: developer.id, orgId, via: 'sso', opener, guarantor }
  const { changes, opened } = newPortalSession(parts, call, by)
  const edit = ({ body }: StoredDocument) => {
    if (body.nonce !== nonce || body.inactive === true) throw fault('sso_nonce_void')
    return { ...body, nonce: '', last_login_date: new Date(parts.clock.wall()).toISOString() }
  }
  await rewriteDeveloper(parts, developer.id, { orgId, actor: String(developer.body.email), action: undefined }, edit, [
    claim,
    ...changes,
  ])
  return { ...opened, orgId }
}
