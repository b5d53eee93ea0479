import { randomBytes } from 'node:crypto'
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { productVersion } from '../config/version.ts'
import { REMEDIES } from '../errors/catalog.ts'
import { type Fault, fault } from '../errors/fault.ts'
import { isEmbedded } from '../model/nodes/node.ts'
import { type Recipient, sealFor } from '../model/secrets/recipient-seal.ts'
import { type ArchiveSink, openArchiveTarget, type WrittenArchive } from '../store/archive/write.ts'
import { type TransferPart, tablesWithout } from '../store/ports/transfer.ts'
import { copyStore } from '../store/prepare/move-store.ts'
import { existingSecrets, SECRETS_FILE } from '../store/secrets/secret-file.ts'
import { fileExists, folderPaths } from '../store/sqlite/connection/folder.ts'
import { checkOnThread } from '../store/sqlite/connection/integrity.ts'
import { openTransferSource, type StoreSettings } from './open-transfer.ts'
import { fitsStore, type SealKeyTexts } from './seal-keys.ts'

export interface BackupOptions {
  readonly storage: StoreSettings
  readonly without: readonly TransferPart[]
  /** The secrets of the installation, sealed for a recipient, with the keys among them, and what asked for it; absent = they are left out. */
  readonly secrets?: { readonly sealed: string; readonly keys: SealKeyTexts; readonly name: string }
  /** The number of all rows, about; then that of each batch. */
  readonly onTotal?: (rows: number) => void
  readonly onRows?: (rows: number) => void
  /** Aborted = the backup ends, and nothing is left of it. */
  readonly stop?: AbortSignal
}

/**
 * Writes an archive of the store, whether a server runs on it or not. The file is complete and durable, or not there: until then it
 * has another name. @throws Fault `files_unwritable`, `store_damaged`, `seal_key_differs` where the secrets are not those of the store, those of the store, the reason of `stop`
 */
export async function backupToFile(path: string, options: BackupOptions): Promise<WrittenArchive> {
  const draft = `${path}.${randomBytes(4).toString('hex')}${DRAFT_END}`
  const file = await openNew(path, draft)
  try {
    const written = await backupTo(async (bytes) => writeAll(file, path, bytes), options)
    await file.sync().catch((error) => Promise.reject(unwritable(path, error)))
    await file.close()
    await rename(draft, path)
    await syncFolder(dirname(path))
    return written
  } catch (error) {
    await file.close().catch(() => {})
    await rm(draft, { force: true })
    throw error
  }
}

/** How the name of a backup ends while it is written. */
const DRAFT_END = '.partial'

/** A copy of rows that can be read may lack others: a backup of a damaged file would replace good ones. @throws Fault `store_damaged`, the reason of `stop` */
async function refuseDamaged(file: string, stop: AbortSignal | undefined): Promise<void> {
  if (!fileExists(file)) return
  const damage = await checkOnThread(file, stop)
  if (damage !== undefined)
    throw fault('store_damaged', `${file} is damaged (${damage}); no backup was made: ${REMEDIES.store_damaged}`)
}

/** Writes an archive of the store to `sink`; an embedded one is checked whole before. Throws as `backupToFile`. */
export async function backupTo(sink: ArchiveSink, options: BackupOptions): Promise<WrittenArchive> {
  const { storage, without, secrets, onTotal, onRows, stop } = options
  const tables = tablesWithout(without)
  if (isEmbedded(storage)) await refuseDamaged(folderPaths(resolve(storage.path)).database, stop)
  const source = await openTransferSource(storage)
  try {
    const header = {
      ...{ version: productVersion(), created_at: new Date().toISOString(), without, tables },
      ...(secrets !== undefined && { secrets: secrets.sealed }),
    }
    const target = openArchiveTarget(sink, header, (sealHash) => {
      // Otherwise the backup would be found to be of no use when it is needed.
      if (secrets !== undefined && !fitsStore(secrets.keys, sealHash))
        throw fault('seal_key_differs', `${secrets.name}: the secrets of this installation do not open its store`)
    })
    await copyStore(source, target, {
      tables,
      ...(onTotal && { onTotal }),
      ...(onRows && { onRows: (_table, rows) => onRows(rows) }),
      ...(stop && { stop }),
    })
    return target.written!
  } finally {
    await source.close()
  }
}

/** Where the secrets of a backup are sealed: they open nowhere else. */
export const SECRETS_PLACE = 'backup/secrets.json'

/** The settings that tell the secrets of an installation. */
type SecretSettings = Pick<Config['storage'], 'path' | 'seal_key' | 'seal_key_previous'>

/**
 * The secrets that the installation has, for a backup: seal keys of the settings replace those of the file. `name`: the option or the
 * setting that asks for it. @throws Fault `option_invalid` where the data folder has none
 */
export function sealedSecrets(
  { path, seal_key, seal_key_previous }: SecretSettings,
  recipient: Recipient,
  name: string,
): NonNullable<BackupOptions['secrets']> {
  const folder = resolve(path)
  if (!fileExists(join(folder, SECRETS_FILE)))
    throw fault('option_invalid', `${name}: there is no ${SECRETS_FILE} in ${folder}; run it where the server runs`)
  const keys = existingSecrets(folder, seal_key, seal_key_previous)
  const text = JSON.stringify(keys)
  return { sealed: sealFor(recipient, text, SECRETS_PLACE, text), keys, name }
}

async function openNew(path: string, draft: string): Promise<FileHandle> {
  try {
    // A backup that is there is never replaced, whether it can be read or not.
    await lstat(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw unwritable(path, error)
    return open(draft, 'wx', 0o600).catch((error) => Promise.reject(unwritable(path, error)))
  }
  throw fault('files_unwritable', `${path} exists: name another file`)
}

async function writeAll(file: FileHandle, path: string, bytes: Uint8Array): Promise<void> {
  try {
    for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
  } catch (error) {
    throw unwritable(path, error)
  }
}

/** Makes the names in a folder durable. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}

function unwritable(path: string, error: unknown): Fault {
  return fault('files_unwritable', `${path} cannot be written (${codeOf(error)})`, error)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
