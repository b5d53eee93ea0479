import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { fault } from '../errors/fault.ts'
import { silentLog } from '../model/logs/log.ts'
import { isEmbedded } from '../model/nodes/embedded-store.ts'
import type { SealKeys } from '../model/secrets/secret.ts'
import { readInstallation, readSealKeys } from '../publish/organisations/installation.ts'
import type { Store } from '../store/ports/ports.ts'
import { existingSecrets } from '../store/secrets/secret-file.ts'
import { folderPaths } from '../store/sqlite/connection/folder.ts'
import { openReader } from '../store/sqlite/connection/inspect.ts'
import { openStoreOf } from './open-store.ts'
import { openTransferSource } from './open-transfer.ts'
import { fitsStore, type SealKeyTexts, sealKeysOf } from './seal-keys.ts'
import { countUnderPreviousKeys, type UnderPreviousKeys } from './under-previous-keys.ts'

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
