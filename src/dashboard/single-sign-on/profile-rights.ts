import type { JsonObject } from '../../model/json/json.ts'
import { idpProfileOf } from '../../model/single-sign-on/idp-profile.ts'
import type { Actor } from '../access/actor.ts'
import { checkReferences } from '../access/references.ts'
import { checkOwnersReach } from '../people/check-rights.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import type { SsoGuarantor } from './person.ts'

/** The guarantor of a user's changes to single sign-on; undefined for an administrator. */
export function guarantorFor(actor: Actor): SsoGuarantor | undefined {
  const { admin, permissions, guarantor = actor } = actor
  return admin ? undefined : { permissions, userId: guarantor.userId, groupId: guarantor.groupId }
}

/**
 * Refuses an identity profile whose sign-ins get into groups that the caller could put nobody into, or make keys by policies that the
 * caller does not see. All that it names is judged, not only what is new: the same call may name another identity provider.
 * @throws Fault `rights_exceeded` (403), `reference_unknown` (400)
 */
export async function checkProfileReach(
  parts: DashboardParts,
  call: Pick<Call, 'actor' | 'visibility'>,
  profile: JsonObject,
): Promise<void> {
  const { defaultGroupId, groupMapping } = idpProfileOf(profile)
  const usual = defaultGroupId || parts.config.dashboard.sso_default_group_id
  await checkOwnersReach(parts, call.actor!, { groupIds: [usual, ...groupMapping.values()] })
  await checkReferences(parts, call, 'idp_profile', profile)
}
