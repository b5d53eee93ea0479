import { fault } from '../../errors/fault.ts'
import { epochOf, type IdpProfile, type IdpProviderName, idpProfileOf, profileFamily } from '../../model/idp-profile.ts'
import { openProfile } from '../../publish/idp-profiles.ts'
import { findOrganisation } from '../../publish/people/organisations.ts'
import type { DashboardParts } from '../parts.ts'
import { type Opener, openerNow } from '../session/opener.ts'
import { type SsoPerson, type Voucher, voucherOf } from './person.ts'

/** A profile that somebody signs in by, secrets in clear. */
export interface UsedProfile {
  readonly profile: IdpProfile
  /** Changes whenever the profile does. */
  readonly version: string
  /** Who wrote it: its sign-ins give no more than that user has; undefined = an administrator. */
  readonly voucher: Voucher | undefined
  /** `profileFamily` of it. */
  readonly family: string
  readonly opener: Opener
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
  return {
    profile,
    version: `${stored.id}.${stored.revision}`,
    voucher: voucherOf(stored.body),
    family: profileFamily(stored.id),
    opener: { orgId: profile.orgId, profile: profile.id, epoch: epochOf(stored.body), enabled: true },
  }
}

/**
 * Somebody as the profile that they came by maps them now. Undefined when what let them in is gone, is switched off, or lets in other
 * people by now.
 */
export async function personNow(parts: DashboardParts, person: SsoPerson): Promise<SsoPerson | undefined> {
  if (person.opener === undefined) return person
  const { holds, profile: stored } = await openerNow(parts, person.opener)
  if (!holds) return undefined
  if (stored === undefined) return person
  const profile = idpProfileOf(stored.body)
  const { onlyRegistered } = profile
  return { ...person, ...groupsMapped(profile, person.groupNames), onlyRegistered, voucher: voucherOf(stored.body) }
}

/** Groups of ours for the groups of a person by the identity provider's names. */
export function groupsMapped(
  { groupField, groupMapping, defaultGroupId }: IdpProfile,
  names: readonly string[],
): Pick<SsoPerson, 'groupIds' | 'mapped'> {
  const ours = new Set(names.flatMap((name) => groupMapping.get(name) ?? []).filter((id) => id !== ''))
  const usual = defaultGroupId === '' ? [] : [defaultGroupId]
  return { groupIds: ours.size > 0 ? [...ours] : usual, mapped: groupField !== '' || groupMapping.size > 0 }
}
