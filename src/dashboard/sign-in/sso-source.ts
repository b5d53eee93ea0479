import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { ssoEpochOf } from '../../model/organisations/organisation.ts'
import { epochOf } from '../../model/single-sign-on/idp-profile.ts'
import { findOrganisation } from '../../publish/organisations/organisations.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import type { DashboardParts } from '../server/parts.ts'

/** The source of single sign-on that admitted a user: what the user opened ends with it. */
export interface SsoSource {
  readonly orgId: string
  /** `ID` of the identity profile; '' = a nonce. */
  readonly profile: string
  /** At sign-in: `epochOf` the profile, of a nonce `ssoEpochOf` the organisation. */
  readonly epoch: string
  /** True where the organisation had single sign-on switched on. */
  readonly enabled: boolean
}

/** The opener as tickets keep it. */
export function ssoSourceBody({ orgId, profile, epoch, enabled }: SsoSource): JsonObject {
  return { org_id: orgId, profile, epoch, enabled }
}

/** The opener that `ssoSourceBody` wrote; undefined for what earlier versions wrote without one. */
export function ssoSourceOf(value: Json | undefined): SsoSource | undefined {
  if (!isObject(value)) return undefined
  const text = (name: string) => (typeof value[name] === 'string' ? (value[name] as string) : '')
  return { orgId: text('org_id'), profile: text('profile'), epoch: text('epoch'), enabled: value.enabled === true }
}

/** The stored state of an opener. */
export interface SsoSourceState {
  /** False when it is gone, switched off, or proves other people by now. */
  readonly holds: boolean
  /** Undefined for a nonce. */
  readonly profile?: StoredDocument
}

/** Looks an opener up. */
export async function readSsoSource(
  parts: Pick<DashboardParts, 'documents'>,
  { orgId, profile: id, epoch, enabled }: SsoSource,
): Promise<SsoSourceState> {
  const organisation = enabled ? await findOrganisation(parts, orgId) : undefined
  if (enabled && organisation?.body.sso_enabled !== true) return { holds: false }
  if (id === '') return { holds: organisation === undefined || ssoEpochOf(organisation.body) === epoch }
  const profile = await parts.documents.find('idp_profile', 'id', id)
  if (profile === undefined || profile.body.OrgID !== orgId || epochOf(profile.body) !== epoch) return { holds: false }
  return { holds: true, profile }
}
