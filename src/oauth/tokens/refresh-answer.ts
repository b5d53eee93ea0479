import { seal, unseal } from '../../model/secrets/secret.ts'
import type { OAuthParts } from '../endpoints/parts.ts'
import type { Issued } from './issue.ts'

/**
 * Seals what the use of a refresh token gave, bound to that token's hash, so that a repeated use can be answered with the same.
 * Base64.
 */
export function sealAnswer(parts: Pick<OAuthParts, 'sealKey'>, hash: Buffer, issued: Issued): string {
  return seal(parts.sealKey, JSON.stringify(issued), contextOf(hash)).toString('base64')
}

/** Opens what `sealAnswer` sealed for this refresh token. @throws Fault `seal_broken` */
export function openAnswer(parts: Pick<OAuthParts, 'sealKey'>, hash: Buffer, sealed: string): Issued {
  return JSON.parse(unseal(parts.sealKey, Buffer.from(sealed, 'base64'), contextOf(hash)).toString('utf8')) as Issued
}

function contextOf(hash: Buffer): string {
  return `refresh_answer:${hash.toString('hex')}`
}
