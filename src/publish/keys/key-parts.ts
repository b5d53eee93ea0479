import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { keySealContext } from '../../model/keys/key.ts'
import { DEVELOPER_ID } from '../../model/portal/developers/developer.ts'
import { seal } from '../../model/secrets/secret.ts'
import { hexOf } from '../../model/text/hex.ts'
import { retryOnConflict } from '../../runtime/retry-on-conflict.ts'
import type { SessionRow, StoredDocument, Tokens } from '../../store/ports/ports.ts'
import type { PublishParts, SecretParts } from '../documents/parts.ts'

/** Whose key it is, as it is stored; undefined = nobody's. */
export interface KeyHolder {
  readonly developer: StoredDocument | undefined
}

/** The key as it is now: what it is to a developer may have changed since it was read. @throws Fault `not_found` (404) */
export async function rereadKey(parts: { readonly tokens: Tokens }, { hash }: SessionRow): Promise<SessionRow> {
  const row = await parts.tokens.getSession(hash)
  if (row === undefined) throw fault('not_found', 'no such key')
  return row
}

/**
 * Changes a key as it is now, one change at a time: the second of two rotations, or a change beside a deletion, finds what the first has
 * left; a change that another process was faster with is made again. @throws Fault `not_found` (404) where it is gone
 */
export function changingKey<T>(
  parts: Pick<PublishParts, 'locks'> & { readonly tokens: Tokens },
  row: SessionRow,
  work: (row: SessionRow) => Promise<T>,
): Promise<T> {
  return parts.locks.run(`key ${hexOf(row.hash)}`, () => retryOnConflict(async () => work(await rereadKey(parts, row))))
}

/** The key as it is kept where keys are shown again. */
export function sealedKeyOf(parts: SecretParts, key: string | undefined, hash: Uint8Array): Buffer | undefined {
  if (key === undefined || parts.config.gateway.hash_keys) return undefined
  return seal(parts.sealKey, key, keySealContext(hexOf(hash)))
}

/** Who holds a key, for the audit. */
export function holderForAudit(session: JsonObject): JsonObject {
  const id = session[DEVELOPER_ID]
  return typeof id === 'string' ? { developer: id } : {}
}
