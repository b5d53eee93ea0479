import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { fault } from '../errors/fault.ts'
import { silentLog } from '../model/logs/log.ts'
import { isEmbedded } from '../model/nodes/embedded-store.ts'
import { readInstallation, readSealKeys } from '../publish/organisations/installation.ts'
import { countUnderPreviousKeys } from '../publish/organisations/reseal.ts'
import type { Store } from '../store/ports/ports.ts'
import { existingSecrets } from '../store/secrets/secret-file.ts'
import { folderPaths } from '../store/sqlite/connection/folder.ts'
import { openReader } from '../store/sqlite/connection/inspect.ts'
import { openStoreOf } from './open-store.ts'
import { fitsStore, sealKeysOf } from './seal-keys.ts'

type Readable = Pick<Store, 'documents' | 'tokens'> & { close(): Promise<void> }

/**
 * Refuses to forget the previous seal key of `secrets.json` while documents or sessions of the store need it: they could never be read
 * again. Reads beside a running server. @throws Fault `setting_invalid` with what to do, and those of the store
 */
export async function requireOldSealKeyUnused(config: Config): Promise<void> {
  const path = resolve(config.storage.path)
  const secrets = existingSecrets(path)
  if (secrets.seal_key_previous === '') return
  const store = await openReadable(config, path)
  if (store === undefined) return
  try {
    const hash = (await readInstallation(store))?.seal_hash ?? ''
    if (!fitsStore({ ...secrets, seal_key_previous: '' }, hash))
      throw fault(
        'setting_invalid',
        'no server has started with the new seal_key yet: restart it, and then end the rotation',
      )
    const keys = await sealKeysOf(store as Store, secrets, readSealKeys)
    const { documents, sessions } = await countUnderPreviousKeys({ ...store, keys })
    if (documents + sessions > 0)
      throw fault(
        'setting_invalid',
        `the old seal_key is still in use (documents: ${documents}, keys: ${sessions}): a running server seals documents again, a key moves when it is written next; wait for both, or give --force, which makes them unreadable for good`,
      )
  } finally {
    await store.close()
  }
}

/** undefined where there is no store yet. */
async function openReadable(config: Config, path: string): Promise<Readable | undefined> {
  if (isEmbedded(config.storage)) return existsSync(folderPaths(path).database) ? openReader(path) : undefined
  return (await openStoreOf({ config, path, log: silentLog, copyName: undefined })).store
}
