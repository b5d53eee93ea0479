import { X509Certificate } from 'node:crypto'
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
import { type CertificateName, flawOfNames, type NameRules, namesOf, rdnsOf, subtreesOf } from './certificate-names.ts'
import type { RevocationList } from './revocation-list.ts'

/** A certificate as the validation of a path needs it (RFC 5280 section 6.1). Flaws are undefined where there is none. */
interface PathCertificate {
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
function readPathCertificate(x509: X509Certificate): PathCertificate {
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

/** A listed CA, ready to be the end of paths. */
export interface Authority {
  /** SHA-256 of its certificate, lower-case hex. */
  readonly sha256: string
  readonly certificate: PathCertificate
}

/** A path that is valid as long as all its certificates are. */
export interface ValidPath {
  /** SHA-256 of the CA at its end. */
  readonly authority: string
  /** First and last millisecond at which all certificates of the path are valid. */
  readonly validFrom: Millis
  readonly validUntil: Millis
  /** True when a CA of the path has revoked a certificate of it. */
  readonly revoked: boolean
  /** When a newer revocation list of one of its CAs is due; infinite where there is none. */
  readonly listsDueAt: Millis
}

/** Signatures that are verified for one chain: certificates that all name one another would have no end. */
const MOST_VERIFIED = 24
/** Intermediate certificates of a path. */
const MOST_INTERMEDIATES = 8

/** Reads a CA that a list names. Answers why it can issue no certificate. */
export function readAuthority(x509: X509Certificate): Authority | string {
  try {
    const certificate = readPathCertificate(x509)
    const flaw = certificate.flaw ?? certificate.issuerFlaw
    return flaw ?? { sha256: sha256Of(x509), certificate }
  } catch {
    return 'it is malformed'
  }
}

/**
 * Finds the paths from a client's certificate, the first of `chain`, through the others to CAs, and validates each (RFC 5280 section 6.1):
 * signatures, CA and key usages, extended key usage, path lengths, name constraints, critical extensions. Dates and revocations are left to the
 * caller. A certificate that cannot be read is passed over.
 */
export function validPaths(
  chain: readonly Buffer[],
  authorities: readonly Authority[],
  lists: readonly RevocationList[],
): ValidPath[] {
  const [client, ...presented] = chain.map(readQuietly)
  if (client === undefined || client.flaw !== undefined || client.clientFlaw !== undefined) return []
  const intermediates = presented.filter((each) => each?.issuerFlaw === undefined && each?.flaw === undefined)
  const found: ValidPath[] = []
  let left = MOST_VERIFIED
  const isSignedBy = ({ x509, signatureFlaw }: PathCertificate, issuer: PathCertificate) => {
    if (signatureFlaw !== undefined || !x509.checkIssued(issuer.x509) || left === 0) return false
    left--
    return x509.verify(issuer.x509.publicKey)
  }
  const extend = (path: readonly PathCertificate[]) => {
    const last = path.at(-1)!
    for (const { sha256, certificate } of authorities) {
      if (!isSignedBy(last, certificate)) continue
      const whole = [...path, certificate]
      if (isValid(whole)) found.push({ authority: sha256, ...commonDates(whole), ...revocationOf(whole, lists) })
    }
    if (path.length > MOST_INTERMEDIATES) return
    for (const next of intermediates)
      if (next !== undefined && !path.includes(next) && isSignedBy(last, next)) extend([...path, next])
  }
  extend([client])
  return found
}

/** True when each issuer of a path (all but the first) allows what is below it. */
function isValid(path: readonly PathCertificate[]): boolean {
  return path.every((issuer, at) => {
    if (at === 0) return true
    const below = path.slice(0, at)
    const counted = below.slice(1).filter(({ selfIssued }) => !selfIssued)
    if (issuer.pathLength !== undefined && counted.length > issuer.pathLength) return false
    const constrained = [below[0]!, ...counted]
    return constrained.every(({ names }) => flawOfNames(names, issuer.nameRules) === undefined)
  })
}

function commonDates(path: readonly PathCertificate[]) {
  return {
    validFrom: Math.max(...path.map(({ validFrom }) => validFrom)),
    validUntil: Math.min(...path.map(({ validUntil }) => validUntil)),
  }
}

/** The verdict of the lists of a path's CAs on the certificates below them. A CA without a list has revoked none. */
function revocationOf(path: readonly PathCertificate[], lists: readonly RevocationList[]) {
  let revoked = false
  let listsDueAt = Number.POSITIVE_INFINITY
  for (const [at, { subject, signsLists, x509 }] of path.entries()) {
    const below = path[at - 1]
    const own = lists.filter(({ issuer }) => below !== undefined && signsLists && issuer === subject)
    const signed = own.filter((list) => list.isSignedBy(x509.publicKey))
    if (below === undefined || signed.length === 0) continue
    // The newest list counts; a certificate that an older one revokes stays so.
    if (signed.some((list) => list.revokes(below.x509.serialNumber))) revoked = true
    listsDueAt = Math.min(listsDueAt, Math.max(...signed.map(({ dueAt }) => dueAt)))
  }
  return { revoked, listsDueAt }
}

function readQuietly(der: Buffer): PathCertificate | undefined {
  try {
    return readPathCertificate(new X509Certificate(der))
  } catch {
    return undefined
  }
}

function sha256Of({ fingerprint256 }: X509Certificate): string {
  return fingerprint256.replaceAll(':', '').toLowerCase()
}
