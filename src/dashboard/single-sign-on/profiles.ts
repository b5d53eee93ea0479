import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { userOf } from '../../model/people/user.ts'
import {
  epochOf,
  type IdpProfile,
  type IdpProviderName,
  idpProfileOf,
  profileFamily,
} from '../../model/single-sign-on/idp-profile.ts'
import { findOrganisation } from '../../publish/organisations/organisations.ts'
import { effective } from '../../publish/people/effective.ts'
import { openProfile } from '../../publish/single-sign-on/idp-profiles.ts'
import type { DashboardParts } from '../server/parts.ts'
import { readSsoSource, type SsoSource } from '../sign-in/sso-source.ts'
import { guarantorOf, type SsoGuarantor, type SsoPerson } from './person.ts'

/** A profile for sign-in, secrets in clear. */
export interface UsedProfile {
  readonly profile: IdpProfile
  /** Changes whenever the profile does. */
  readonly version: string
  /** Who wrote it: its sign-ins give no more than that user has; undefined = an administrator. */
  readonly guarantor: SsoGuarantor | undefined
  /** `profileFamily` of it. */
  readonly family: string
  readonly opener: SsoSource
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
    guarantor: guarantorOf(stored.body),
    family: profileFamily(stored.id),
    opener: { orgId: profile.orgId, profile: profile.id, epoch: epochOf(stored.body), enabled: true },
  }
}

/**
 * A user as their profile maps them now. Undefined when the profile is deleted or inactive, or admits other
 * users by now, and when the guarantor is deleted or inactive.
 */
export async function currentPerson(parts: DashboardParts, person: SsoPerson): Promise<SsoPerson | undefined> {
  const now = await openedNow(parts, person)
  if (now?.guarantor === undefined) return now
  const guarantor = await currentGuarantor(parts, now.guarantor)
  return guarantor && { ...now, guarantor }
}

/** The guarantor, with group and rights of now; undefined when the user is gone or inactive. */
export async function currentGuarantor(
  parts: DashboardParts,
  guarantor: SsoGuarantor,
): Promise<SsoGuarantor | undefined> {
  // Earlier versions did not store who it was.
  if (guarantor.userId === '') return guarantor
  const stored = isDocumentId(guarantor.userId) ? await parts.documents.get('user', guarantor.userId) : undefined
  if (stored === undefined) return undefined
  const user = userOf(stored)
  const { permissions: today, active } = await effective(parts, user)
  return active ? { ...guarantor, groupId: user.group_id, today } : undefined
}

async function openedNow(parts: DashboardParts, person: SsoPerson): Promise<SsoPerson | undefined> {
  if (person.opener === undefined) return person
  const { holds, profile: stored } = await readSsoSource(parts, person.opener)
  if (!holds) return undefined
  if (stored === undefined) return person
  const profile = idpProfileOf(stored.body)
  const { onlyRegistered } = profile
  return { ...person, ...groupsMapped(profile, person.groupNames), onlyRegistered, guarantor: guarantorOf(stored.body) }
}

/** Our groups for the groups of a user by the identity provider's names. */
export function groupsMapped(
  { groupField, groupMapping, defaultGroupId }: IdpProfile,
  names: readonly string[],
): Pick<SsoPerson, 'groupIds' | 'mapped'> {
  const ours = new Set(names.flatMap((name) => groupMapping.get(name) ?? []).filter((id) => id !== ''))
  const usual = defaultGroupId === '' ? [] : [defaultGroupId]
  return { groupIds: ours.size > 0 ? [...ours] : usual, mapped: groupField !== '' || groupMapping.size > 0 }
}
