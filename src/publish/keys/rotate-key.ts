import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { counterIdOf, ROTATED_FROM, USER_NAME } from '../../model/keys/key.ts'
import { tokenFactsOf } from '../../model/oauth-clients/oauth-token.ts'
import { hashKey, newSecret } from '../../model/secrets/secret.ts'
import type { Session } from '../../model/sessions/session.ts'
import { hexOf } from '../../model/text/hex.ts'
import { expiryOfNew, isExpired } from '../../model/time/expiry.ts'
import type { Change, SessionRow } from '../../store/ports/ports.ts'
import { auditOf, clockOf, type SecretParts } from '../documents/parts.ts'
import { withHolder } from '../portal/developers/developer-change.ts'
import {
  changesWithRotation,
  isDeveloperKey,
  isFormerKey,
  keyExpiryId,
} from '../portal/developers/keys-of-developer.ts'
import { applyPolicies, evictionOf } from '../sessions/sessions.ts'
import { isCertificateKey } from './certificate-keys.ts'
import { changingKey, holderForAudit, type KeyHolder, rereadKey, sealedKeyOf } from './key-parts.ts'
import type { SavedKey } from './keys.ts'

/** How a key is rotated. */
export interface Rotation {
  /** Seconds for which the old key is good as well, 0 = no longer; tokens have none. */
  readonly overlapS?: number
  readonly action?: string
}

/**
 * Replaces a key by a new random one. The session and its counters move; the old key is invalid at once, unless there is an
 * overlap: then it ends with that, and so do the keys that it replaced itself.
 * @throws Fault `key_invalid` (400) for a user, who has no key, and for a key that was rotated before; `store_away`, `store_full`
 */
export async function rotateKey(
  parts: SecretParts,
  row: SessionRow,
  actor: string,
  rotation: Rotation = {},
): Promise<SavedKey> {
  if (row.body[USER_NAME] !== undefined) throw fault('key_invalid', 'a user has a password, not a key')
  if (isCertificateKey(parts, row))
    throw fault('key_invalid', 'the key is a client certificate: it cannot be rotated here')
  return changingKey(parts, row, (stored) =>
    withHolder(parts, stored.body, async (developer) =>
      rotateKeyOfHolder(parts, developer === undefined ? stored : await rereadKey(parts, stored), actor, {
        ...rotation,
        developer,
      }),
    ),
  )
}

/** The same for a key whose developer was read; a single try. @throws besides Fault `revision_conflict` (409) */
export async function rotateKeyOfHolder(
  parts: SecretParts,
  row: SessionRow,
  actor: string,
  { developer, overlapS = 0, action = 'key.rotate' }: Rotation & KeyHolder,
): Promise<SavedKey> {
  if (isFormerKey(row.body)) throw fault('key_invalid', 'this key was replaced already')
  const key = newSecret()
  const hash = hashKey(key)
  const keyHash = hexOf(hash)
  const oldHash = hexOf(row.hash)
  const now = clockOf(parts).wall()
  const session: JsonObject = {
    ...row.body,
    counter_id: counterIdOf(row.body, oldHash),
    last_updated: String(Math.floor(now / 1000)),
    [ROTATED_FROM]: oldHash,
    ...(isDeveloperKey(row.body) && { date_created: new Date(now).toISOString() }),
  }
  const isToken = tokenFactsOf(row.body) !== undefined
  const renewed = isDeveloperKey(row.body) && isExpired(row.body, now) ? await renewal(parts, session, now) : undefined
  const { hash: _old, sealedKey: _sealed, ...columns } = row
  const sealedKey = sealedKeyOf(parts, key, hash)
  const untilMs = overlapS === 0 || renewed !== undefined || isToken ? 0 : (Math.ceil(now / 1000) + overlapS) * 1000
  const filed = isDeveloperKey(row.body) ? await parts.documents.get('key_end', keyExpiryId(row.hash)) : undefined
  const filedAt = renewed?.forgetAt ?? (filed === undefined ? 0 : Date.parse(String(filed.body.at)))
  const changes: Change[] = [
    {
      op: 'putSession',
      hash,
      row: { ...columns, body: renewed?.session ?? session, ...(sealedKey && { sealedKey }) },
      ifAbsent: true,
    },
    ...(await changesWithRotation(parts, developer, { row, next: hash, untilMs }, filedAt)),
  ]
  const detail = { key_hash: keyHash, before: oldHash, ...holderForAudit(row.body) }
  const revision = await parts.documents.commit(changes, auditOf(parts, actor, action, row.orgId, detail))
  return { keyHash, key, session: renewed?.session ?? session, revision, created: true }
}

/** The session of a developer's key that had expired, with the expiry that its policies give a new key, and when the store may forget it (0 = never). */
async function renewal(parts: SecretParts, { expires: _over, ...rest }: JsonObject, now: number) {
  const prepared = await applyPolicies(parts, rest as Session)
  const expires = expiryOfNew(undefined, prepared.policies, now)
  const session: JsonObject = { ...rest, ...(expires !== undefined && { expires }) }
  return { session, forgetAt: await evictionOf(parts, session, prepared, now) }
}
