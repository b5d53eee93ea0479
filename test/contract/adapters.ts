import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../src/model/time/clock.ts'
import { MemoryCounters } from '../../src/store/memory/counters.ts'
import { openMemoryStore } from '../../src/store/memory/open.ts'
import type { Store } from '../../src/store/ports/ports.ts'
import { openPostgresStore } from '../../src/store/postgres/connection/open.ts'
import { RedisCounters } from '../../src/store/redis/counters.ts'
import { sealedStore } from '../../src/store/sealed/sealed-store.ts'
import { joinStore } from '../../src/store/sqlite/connection/join.ts'
import { openStore } from '../../src/store/sqlite/connection/open.ts'
import { freshDatabase } from '../worlds/servers/postgres.ts'
import { commonRedis } from '../worlds/servers/redis.ts'

/** A store that forgets at once what is due, besides whenever it likes. */
export type PurgedStore = Store & { purge(): Promise<number> }

/** A store to run the contract suites on: opened empty, closed and deleted after the test. */
export interface Adapter {
  readonly name: string
  open(t: TestContext, clock?: FakeClock): Promise<PurgedStore>
}

export const adapters: readonly Adapter[] = [
  {
    name: 'memory',
    async open(t, clock = new FakeClock()) {
      const store = openMemoryStore({ clock })
      t.after(() => store.close())
      return store
    },
  },
  {
    name: 'sqlite',
    async open(t, clock = new FakeClock()) {
      return openStore({ path: temporaryFolder(t), clock }).then((store) => {
        t.after(() => store.close())
        return store
      })
    },
  },
  {
    name: 'sqlite, joined',
    async open(t, clock = new FakeClock()) {
      const { owner, store } = await openJoined(t, clock, true)
      return { ...store, purge: () => owner.purge() }
    },
  },
  {
    name: 'memory, sealed',
    async open(t, clock = new FakeClock()) {
      const store = openMemoryStore({ clock })
      t.after(() => store.close())
      return { ...sealedStore(store, Buffer.alloc(32, 1)), purge: () => store.purge() }
    },
  },
  postgres('postgres'),
]

/** The store of a thread, whose limits are counted in shared memory, or by the thread that owns it. */
async function openJoined(t: TestContext, clock: FakeClock, sharedCounts: boolean) {
  const owner = await openStore({ path: temporaryFolder(t), clock, sharedCounts })
  const store = joinStore(owner.share(), { clock })
  t.after(async () => {
    await store.close()
    await owner.close()
  })
  return { owner, store }
}

/** PostgreSQL of a version, 18 by default, with counters in memory: those of a cluster are another adapter. */
export function postgres(name: string, version = 18): Adapter {
  return {
    name,
    async open(t, clock = new FakeClock()) {
      const counters = new MemoryCounters(clock)
      const store = await openPostgresStore({ url: await freshDatabase(version), clock, counters })
      t.after(() => store.close())
      return store
    },
  }
}

/** Counters alone, as a cluster has them. */
export interface CountersAdapter {
  readonly name: string
  open(t: TestContext, clock?: FakeClock): Promise<Pick<Store, 'counters'>>
}

/** Counters of another thread, which are asked by messages. */
export const remote: CountersAdapter = {
  name: 'sqlite, asked by another thread',
  open: async (t, clock = new FakeClock()) => (await openJoined(t, clock, false)).store,
}

/** Counters of the thread that owns the memory in which others count. */
export const sharing: CountersAdapter = {
  name: 'sqlite, counts shared',
  open: async (t, clock = new FakeClock()) => (await openJoined(t, clock, true)).owner,
}

let prefixes = 0

/** Redis or Valkey, which counts by the clock of the test; each store has its own keys. */
export const redis: CountersAdapter = {
  name: 'redis',
  async open(t, clock = new FakeClock()) {
    const { url } = await commonRedis()
    const counters = new RedisCounters({ url, clock, ownTime: true, prefix: `test-${prefixes++}:{counts}:` })
    t.after(() => counters.close())
    await counters.check()
    return { counters }
  },
}

/** A folder that goes with the test. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-store-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
