import { call } from '../calls/call.ts'

export interface Certificate {
  readonly id: string
  readonly fingerprint: string
  readonly has_private: boolean
  readonly issuer: string
  readonly subject: string
  readonly not_before: string
  readonly not_after: string
  readonly dns_names: readonly string[]
  readonly is_ca: boolean
}

/** An API that uses a certificate, and what for. */
export interface CertificateUse {
  readonly api_id: string
  readonly name: string
  readonly usage_types: readonly string[]
}

export const CERTIFICATES_KEY = ['certificates'] as const

export function listCertificates(
  page: number,
  signal: AbortSignal,
): Promise<{ readonly certificates: readonly Certificate[]; readonly pages: number }> {
  return call('GET', '/api/certs/details', { query: { p: page }, signal })
}

/** All stored certificates. */
export async function listEveryCertificate(signal: AbortSignal): Promise<readonly Certificate[]> {
  const answer = await call<{ certificates: readonly Certificate[] }>('GET', '/api/certs/details', {
    query: { p: -1 },
    signal,
  })
  return answer.certificates
}

/** Stores PEM text: a certificate, its chain, perhaps its private key. Answers its id. */
export async function addCertificate(pem: string): Promise<string> {
  const body = new FormData()
  body.append('file', new Blob([pem], { type: 'application/x-pem-file' }), 'certificate.pem')
  return (await call<{ id: string }>('POST', '/api/certs', { body })).id
}

export function deleteCertificate(id: string): Promise<unknown> {
  return call('DELETE', `/api/certs/${encodeURIComponent(id)}`)
}

/** The APIs that use a certificate. */
export async function listCertificateUses(id: string, signal: AbortSignal): Promise<readonly CertificateUse[]> {
  const path = `/api/certs/${encodeURIComponent(id)}/apis`
  return (await call<{ apis: readonly CertificateUse[] }>('GET', path, { query: { p: -1 }, signal })).apis
}

/** Takes a certificate out of all APIs that use it. */
export function unlinkCertificate(id: string): Promise<unknown> {
  return call('DELETE', `/api/certs/dependencies/${encodeURIComponent(id)}`)
}
