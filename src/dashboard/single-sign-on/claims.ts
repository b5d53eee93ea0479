import { createHash } from 'node:crypto'
import { fault } from '../../errors/fault.ts'
import { isObject } from '../../model/json/json.ts'
import { toEmail } from '../../model/people/user.ts'
import type { IdpProfile } from '../../model/single-sign-on/idp-profile.ts'
import type { IdpSubject } from '../sign-in/idp-subject.ts'
import type { AddressStatus, SsoPerson } from './person.ts'
import { groupsMapped, type UsedProfile } from './profiles.ts'

/** Claims of an identity provider about a user, by the provider's names. */
export type Claims = ReadonlyMap<string, unknown>

/** The result of a sign-in at an identity provider. */
export interface ProvenPerson {
  readonly claims: Claims
  /** Who says so: the issuer, the entity id, the directory. */
  readonly issuer: string
  /** The provider's ID of the user: never another's. */
  readonly subject: string
  /** The name of the user in keys, unless the profile chooses a claim. */
  readonly userId: string
  /** As the provider says it; '' = it does not. */
  readonly email: string
  /** The provider's verification of this address. */
  readonly address: AddressStatus
  /** True where the operator of the directory answers for every attribute: users cannot set their own address. */
  readonly attributesTrusted: boolean
  readonly displayName: string
  /** The name ID for a SAML log-out. */
  readonly samlSubject?: IdpSubject | undefined
}

/** The user of a profile's mapping. */
export interface MappedPerson {
  readonly person: SsoPerson
  readonly userId: string
  /** True when the address counts only because the profile says `TrustUnverifiedEmail`. */
  readonly trusted: boolean
}

/** Reason for refusing a user whose address is required but not verified. */
export const UNVERIFIED =
  'the identity provider does not say that the email address is verified (email_verified); TrustUnverifiedEmail of the profile takes it nevertheless'

const MOST_GROUPS = 1000
/** Dots in a name that can lead into nested claims. */
const MOST_STEPS = 10

/**
 * Maps what an identity provider says to a person here. @throws Fault `sso_refused` (403), with the reason for the log, when the
 * constraints of the profile keep the person out, `sso_disabled`
 */
export function personFrom({ profile, guarantor, opener }: UsedProfile, proven: ProvenPerson): MappedPerson {
  const { email, address, trusted } = addressFrom(profile, proven)
  const groups = groupsFrom(profile, proven.claims)
  checkConstraints(profile, email, address, groups)
  return {
    userId: userIdFrom(profile, proven, address),
    trusted,
    person: {
      orgId: profile.orgId,
      email,
      address,
      identity: identityOf(profile, proven),
      displayName: proven.displayName.trim().slice(0, 256),
      groupNames: [...new Set(groups.filter((group) => profile.groupMapping.has(group)))],
      opener,
      ...groupsMapped(profile, groups),
      onlyRegistered: profile.onlyRegistered,
      guarantor,
    },
  }
}

/** The identity of an account: the organisation, the profile, the issuer, and its subject (OpenID Connect Core 1.0 section 5.7). */
function identityOf({ orgId, id }: IdpProfile, { issuer, subject }: ProvenPerson): string {
  if (subject === '') return ''
  return createHash('sha256')
    .update(JSON.stringify([orgId, id, issuer, subject]))
    .digest('hex')
}

/**
 * The trust in an address in this spelling: one that only becomes a stored address by folding more than ASCII letters
 * (the Kelvin sign to `k`), or without blanks around it, is not that address.
 */
export function addressStatusOf(given: string, said: AddressStatus): AddressStatus {
  return said === 'verified' && !isSpelledAsStored(given) ? 'unsaid' : said
}

function isSpelledAsStored(given: string): boolean {
  return given.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) === toEmail(given)
}

function addressFrom(
  profile: IdpProfile,
  proven: ProvenPerson,
): { readonly email: string; readonly address: AddressStatus; readonly trusted: boolean } {
  const given = profile.emailField === '' ? proven.email : firstText(claimAt(proven.claims, profile.emailField))
  if (given === '') return { email: '', address: 'unsaid', trusted: false }
  const email = toEmail(given)
  if (email === undefined) throw fault('sso_refused', 'the identity provider gives an email address that is none')
  // `email_verified` speaks of the claim `email` alone: of another one nothing is said.
  const said = proven.attributesTrusted ? 'verified' : given === proven.email ? proven.address : 'unsaid'
  const address = addressStatusOf(given, said)
  const isTaken = profile.trustUnverifiedEmail && isSpelledAsStored(given)
  if (address === 'verified' || !isTaken) return { email, address, trusted: false }
  return { email, address: 'verified', trusted: true }
}

function userIdFrom(profile: IdpProfile, proven: ProvenPerson, address: AddressStatus): string {
  const userId = profile.userIdField === '' ? proven.userId : firstText(claimAt(proven.claims, profile.userIdField))
  if (userId === '') throw fault('sso_refused', 'the claim of CustomUserIDField is missing')
  // Of one id there is one key at a time: by an address of another's, the other's key would end.
  const isAddress = profile.userIdField !== '' && !proven.attributesTrusted && toEmail(userId) === toEmail(proven.email)
  const makesKey = profile.action === 'GenerateTemporaryAuthToken'
  if (makesKey && (address === 'denied' || (isAddress && toEmail(userId) !== undefined && address !== 'verified')))
    throw fault('sso_refused', UNVERIFIED)
  return userId
}

/**
 * A claim by its name: the claim of exactly this name, else what a path of names with dots between them leads to
 * (`realm_access.roles`). A name on the way may have dots itself; the longest goes first. Undefined = there is none.
 */
export function claimAt(claims: Claims, name: string): unknown {
  if (claims.has(name)) return claims.get(name)
  return name.split('.').length > MOST_STEPS + 1 ? undefined : valueAt((key) => claims.get(key), name)
}

function valueAt(get: (key: string) => unknown, name: string): unknown {
  const exact = get(name)
  if (exact !== undefined) return exact
  for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
    const inner = get(name.slice(0, dot))
    if (!isObject(inner)) continue
    const found = valueAt((key) => (Object.hasOwn(inner, key) ? inner[key] : undefined), name.slice(dot + 1))
    if (found !== undefined) return found
  }
  return undefined
}

/** Groups by the identity provider's names. A text may hold several; a list holds them as they are. */
function groupsFrom({ groupField, groupSeparator }: IdpProfile, claims: Claims): string[] {
  const value = groupField === '' ? undefined : claimAt(claims, groupField)
  if (typeof value === 'string')
    return [value, ...value.split(groupSeparator)].map((name) => name.trim()).slice(0, MOST_GROUPS)
  if (!Array.isArray(value)) return []
  return value.filter((name): name is string => typeof name === 'string').slice(0, MOST_GROUPS)
}

function checkConstraints(
  { domain, group }: IdpProfile,
  email: string,
  address: AddressStatus,
  groups: readonly string[],
): void {
  if (domain !== '' && address === 'denied') throw fault('sso_refused', UNVERIFIED)
  if (domain !== '' && email.slice(email.lastIndexOf('@') + 1) !== domain.replace(/^@/, ''))
    throw fault('sso_refused', 'the email address is not of the domain of the profile')
  if (group !== '' && !groups.includes(group)) throw fault('sso_refused', 'not in the group of ProviderConstraints')
  if (domain !== '' && address !== 'verified') throw fault('sso_refused', UNVERIFIED)
}

/** A claim as text, in its own spelling: itself, or the first of a list; '' for blanks and anything else. */
export function firstText(value: unknown): string {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' && first.trim() !== '' ? first : ''
}
