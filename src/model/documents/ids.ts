import { randomBytes } from 'node:crypto'
import { fault } from '../../errors/fault.ts'

/** Objects whose ids callers choose, and that a path of the dashboard or of `/svc/` names by them. */
export type ChosenIdKind = 'api' | 'policy' | 'oauth_client' | 'key'

/** Words of paths where an id of the kind may come too: a call about an object with such an id would be taken for another call. */
export const RESERVED_IDS: Readonly<Record<ChosenIdKind, ReadonlySet<string>>> = {
  api: new Set([
    ...['apis', 'categories', 'create', 'dry-run', 'export', 'groups', 'hosts', 'import', 'jwks', 'keys', 'labels'],
    ...['migrate', 'oas', 'oauth', 'search'],
  ]),
  policy: new Set(['search']),
  oauth_client: new Set(['authorize-client', 'endpoint', 'revoke', 'revoke_all', 'rotate', 'secrets', 'tokens']),
  key: new Set(['aggregate', 'create', 'detailed', 'endpoint', 'keys', 'policy', 'preview', 'search', 'subscriptions']),
}

declare const noun: unique symbol
type Id<Noun extends string> = string & { readonly [noun]: Noun }

/** Storage id of a document: 24 lowercase hex digits. `api_id` and policy `id` are free strings. */
export type DocumentId = Id<'document'>

const DOCUMENT_ID = /^[0-9a-f]{24}$/

/** Checks a storage id. @throws Fault `id_malformed` (400) */
export function toDocumentId(text: string): DocumentId {
  if (!DOCUMENT_ID.test(text)) throw fault('id_malformed', `not a document id, length ${text.length}`)
  return text as DocumentId
}

/** True for 24 lowercase hex digits. */
export function isDocumentId(text: unknown): text is DocumentId {
  return typeof text === 'string' && DOCUMENT_ID.test(text)
}

/** Makes a storage id: 8 hex digits of the current second, then 64 random bits, so ids sort by age. */
export function newDocumentId(nowMs = Date.now()): DocumentId {
  const seconds = Math.floor(nowMs / 1000)
  return (seconds.toString(16).padStart(8, '0') + randomBytes(8).toString('hex')) as DocumentId
}

/** Makes an `api_id`: 32 hex digits. */
export function newApiId(): string {
  return randomBytes(16).toString('hex')
}

/** Why an id cannot be chosen for a new object, in words that follow its name; undefined where it can. */
export function reservedIdFlaw(kind: ChosenIdKind, id: string): string | undefined {
  return RESERVED_IDS[kind].has(id) ? `${id} is a word of the paths of this API; choose another id` : undefined
}
