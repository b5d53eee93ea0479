import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { Config } from './config/schema.ts'
import { type KeptThread, keepThread } from './keep-thread.ts'
import type { Log } from './model/log.ts'
import type { SqliteStore } from './store/sqlite/open.ts'
import type { SharedStore } from './store/sqlite/share.ts'

/** What the dashboard's thread is started with. */
export interface DashboardSeed {
  readonly config: Config
  readonly store: SharedStore
  /** A revision goes in with a number, the number comes back when this process serves it. */
  readonly settled: MessagePort
  readonly sealKey: Uint8Array
  readonly adminSecret: string
  readonly version: string
  /** The data folder. */
  readonly path: string
}

export interface DashboardHostOptions extends Omit<DashboardSeed, 'store' | 'settled'> {
  readonly store: Pick<SqliteStore, 'share'>
  readonly settled: (revision: number) => Promise<void>
  readonly log: Log
}

/** Runs the dashboard on a thread of its own and starts it again when it ends. @throws Fault `port_in_use` */
export function keepDashboard({ store, settled, log, ...seed }: DashboardHostOptions): Promise<KeptThread> {
  return keepThread({
    module: new URL('./dashboard-thread.ts', import.meta.url),
    name: 'dashboard',
    log,
    data() {
      const shared = store.share()
      const { port1: own, port2: port } = new MessageChannel()
      own.on('message', ({ number, revision }: { number: number; revision: number }) => {
        const done = () => own.postMessage(number)
        settled(revision).then(done, done)
      })
      // The thread keeps itself alive; this end must not keep the process.
      own.unref()
      const workerData: DashboardSeed = { ...seed, store: shared, settled: port }
      return { workerData, transferList: [shared.port, port] }
    },
  })
}
