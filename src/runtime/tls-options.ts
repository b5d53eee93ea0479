import { constants } from 'node:crypto'
import type { SecureContextOptions } from 'node:tls'

/** The negotiation of a TLS listener, as its settings say. */
export interface TlsRules {
  readonly min_version: '1.2' | '1.3'
  /** In the names of OpenSSL. */
  readonly cipher_suites: readonly string[]
  readonly curves: readonly string[]
}

/**
 * The options of a listener's secure contexts. Renegotiation is refused (RFC 9325 section 3.5). `tickets` false: no session is ever resumed.
 */
export function tlsOptions(rules: TlsRules, { tickets }: { readonly tickets: boolean }): SecureContextOptions {
  return {
    minVersion: `TLSv${rules.min_version}`,
    ciphers: rules.cipher_suites.join(':'),
    ecdhCurve: rules.curves.join(':'),
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION | (tickets ? 0 : constants.SSL_OP_NO_TICKET),
    // Without it OpenSSL ends the handshake of a client with a certificate that offers a session.
    sessionIdContext: 'gatehouse',
  }
}
