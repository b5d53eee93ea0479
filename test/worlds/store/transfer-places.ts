import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Store } from '../../../src/store/ports/ports.ts'
import type { MovedSource, MovedTarget } from '../../../src/store/ports/transfer.ts'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { openPostgresSource, openPostgresTarget } from '../../../src/store/postgres/transfer/open.ts'
import { RedisCounters, redisQuotas } from '../../../src/store/redis/counters.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { openSqliteTarget } from '../../../src/store/sqlite/transfer/load.ts'
import { openSqliteSource } from '../../../src/store/sqlite/transfer/snapshot.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { emptyDatabase } from '../servers/postgres.ts'
import { commonRedis } from '../servers/redis.ts'

/** One empty place for a store, of a kind. */
export interface Place {
  open(): Promise<Store>
  source(): MovedSource
  target(): MovedTarget
  /** Does the rest before everything can be read from outside. */
  settle(store: Store): Promise<unknown>
}

let prefixes = 0

/** By kind of store. */
export const PLACES: Readonly<Record<string, (t: TestContext) => Promise<Place>>> = {
  async sqlite(t) {
    const path = temporaryFolder(t)
    return {
      open: () => openStore({ path }),
      source: () => openSqliteSource(join(path, 'gatehouse.db')),
      target: () => openSqliteTarget(path),
      settle: async (store) => (store as Awaited<ReturnType<typeof openStore>>).saveQuotas(),
    }
  },
  async postgres(t) {
    const [url, redis] = [await emptyDatabase(), await commonRedis()]
    const prefix = `transfer-${prefixes++}:{counts}:`
    const counters = () => {
      const made = new RedisCounters({ url: redis.url, prefix })
      t.after(() => made.close())
      return made
    }
    const own = counters()
    await own.check()
    return {
      async open() {
        const counters = own
        return openPostgresStore({ url, counters })
      },
      source: () => openPostgresSource({ url, quotas: redisQuotas(own) }),
      target: () => openPostgresTarget({ url, quotas: redisQuotas(own) }),
      settle: async () => {},
    }
  },
}
