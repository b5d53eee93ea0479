import { type KeyObject, verify } from 'node:crypto'
import { AsnConvert } from '@peculiar/asn1-schema'
import { CertificateList } from '@peculiar/asn1-x509'
import { fault } from '../../errors/fault.ts'
import type { Millis } from '../time/clock.ts'
import { rdnsOf } from './certificate-names.ts'

/** The certificates that a CA has revoked (RFC 5280 section 5). */
export interface RevocationList {
  /** Name of the CA, comparable. */
  readonly issuer: string
  /** When the next one is due. */
  readonly dueAt: Millis
  /** True for a certificate with this serial number, as Node writes it. */
  revokes(serial: string): boolean
  isSignedBy(key: KeyObject): boolean
}

const BLOCK = /-----BEGIN X509 CRL-----([A-Za-z0-9+/=\s]+?)-----END X509 CRL-----/g
/** Hashes of the signature algorithms that are supported; null = the algorithm has its own. */
const HASHES: ReadonlyMap<string, string | null> = new Map([
  ['1.2.840.113549.1.1.11', 'sha256'],
  ['1.2.840.113549.1.1.12', 'sha384'],
  ['1.2.840.113549.1.1.13', 'sha512'],
  ['1.2.840.10045.4.3.2', 'sha256'],
  ['1.2.840.10045.4.3.3', 'sha384'],
  ['1.2.840.10045.4.3.4', 'sha512'],
  ['1.3.101.112', null],
  ['1.3.101.113', null],
])

/**
 * Reads revocation lists in PEM. Lists of changes, and those of a part of the certificates, have critical extensions and are refused.
 * @throws Fault `setting_invalid` with the reason
 */
export function readRevocationLists(pem: string): RevocationList[] {
  const blocks = [...pem.matchAll(BLOCK)]
  if (blocks.length === 0) throw fault('setting_invalid', 'holds no PEM block X509 CRL')
  return blocks.map(([, base64 = '']) => readOne(Buffer.from(base64, 'base64')))
}

function readOne(der: Buffer): RevocationList {
  const list = parse(der)
  const { tbsCertList: body, tbsCertListRaw: signed, signature, signatureAlgorithm } = list
  const critical = [...(body.crlExtensions ?? [])].find((extension) => extension.critical)
  if (critical !== undefined)
    throw fault('setting_invalid', `a list has the critical extension ${critical.extnID}, which is not supported`)
  const hash = HASHES.get(signatureAlgorithm.algorithm)
  if (hash === undefined || signed === undefined)
    throw fault('setting_invalid', `the signature algorithm ${signatureAlgorithm.algorithm} is not supported`)
  if (body.nextUpdate === undefined)
    throw fault('setting_invalid', 'a list does not say when the next one is due (RFC 5280 section 5.1.2.5)')
  // The reader passes over members in silence that it does not expect.
  if (!Buffer.from(AsnConvert.serialize(body)).equals(Buffer.from(signed)))
    throw fault('setting_invalid', 'a list cannot be read in full')
  const serials = new Set(Array.from(body.revokedCertificates ?? [], (entry) => serialOf(entry.userCertificate)))
  return {
    issuer: rdnsOf(body.issuer).join(),
    dueAt: body.nextUpdate.getTime().getTime(),
    revokes: (serial) => serials.has(serialOf(Buffer.from(serial, 'hex'))),
    isSignedBy: (key) => verify(hash, Buffer.from(signed), key, Buffer.from(signature)),
  }
}

function parse(der: Buffer): CertificateList {
  try {
    return AsnConvert.parse(der, CertificateList)
  } catch (cause) {
    throw fault('setting_invalid', 'holds a revocation list that cannot be read', cause)
  }
}

/** Bytes of a serial number without leading zeros. */
function serialOf(bytes: ArrayBuffer | Buffer): string {
  return Buffer.from(bytes as ArrayBuffer)
    .toString('hex')
    .replace(/^(?:00)+/, '')
}
