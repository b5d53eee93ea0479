import { X509Certificate } from 'node:crypto'
import type { Millis } from '../time/clock.ts'
import { flawOfNames } from './certificate-names.ts'
import { type PathCertificate, readPathCertificate } from './path-certificate.ts'
import type { RevocationList } from './revocation-list.ts'

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
