import { say } from '../../texts/say.ts'
import { CallError, call, type Envelope } from '../calls/call.ts'

/** The needs of an unfinished sign-in. */
export interface SignInNeeds {
  readonly needs: 'organisation' | 'second_factor' | 'new_password' | 'enrolment'
  readonly ticket: string
  readonly organisations?: readonly { readonly id: string; readonly name: string }[]
  readonly methods?: readonly ('code' | 'passkey' | 'recovery_code')[]
  readonly passkey_options?: unknown
  readonly otpauth_uri?: string
  readonly secret?: string
}

/** A sign-in that is done. */
export interface Done {
  readonly user_id: string
  readonly csrf_token: string
  readonly recovery_codes?: readonly string[]
}

export type SignInStep = SignInNeeds | Done

/** Begins a sign-in. @throws CallError 401 for a wrong pair, 429 after too many tries */
export async function signIn(email: string, password: string): Promise<SignInStep> {
  return (await call<Envelope<SignInStep>>('POST', '/api/login', { body: { email, password } })).Meta
}

/** Continues with what was needed. @throws CallError */
export async function continueSignIn(ticket: string, given: Readonly<Record<string, unknown>>): Promise<SignInStep> {
  return (await call<Envelope<SignInStep>>('POST', '/api/login/continue', { body: { ticket, ...given } })).Meta
}

/** Signs in with a passkey alone: the browser asks which. @throws CallError, and what the browser throws when nobody chooses one */
export async function signInWithPasskey(): Promise<SignInStep> {
  const { Meta } = await call<Envelope<{ ticket: string; options: unknown }>>('POST', '/api/login/passkey/options')
  const response = await askPasskey(Meta.options)
  return (await call<Envelope<SignInStep>>('POST', '/api/login/passkey', { body: { ticket: Meta.ticket, response } }))
    .Meta
}

/** True where the browser can use passkeys at this address. */
export function hasPasskeys(): boolean {
  return window.isSecureContext && typeof PublicKeyCredential === 'function'
}

/** Asks the browser to prove a passkey, and answers what it says as JSON. @throws Error in words when none was used */
export async function askPasskey(options: unknown): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON)
  return asJson(navigator.credentials.get({ publicKey }))
}

/** Asks the browser to make a passkey, and answers what it says as JSON. @throws Error in words when none was made */
export async function makePasskey(options: unknown): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON)
  return asJson(navigator.credentials.create({ publicKey }))
}

async function asJson(asked: Promise<Credential | null>): Promise<unknown> {
  try {
    const credential = await asked
    if (credential instanceof PublicKeyCredential) return credential.toJSON()
  } catch (error) {
    // Closed, timed out, or there is none for this address: browsers do not tell which.
    if (!(error instanceof DOMException)) throw error
    if (error.name === 'InvalidStateError') throw new Error(say('start.passkeyKnown'))
  }
  throw new Error(say('start.passkeyNone'))
}

/** True for a sign-in that took too long or had too many wrong answers: it has to begin again. */
export function isExpired(error: unknown): boolean {
  return error instanceof CallError && error.code === 'sign_in_void'
}
