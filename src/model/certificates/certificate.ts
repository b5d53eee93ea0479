import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { fault } from '../../errors/fault.ts'
import type { Millis } from '../time/clock.ts'

/** A certificate that was read and checked, with its chain and perhaps its key. */
export interface CertificateFacts {
  /** SHA-256 of the DER of the first certificate, lower-case hex. */
  readonly fingerprint: string
  /** PEM of all certificates in the order sent. */
  readonly chain: string
  /** PEM (PKCS #8) of the private key, undefined when none was sent. */
  readonly key: string | undefined
  readonly issuer: string
  readonly subject: string
  readonly notBefore: Millis
  readonly notAfter: Millis
  readonly dnsNames: readonly string[]
  readonly isCa: boolean
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,40})-----[A-Za-z0-9+/=\s]{1,65536}?-----END \1-----/g
const MAX_CERTIFICATES = 10

/**
 * Reads PEM text: one certificate or a chain whose first is the one meant, and at most one private key, which must belong to it.
 * @throws Fault `certificate_invalid` (400) with the reason; the text itself is never quoted
 */
export function readCertificate(pem: string): CertificateFacts {
  const blocks = [...pem.matchAll(BLOCK)].map(([text, label]) => ({ text, label: label ?? '' }))
  const certificates = blocks.filter(({ label }) => label === 'CERTIFICATE')
  const keys = blocks.filter(({ label }) => label.endsWith('PRIVATE KEY'))
  if (/-----BEGIN [A-Z ]*ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED/.test(pem))
    throw invalid('the private key is encrypted; send it in clear')
  if (blocks.some(({ label }) => label === 'X509 CRL'))
    throw invalid('revocation lists are not stored: put the CRL into the file of gateway.tls.client_crl_file')
  if (certificates.length === 0) throw invalid('no PEM block CERTIFICATE')
  if (certificates.length > MAX_CERTIFICATES) throw invalid(`more than ${MAX_CERTIFICATES} certificates`)
  if (keys.length > 1) throw invalid('more than one private key')
  if (keys.length === 0 && /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem))
    throw invalid('the private key cannot be read')
  const [first] = certificates.map(({ text }) => readOne(text))
  const key = keys[0] === undefined ? undefined : readKey(keys[0].text)
  if (key !== undefined && !first!.checkPrivateKey(key))
    throw invalid('the private key does not belong to the certificate')
  return {
    fingerprint: first!.fingerprint256.replaceAll(':', '').toLowerCase(),
    chain: `${certificates.map(({ text }) => text).join('\n')}\n`,
    key: key?.export({ type: 'pkcs8', format: 'pem' }) as string | undefined,
    issuer: first!.issuer,
    subject: first!.subject,
    notBefore: Date.parse(first!.validFrom),
    notAfter: Date.parse(first!.validTo),
    dnsNames: dnsNames(first!.subjectAltName ?? ''),
    isCa: first!.ca,
  }
}

function readOne(text: string): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch (cause) {
    throw invalid('a certificate cannot be read', cause)
  }
}

function readKey(text: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch (cause) {
    throw invalid('the private key cannot be read', cause)
  }
}

function dnsNames(subjectAltName: string): string[] {
  const names = subjectAltName.split(', ').filter((entry) => entry.startsWith('DNS:'))
  return names.map((entry) => entry.slice(4))
}

function invalid(reason: string, cause?: unknown) {
  return fault('certificate_invalid', reason, cause)
}
