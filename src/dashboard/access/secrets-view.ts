import type { FaultCode } from '../../errors/catalog.ts'
import { fault } from '../../errors/fault.ts'
import type { Json } from '../../model/json/json.ts'
import { mayDo } from '../../model/people/permission.ts'
import { maskIn, mergeSecrets, withoutSecrets } from '../../model/secrets/secret-places.ts'
import type { Call } from '../routes/call.ts'
import { isUnbounded } from './actor.ts'

/** True for callers who may write such documents, and so know their secrets. */
export function mayWrite({ actor }: Pick<Call, 'actor'>, permission: string): boolean {
  return actor !== undefined && !isUnbounded(actor) && mayDo(actor.permissions, permission, 'write')
}

/**
 * A document as a caller may read it: with its secrets for those who may write it. `isAlone`: false where others own a part of what it is
 * for, so that the caller may not change it (`soleOwnership`).
 */
export function maskSecretsFor<Document extends Json>(
  call: Pick<Call, 'actor'>,
  permission: string,
  document: Document,
  isAlone = true,
): Document {
  return isAlone && mayWrite(call, permission) ? document : withoutSecrets(document)
}

/**
 * A document that was sent to replace another, or as a new one: secrets that are blank or masked in it keep their stored values.
 * @throws Fault of the given code naming the place of a mask without a stored secret
 */
export function restoreMaskedSecrets<Document extends Json>(
  sent: Document,
  stored: Json | undefined,
  code: FaultCode,
): Document {
  const kept = stored === undefined ? sent : mergeSecrets(sent, stored)
  const masked = maskIn(kept)
  if (masked === undefined) return kept
  throw fault(code, `${masked.join('.')}: contains the mask *** instead of a secret: write the secret itself`)
}
