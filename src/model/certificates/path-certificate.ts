import type { X509Certificate } from 'node:crypto'
import { AsnConvert } from '@peculiar/asn1-schema'
import {
  type AlgorithmIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  id_ce_basicConstraints,
  id_ce_certificatePolicies,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_subjectAltName,
  id_kp_clientAuth,
  KeyUsage,
  NameConstraints,
  SubjectAlternativeName,
} from '@peculiar/asn1-x509'
import type { Millis } from '../time/clock.ts'
import { type CertificateName, type NameRules, namesOf, rdnsOf, subtreesOf } from './certificate-names.ts'

/** A certificate as the validation of a path needs it (RFC 5280 section 6.1). Flaws are undefined where there is none. */
export interface PathCertificate {
  readonly x509: X509Certificate
  /** First and last millisecond at which it is valid. */
  readonly validFrom: Millis
  readonly validUntil: Millis
  /** True when it names itself as its issuer: it then counts for no path length. */
  readonly selfIssued: boolean
  /** Its subject, comparable. */
  readonly subject: string
  /** False when its key usage says that it signs no revocation lists. */
  readonly signsLists: boolean
  /** Why it can have no place in a path to a client. */
  readonly flaw: string | undefined
  /** Why its own signature proves nothing. */
  readonly signatureFlaw: string | undefined
  /** Why it can sign no certificates. */
  readonly issuerFlaw: string | undefined
  /** Why no client can prove possession of it. */
  readonly clientFlaw: string | undefined
  /** Most intermediate certificates below it; undefined = no bound. */
  readonly pathLength: number | undefined
  readonly names: readonly CertificateName[]
  readonly nameRules: NameRules
}

/** The critical extensions that are looked at. Policies are, in so far as any policy will do (RFC 5280 section 6.1.1). */
const PROCESSED: ReadonlySet<string> = new Set([
  ...[id_ce_basicConstraints, id_ce_keyUsage, id_ce_extKeyUsage],
  ...[id_ce_nameConstraints, id_ce_subjectAltName, id_ce_certificatePolicies],
])
/** Signatures over SHA-2, or over what the algorithm has within itself (RFC 9325 section 4.5): RSA, ECDSA, EdDSA, ML-DSA. */
const SIGNATURES: ReadonlySet<string> = new Set([
  ...['1.2.840.113549.1.1.11', '1.2.840.113549.1.1.12', '1.2.840.113549.1.1.13'],
  ...['1.2.840.10045.4.3.2', '1.2.840.10045.4.3.3', '1.2.840.10045.4.3.4', '1.3.101.112', '1.3.101.113'],
  ...['2.16.840.1.101.3.4.3.17', '2.16.840.1.101.3.4.3.18', '2.16.840.1.101.3.4.3.19'],
])
const RSA_PSS = '1.2.840.113549.1.1.10'
/** The object identifiers of SHA-256, SHA-384 and SHA-512 but for their last byte. */
const SHA2 = Buffer.from('06096086480165030402', 'hex')
const LEAST_RSA_BITS = 2048

/** Reads a certificate. @throws Error when it, or an extension that counts, is malformed */
export function readPathCertificate(x509: X509Certificate): PathCertificate {
  const { tbsCertificate, signatureAlgorithm } = AsnConvert.parse(x509.raw, Certificate)
  const { subject, issuer, extensions: sent = [] } = tbsCertificate
  const extensions = new Map(Array.from(sent, (each) => [each.extnID, each]))
  const extensionOf = <T>(id: string, type: new () => T): T | undefined => {
    const found = extensions.get(id)
    return found && AsnConvert.parse(found.extnValue, type)
  }
  const basic = extensionOf(id_ce_basicConstraints, BasicConstraints)
  const usage = extensionOf(id_ce_keyUsage, KeyUsage)?.toJSON()
  const purposes = extensionOf(id_ce_extKeyUsage, ExtendedKeyUsage)
  const rules = extensionOf(id_ce_nameConstraints, NameConstraints)
  // The reader passes over members in silence that it does not expect.
  const sentRules = extensions.get(id_ce_nameConstraints)?.extnValue.buffer
  if (rules && sentRules && !Buffer.from(AsnConvert.serialize(rules)).equals(Buffer.from(sentRules)))
    throw new Error('name constraints cannot be read in full')
  const unknown = sent.find(({ critical, extnID }) => critical && !PROCESSED.has(extnID))
  const issuerFlaw = () => {
    if (basic?.cA !== true) return 'it is no CA'
    if (usage !== undefined && !usage.includes('keyCertSign')) return 'its key usage lacks keyCertSign'
    return subject.length === 0 ? 'it has no subject' : undefined
  }
  const flaw = () => {
    if (extensions.size !== sent.length) return 'it has an extension twice'
    if (unknown !== undefined) return `its critical extension ${unknown.extnID} is not supported`
    if (purposes?.includes(id_kp_clientAuth) === false) return 'its extended key usage lacks clientAuth'
    return flawOfKey(x509)
  }
  return {
    x509,
    validFrom: x509.validFromDate.getTime(),
    validUntil: x509.validToDate.getTime() + 999,
    selfIssued: rdnsOf(subject).join() === rdnsOf(issuer).join(),
    subject: rdnsOf(subject).join(),
    signsLists: usage?.includes('crlSign') !== false,
    flaw: flaw(),
    signatureFlaw: isStrong(signatureAlgorithm) ? undefined : 'its signature algorithm is not supported',
    issuerFlaw: issuerFlaw(),
    clientFlaw: usage?.includes('digitalSignature') === false ? 'its key usage lacks digitalSignature' : undefined,
    pathLength: basic?.pathLenConstraint,
    names: namesOf(subject, extensionOf(id_ce_subjectAltName, SubjectAlternativeName)),
    nameRules: { permitted: subtreesOf(rules?.permittedSubtrees), excluded: subtreesOf(rules?.excludedSubtrees) },
  }
}

function flawOfKey({ publicKey }: X509Certificate): string | undefined {
  const { asymmetricKeyType = '', asymmetricKeyDetails } = publicKey
  if (asymmetricKeyType.startsWith('rsa'))
    return (asymmetricKeyDetails?.modulusLength ?? 0) < LEAST_RSA_BITS ? 'its RSA key is too short' : undefined
  return /^(ec|ed25519|ed448|ml-dsa-\d\d)$/.test(asymmetricKeyType) ? undefined : 'the kind of its key is not supported'
}

function isStrong({ algorithm, parameters }: AlgorithmIdentifier): boolean {
  if (algorithm !== RSA_PSS) return SIGNATURES.has(algorithm)
  // The hash of the message and that of the mask; where one is not named it is SHA-1 (RFC 4055 section 3.1).
  const bytes = Buffer.from(parameters ?? new ArrayBuffer(0))
  const first = bytes.indexOf(SHA2)
  return first !== -1 && bytes.indexOf(SHA2, first + 1) !== -1
}
