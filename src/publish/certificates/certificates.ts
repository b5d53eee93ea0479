import { fault } from '../../errors/fault.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { type CertificateFacts, readCertificate } from '../../model/certificates/certificate.ts'
import { withoutCertificates } from '../../model/certificates/certificate-refs.ts'
import { newDocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { type SealKey, seal, unseal } from '../../model/secrets/secret.ts'
import type { KeyPair } from '../../runtime/key-pair-files.ts'
import type { Revision, SessionRow, Store, StoredDocument } from '../../store/ports/ports.ts'
import { publishApi } from '../apis/apis.ts'
import { auditOf, clockOf, orgOf, type SecretParts } from '../documents/parts.ts'
import { certificateHash } from '../keys/certificate-keys.ts'
import { deleteKey } from '../keys/keys.ts'

/** The stored form of a certificate. */
export type StoredCertificate = {
  /** Organisation id followed by the fingerprint. */
  cert_id: string
  org_id: string
  /** SHA-256 of the DER, lower-case hex. */
  fingerprint: string
  /** PEM of the certificate and its chain. */
  certificate: string
  /** Base64 of the sealed private key in PEM; absent when there is none. */
  sealed_key?: string
  issuer: string
  subject: string
  /** RFC 3339. */
  not_before: string
  not_after: string
  dns_names: string[]
  is_ca: boolean
  date_created: string
}

/**
 * Stores a certificate with its chain and, sealed, its private key. An expired one is stored too: `warning` then says so.
 * @throws Fault `certificate_invalid` (400), `already_exists` (409)
 */
export async function addCertificate(
  parts: SecretParts,
  { pem, orgId: named, actor }: { readonly pem: string; readonly orgId: string; readonly actor: string },
): Promise<{ id: string; warning: string | undefined; revision: Revision }> {
  const facts = readCertificate(pem)
  const orgId = orgOf(parts, named)
  const id = orgId + facts.fingerprint
  if ((await findById(parts, id)) !== undefined)
    throw fault('already_exists', `Certificate with ${facts.fingerprint} id already exists`)
  const now = clockOf(parts).wall()
  const body = toBody(parts, facts, { id, orgId, now })
  const audit = auditOf(parts, actor, 'certificate.add', orgId, { cert_id: id, has_private: facts.key !== undefined })
  const put = { op: 'put', kind: 'certificate', id: newDocumentId(now), body, ifRevision: 0 } as const
  return { id, warning: warningOf(facts, now), revision: await parts.documents.commit([put], audit) }
}

/**
 * Deletes a certificate, and the key that its connections are; one that is not there is no error. Answers undefined then.
 * @throws Fault `store_away`, `store_full`
 */
export async function removeCertificate(parts: SecretParts, id: string, actor: string): Promise<Revision | undefined> {
  const stored = await findCertificate(parts, id)
  if (stored === undefined) return undefined
  const key = await keyOfCertificate(parts, stored.body)
  if (key !== undefined) await deleteKey(parts, key, actor)
  const audit = auditOf(parts, actor, 'certificate.delete', String(stored.body.org_id), {
    cert_id: String(stored.body.cert_id),
  })
  return parts.documents.commit([{ op: 'delete', kind: 'certificate', id: stored.id }], audit)
}

/**
 * Takes a certificate out of the definitions of these APIs. Each is saved by itself: one that cannot be saved any more ends it.
 * @throws Fault `definition_invalid`, `definition_unsupported` (400), `revision_conflict` (409)
 */
export async function unlinkCertificate(
  parts: SecretParts,
  body: JsonObject,
  apis: readonly StoredDocument[],
  actor: string,
): Promise<void> {
  const names = new Set([String(body.cert_id), String(body.fingerprint)])
  for (const stored of apis) {
    const { api_id: apiId, format } = documentOf(stored.body)
    await publishApi(parts, { format, definition: withoutCertificates(stored.body, names), apiId, actor })
  }
}

/** Finds a certificate by its id, or by its fingerprint in the default organisation. */
export async function findCertificate(parts: SecretParts, id: string): Promise<StoredDocument | undefined> {
  return (await findById(parts, id)) ?? (await findById(parts, parts.defaultOrg() + id))
}

/** The key that connections with a stored certificate are; undefined when there is none. @throws Fault `store_away` */
export async function keyOfCertificate(parts: SecretParts, body: JsonObject): Promise<SessionRow | undefined> {
  const { org_id: orgId, fingerprint } = body as StoredCertificate
  return parts.tokens.getSession(certificateHash(parts, orgId, fingerprint))
}

/** The private key of a stored certificate in PEM; undefined when it has none. @throws Fault `seal_broken` */
export function certificateKeyOf(body: JsonObject, sealKey: SealKey): string | undefined {
  const { cert_id: id, sealed_key: sealed } = body as Partial<StoredCertificate>
  if (typeof id !== 'string' || typeof sealed !== 'string') return undefined
  return unseal(sealKey, Buffer.from(sealed, 'base64'), sealContext(id)).toString('utf8')
}

/** The readable fields of a certificate: never its key. */
export function describeCertificate(body: JsonObject): JsonObject {
  const { cert_id, fingerprint, issuer, subject, not_before, not_after, dns_names, is_ca } = body as StoredCertificate
  return {
    id: cert_id,
    fingerprint,
    has_private: body.sealed_key !== undefined,
    issuer,
    subject,
    not_before,
    not_after,
    dns_names,
    is_ca,
  }
}

function toBody(
  parts: SecretParts,
  facts: CertificateFacts,
  own: { id: string; orgId: string; now: number },
): StoredCertificate {
  const sealed = facts.key === undefined ? undefined : seal(parts.sealKey, facts.key, sealContext(own.id))
  return {
    cert_id: own.id,
    org_id: own.orgId,
    fingerprint: facts.fingerprint,
    certificate: facts.chain,
    ...(sealed && { sealed_key: sealed.toString('base64') }),
    issuer: facts.issuer,
    subject: facts.subject,
    not_before: new Date(facts.notBefore).toISOString(),
    not_after: new Date(facts.notAfter).toISOString(),
    dns_names: [...facts.dnsNames],
    is_ca: facts.isCa,
    date_created: new Date(own.now).toISOString(),
  }
}

function warningOf(facts: CertificateFacts, now: number): string | undefined {
  if (facts.notAfter <= now) return `The certificate expired on ${new Date(facts.notAfter).toISOString()}`
  if (facts.notBefore > now) return `The certificate is not valid before ${new Date(facts.notBefore).toISOString()}`
  return undefined
}

function findById(parts: SecretParts, id: string) {
  return parts.documents.find('certificate', 'cert_id', id)
}

function sealContext(id: string): string {
  return `certificate ${id}`
}

/**
 * Finds a stored certificate with a private key that an organisation may use: objects without an organisation may be used by all.
 * @throws Fault `store_away`, `seal_broken`
 */
export async function findKeyPair(
  { documents }: Pick<Store, 'documents'>,
  sealKey: SealKey,
  { id, orgId }: { readonly id: string; readonly orgId: string },
): Promise<KeyPair | undefined> {
  const stored = await documents.find('certificate', 'cert_id', id)
  if (stored === undefined) return undefined
  const { certificate, org_id: owner = '' } = stored.body
  if (owner !== '' && owner !== orgId) return undefined
  const key = certificateKeyOf(stored.body, sealKey)
  return typeof certificate === 'string' && key !== undefined ? { certificate, key } : undefined
}
