import { call } from '../calls/call.ts'

/** The ways to sign in. */
export interface SignInOptions {
  readonly signed_in: boolean
  readonly set_up_open: boolean
  /** A forgotten password can be set by a link in a mail. */
  readonly sends_mail: boolean
  readonly mail_configured: boolean
  readonly identity_providers: readonly IdpOption[]
}

export interface IdpOption {
  readonly name: string
  readonly url: string
  readonly kind: 'redirect' | 'form'
}

export const SIGN_IN_OPTIONS_KEY = ['sign-in-options'] as const

/** Reads the ways to sign in, and whether this browser is signed in. */
export function readSignInOptions(): Promise<SignInOptions> {
  return call<SignInOptions>('GET', '/api/login/options')
}
