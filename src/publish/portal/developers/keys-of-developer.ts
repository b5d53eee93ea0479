import type { DocumentId } from '../../../model/documents/ids.ts'
import type { JsonObject } from '../../../model/json/json.ts'
import { ROTATED_FROM, ROTATED_TO, withHidden } from '../../../model/keys/key.ts'
import { DEVELOPER_ID } from '../../../model/portal/developers/developer.ts'
import { withKey, withoutKey, withRotatedKey } from '../../../model/portal/developers/holdings.ts'
import { hexOf } from '../../../model/text/hex.ts'
import type { Change, SessionInput, SessionRow, StoredDocument, Tokens } from '../../../store/ports/ports.ts'
import { developerChange } from './developer-change.ts'

// A key that was rotated with an overlap names its successor (`rotated_to`), which names it (`rotated_from`): until it ends it has what
// the successor has. A key of a developer is in two records: its session, and the developer's record. A change of one must commit the change
// returned here as well, so that they agree. The session names the developer (`developer_id`); of a key that was
// rotated with an overlap the record holds the successor alone, and the old one is found through it.

/** Keys that one key replaced and that are valid at the same time; older ones end. */
const MOST_FORMER = 4

/** True for the session of a developer's key. */
export function isDeveloperKey(body: JsonObject): boolean {
  return typeof body[DEVELOPER_ID] === 'string'
}

/** True for a key that was replaced. */
export function isFormerKey(body: JsonObject): boolean {
  return typeof body[ROTATED_TO] === 'string'
}

/** The keys that a key replaced and that are still valid, the latest first. @throws Fault `store_away` */
export async function formerKeysOf(tokens: Tokens, row: SessionRow): Promise<SessionRow[]> {
  const formers: SessionRow[] = []
  for (let at = row; formers.length <= MOST_FORMER; ) {
    const from = at.body[ROTATED_FROM]
    const former = typeof from === 'string' ? await tokens.getSession(Buffer.from(from, 'hex')) : undefined
    if (former === undefined || former.body[ROTATED_TO] !== hexOf(at.hash)) return formers
    formers.push(former)
    at = former
  }
  return formers
}

/** How a session is to be stored of which the store would forget a key at `forgetAt` (Unix milliseconds, 0 = never). */
export interface KeyLife {
  readonly session: JsonObject
  readonly evictAt: number
  /** For the same commit. */
  readonly changes: readonly Change[]
}

/**
 * The store deletes expired keys, but not those of a developer: the record would still name them. Such a key expires
 * in time instead, and is filed for deletion together with its place in the record. `isNew`: nothing is filed yet. `kept` leaves
 * the filed entry unchanged.
 */
export function keyLifeOf(
  hash: Uint8Array,
  session: JsonObject,
  { forgetAt, isNew, kept }: { readonly forgetAt: number; readonly isNew: boolean; readonly kept: boolean },
): KeyLife {
  if (!isDeveloperKey(session)) return { session, evictAt: forgetAt, changes: [] }
  if (kept) return { session, evictAt: 0, changes: [] }
  if (forgetAt > 0)
    return { session: endingBy(session, forgetAt), evictAt: 0, changes: [putEnd(hash, session, forgetAt)] }
  return { session, evictAt: 0, changes: isNew ? [] : [deleteKeyExpiry(hash)] }
}

/** The changes that go with a write of a key: the record, and the keys that it replaced, which have the same access. */
export async function changesWithSave(
  tokens: Tokens,
  developer: StoredDocument,
  saved: { readonly hash: Uint8Array; readonly row: SessionInput; readonly policies: readonly string[] },
  before: SessionRow | undefined,
): Promise<{ readonly developerBody: JsonObject; readonly changes: Change[] }> {
  const developerBody = withKey(developer.body, hexOf(saved.hash), saved.policies)
  const mirrored = await changesOfFormers(tokens, saved.row, before)
  return { developerBody, changes: [developerChange(developer, developerBody), ...mirrored] }
}

/** The changes of the keys that a key replaced, which have the access that it is now saved with. */
export async function changesOfFormers(
  tokens: Tokens,
  saved: SessionInput,
  before: SessionRow | undefined,
): Promise<Change[]> {
  const formers = before === undefined ? [] : await formerKeysOf(tokens, before)
  return formers.map((former): Change => {
    const { sealedKey: _sealed, ...columns } = saved
    const body = endingBy(mirroredBody(saved.body, former), former.evictAt)
    const sealed = former.sealedKey && { sealedKey: former.sealedKey }
    const row = { ...columns, body, evictAt: former.evictAt, ...sealed }
    return { op: 'putSession', hash: former.hash, row, ifPresent: true, ifEvictAt: former.evictAt }
  })
}

/** The changes that go with the deletion of a key: its place in the record, and the keys that it replaced. */
export async function changesWithDeletion(
  tokens: Tokens,
  developer: StoredDocument | undefined,
  row: SessionRow,
): Promise<Change[]> {
  const formers = await formerKeysOf(tokens, row)
  const ended = formers.map(({ hash }): Change => ({ op: 'deleteSession', hash }))
  if (isFormerKey(row.body) || !isDeveloperKey(row.body)) return ended
  const changes = [...ended, deleteKeyExpiry(row.hash)]
  if (developer === undefined) return changes
  return [...changes, developerChange(developer, withoutKey(developer.body, hexOf(row.hash)))]
}

/** The changes that accompany a rotation: of the old key and of those before it, and the record. `untilMs` 0 = they end now. */
export async function changesWithRotation(
  parts: { readonly tokens: Tokens },
  developer: StoredDocument | undefined,
  { row, next, untilMs }: { readonly row: SessionRow; readonly next: Uint8Array; readonly untilMs: number },
  filedAt: number,
): Promise<Change[]> {
  // Another time than before: a change that was begun before it then fails, instead of taking the mark of a replaced key away.
  const latest = row.evictAt > 0 ? Math.min(row.evictAt - 1, untilMs) : untilMs
  const old = untilMs === 0 ? ended(row) : overlapping(row, latest, hexOf(next))
  const formers = await formerKeysOf(parts.tokens, row)
  const older = formers.map((former, index) =>
    untilMs === 0 || index + 1 >= MOST_FORMER
      ? ended(former)
      : overlapping(former, untilMs, String(former.body[ROTATED_TO])),
  )
  if (!isDeveloperKey(row.body)) return [old, ...older]
  const changes = [old, ...older, deleteKeyExpiry(row.hash)]
  if (filedAt > 0) changes.push(putEnd(next, row.body, filedAt))
  if (developer === undefined) return changes
  return [...changes, developerChange(developer, withRotatedKey(developer.body, hexOf(row.hash), hexOf(next)))]
}

/** Under what the end of a key is filed. */
export function keyExpiryId(hash: Uint8Array): DocumentId {
  return hexOf(hash).slice(0, 24) as DocumentId
}

/** Takes away what is filed about the end of a key. */
export function deleteKeyExpiry(hash: Uint8Array): Change {
  return { op: 'delete', kind: 'key_end', id: keyExpiryId(hash) }
}

function putEnd(hash: Uint8Array, session: JsonObject, at: number): Change {
  const body = {
    org_id: session.org_id ?? '',
    developer_id: session[DEVELOPER_ID]!,
    key_hash: hexOf(hash),
    at: new Date(at).toISOString(),
  }
  return { op: 'put', kind: 'key_end', id: keyExpiryId(hash), body }
}

function ended({ hash }: SessionRow): Change {
  return { op: 'deleteSession', hash }
}

function overlapping({ hash, ...row }: SessionRow, untilMs: number, successor: string): Change {
  const forgotten = row.evictAt > 0 ? Math.min(row.evictAt, untilMs) : untilMs
  const { expires } = row.body
  const evictAt = typeof expires === 'number' && expires > 0 ? Math.min(expires * 1000, forgotten) : forgotten
  const body = { ...endingBy(row.body, evictAt), [ROTATED_TO]: successor }
  return { op: 'putSession', hash, row: { ...row, body, evictAt }, ifPresent: true, ifEvictAt: row.evictAt }
}

/** The present access of a key, under the identity of one that it replaced. */
function mirroredBody(body: JsonObject, former: SessionRow): JsonObject {
  const { date_created: _own, ...rest } = withHidden(body, former.body)
  const created = former.body.date_created
  return created === undefined ? rest : { ...rest, date_created: created }
}

/** The session, expiring at `at` (Unix milliseconds) at the latest. */
function endingBy(session: JsonObject, at: number): JsonObject {
  const latest = Math.floor(at / 1000)
  const expires = typeof session.expires === 'number' && session.expires > 0 ? session.expires : latest
  return { ...session, expires: Math.min(expires, latest) }
}
