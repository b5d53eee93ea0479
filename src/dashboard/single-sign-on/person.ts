import { isObject, type JsonObject } from '../../model/json/json.ts'
import { type Permissions, readPermissions } from '../../model/people/permission.ts'
import { type SsoSource, ssoSourceBody, ssoSourceOf } from '../sign-in/sso-source.ts'

/** The state of an address: only a verified one identifies an account. `denied`: the provider calls it unverified. */
export type AddressStatus = 'verified' | 'unsaid' | 'denied'

/** A user who signed in at an identity provider. */
export interface SsoPerson {
  readonly orgId: string
  /** As `toEmail` gives it; '' = nobody said. */
  readonly email: string
  readonly address: AddressStatus
  /** Of a person whom an identity provider names: `identityOf`; '' for whom a trusted program names by the address alone. */
  readonly identity: string
  readonly displayName: string
  /** Groups that were named for the user, known or not. */
  readonly groupIds: readonly string[]
  /** Groups by the identity provider's names, of those that the profile maps. */
  readonly groupNames: readonly string[]
  /** The sign-in source of the user; undefined for users of an earlier version. */
  readonly opener: SsoSource | undefined
  /** True when groups are mapped: users in none of them are refused, with any other configuration. */
  readonly mapped: boolean
  /** True: let in as a user who exists, or not at all; counts where users are looked up. */
  readonly onlyRegistered: boolean
  /** The user beyond whose reach nobody is let in; undefined = an administrator or the installation. */
  readonly guarantor: SsoGuarantor | undefined
}

/** A user who decides who comes in by single sign-on, and is no administrator. */
export interface SsoGuarantor {
  /** The permissions of the user when it set up the way to sign in. */
  readonly permissions: Permissions
  readonly userId: string
  readonly groupId: string
  /** The present permissions of the user; undefined = not looked up. */
  readonly today?: Permissions
}

/** A guarantor as it is stored: two members, the first of which earlier versions wrote alone. */
export function guarantorBody(guarantor: SsoGuarantor | undefined): JsonObject {
  if (guarantor === undefined) return {}
  const { permissions, userId, groupId } = guarantor
  return { ceiling: { ...permissions }, voucher: { user_id: userId, group_id: groupId } }
}

/** The guarantor that `guarantorBody` wrote. */
export function guarantorOf({ ceiling, voucher }: JsonObject): SsoGuarantor | undefined {
  if (!isObject(ceiling)) return undefined
  const { user_id: userId, group_id: groupId } = isObject(voucher) ? voucher : {}
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  return { permissions: readPermissions(ceiling), userId: text(userId), groupId: text(groupId) }
}

/** Address of those of whom nobody said one. */
export const UNNAMED = 'ssoSession@ssoSession.com'

/** The person as it is kept in a ticket or a session. */
export function personBody(person: SsoPerson): JsonObject {
  const { orgId, email, address, identity, displayName, groupIds, mapped, onlyRegistered, guarantor } = person
  const { groupNames, opener } = person
  return {
    org_id: orgId,
    email_address: email === '' ? UNNAMED : email,
    address,
    identity,
    first_name: displayName,
    group_id: groupIds[0] ?? '',
    group_ids: [...groupIds],
    ...(groupNames.length > 0 && { group_names: [...groupNames] }),
    ...(opener !== undefined && { opener: ssoSourceBody(opener) }),
    mapped,
    only_registered: onlyRegistered,
    ...guarantorBody(guarantor),
  }
}

/** The person that `personBody` wrote. What is missing lets nobody in. */
export function personOf(body: JsonObject): SsoPerson {
  const text = (name: string) => (typeof body[name] === 'string' ? (body[name] as string) : '')
  const email = text('email_address')
  return {
    orgId: text('org_id'),
    email: email === UNNAMED ? '' : email,
    address: body.address === 'verified' || body.address === 'denied' ? body.address : 'unsaid',
    identity: text('identity'),
    displayName: text('first_name'),
    groupIds: textsAt(body, 'group_ids'),
    groupNames: textsAt(body, 'group_names'),
    opener: ssoSourceOf(body.opener),
    mapped: body.mapped === true,
    onlyRegistered: body.only_registered === true,
    guarantor: guarantorOf(body),
  }
}

function textsAt(body: JsonObject, name: string): string[] {
  const list = body[name]
  return Array.isArray(list) ? list.filter((entry) => typeof entry === 'string') : []
}
