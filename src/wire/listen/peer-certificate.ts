import type { X509Certificate } from 'node:crypto'

/** A client certificate whose possession TLS has verified; nothing else of it. */
export interface PeerCertificate {
  /** SHA-256 of the certificate, lower-case hex. */
  readonly sha256: string
  /** First and last millisecond at which it is valid, since the Unix epoch. */
  readonly validFrom: number
  readonly validUntil: number
}

/** The stored fields of a certificate. Its dates count whole seconds, the last one included (RFC 5280 section 4.1.2.5). */
export function peerCertificateOf(certificate: X509Certificate): PeerCertificate {
  return {
    sha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    validFrom: certificate.validFromDate.getTime(),
    validUntil: certificate.validToDate.getTime() + 999,
  }
}
