import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { ExplainedSetting } from '../config/explain.ts'
import type { Config } from '../config/schema.ts'
import type { Flaw } from '../model/apis/definition/tree.ts'
import type { Trial, TrialRequest } from '../model/apis/definition/trial.ts'
import type { Log } from '../model/logs/log.ts'
import type { SealKey } from '../model/secrets/secret.ts'
import { serveThread } from '../model/threads/thread-rpc.ts'
import type { SecretSources } from './live-secrets.ts'
import type { OpenedStore, StoreThreadData } from './open-store.ts'
import { type SupervisedThread, superviseThread } from './supervise-thread.ts'

/** The revision that the dashboard waits for at the gateway, and the storage id of an API whose flaws it asks for then. */
export interface SettledQuestion {
  readonly revision: number
  readonly id?: string
}

/** The data that the dashboard's thread is started with. */
export interface DashboardThreadData {
  readonly config: Config
  readonly store: StoreThreadData
  /** Asks the gateway's thread for a revision to be served (`SettledQuestion`). */
  readonly settled: MessagePort
  /** Asks the gateway's thread to try a request. */
  readonly trials: MessagePort
  readonly sealKey: SealKey
  readonly secretSources: SecretSources
  readonly version: string
  /** Secrets masked. */
  readonly settings: readonly ExplainedSetting[]
  /** The data folder. */
  readonly path: string
  /** Of `BackupStatus`; undefined = this process makes no backups. */
  readonly backupCells: Float64Array<SharedArrayBuffer> | undefined
  /** Of `DroppedConnections`. */
  readonly dropCells: Int32Array<SharedArrayBuffer>
}

export interface DashboardHostOptions extends Omit<DashboardThreadData, 'store' | 'settled' | 'trials'> {
  /** A cell that is 1 while it listens. */
  readonly serving: Int32Array
  readonly store: Pick<OpenedStore, 'seed'>
  readonly settled: (question: SettledQuestion) => Promise<readonly Flaw[]>
  readonly tryRequest: (trial: TrialRequest) => Promise<Trial>
  readonly log: Log
}

/** Runs the dashboard on its own thread and restarts it when it ends. @throws Fault `port_in_use` */
export function superviseDashboard({
  store,
  settled,
  tryRequest,
  log,
  serving,
  ...seed
}: DashboardHostOptions): Promise<SupervisedThread> {
  return superviseThread({
    module: new URL('./dashboard-thread.ts', import.meta.url),
    name: 'dashboard',
    log,
    serving,
    data() {
      const { seed: shared, ports } = store.seed()
      const settling = new MessageChannel()
      const trying = new MessageChannel()
      serveThread(settling.port1, settled)
      serveThread(trying.port1, tryRequest)
      // The other thread keeps itself alive; these ends must not keep the process.
      settling.port1.unref()
      trying.port1.unref()
      const [settledPort, trials] = [settling.port2, trying.port2]
      const workerData: DashboardThreadData = { ...seed, store: shared, settled: settledPort, trials }
      return { workerData, transferList: [...ports, settledPort, trials] }
    },
  })
}
