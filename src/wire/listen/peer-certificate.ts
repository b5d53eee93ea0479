import type { X509Certificate } from 'node:crypto'

/** A client certificate whose possession TLS has verified; nothing else of it. */
export interface PeerCertificate {
  /** SHA-256 of the certificate, lower-case hex. */
  readonly sha256: string
  /** First and last millisecond at which it is valid, since the Unix epoch. */
  readonly validFrom: number
  readonly validUntil: number
  /** DER of the certificate, then of the others that the client sent, in its order. Nothing of these is verified. */
  readonly chain: readonly Buffer[]
}

/** Certificates of a chain, and their bytes: what is sent beyond that is dropped, and only the certificate itself kept. */
const MOST_CERTIFICATES = 10
const MOST_CHAIN_BYTES = 32_768

/** The stored fields of a certificate. Its dates count whole seconds, the last one included (RFC 5280 section 4.1.2.5). */
export function peerCertificateOf(certificate: X509Certificate): PeerCertificate {
  return {
    sha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    validFrom: certificate.validFromDate.getTime(),
    validUntil: certificate.validToDate.getTime() + 999,
    chain: chainOf(certificate),
  }
}

/** Node links the certificates in the order in which they were sent. */
function chainOf(certificate: X509Certificate): Buffer[] {
  const chain: Buffer[] = []
  let bytes = 0
  for (let next: X509Certificate | undefined = certificate; next !== undefined; next = next.issuerCertificate) {
    bytes += next.raw.length
    if (chain.length === MOST_CERTIFICATES || bytes > MOST_CHAIN_BYTES) return chain.slice(0, 1)
    chain.push(next.raw)
  }
  return chain
}
