import { createHmac, randomBytes } from 'node:crypto'
import type { DocumentId } from '../../model/documents/ids.ts'
import type { StoredUser, User } from '../../model/people/user.ts'
import { lookupKey, seal, unseal } from '../../model/secrets/secret.ts'
import type { SecretParts } from '../documents/parts.ts'

const KEY_BYTES = 32

/** An API credential as it is kept: what it is found by, and sealed, so that it can be shown again. */
export type StoredCredential = Pick<User, 'access_hmac' | 'access_sealed' | 'access_before'>

/** Credential fields of a user without an API credential. */
export const NO_CREDENTIAL: StoredCredential = { access_hmac: '', access_sealed: '', access_before: null }

/** The look-up value of an API credential. An HMAC, so that a copy of the store is no list of credentials to try. */
export function accessHmac({ sealKey }: Pick<SecretParts, 'sealKey'>, accessKey: string): string {
  return createHmac('sha256', lookupKey(sealKey))
    .update(JSON.stringify(['access_key', accessKey]))
    .digest('hex')
}

/** Makes an API credential of 256 random bits, hex, which no shell, header or URL trips over. */
export function newAccessKey(): string {
  return randomBytes(KEY_BYTES).toString('hex')
}

/** The stored form of an API credential. */
export function storeCredential(
  parts: Pick<SecretParts, 'sealKey'>,
  userId: DocumentId,
  accessKey: string,
): StoredCredential {
  return {
    access_hmac: accessHmac(parts, accessKey),
    access_sealed: seal(parts.sealKey, accessKey, contextOf(userId)).toString('base64'),
  }
}

/** The API credential of a user in clear; '' when it was revoked. @throws Fault `seal_broken` */
export function accessKeyOf(parts: Pick<SecretParts, 'sealKey'>, user: StoredUser): string {
  if (user.access_sealed === '') return ''
  return unseal(parts.sealKey, Buffer.from(user.access_sealed, 'base64'), contextOf(user.id)).toString('utf8')
}

const contextOf = (userId: DocumentId) => `user:${userId}`
