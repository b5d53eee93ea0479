import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { fault } from '../errors/fault.ts'
import { MAX_GRACE_S } from '../model/apis/schema/schema.ts'
import type { DocumentId } from '../model/documents/ids.ts'
import { asJson, type JsonObject } from '../model/json/json.ts'
import { silentLog } from '../model/logs/log.ts'
import { isEmbedded } from '../model/nodes/node.ts'
import type { SealKeys } from '../model/secrets/secret.ts'
import { hexOf } from '../model/text/hex.ts'
import type { Millis } from '../model/time/clock.ts'
import { readInstallation, readSealKeys } from '../publish/organisations/installation.ts'
import { base64Of, isDocumentBehind, isSessionBehind, isTextBehind } from '../publish/organisations/reseal.ts'
import { AUDITED_SESSION, type Store } from '../store/ports/ports.ts'
import { type Cell, columnsOf, type StoreSnapshot, type TransferTableName } from '../store/ports/transfer.ts'
import { toAuditChange, unpackBodies } from '../store/prepare/audited.ts'
import { existingSecrets } from '../store/secrets/secret-file.ts'
import { folderPaths } from '../store/sqlite/connection/folder.ts'
import { openReader } from '../store/sqlite/connection/inspect.ts'
import { openStoreOf } from './open-store.ts'
import { openTransferSource } from './open-transfer.ts'
import { fitsStore, type SealKeyTexts, sealKeysOf } from './seal-keys.ts'

type Readable = Pick<Store, 'documents' | 'tokens'> & { close(): Promise<void> }

/**
 * Refuses to forget the previous seal key of `secrets.json` while something in the store needs it, which could never be read again. Answers
 * what else is sealed under it, or nothing where there is no store. Reads beside a running server. @throws Fault `setting_invalid` with
 * what to do, and those of the store
 */
export async function requireOldSealKeyUnused(config: Config): Promise<UnderPreviousKeys | undefined> {
  const path = resolve(config.storage.path)
  const secrets = existingSecrets(path)
  if (secrets.seal_key_previous === '') return undefined
  const keys = await readKeys(config, path, secrets)
  if (keys === undefined) return undefined
  const source = await openTransferSource(config.storage)
  try {
    const found = await source.snapshot((snapshot) => countUnderPreviousKeys(snapshot, keys, Date.now()))
    const { documents, keys: sessions, tickets, messages } = found
    if (documents + sessions + tickets + messages > 0)
      throw fault(
        'setting_invalid',
        `the old seal_key is still in use (documents: ${documents}, keys: ${sessions}, refresh tokens and codes: ${tickets}, waiting messages: ${messages}): a running server seals documents again, a key moves when it is written next, tokens expire, messages are delivered or given up; wait for all of them, or give --force, which makes them unreadable for good`,
      )
    return found
  } finally {
    await source.close()
  }
}

/** The seal keys of the store; undefined where there is no store yet. */
async function readKeys(config: Config, path: string, secrets: SealKeyTexts): Promise<SealKeys | undefined> {
  const store = await openReadable(config, path)
  if (store === undefined) return undefined
  try {
    const hash = (await readInstallation(store))?.seal_hash ?? ''
    if (!fitsStore({ ...secrets, seal_key_previous: '' }, hash))
      throw fault(
        'setting_invalid',
        'no server has started with the new seal_key yet: restart it, and then end the rotation',
      )
    return await sealKeysOf(store as Store, secrets, readSealKeys)
  } finally {
    await store.close()
  }
}

/** undefined where there is no store yet. */
async function openReadable(config: Config, path: string): Promise<Readable | undefined> {
  if (isEmbedded(config.storage)) return existsSync(folderPaths(path).database) ? openReader(path) : undefined
  return (await openStoreOf({ config, path, log: silentLog, copyName: undefined })).store
}

/** How many rows hold something that is sealed under a previous key. */
interface UnderPreviousKeys {
  readonly documents: number
  /** Keys and access tokens. */
  readonly keys: number
  /** Refresh tokens, codes and whatever else of the authorization server can still be used. */
  readonly tickets: number
  /** Messages of the outbox that are to be delivered. */
  readonly messages: number
  /** Messages that were given up. */
  readonly deadMessages: number
  /** Changes of the audit log: they cannot be undone without the key. */
  readonly auditChanges: number
}

type Row = Readonly<Record<string, Cell>>
type Count = (row: Row) => keyof UnderPreviousKeys | undefined

/**
 * Counts what is sealed under a previous key, in every table that has something sealed. Writes nothing.
 * @throws Fault `store_away`, `store_damaged`
 */
export async function countUnderPreviousKeys(
  snapshot: StoreSnapshot,
  keys: SealKeys,
  now: Millis,
): Promise<UnderPreviousKeys> {
  const counts = { documents: 0, keys: 0, tickets: 0, messages: 0, deadMessages: 0, auditChanges: 0 }
  for (const [table, countOf] of Object.entries(countsOf(keys, now))) {
    const names = columnsOf(table as TransferTableName).map(([name]) => name)
    for await (const rows of snapshot.rows(table as TransferTableName))
      for (const cells of rows) {
        const found = countOf(Object.fromEntries(names.map((name, i) => [name, cells[i]!])))
        if (found !== undefined) counts[found]++
      }
  }
  return counts
}

/** The tables with something sealed. What seals in another place is counted by a line here. */
function countsOf(keys: SealKeys, now: Millis): Partial<Readonly<Record<TransferTableName, Count>>> {
  return {
    document({ kind, id, body }) {
      const document = { kind: kind as string, id: id as DocumentId, body: objectOf(body) }
      return isDocumentBehind(keys, document) ? 'documents' : undefined
    },
    session({ hash, body, sealed_key: sealed, evict_at: evictAt }) {
      if (evictAt !== 0 && (evictAt as Millis) <= now) return undefined
      const session = { hash: hash as Uint8Array, body: objectOf(body), ...sealedKeyOf(sealed as Uint8Array) }
      return isSessionBehind(keys, session) ? 'keys' : undefined
    },
    ticket: (row) => (isTicketBehind(keys, row, now) ? 'tickets' : undefined),
    delivery({ queue, created_at: createdAt, sealed, dead }) {
      const place = `${queue}:${createdAt}`
      const contexts = [`delivery:${place}`, `event:${place}`]
      if (!isTextBehind(keys, base64Of(sealed as Uint8Array), contexts)) return undefined
      return dead === 0 ? 'messages' : 'deadMessages'
    },
    audit_change({ kind, id, bodies }) {
      const change = toAuditChange(kind as string, id as string, unpackBodies(bodies as Uint8Array))
      const { before, after, session } = change
      const isBehind = (body: JsonObject) =>
        kind === AUDITED_SESSION
          ? isSessionBehind(keys, { ...sealedKeyOf(session?.sealedKey), hash: Buffer.from(change.id, 'hex'), body })
          : isDocumentBehind(keys, { kind: change.kind, id: change.id as DocumentId, body })
      return [before, after].some((body) => body !== null && isBehind(body)) ? 'auditChanges' : undefined
    },
  }
}

/** The answer to a repeated refresh is read for some minutes only; all else of a ticket while there is one, so that a late use is noticed. */
function isTicketBehind(keys: SealKeys, row: Row, now: Millis): boolean {
  if ((row.keep_until as Millis) <= now) return false
  const name = hexOf(row.hash as Uint8Array)
  const { sealed_members: members, sealed_answer: answer } = objectOf(row.body)
  if (typeof members === 'string' && isTextBehind(keys, members, [`members:ticket:${name}`])) return true
  const isRead = (row.claimed_at as Millis) + MAX_GRACE_S * 1000 > now
  return isRead && typeof answer === 'string' && isTextBehind(keys, answer, [`refresh_answer:${name}`])
}

function objectOf(text: Cell | undefined): JsonObject {
  return asJson(JSON.parse(text as string) as JsonObject)
}

/** No bytes = no key is kept. */
function sealedKeyOf(sealed: Uint8Array | undefined): { sealedKey?: Uint8Array } {
  return sealed === undefined || sealed.length === 0 ? {} : { sealedKey: sealed }
}
