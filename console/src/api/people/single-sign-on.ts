import { call } from '../calls/call.ts'

type Text = Readonly<Record<string, unknown>>

/** An identity profile: how people sign in elsewhere, and what they are here. What is not named here is kept. */
export interface IdentityProfile extends Text {
  readonly ID: string
  readonly Name?: string
  readonly ActionType?: string
  readonly ProviderName?: string
  readonly ProviderConfig?: Text
}

export interface SsoSettings {
  readonly sso_enable_user_lookup: boolean
  readonly sso_default_group_id: string
  readonly sso_permission_defaults: Readonly<Record<string, string>>
  readonly deny_without_mapping: boolean
  readonly warning: string
  readonly trust_unverified_email: readonly string[]
}

interface Answered<Data> {
  readonly ID: string
  readonly Data: Data
}

export const PROFILES_KEY = ['identity-profiles'] as const
export const SSO_SETTINGS_KEY = ['sso-settings'] as const

export async function listProfiles(signal: AbortSignal): Promise<readonly IdentityProfile[]> {
  return (await call<Answered<readonly IdentityProfile[]>>('GET', '/api/tib/profiles', { signal })).Data
}

export async function readProfile(id: string, signal?: AbortSignal): Promise<IdentityProfile> {
  const path = `/api/tib/profiles/${encodeURIComponent(id)}`
  return (await call<Answered<IdentityProfile>>('GET', path, { ...(signal && { signal }) })).Data
}

/** Makes a profile, with an ID of the dashboard's unless it brings one. */
export async function createProfile(profile: Text): Promise<IdentityProfile> {
  return (await call<Answered<IdentityProfile>>('POST', '/api/tib/profiles', { body: profile })).Data
}

/** Replaces a profile; secrets that are sent blank stay. */
export async function replaceProfile(id: string, profile: Text): Promise<IdentityProfile> {
  const path = `/api/tib/profiles/${encodeURIComponent(id)}`
  return (await call<Answered<IdentityProfile>>('PUT', path, { body: profile })).Data
}

export function deleteProfile(id: string): Promise<unknown> {
  return call('DELETE', `/api/tib/profiles/${encodeURIComponent(id)}`)
}

/** The permissions of users of single sign-on. */
export function readSsoSettings(signal: AbortSignal): Promise<SsoSettings> {
  return call('GET', '/api/sso/settings', { signal })
}
