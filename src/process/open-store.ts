import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { MessagePort } from 'node:worker_threads'
import type { Config } from '../config/schema.ts'
import { type Fault, toFault } from '../errors/fault.ts'
import type { RateAlgorithmName } from '../model/limits/rate-algorithms.ts'
import { SLIDING_WINDOW } from '../model/limits/window.ts'
import { type Log, silentLog } from '../model/logs/log.ts'
import type { PartHealth } from '../model/nodes/health.ts'
import { isEmbedded } from '../model/nodes/node.ts'
import { PeriodicJob } from '../runtime/periodic-job.ts'
import type { CopyFile } from '../store/local-copy/file.ts'
import { deferredStore, openCopy, withCopy } from '../store/local-copy/open.ts'
import type { Store } from '../store/ports/ports.ts'
import { createPrivateFile, prepareFolder } from '../store/sqlite/connection/folder.ts'
import { type JoinOptions, joinStore } from '../store/sqlite/connection/join.ts'
import { openStore } from '../store/sqlite/connection/open.ts'
import type { SharedStore } from '../store/sqlite/connection/share-store.ts'

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

/** The algorithm of all rates: nodes that share counts must have the same. */
const RATES: RateAlgorithmName = SLIDING_WINDOW.name

/** Where a cluster keeps what it shares. */
type ClusterSettings = Omit<Config['storage'], 'path'>

/** The data with which another thread of this process opens the same store. Hand it over with its `ports` in the transfer list. */
export interface StoreThreadData {
  /** The embedded store of the thread that opened it; undefined in a cluster, where each thread connects by itself. */
  readonly shared: SharedStore | undefined
  readonly cluster: ClusterSettings
}

/** The store of a process. */
export interface OpenedStore {
  readonly store: Store
  /** True when other processes may use it at the same time. */
  readonly clustered: boolean
  /** `counts`: the thread counts rates and quotas too, where that is shared; `ended` must then be called for it. */
  seed(counts?: boolean): { readonly seed: StoreThreadData; readonly ports: MessagePort[] }
  /** The thread that got this seed has ended. */
  ended(seed: StoreThreadData): void
}

export interface OpenStoreOptions {
  readonly config: Config
  /** The data folder. */
  readonly path: string
  readonly log: Log
  /** Name of the file for what a gateway of a cluster has read; undefined = this process serves no traffic and keeps none. */
  readonly copyName: string | undefined
  /** True = several gateway threads of this process count rates and quotas together; with the embedded store alone. */
  readonly sharedCounts?: boolean
}

/**
 * Opens the store that the settings ask for: the embedded one in the data folder, or that of a cluster.
 * @throws Fault as `openStore` and `openPostgresStore`, `store_away` or `store_refused` when Redis does not answer
 */
export async function openStoreOf({
  config,
  path,
  log,
  copyName,
  sharedCounts = false,
}: OpenStoreOptions): Promise<OpenedStore> {
  const cluster = config.storage
  if (!isEmbedded(cluster)) {
    prepareFolder(path)
    const copy = copyName === undefined ? undefined : openPrivateCopy(join(path, copyName), config, log)
    const store = withDisk(await openCluster(cluster, { log, outages: log, copy }), path)
    return { store, clustered: true, seed: () => ({ seed: { shared: undefined, cluster }, ports: [] }), ended() {} }
  }
  const store = await openStore({ path, log, sharedCounts, rates: RATES })
  const seed = (counts = false) => {
    const own = store.share()
    // Who does not count locks nothing.
    if (!counts) store.ended(own.countOwner)
    const shared = counts ? own : { ...own, counts: undefined }
    return { seed: { shared, cluster }, ports: [shared.port] }
  }
  const ended = ({ shared }: StoreThreadData) => void (shared && store.ended(shared.countOwner))
  return { store: withDisk(store, path), clustered: false, seed, ended }
}

/** The copy is as secret as the store itself. */
function openPrivateCopy(file: string, { gateway }: Config, log: Log): CopyFile {
  createPrivateFile(file)
  return openCopy(file, gateway.session_cache_entries, log)
}

/** Opens the store of a seed on another thread. @throws Fault as `openStoreOf` */
export async function joinStoreOf(
  { shared, cluster }: StoreThreadData,
  log: Log,
  options?: JoinOptions,
): Promise<Store> {
  // Outages are reported by the thread that opened the store first.
  return shared === undefined
    ? openCluster(cluster, { log, outages: silentLog })
    : joinStore(shared, { ...options, log })
}

/** Gateways roll up hits only if no dashboard has done it before: larger batches make fewer rows. */
const TRAFFIC_FOLD_AFTER_MS = 120_000

const REDIS_UNAVAILABLE =
  'Redis is unavailable: requests that are limited are refused with 503; APIs with onStoreFailure "allow" let each node count on its own'

/** With a filled copy it also opens without PostgreSQL and Redis, and keeps trying to reach them. */
async function openCluster(
  settings: ClusterSettings,
  { log, outages, copy }: { log: Log; outages: Log; copy?: CopyFile | undefined },
): Promise<Store> {
  // Loaded where they are used alone: their libraries take as long as all of the embedded store.
  const { openPostgresStore } = await import('../store/postgres/connection/open.ts')
  const { RedisCounters } = await import('../store/redis/counters.ts')
  const { DatabaseClock } = await import('../store/postgres/connection/database-clock.ts')
  const clock = new DatabaseClock()
  const counters = new RedisCounters({
    url: settings.redis_url,
    rates: RATES,
    onChange: (trouble) => {
      if (trouble === undefined) outages.info({}, 'Redis is available')
      else outages.warn({ cause: trouble }, REDIS_UNAVAILABLE)
    },
  })
  try {
    const { postgres_url: url, postgres_listen_url: listenUrl, postgres_pool_size: poolSize } = settings
    const open = () =>
      openPostgresStore({
        ...{ url, log, outages, counters, clock, poolSize },
        ...(listenUrl !== '' && { listenUrl }),
        ...(copy !== undefined && { foldAfterMs: TRAFFIC_FOLD_AFTER_MS }),
      })
    await counters.check().catch((error) => mayStartWithout(error, copy))
    const opened = await open().catch((error) => mayStartWithout(error, copy))
    const store = opened ?? deferredStore({ open, counters, log })
    if (opened === undefined)
      log.warn({ revision: copy?.revision() }, 'store unavailable, starting from the local copy')
    else if (copy !== undefined && copy.revision() !== (await opened.documents.revision())) copy.forget()
    const close = async () => {
      await store.close()
      await counters.close()
    }
    const offerMetrics: Store['offerMetrics'] = (metrics) =>
      metrics.offer('svc_redis_call_duration_seconds', () => [counters.durations.sample({})])
    const health = () => [...(store.health?.() ?? []), redisHealth(counters.trouble)]
    const closed = { ...store, clock, close, offerMetrics, health }
    return copy === undefined ? closed : withCopy(closed, copy, log)
  } catch (error) {
    await counters.close()
    copy?.close()
    throw error
  }
}

function redisHealth(trouble: Fault | undefined): PartHealth {
  if (trouble === undefined) return { part: 'redis', status: 'pass' }
  const output = `${trouble.entry.text}: limits are refused with 503, or counted by each node (onStoreFailure)`
  return { part: 'redis', status: 'fail', output, fault: trouble.code }
}

function mayStartWithout(error: unknown, copy: CopyFile | undefined): undefined {
  if (copy?.filled !== true || toFault(error).code !== 'store_away') throw error
}
