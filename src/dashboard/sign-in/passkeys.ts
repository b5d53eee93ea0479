import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { fault } from '../../errors/fault.ts'
import { type DocumentId, isDocumentId } from '../../model/documents/ids.ts'
import { asJson, isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import type { StoredPasskey } from '../../model/people/user-security.ts'
import type { Millis } from '../../model/time/clock.ts'
import type { RelyingParty } from './origin.ts'

/** Loaded with the first passkey: a tenth of a start would be spent on it. */
const library = () => import('@simplewebauthn/server')

/** How long a browser may take to answer a challenge. */
export const CHALLENGE_MS = 300_000

const LONGEST_ID = 1400
/** EdDSA, ES256, RS256 (COSE): said here, because to find out whether there are more the library touches what Node calls experimental. */
const ALGORITHMS = [-8, -7, -257]

/** Who registers a passkey. */
export interface PasskeyOwner {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly passkeys: readonly StoredPasskey[]
}

/** The input of `navigator.credentials.create`; the passkey can be found without a user name. */
export async function registrationOptions(rp: RelyingParty, owner: PasskeyOwner): Promise<JsonObject> {
  const { generateRegistrationOptions } = await library()
  const options = await generateRegistrationOptions({
    rpName: 'Gatehouse',
    rpID: rp.id,
    userName: owner.email,
    userDisplayName: owner.name,
    userID: new Uint8Array(Buffer.from(owner.id, 'hex')),
    timeout: CHALLENGE_MS,
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: owner.passkeys.map(({ id, transports }) => ({ id, transports: [...transports] })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  return asJson(options)
}

/**
 * The passkey in the answer of a browser, checked against the challenge that it was given (WebAuthn section 7.1): of this place, of
 * this challenge, with its user verified. @throws Fault `passkey_invalid` (400)
 */
export async function readRegistration(
  rp: RelyingParty,
  challenge: string,
  response: Json | undefined,
  { name, now }: { readonly name: string; readonly now: Millis },
): Promise<StoredPasskey> {
  const { verifyRegistrationResponse } = await library()
  const { verified, registrationInfo } = await checked(
    verifyRegistrationResponse({
      response: credentialOf(response) as unknown as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }),
  )
  if (!verified || registrationInfo === undefined) throw fault('passkey_invalid')
  const { credential, credentialBackedUp } = registrationInfo
  if (credential.id.length > LONGEST_ID) throw fault('passkey_invalid', 'the id of the credential is too long')
  return {
    id: credential.id,
    public_key: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    transports: (credential.transports ?? []).filter((word) => /^[a-z-]{1,20}$/.test(word)).slice(0, 10),
    name,
    backed_up: credentialBackedUp,
    created_at: new Date(now).toISOString(),
    last_used: '',
  }
}

/** The input of `navigator.credentials.get`: any passkey of this place, or one of these. */
export async function assertionOptions(
  rp: RelyingParty,
  passkeys: readonly StoredPasskey[] = [],
): Promise<JsonObject & { readonly challenge: string }> {
  const { generateAuthenticationOptions } = await library()
  const options = await generateAuthenticationOptions({
    rpID: rp.id,
    timeout: CHALLENGE_MS,
    userVerification: 'required',
    allowCredentials: passkeys.map(({ id, transports }) => ({ id, transports: [...transports] })),
  })
  return options as unknown as JsonObject & { challenge: string }
}

/** Storage id of the user to whom an answer says it belongs; undefined when it says none. Proves nothing yet. */
export function ownerOfAssertion(response: Json | undefined): DocumentId | undefined {
  if (!isObject(response) || !isObject(response.response)) return undefined
  const { userHandle } = response.response
  if (typeof userHandle !== 'string' || userHandle.length > 64) return undefined
  const id = Buffer.from(userHandle, 'base64url').toString('hex')
  return isDocumentId(id) ? id : undefined
}

/**
 * The passkey that answered a challenge (WebAuthn section 7.2), its counter moved on: of this place, of this challenge, one of
 * these, with its user verified. @throws Fault `passkey_invalid` (400)
 */
export async function readAssertion(
  rp: RelyingParty,
  challenge: string,
  response: Json | undefined,
  { passkeys, now }: { readonly passkeys: readonly StoredPasskey[]; readonly now: Millis },
): Promise<StoredPasskey> {
  const credential = credentialOf(response)
  const passkey = passkeys.find(({ id }) => id === credential.id)
  if (passkey === undefined) throw fault('passkey_invalid', 'the passkey is not known')
  const { verifyAuthenticationResponse } = await library()
  const { verified, authenticationInfo } = await checked(
    verifyAuthenticationResponse({
      response: credential as unknown as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      requireUserVerification: true,
      credential: {
        id: passkey.id,
        publicKey: new Uint8Array(Buffer.from(passkey.public_key, 'base64url')),
        counter: passkey.counter,
      },
    }),
  )
  if (!verified) throw fault('passkey_invalid')
  return { ...passkey, counter: authenticationInfo.newCounter, last_used: new Date(now).toISOString() }
}

/** The library throws its own texts for every mismatch. */
async function checked<T>(verdict: Promise<T>): Promise<T> {
  try {
    return await verdict
  } catch (cause) {
    throw fault('passkey_invalid', undefined, cause)
  }
}

/** @throws Fault `passkey_invalid` */
function credentialOf(response: Json | undefined): JsonObject {
  if (!isObject(response) || typeof response.id !== 'string' || !isObject(response.response))
    throw fault('passkey_invalid', 'the answer of the browser is not one')
  return response
}
