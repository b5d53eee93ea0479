import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A throw-away certificate that signed itself, P-256. */
export interface Certificate {
  readonly cert: string
  readonly key: string
  /** SHA-256 of the certificate, lower-case hex. */
  readonly fingerprint: string
}

/**
 * Makes a certificate for a DNS name with the machine's `openssl`.
 * @throws Error that says what to install when there is none
 */
export function makeCertificate(name: string): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-cert-'))
  const keyFile = join(folder, 'key.pem')
  const certFile = join(folder, 'cert.pem')
  try {
    openssl([
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-keyout', keyFile, '-out', certFile, '-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`],
    ])
    const cert = readFileSync(certFile, 'utf8')
    const fingerprint = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase()
    return { cert, key: readFileSync(keyFile, 'utf8'), fingerprint }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function openssl(args: readonly string[]): void {
  try {
    execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error('the TLS tests need the openssl command (1.1.1 or newer): install the package `openssl`')
  }
}
