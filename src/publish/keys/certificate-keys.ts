import { createHmac } from 'node:crypto'
import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { lookupKey } from '../../model/secrets/secret.ts'
import type { SessionRow } from '../../store/ports/ports.ts'
import { orgOf, type SecretParts } from '../documents/parts.ts'

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
  if (fingerprint === undefined)
    throw fault('key_invalid', 'certificate: must be the id of a certificate of the organisation, or its SHA-256')
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

function fingerprintOf(named: unknown, orgId: string): string | undefined {
  if (typeof named !== 'string') return undefined
  const hex = (orgId !== '' && named.startsWith(orgId) ? named.slice(orgId.length) : named).toLowerCase()
  return /^[0-9a-f]{64}$/.test(hex) ? hex : undefined
}
