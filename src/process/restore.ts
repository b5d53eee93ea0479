import { join, resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { fault } from '../errors/fault.ts'
import { type CheckedArchive, checkArchive, openArchiveSource } from '../store/archive/read.ts'
import { TRANSFER_TABLE_NAMES } from '../store/ports/transfer.ts'
import { copyStore } from '../store/prepare/move-store.ts'
import { existingSecrets, parseSecrets, SECRETS_FILE, writeSecrets } from '../store/secrets/secret-file.ts'
import { fileExists, prepareFolder } from '../store/sqlite/connection/folder.ts'
import { openTransferTarget } from './open-transfer.ts'
import { fitsStore, type SealKeyTexts } from './seal-keys.ts'

/**
 * How much the revision of a store grows by a restore, besides that of the backup: the commits that the restore lost had numbers that
 * must not be given again, since clients and nodes remember them (`ETag`, local copies). At 500 commits a second they are those of 99 days.
 */
const REVISION_STEP = 2 ** 32

export interface RestoreOptions {
  readonly storage: Config['storage']
  /** Opens the secrets of the archive; absent = those of the data folder, or `storage.seal_key`, are used. */
  readonly openSealed?: (sealed: string) => string
  /** True: everything is checked, and nothing is written. */
  readonly dryRun: boolean
  /** The number of bytes or rows of what is done next, and then that of each piece. */
  readonly onStep?: (step: 'check' | 'restore', total: number) => void
  readonly onProgress?: (done: number) => void
  readonly stop?: AbortSignal
}

export interface RestoredArchive extends CheckedArchive {
  /** The first revision of the restored store. */
  readonly revision: number
}

/**
 * Restores an archive into an empty store of either kind, all or nothing: checksums, counts and the seal key are checked before
 * anything is written. @throws Fault `archive_invalid`, `archive_newer`, `seal_key_differs`, `store_not_empty`, `data_folder_locked`,
 * `sealed_unreadable`, the reason of `stop`
 */
export async function restoreFile(path: string, options: RestoreOptions): Promise<RestoredArchive> {
  const { storage, dryRun, onStep, onProgress, stop } = options
  onStep?.('check', 0)
  const checked = await checkArchive(path, { ...(onProgress && { onBytes: onProgress }), ...(stop && { stop }) })
  const secrets = secretsFor(checked, options)
  const revision = checked.end.head.revision + REVISION_STEP
  const target = await openTransferTarget(storage)
  try {
    if (dryRun) return { ...checked, revision }
    // First: a restore that is cut short then needs no identity when it is repeated.
    if (secrets !== undefined) {
      // A cluster has kept nothing there yet.
      prepareFolder(resolve(storage.path))
      writeSecrets(resolve(storage.path), secrets)
    }
    await copyStore(openArchiveSource(path, checked), target, {
      tables: TRANSFER_TABLE_NAMES,
      onTotal: (rows) => onStep?.('restore', rows),
      ...(onProgress && { onRows: (_table, rows) => onProgress(rows) }),
      headOf: (head) => ({ ...head, revision }),
      ...(stop && { stop }),
    })
    return { ...checked, revision }
  } finally {
    await target.close()
  }
}

/** Secrets of the archive that are to be written into the data folder; undefined where those that are there fit. */
function secretsFor({ header, end }: CheckedArchive, { storage, openSealed }: RestoreOptions): string | undefined {
  const folder = resolve(storage.path)
  const isThere = fileExists(join(folder, SECRETS_FILE))
  const fits = (secrets: SealKeyTexts) => fitsStore(secrets, end.seal_hash)
  const refuse = () =>
    fault('seal_key_differs', 'the secrets in the backup are sealed under another key than that of this installation')
  if (storage.seal_key !== '' && !fits(storage)) throw refuse()
  if (openSealed !== undefined) {
    if (header.secrets === undefined)
      throw fault('option_invalid', '--identity: the backup was made without --recipient, and holds no secrets')
    const text = openSealed(header.secrets)
    if (!fits(parseSecrets('the secrets of the backup', text))) throw refuse()
    if (!isThere) return text
  }
  if (storage.seal_key !== '') return undefined
  if (!isThere) {
    if (end.seal_hash === '') return undefined
    const how =
      header.secrets === undefined ? 'copy it from the old one' : 'copy it from the old one, or give --identity'
    throw fault(
      'seal_key_differs',
      `${folder} has no ${SECRETS_FILE}, which holds the seal key: ${how}, or set storage.seal_key`,
    )
  }
  if (!fits(existingSecrets(folder))) throw refuse()
  return undefined
}
