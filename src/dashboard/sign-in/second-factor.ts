import { fault } from '../../errors/fault.ts'
import type { DocumentId } from '../../model/documents/ids.ts'
import type { Json, JsonObject } from '../../model/json/json.ts'
import { type StoredPasskey, securityOf } from '../../model/people/user-security.ts'
import { type Rewrite, rewriteUser } from '../../publish/sign-in/rewrite-user.ts'
import { isThrottled } from '../../runtime/login-throttle.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { beginAttempt, throttled } from './attempts.ts'
import type { RelyingParty } from './origin.ts'
import { readAssertion } from './passkeys.ts'
import { newRecoveryCodes, recoveryHmac, sealTotp, stepOfCode, unsealTotp, withoutRecoveryCode } from './totp.ts'

/** A second factor from a caller: one of these. */
export interface SecondFactorGiven {
  readonly code?: string
  readonly recovery_code?: string
}

/**
 * Runs a check of something that can be guessed, counted under a name and the caller's address: one that throws has failed.
 * @throws Fault `sign_in_throttled` (429) without a look when too many have failed, and those of `check`
 */
export async function withAttemptLimit<T>(
  parts: DashboardParts,
  name: string | undefined,
  call: Pick<Call, 'clientAddress' | 'peerAddress'>,
  check: () => Promise<T>,
): Promise<T> {
  // Only who has shown a password, or has a session, gets here.
  const begun = beginAttempt(parts, name, call, { narrow: true })
  if (isThrottled(begun)) throw throttled(begun)
  const result = await check()
  begun.succeed()
  return result
}

/** Name under which wrong second factors of a user are counted. */
export const secondFactorName = (userId: string) => `second:${userId}`

/**
 * Uses up a code by time or a recovery code of a user, each of which is taken once, however many ask at the same time.
 * @throws Fault `second_factor_wrong` (401)
 */
export async function useSecondFactor(
  parts: DashboardParts,
  userId: DocumentId,
  { code, recovery_code: recovery }: SecondFactorGiven,
  rewrite: Rewrite,
  edit: (body: JsonObject) => JsonObject = (body) => body,
): Promise<JsonObject> {
  return rewriteUser(parts, userId, rewrite, (body) => {
    const used =
      recovery === undefined ? withCode(parts, userId, body, code ?? '') : withRecovery(parts, userId, body, recovery)
    return edit(used)
  })
}

/**
 * Checks the answer of a passkey of a user, and moves its counter on. @throws Fault `passkey_invalid` (400)
 */
export async function usePasskey(
  parts: DashboardParts,
  userId: DocumentId,
  {
    rp,
    challenge,
    response,
  }: { readonly rp: RelyingParty; readonly challenge: string; readonly response: Json | undefined },
  rewrite: Rewrite,
): Promise<JsonObject> {
  const user = await parts.documents.get('user', userId)
  if (user === undefined || challenge === '') throw fault('passkey_invalid')
  const { passkeys } = securityOf(user.body)
  const used = await readAssertion(rp, challenge, response, { passkeys, now: parts.clock.wall() })
  return rewriteUser(parts, userId, rewrite, (body) => {
    const known = securityOf(body).passkeys
    const before = known.find(({ id }) => id === used.id)
    // An answer that was recorded has an old counter; 0 = this authenticator does not count.
    if (before === undefined || (used.counter > 0 && used.counter <= before.counter)) throw fault('passkey_invalid')
    const next = { ...before, counter: used.counter, last_used: used.last_used }
    return { ...body, passkeys: passkeysJson(known.map((passkey) => (passkey.id === used.id ? next : passkey))) }
  })
}

/** Passkeys as a document has them. */
export function passkeysJson(passkeys: readonly StoredPasskey[]): Json[] {
  return passkeys.map((passkey) => ({ ...passkey, transports: [...passkey.transports] }))
}

/** Recovery codes for a user: in clear, to be shown once, and what is kept of them. */
export function freshRecovery({ sealKey }: DashboardParts, userId: string): { codes: string[]; kept: string[] } {
  const codes = newRecoveryCodes()
  return { codes, kept: codes.map((code) => recoveryHmac(sealKey, userId, code)) }
}

/**
 * Sets up codes by time for a user who has shown the first one, with recovery codes. Answers these.
 * @throws Fault `second_factor_wrong` (401) when the code does not belong to the secret, `second_factor_state` (409) when there are codes by time already
 */
export async function confirmTotp(
  parts: DashboardParts,
  userId: DocumentId,
  { sealed, code }: { readonly sealed: string; readonly code: string },
  rewrite: Rewrite,
): Promise<string[]> {
  const now = parts.clock.wall()
  const secret = unsealTotp(parts.sealKey, userId, sealed)
  const step = stepOfCode(secret, code, now, 0)
  if (step === undefined) throw fault('second_factor_wrong')
  const { codes, kept } = freshRecovery(parts, userId)
  const totp = {
    sealed: sealTotp(parts.sealKey, userId, secret),
    confirmed_at: new Date(now).toISOString(),
    last_step: step,
  }
  await rewriteUser(parts, userId, rewrite, (body) => {
    if (securityOf(body).totp !== undefined) throw fault('second_factor_state', 'Codes by time are set up already')
    return { ...body, totp, recovery_codes: kept }
  })
  return codes
}

function withCode(parts: DashboardParts, userId: string, body: JsonObject, code: string): JsonObject {
  const { totp } = securityOf(body)
  if (totp === undefined) throw fault('second_factor_wrong')
  const step = stepOfCode(unsealTotp(parts.sealKey, userId, totp.sealed), code, parts.clock.wall(), totp.last_step)
  if (step === undefined) throw fault('second_factor_wrong')
  return { ...body, totp: { ...totp, last_step: step } }
}

function withRecovery(parts: DashboardParts, userId: string, body: JsonObject, code: string): JsonObject {
  const rest = withoutRecoveryCode(securityOf(body).recovery_codes, recoveryHmac(parts.sealKey, userId, code))
  if (rest === undefined) throw fault('second_factor_wrong')
  return { ...body, recovery_codes: rest }
}
