import { hash } from 'node:crypto'
import type { Json } from '../../model/json/json.ts'
import type { Kind, Revision, StoredDocument } from '../../store/ports/ports.ts'

/** A document that must still be at this revision when it is written. */
export interface ExpectedRevision {
  readonly kind: Kind
  readonly id: string
  readonly revision: Revision
}

/** Where something stands: a document at its revision, or what has none by a digest of it. */
export type EntityVersion = Pick<StoredDocument, 'kind' | 'id' | 'revision'> | { readonly digest: string }

/** For what has no revision of its own. */
export function digestOf(body: Json): EntityVersion {
  return { digest: hash('sha256', JSON.stringify(body), 'base64url') }
}

/** The strong entity tag (RFC 9110 section 8.8.3) of something as it stands: another one after every change. */
export function entityTag(standing: EntityVersion): string {
  return 'digest' in standing ? `"${standing.digest}"` : `"${standing.revision}"`
}
