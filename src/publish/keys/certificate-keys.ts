import { createHmac } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { USER_NAME } from '../../model/keys/key.ts'
import { tokenFactsOf } from '../../model/oauth-clients/oauth-token.ts'
import { lookupKey } from '../../model/secrets/secret.ts'
import { BINDING_MEMBERS, bindingsOf, fingerprintOf } from '../../model/sessions/certificate-binding.ts'
import type { SessionRow } from '../../store/ports/ports.ts'
import { orgOf, type SecretParts } from '../documents/parts.ts'

const NO_CERTIFICATE = 'must be the id of a certificate of the organisation, or its SHA-256'

/**
 * The storage hash of a client certificate's key: an HMAC, because the fingerprint of a certificate is public, and
 * nobody may use it as a key.
 */
export function certificateHash({ sealKey }: Pick<SecretParts, 'sealKey'>, orgId: string, fingerprint: string): Buffer {
  const place = JSON.stringify(['certificate', orgId, fingerprint])
  return createHmac('sha256', lookupKey(sealKey)).update(place).digest()
}

/**
 * Where a new key of a session is stored that names a client certificate by its id or its SHA-256; undefined when it names none.
 * @throws Fault `key_invalid` (400) when it names something else
 */
export function placeOfCertificate(parts: SecretParts, session: JsonObject): Buffer | undefined {
  const { certificate: named } = session
  if (named === undefined || named === '' || named === null) return undefined
  const orgId = orgOf(parts, session.org_id)
  const fingerprint = fingerprintOf(named, orgId)
  if (fingerprint === undefined) throw fault('key_invalid', `certificate: ${NO_CERTIFICATE}`)
  return certificateHash(parts, orgId, fingerprint)
}

/** True for the key that a client certificate is. */
export function isCertificateKey(parts: Pick<SecretParts, 'sealKey'>, row: SessionRow): boolean {
  const fingerprint = fingerprintOf(row.body.certificate, row.orgId)
  return fingerprint !== undefined && certificateHash(parts, row.orgId, fingerprint).equals(row.hash)
}

/** A key stays with its certificate. @throws Fault `key_invalid` (400) when a change would take it away or name another */
export function checkCertificateStays(parts: SecretParts, row: SessionRow, session: JsonObject): void {
  if (!isCertificateKey(parts, row)) return
  const before = fingerprintOf(row.body.certificate, row.orgId)
  if (fingerprintOf(session.certificate, row.orgId) !== before)
    throw fault('key_invalid', 'certificate: a key stays with its certificate')
}

/**
 * Certificates bind keys alone, and what names them must be certificates; a member that stays as it is stored is taken.
 * @throws Fault `key_invalid` (400) naming the member
 */
export function checkBindings(session: JsonObject, orgId: string, stored: JsonObject | undefined): void {
  for (const member of BINDING_MEMBERS) {
    const [names = []] = bindingsOf({ [member]: session[member] ?? null })
    if (names.length === 0 || isDeepStrictEqual(session[member], stored?.[member])) continue
    if (session[USER_NAME] !== undefined || tokenFactsOf(session) !== undefined)
      throw fault('key_invalid', `${member}: only keys can be bound to certificates`)
    if (names.some((name) => fingerprintOf(name, orgId) === undefined))
      throw fault('key_invalid', `${member}: ${NO_CERTIFICATE}`)
  }
}
