import { join, resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { fault, toFault } from '../errors/fault.ts'
import { isEmbedded } from '../model/nodes/node.ts'
import { type MovedStore, type MoveOptions, moveStore } from '../store/prepare/move-store.ts'
import { folderPaths, prepareFolder } from '../store/sqlite/connection/folder.ts'
import { lockFolder } from '../store/sqlite/connection/lock.ts'
import { openTransferSource, openTransferTarget, refuseMissing, type StoreSettings } from './open-transfer.ts'

/** Where a store is to be moved: servers of a cluster, or a data folder. @throws Fault `option_invalid` */
export function moveTargetOf(to: string, redis: string, cwd: string): StoreSettings {
  const isCluster = /^postgres(?:ql)?:\/\//.test(to)
  // It would make folders of these names.
  if (!isCluster && to.includes('://'))
    throw fault('option_invalid', '--to: name a postgres:// or postgresql:// address, or a data folder')
  if (isCluster && !/^rediss?:\/\//.test(redis))
    throw fault('option_invalid', '--redis: a cluster needs a redis:// or rediss:// address')
  if (!isCluster && redis !== '') throw fault('option_invalid', '--redis is for a cluster, and --to names a folder')
  return isCluster
    ? { path: '', postgres_url: to, redis_url: redis }
    : { path: resolve(cwd, to), postgres_url: '', redis_url: '' }
}

/**
 * Moves the store of an installation, beside the processes that serve from it or with none, into an empty one of either kind. They refuse
 * writes afterwards. @throws Fault as `moveStore`, `store_not_empty`, `data_folder_locked` or `move_running` beside another move, `option_invalid`
 */
export async function migrateStore(
  from: Config['storage'],
  to: StoreSettings,
  options: MoveOptions,
): Promise<MovedStore> {
  const lock = lockMove(from)
  try {
    const source = await openTransferSource(from)
    try {
      await source.claim()
      const target = await openTransferTarget(to)
      try {
        return await moveStore(source, target, options)
      } finally {
        await target.close()
      }
    } finally {
      await source.close()
    }
  } catch (error) {
    const known = toFault(error)
    if (known.code !== 'store_not_empty') throw error
    throw fault(
      'store_not_empty',
      `${known.message}. Of a move that was cut short it may be a whole copy: see bin/gatehouse migrate-store --help`,
      error,
    )
  } finally {
    lock.release()
  }
}

/** Has a store whose move was cut short take writes again; false: it took them already. @throws Fault `store_away`, `data_folder_locked`, `move_running` */
export async function giveUpMove(from: Config['storage']): Promise<boolean> {
  const lock = lockMove(from)
  try {
    const source = await openTransferSource(from)
    try {
      await source.claim()
      const isFrozen = await source.isFrozen()
      if (isFrozen) await source.freeze('none')
      return isFrozen
    } finally {
      await source.close()
    }
  } finally {
    lock.release()
  }
}

/** One move at a time from one machine. @throws Fault `data_folder_locked`, `store_away` where there is no store */
function lockMove(from: Config['storage']) {
  const folder = resolve(from.path)
  // Before the lock: a mistyped folder must not be made.
  if (isEmbedded(from)) refuseMissing(folder)
  prepareFolder(folder)
  const paths = folderPaths(folder)
  return lockFolder({ ...paths, lock: join(folder, 'move-lock'), pid: join(folder, 'move-pid') })
}
