import { fault } from '../../errors/fault.ts'
import { type IdpProfile, type IdpProviderName, idpProfileOf } from '../../model/idp-profile.ts'
import { isObject } from '../../model/json.ts'
import { type Permissions, readPermissions } from '../../model/permission.ts'
import { openProfile } from '../../publish/idp-profiles.ts'
import { findOrganisation } from '../../publish/people/organisations.ts'
import type { DashboardParts } from '../parts.ts'

/** A profile that somebody signs in by, secrets in clear. */
export interface UsedProfile {
  readonly profile: IdpProfile
  /** Changes whenever the profile does. */
  readonly version: string
  /** Most that its sign-ins may give; undefined = everything. */
  readonly ceiling: Permissions | undefined
}

/**
 * The profile that a sign-in address names. @throws Fault `profile_unknown` (404) when there is none of the provider, `sso_disabled`
 * (403) when its organisation has no single sign-on
 */
export async function usedProfile(parts: DashboardParts, id: string, provider: IdpProviderName): Promise<UsedProfile> {
  const stored = await parts.documents.find('idp_profile', 'id', id)
  if (stored === undefined) throw fault('profile_unknown')
  const profile = idpProfileOf(openProfile(parts, stored))
  if (profile.provider !== provider || profile.action === undefined) throw fault('profile_unknown')
  const organisation = await findOrganisation(parts, profile.orgId)
  if (organisation?.body.sso_enabled !== true) throw fault('sso_disabled')
  const { ceiling } = stored.body
  return {
    profile,
    version: `${stored.id}.${stored.revision}`,
    ceiling: isObject(ceiling) ? readPermissions(ceiling) : undefined,
  }
}
