import { Type } from 'typebox'
import { flag, group, PORT, text, whole } from './leaves.ts'

const TIMEOUT_MS = [1, 86_400_000] as const

/**
 * Suites with a key exchange of its own for each connection and authenticated encryption (RFC 8446 appendix B.4; RFC 9325 section 4.2; none
 * of the list of RFC 9113 appendix A): no CBC, CCM, ARIA, static RSA or finite-field Diffie-Hellman.
 */
const SUITES = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
]
/** Groups for the key exchange; the first holds against quantum computers too. */
const CURVES = ['X25519MLKEM768', 'X25519', 'P-256', 'P-384', 'P-521']

/** A list of some of these names, never empty. */
const some = (names: readonly string[], value: readonly string[], description: string) =>
  Type.Array(Type.String({ pattern: `^(${names.join('|')})$`, allowed: `some of ${names.join(', ')}` }), {
    ...{ default: [...value], minItems: 1, uniqueItems: true, description },
  })

/** Settings of the negotiation of a TLS listener. */
const negotiated = {
  min_version: Type.Enum(['1.2', '1.3'], { default: '1.2', description: 'Oldest version of TLS that is accepted.' }),
  cipher_suites: some(
    SUITES,
    SUITES,
    'Cipher suites, by their names in OpenSSL: those that begin with `TLS_` are of TLS 1.3. Without one of a version, that version is not accepted.',
  ),
  curves: some(
    CURVES,
    CURVES.filter((name) => name !== 'P-521'),
    'Groups for the key exchange. Client certificates with a key on P-521 need it here in TLS 1.2.',
  ),
}

/** TLS of the gateway. */
export const gatewayTls = group({
  enabled: flag(false, 'Open a TLS listener in addition to the plain one.'),
  listen_port: whole(8443, PORT, 'Port for TLS. 0 takes any free port.'),
  cert_file: text(
    '',
    'PEM file with the certificate chain for clients that name no known host. Read again when it changes.',
  ),
  key_file: text(
    '',
    'PEM file with the private key of `cert_file`. P-256 costs a third less per handshake than RSA-2048.',
  ),
  ...negotiated,
  client_crl_file: text(
    '',
    'PEM file with the revocation lists (CRL) of the CAs that issue client certificates. Read again when it changes. Empty: none.',
  ),
  handshake_timeout_ms: whole(5000, TIMEOUT_MS, 'Longest TLS handshake.'),
  max_handshakes: whole(1000, [1, 1_000_000], 'Unfinished TLS handshakes at once. More are refused.'),
})

/** TLS of the dashboard. */
export const dashboardTls = group({
  enabled: flag(
    false,
    'Serve the dashboard over TLS, at `dashboard.listen_port`, instead of plain HTTP. Cookies are then `Secure`.',
  ),
  cert_file: text('', 'PEM file with the certificate chain. Read again when it changes.'),
  key_file: text('', 'PEM file with the private key of `cert_file`.'),
  ...negotiated,
  hsts_seconds: whole(
    31_536_000,
    [0, 315_360_000],
    'How long browsers that have seen the dashboard over TLS ask it over nothing else (`Strict-Transport-Security`). 0: not said.',
  ),
})
