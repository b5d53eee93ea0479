import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'

/** A key of a client, as DPoP proofs show it. */
export interface ProofKey {
  readonly privateKey: KeyObject
  readonly jwk: { kty: string; crv: string; x: string; y: string }
  /** RFC 7638. */
  readonly thumbprint: string
}

export function newProofKey(): ProofKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { crv, kty, x, y } = publicKey.export({ format: 'jwk' }) as ProofKey['jwk']
  const thumbprint = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
  return { privateKey, jwk: { crv, kty, x, y }, thumbprint }
}

/** A DPoP proof (RFC 9449 section 4.2); `nowMs` by the gateway's clock. `token` = the access token that it goes with. */
export function proofOf(
  key: ProofKey,
  claims: { htm: string; htu: string; nowMs: number; token?: string; jti?: string },
) {
  const { htm, htu, nowMs, token, jti = randomUUID() } = claims
  const ath = token === undefined ? {} : { ath: createHash('sha256').update(token).digest('base64url') }
  const body = { jti, htm, htu, iat: Math.floor(nowMs / 1000), ...ath }
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${encode({ typ: 'dpop+jwt', alg: 'ES256', jwk: key.jwk })}.${encode(body)}`
  const signature = sign('sha256', Buffer.from(text), { key: key.privateKey, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}
