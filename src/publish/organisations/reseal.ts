import { toFault } from '../../errors/fault.ts'
import { DOCUMENT_KINDS } from '../../model/documents/kinds.ts'
import { asJson, isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { keySealContext } from '../../model/keys/key.ts'
import { reseal, type SealKeys } from '../../model/secrets/secret.ts'
import { hexOf } from '../../model/text/hex.ts'
import type { Documents, SessionRow, StoredDocument, Tokens } from '../../store/ports/ports.ts'

/** Base64 of what `seal` makes: its first byte is the format, 1, and nonce and tag follow. */
const SEALED = /^A[Q-Za-f][A-Za-z0-9+/]{37,}={0,2}$/
const SESSIONS_A_PAGE = 500
const NEVER_STOPPED = () => false

export interface ResealParts {
  /** As stored: with sealed members. */
  readonly documents: Documents
  readonly tokens: Tokens
  readonly keys: SealKeys
  readonly stopped?: () => boolean
  readonly onProgress?: (resealed: number) => void
}

/** The work that was done, and left. */
export interface Resealed {
  readonly documents: number
  /** Sessions with a secret that is sealed under a previous key: they are sealed again when they are written next. 0 where the work was stopped. */
  readonly sessionsLeft: number
}

/**
 * Seals the secrets of all documents under the current key, one document at a time, while they are used; another node may do the same.
 * @throws Fault `store_away`, `store_full`
 */
export async function resealStore(parts: ResealParts): Promise<Resealed> {
  const { documents, keys, stopped = NEVER_STOPPED, onProgress } = parts
  let done = 0
  for (const kind of Object.keys(DOCUMENT_KINDS)) {
    for await (const batch of documents.each(kind, {})) {
      for (const document of batch) {
        if (stopped()) return { documents: done, sessionsLeft: 0 }
        if (await resealDocument(documents, keys, document)) onProgress?.(++done)
      }
    }
  }
  return { documents: done, sessionsLeft: await sessionsLeft(parts) }
}

/** True when it was written; one that changes meanwhile is read again. */
async function resealDocument(documents: Documents, keys: SealKeys, document: StoredDocument): Promise<boolean> {
  for (let current: StoredDocument | undefined = document; current !== undefined; ) {
    const { kind, id, revision }: StoredDocument = current
    const body = resealBody(keys, current)
    if (body === undefined) return false
    try {
      await documents.commit([{ op: 'put', kind, id, body, ifRevision: revision }], undefined)
      return true
    } catch (error) {
      if (toFault(error).code !== 'revision_conflict') throw error
      current = await documents.get(kind, id)
    }
  }
  return false
}

type StoredBody = Pick<StoredDocument, 'kind' | 'id'> & { readonly body: object }

/** True where something of a stored document is sealed under a previous key. */
export function isDocumentBehind(keys: SealKeys, document: StoredBody): boolean {
  return resealBody(keys, document) !== undefined
}

/** The body with everything sealed under the current key; undefined where it is already. */
function resealBody(keys: SealKeys, { kind, id, body }: StoredBody): JsonObject | undefined {
  let changed = false
  const walk = (value: Json, name: string, above: JsonObject): Json => {
    if (Array.isArray(value)) return value.map((item) => walk(item, name, above))
    if (isObject(value))
      return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, walk(child, key, value)]))
    if (typeof value !== 'string' || !SEALED.test(value)) return value
    const contexts =
      name === 'sealed_members' ? [`members:${kind}:${id}`] : contextsOf(kind, id, asJson(body), above, name)
    const next = resealText(keys, value, contexts)
    if (next === undefined) return value
    changed = true
    return next
  }
  const made = walk(asJson(body), '', asJson(body))
  return changed ? (made as JsonObject) : undefined
}

/** The places that a sealed text of a document may belong to. */
function contextsOf(kind: string, id: string, body: JsonObject, above: JsonObject, name: string): string[] {
  return [
    ...[`${kind}:${id}`, `${kind}:${body.client_id}`, `${kind}:${above.kid}`, `${kind}:${id}:${name}`],
    ...[`certificate ${body.cert_id}`, `totp:${id}`],
  ]
}

/** True where a text, in base64, is sealed under a previous key for one of these places. */
export function isTextBehind(keys: SealKeys, text: string, contexts: readonly string[]): boolean {
  return SEALED.test(text) && resealText(keys, text, contexts) !== undefined
}

/** undefined where it is under the current key, or no sealed text after all. */
function resealText(keys: SealKeys, text: string, contexts: readonly string[]): string | undefined {
  const sealed = Buffer.from(text, 'base64')
  for (const context of contexts) {
    try {
      return reseal(keys, sealed, context)?.toString('base64')
    } catch {
      // Of another place.
    }
  }
  return undefined
}

async function sessionsLeft({ tokens, keys, stopped = NEVER_STOPPED }: ResealParts): Promise<number> {
  let left = 0
  for (let after: string | undefined = ''; after !== undefined && !stopped(); ) {
    const page: { rows: SessionRow[]; next: string | undefined } = await tokens.listSessions({
      ...(after !== '' && { after }),
      limit: SESSIONS_A_PAGE,
    })
    left += page.rows.filter((row) => isSessionBehind(keys, row)).length
    after = page.next
  }
  return left
}

/** True where a secret of a session, or the session's key itself, is sealed under a previous key. */
export function isSessionBehind(
  keys: SealKeys,
  { hash, body, sealedKey }: Pick<SessionRow, 'hash' | 'sealedKey'> & { readonly body: object },
): boolean {
  const name = hexOf(hash)
  const { sealed_members: members } = asJson(body)
  if (typeof members === 'string' && isTextBehind(keys, members, [`members:session:${name}`])) return true
  return sealedKey !== undefined && isTextBehind(keys, base64Of(sealedKey), [keySealContext(name)])
}

/** Sealed bytes as sealed texts are stored. */
export function base64Of(sealed: Uint8Array): string {
  return Buffer.from(sealed).toString('base64')
}
