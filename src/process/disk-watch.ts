import { statfs } from 'node:fs/promises'
import type { PartHealth } from '../model/nodes/health.ts'
import { PeriodicJob } from '../runtime/periodic-job.ts'
import type { Store } from '../store/ports/ports.ts'

const EVERY_MS = 2_000
const LOW_BYTES = 256 * 1024 * 1024
/** Less takes no journal of a commit. */
const FULL_BYTES = 4 * 1024 * 1024

/** A store that also knows how much space its disk has left. `folder`: the data folder. */
export function withDisk(store: Store, folder: string): Store {
  const watch = new DiskWatch(folder)
  return {
    ...store,
    health: () => [...(store.health?.() ?? []), ...watch.health],
    async close() {
      watch.close()
      await store.close()
    },
  }
}

class DiskWatch {
  readonly #job: PeriodicJob
  #freeBytes: number | undefined

  constructor(folder: string) {
    const look = async () => {
      const { bavail, bsize } = await statfs(folder)
      this.#freeBytes = bavail * bsize
    }
    // A folder that is gone shows in writes.
    this.#job = new PeriodicJob({ everyMs: EVERY_MS, run: look, onError() {}, atOnce: true })
  }

  /** Nothing until the first look has ended. */
  get health(): readonly PartHealth[] {
    const free = this.#freeBytes
    if (free === undefined) return []
    const seen = { part: 'disk', value: free, unit: 'bytes' } as const
    if (free < FULL_BYTES) return [{ ...seen, status: 'fail', output: 'The disk of the data folder is full' }]
    if (free < LOW_BYTES) return [{ ...seen, status: 'warn', output: 'The disk of the data folder is nearly full' }]
    return [{ ...seen, status: 'pass' }]
  }

  /** Does not wait for a disk that hangs. */
  close(): void {
    void this.#job.close()
  }
}
