import { hash } from 'node:crypto'
import type { TLSSocket } from 'node:tls'

/**
 * True when the certificate that the peer has proved to own is one of these, or holds one of these public keys (RFC 7469 section 2.4).
 * Certificates behind it in the chain do not count: anyone with any certificate of that authority could present the chain.
 */
export function isPinned(socket: TLSSocket, pins: ReadonlySet<string>): boolean {
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return false
  const key = certificate.publicKey.export({ type: 'spki', format: 'der' })
  return pins.has(hash('sha256', key, 'hex')) || pins.has(hash('sha256', certificate.raw, 'hex'))
}
