import { resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { fault } from '../errors/fault.ts'
import { isEmbedded } from '../model/nodes/node.ts'
import type { MovedSource, MovedTarget } from '../store/ports/transfer.ts'
import { fileExists, folderPaths } from '../store/sqlite/connection/folder.ts'
import { openSqliteTarget } from '../store/sqlite/transfer/load.ts'
import { openSqliteSource } from '../store/sqlite/transfer/snapshot.ts'

/** Where a store is. */
export type StoreSettings = Pick<Config['storage'], 'path' | 'postgres_url' | 'redis_url'>

/** The store of an installation, to read from whether it serves or not. @throws Fault `store_away`, `store_damaged`, `store_refused`, `data_folder_unreadable` */
export async function openTransferSource(settings: StoreSettings): Promise<MovedSource> {
  if (!isEmbedded(settings)) {
    const { postgres, close } = await openServers(settings)
    const { openPostgresSource } = await import('../store/postgres/transfer/open.ts')
    return closing(openPostgresSource(postgres), close)
  }
  const folder = resolve(settings.path)
  refuseMissing(folder)
  return openSqliteSource(folderPaths(folder).database)
}

/** @throws Fault `store_away` for a data folder without a store, `data_folder_unreadable` */
export function refuseMissing(folder: string): void {
  if (fileExists(folderPaths(folder).database)) return
  throw fault('store_away', `${folder} holds no store: set storage.path to the data folder of the installation`)
}

/** An empty store, to write into. @throws Fault `store_not_empty`, `data_folder_locked`, `data_folder_unwritable`, `store_refused` */
export async function openTransferTarget(settings: StoreSettings): Promise<MovedTarget> {
  if (isEmbedded(settings)) return openSqliteTarget(resolve(settings.path))
  const { postgres, close } = await openServers(settings)
  const { openPostgresTarget } = await import('../store/postgres/transfer/open.ts')
  return closing(openPostgresTarget(postgres), close)
}

async function openServers({ postgres_url: url, redis_url }: StoreSettings) {
  const { RedisCounters, redisQuotas } = await import('../store/redis/counters.ts')
  const counters = new RedisCounters({ url: redis_url })
  try {
    await counters.check()
  } catch (error) {
    await counters.close()
    throw error
  }
  return { postgres: { url, quotas: redisQuotas(counters) }, close: () => counters.close() }
}

function closing<T extends { close(): Promise<void> }>(store: T, close: () => Promise<void>): T {
  const own = store.close.bind(store)
  return {
    ...store,
    async close() {
      await own()
      await close()
    },
  }
}
