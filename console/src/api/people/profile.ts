import { CallError, call, type Envelope, keepCsrf } from '../calls/call.ts'
import type { SignInNeeds } from './sign-in.ts'

/** The own record, as `GET /api/users/me` tells. */
export interface Me {
  readonly id: string
  readonly first_name: string
  readonly last_name: string
  readonly email_address: string
  readonly access_key: string
  readonly group_name: string
  readonly password_updated: string
  readonly last_login_date: string
  readonly created_at: string
}

export interface SecondFactor {
  readonly totp: { readonly enabled: boolean; readonly confirmed_at: string }
  readonly passkeys: number
  readonly recovery_codes_left: number
  /** By the organisation. */
  readonly required: boolean
}

export interface Passkey {
  readonly id: string
  readonly name: string
  readonly created_at: string
  readonly last_used: string
  readonly backed_up: boolean
}

export interface BrowserSession {
  readonly id: string
  readonly current: boolean
  readonly via: string
  readonly address: string
  readonly agent: string
  readonly created_at: string
  readonly last_seen_at: string
  readonly expires_at: string
}

/** A proof of identity. */
export interface Proof {
  readonly password?: string
  readonly code?: string
  readonly recovery_code?: string
  readonly passkey?: unknown
}

type Renewed = Envelope<{ readonly csrf_token: string; readonly recovery_codes?: readonly string[] }>

export const ME_KEY = ['me'] as const
export const FACTOR_KEY = ['second-factor'] as const
export const PASSKEYS_KEY = ['passkeys'] as const
export const SESSIONS_KEY = ['sessions'] as const

export const readMe = (signal?: AbortSignal) => call<Me>('GET', '/api/users/me', signal && { signal })
export const readFactor = () => call<SecondFactor>('GET', '/api/second-factor')

/** Changes the own names. @throws CallError 403 for those who may not change users */
export function saveNames(id: string, names: { readonly first_name: string; readonly last_name: string }) {
  return call('PUT', `/api/users/${encodeURIComponent(id)}`, { body: names })
}

/** Sets the own password, which ends all own sessions. @throws CallError 403 for a wrong present one, 400 by the rules */
export function changePassword(id: string, current_password: string, new_password: string) {
  return call('POST', `/api/users/${encodeURIComponent(id)}/actions/reset`, {
    body: { current_password, new_password },
  })
}

/** Makes another API credential; the one before is dead at once. */
export function renewCredential(id: string) {
  return call('PUT', `/api/users/${encodeURIComponent(id)}/actions/key/reset`)
}

/** Begins to set up codes by time. @throws CallError `needsProof` */
export async function beginTotp(): Promise<Required<Pick<SignInNeeds, 'otpauth_uri' | 'secret'>>> {
  type Begun = Envelope<{ readonly otpauth_uri: string; readonly secret: string }>
  return (await call<Begun>('POST', '/api/second-factor/totp')).Meta
}

/** Ends the set-up with the first code; answers the recovery codes. */
export function confirmTotp(code: string): Promise<readonly string[]> {
  return renewing('POST', '/api/second-factor/totp/confirm', { code })
}

/** Ends codes by time. */
export function disableTotp(password: string, code: string): Promise<readonly string[]> {
  const given = /^\s*\d{3}\s?\d{3}\s*$/.test(code) ? { code } : { recovery_code: code }
  return renewing('POST', '/api/second-factor/totp/disable', { password, ...given })
}

/** Makes other recovery codes. @throws CallError `needsProof` */
export function renewRecoveryCodes(): Promise<readonly string[]> {
  return renewing('POST', '/api/second-factor/recovery-codes')
}

/** The own passkeys. */
export async function listPasskeys(): Promise<readonly Passkey[]> {
  return (await call<{ readonly passkeys: readonly Passkey[] }>('GET', '/api/passkeys')).passkeys
}

/** The browser's options for a new passkey. @throws CallError `needsProof` */
export async function passkeyOptions(): Promise<unknown> {
  return (await call<Envelope>('POST', '/api/passkeys/options')).Meta
}

/** Registers what the browser made; with the first second factor answers recovery codes. */
export function addPasskey(name: string, response: unknown): Promise<readonly string[]> {
  return renewing('POST', '/api/passkeys', { name, response })
}

export function renamePasskey(id: string, name: string) {
  return call('PUT', `/api/passkeys/${encodeURIComponent(id)}`, { body: { name } })
}

/** @throws CallError `needsProof` */
export function removePasskey(id: string): Promise<readonly string[]> {
  return renewing('DELETE', `/api/passkeys/${encodeURIComponent(id)}`)
}

/** Where one is signed in, the session that was used last first. */
export async function listSessions(): Promise<readonly BrowserSession[]> {
  return (await call<{ readonly sessions: readonly BrowserSession[] }>('GET', '/api/sessions')).sessions
}

export function endSession(id: string) {
  return call('DELETE', `/api/sessions/${encodeURIComponent(id)}`)
}

/** Ends every own session, this one too. */
export function endAllSessions() {
  return call('POST', '/api/logout/everywhere')
}

/** True for a refusal that asks for verification of the identity. */
export function needsProof(error: unknown): boolean {
  return error instanceof CallError && error.code === 'verification_needed'
}

/** Verifies the identity again. @throws CallError 401, 403, 429 */
export function prove(proof: Proof): Promise<readonly string[]> {
  return renewing('POST', '/api/session/verify', proof)
}

/** The passkey challenge for `prove`. */
export async function proofOptions(): Promise<unknown> {
  return (await call<Envelope>('POST', '/api/session/verify/options')).Meta
}

/** These calls continue under another session: its token is kept. Returns new recovery codes, if any. */
async function renewing(method: string, path: string, body?: unknown): Promise<readonly string[]> {
  const { Meta } = await call<Renewed>(method, path, body === undefined ? {} : { body })
  keepCsrf(Meta.csrf_token)
  return Meta.recovery_codes ?? []
}
