import { fault } from '../../errors/fault.ts'
import type { IdpProfile } from '../../model/idp-profile.ts'
import type { Permissions } from '../../model/permission.ts'
import { toEmail } from '../../model/user.ts'
import type { IdpSubject } from '../session/idp-subject.ts'
import type { SsoPerson } from './person.ts'

/** What an identity provider says of somebody, by the provider's own names. */
export type Claims = ReadonlyMap<string, unknown>

/** What is known of somebody after a sign-in elsewhere. */
export interface Proven {
  readonly claims: Claims
  /** What the provider calls the person: never another's. */
  readonly subject: string
  /** As the provider says it; '' = it does not. */
  readonly email: string
  readonly displayName: string
  /** What a SAML log-out must name. */
  readonly samlSubject?: IdpSubject | undefined
}

/** Somebody, as a profile maps them. */
export interface Mapped {
  readonly person: SsoPerson
  readonly userId: string
}

const MOST_GROUPS = 1000

/**
 * Maps what an identity provider says to a person here. @throws Fault `sso_refused` (403), with the reason for the log, when the
 * constraints of the profile keep the person out, `sso_disabled`
 */
export function personFrom(profile: IdpProfile, ceiling: Permissions | undefined, proven: Proven): Mapped {
  const email = emailFrom(profile, proven)
  const groups = groupsFrom(profile, proven.claims)
  checkConstraints(profile, email, groups)
  const ours = new Set(groups.flatMap((group) => profile.groupMapping.get(group) ?? []).filter((id) => id !== ''))
  const usual = profile.defaultGroupId === '' ? [] : [profile.defaultGroupId]
  const userId = profile.userIdField === '' ? proven.subject : firstText(proven.claims.get(profile.userIdField))
  if (userId === '') throw fault('sso_refused', 'the claim of CustomUserIDField is missing')
  return {
    userId,
    person: {
      orgId: profile.orgId,
      email,
      displayName: proven.displayName.slice(0, 256),
      groupIds: ours.size > 0 ? [...ours] : usual,
      mapped: profile.groupField !== '' || profile.groupMapping.size > 0,
      onlyRegistered: profile.onlyRegistered,
      ceiling,
    },
  }
}

function emailFrom(profile: IdpProfile, { claims, email: usual }: Proven): string {
  // The flag speaks of the ordinary claim alone; a name of the profile's choice is the administrator's word.
  if (profile.emailField === '' && (claims.get('email_verified') === false || claims.get('email_verified') === 'false'))
    throw fault('sso_refused', 'the identity provider has not verified the email address')
  const given = profile.emailField === '' ? usual : firstText(claims.get(profile.emailField))
  if (given === '') return ''
  const email = toEmail(given)
  if (email === undefined) throw fault('sso_refused', 'the identity provider gives an email address that is none')
  return email
}

/** Groups by the identity provider's names. A text may hold several; a list holds them as they are. */
function groupsFrom({ groupField, groupSeparator }: IdpProfile, claims: Claims): string[] {
  const value = groupField === '' ? undefined : claims.get(groupField)
  if (typeof value === 'string')
    return [value, ...value.split(groupSeparator)].map((name) => name.trim()).slice(0, MOST_GROUPS)
  if (!Array.isArray(value)) return []
  return value.filter((name): name is string => typeof name === 'string').slice(0, MOST_GROUPS)
}

function checkConstraints({ domain, group }: IdpProfile, email: string, groups: readonly string[]): void {
  if (domain !== '' && email.slice(email.lastIndexOf('@') + 1) !== domain.replace(/^@/, ''))
    throw fault('sso_refused', 'the email address is not of the domain of the profile')
  if (group !== '' && !groups.includes(group)) throw fault('sso_refused', 'not in the group of ProviderConstraints')
}

/** A claim as text: itself, or the first of a list; '' for anything else. */
export function firstText(value: unknown): string {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' ? first.trim() : ''
}
