import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../src/model/clock.ts'
import { openMemoryStore } from '../../src/store/memory/open.ts'
import type { Store } from '../../src/store/ports.ts'
import { joinStore } from '../../src/store/sqlite/join.ts'
import { openStore } from '../../src/store/sqlite/open.ts'

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
      const owner = await openStore({ path: temporaryFolder(t), clock })
      const store = joinStore(owner.share(), clock)
      t.after(async () => {
        await store.close()
        await owner.close()
      })
      return { ...store, purge: () => owner.purge() }
    },
  },
]

/** A folder that goes with the test. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-store-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
