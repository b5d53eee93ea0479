import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import type { Json } from '../../model/json/json.ts'
import { lookupKey, type SealKey } from '../../model/secrets/secret.ts'
import type { Kind, Revision, StoredDocument } from '../../store/ports/ports.ts'
import { jsonInTurns } from './json-in-turns.ts'

/** A document that must still be at this revision when it is written. */
export interface ExpectedRevision {
  readonly kind: Kind
  readonly id: string
  readonly revision: Revision
}

/** The version of an entity: a document by its revision, an entity without one by a digest. */
export type EntityVersion = Pick<StoredDocument, 'kind' | 'id' | 'revision'> | { readonly digest: string }

/** For entities without a revision. */
export async function digestOf(body: Json): Promise<EntityVersion> {
  return { digest: await digestInTurns(createHash('sha256'), body) }
}

/** The same of a body with members that a reader of the tag may not see: without the key no guess of them can be checked. */
export async function keyedDigestOf(body: Json, key: SealKey): Promise<EntityVersion> {
  return { digest: await digestInTurns(createHmac('sha256', lookupKey(key)), body) }
}

async function digestInTurns(digest: Hash | Hmac, body: Json): Promise<string> {
  for await (const piece of jsonInTurns(body)) digest.update(piece)
  return digest.digest('base64url')
}

/** The strong entity tag (RFC 9110 section 8.8.3) of the current version: it changes with every change. */
export function entityTag(version: EntityVersion): string {
  return 'digest' in version ? `"${version.digest}"` : `"${version.revision}"`
}
