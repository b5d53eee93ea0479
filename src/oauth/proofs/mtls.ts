import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { equalSecrets } from '../../model/secrets/secret.ts'
import type { OAuthCall } from '../endpoints/parts.ts'

const SHA256_HEX = /^[0-9a-f]{64}$/

/**
 * The thumbprint of a certificate as tokens carry it in `cnf["x5t#S256"]` (RFC 8705 section 3.1): base64url of the SHA-256 of
 * its DER. Takes that hash in hex; '' (no certificate) and anything that is no hash give ''.
 */
export function certificateThumbprint(sha256Hex: string): string {
  const hex = sha256Hex.toLowerCase()
  return SHA256_HEX.test(hex) ? Buffer.from(hex, 'hex').toString('base64url') : ''
}

/** True when the connection proved possession of the certificate that a token is bound to (RFC 8705 section 3). */
export function provesCertificate(peerCertificate: string, x5t: string): boolean {
  const proved = certificateThumbprint(peerCertificate)
  return proved !== '' && equalSecrets(proved, x5t)
}

/**
 * True when the client of `tls_client_auth` came with its certificate (RFC 8705 section 2). The client is registered with the
 * SHA-256 of the certificate in hex, colons allowed. A registered subject never fits: connections prove possession of a
 * certificate, not its issuer, and anyone can write any subject into a self-signed one.
 */
export function certificateFits(client: OAuthClient, call: OAuthCall): boolean {
  const registered = certificateThumbprint((client.certificate ?? '').replaceAll(':', ''))
  return provesCertificate(call.peerCertificate, registered)
}
