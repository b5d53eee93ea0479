import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { explainSettings } from './config/explain.ts'
import type { LoadedConfig } from './config/load.ts'
import type { Config } from './config/schema.ts'
import { productVersion } from './config/version.ts'
import { fault, toFault } from './errors/fault.ts'
import { startGateway } from './gateway/server/gateway.ts'
import type { Log } from './model/logs/log.ts'
import { DroppedConnections } from './model/nodes/descriptors.ts'
import { BackupStatus } from './model/nodes/health.ts'
import { isEmbedded } from './model/nodes/node.ts'
import type { SealKey } from './model/secrets/secret.ts'
import { systemClock } from './model/time/clock.ts'
import { superviseDashboard } from './process/dashboard-host.ts'
import { type DefaultOrg, followDefaultOrg } from './process/default-org.ts'
import { firstStart, setUpLink } from './process/first-start.ts'
import { type ServedGateway, startGatewayThreads } from './process/gateway-threads.ts'
import { LiveSecrets, secretSources } from './process/live-secrets.ts'
import { openLineSink, openLog } from './process/log.ts'
import {
  checkDatabaseFile,
  moveSecretsAside,
  openInstallationState,
  setDatabaseAside,
} from './process/open-installation.ts'
import { type OpenedStore, openStoreOf } from './process/open-store.ts'
import { openSample } from './process/sample.ts'
import { scheduleBackups } from './process/scheduled-backup.ts'
import { sealKeysOf, startResealing, startSecrets } from './process/seal-keys.ts'
import type { SupervisedThread } from './process/supervise-thread.ts'
import { readPasswordRules } from './publish/sign-in/password-rules-file.ts'
import { KeyedMutex } from './runtime/keyed-mutex.ts'
import { measuredStore } from './store/measured/measured-store.ts'
import { sealedStore } from './store/sealed/sealed-store.ts'
import { canSharePorts } from './wire/listen/shared-ports.ts'

/** Which parts of an installation a process runs. */
export interface Roles {
  readonly gateway: boolean
  readonly dashboard: boolean
}

/** A running process of an installation. */
export interface RunningProcess {
  /** undefined in a process for the dashboard alone. */
  readonly gateway: ServedGateway | undefined
  /** undefined in a process for the gateway alone. */
  readonly dashboardPort: number | undefined
  /** Lines for the person who started it. */
  readonly greeting: readonly string[]
  /** Ends everything in order: traffic, dashboard, store. `delayMs`: it keeps accepting for so long, while `/ready` answers 503. */
  stop(delayMs?: number): Promise<void>
}

/** A process that runs both. */
export interface RunningAllInOne extends RunningProcess {
  readonly gateway: ServedGateway
  readonly dashboardPort: number
}

/** Starts gateway and dashboard in one process. Throws as `start`. */
export async function startAll(loaded: LoadedConfig): Promise<RunningAllInOne> {
  const running = await start(loaded, { gateway: true, dashboard: true })
  const { gateway, dashboardPort } = running
  if (gateway === undefined || dashboardPort === undefined) throw fault('internal', 'a part was not started')
  return { ...running, gateway, dashboardPort }
}

/** The dependencies of every part. */
interface Ground {
  readonly loaded: LoadedConfig
  readonly log: Log
  readonly opened: OpenedStore
  /** The data folder. */
  readonly path: string
  readonly sealKey: SealKey
  readonly defaultOrg: DefaultOrg
  readonly version: string
  /** Those that this process makes by itself. */
  readonly backups: BackupStatus | undefined
}

/** The serving parts of this process: the dashboard asks for the gateway later. */
interface Serving {
  gateway?: ServedGateway
  dashboard?: SupervisedThread
  readonly drops: DroppedConnections
  /** 1 while the dashboard of this process listens. */
  readonly dashboardServes: Int32Array<SharedArrayBuffer>
}

/**
 * Starts the parts of an installation that are asked for: gateway, dashboard, or both with the sample upstream where it is
 * wanted. The only place that picks adapters. `worker` tells processes of one data folder apart.
 * @throws Fault that says which setting to change: `port_in_use`, `data_folder_unwritable`, `data_folder_locked`, `setting_invalid`,
 * `store_refused`, `store_away`, `store_lost`
 */
export async function start(given: LoadedConfig, roles: Roles, worker = 1): Promise<RunningProcess> {
  refuseShortSecrets(given)
  const log = openLog(given.config, roleName(roles))
  const loaded = await withThreads(given, roles, log)
  const { config, warnings } = loaded
  for (const warning of warnings) log.warn({}, warning)
  const path = resolve(config.storage.path)
  const closers: (() => Promise<unknown> | unknown)[] = [() => log.close()]
  const serving: Serving = {
    drops: new DroppedConnections(),
    dashboardServes: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
  }
  const stop = async (delayMs = 0) => {
    if (delayMs > 0) await drain(serving, delayMs, log)
    // Opened last, closed first.
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    if (isEmbedded(config.storage)) checkDatabaseFile(path)
    const plain = await openStoreOf({
      ...{ config, path, log, copyName: roles.gateway ? copyName(worker) : undefined },
      sharedCounts: roles.gateway && runsThreads(config),
    })
    closers.push(() => plain.store.close())
    const beginning = await openInstallationState(path, plain.store.documents)
    const secrets = await startSecrets(plain.store, path, config.storage)
    const sealKey = await sealKeysOf(plain.store, secrets)
    closers.push(startResealing(plain.store, sealKey, log))
    const backups = makesBackups(config, roles, worker) ? new BackupStatus(config.backup.interval_minutes) : undefined
    const opened = { ...plain, store: measuredStore(sealedStore(plain.store, sealKey), backups) }
    const { store, clustered } = opened
    const locks = new KeyedMutex()
    const people = { ...store, config, sealKey, locks, defaultOrg: () => '' }
    const userPasswordRules = readPasswordRules(join(config.dashboard.home_dir || path, 'schemas', 'password.json'))
    const setUpToken = await firstStart({ ...people, userPasswordRules }, config.bootstrap, log)
    const defaultOrg = await followDefaultOrg(store.documents, store.feed)
    closers.push(() => defaultOrg.close())
    const ground: Ground = { loaded, log, opened, path, sealKey, defaultOrg, version: productVersion(), backups }

    if (backups !== undefined) {
      const schedule = scheduleBackups({ config, status: backups, log })
      closers.push(() => schedule.close())
    }
    const dashboard = roles.dashboard ? await openDashboard(ground, serving, roles) : undefined
    if (dashboard !== undefined) {
      serving.dashboard = dashboard
      closers.push(() => dashboard.stop())
    }

    // Its upstream is on this machine alone.
    const echo =
      config.sample && roles.gateway && !clustered
        ? await openSample({ ...store, config, locks, defaultOrg: defaultOrg.id }, beginning.isNew)
        : undefined
    if (echo !== undefined) closers.push(() => echo.close())
    // The sample is for the first gateway.
    if (roles.gateway || clustered) beginning.done()

    if (roles.gateway) serving.gateway = await openGateway(ground, serving, dashboard, closers)
    const { gateway } = serving
    const made = config.gateway.secret === ''
    return {
      gateway,
      dashboardPort: dashboard?.port,
      greeting: [
        ...greet(gateway, dashboard, path, {
          made,
          workers: workersLine(loaded),
          ...config,
        }),
        ...greetEverywhere(gateway, dashboard, config),
        ...(gateway === undefined || echo === undefined ? [] : greetSample(gateway)),
        ...(dashboard === undefined ? [] : greetNewcomer(dashboardUrl(config, dashboard), setUpToken)),
      ],
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * How long a process keeps accepting after SIGTERM, in milliseconds. With an embedded store nobody could take over meanwhile: it waits
 * only where the setting says so.
 */
export function drainDelayMs({ config, origins }: LoadedConfig): number {
  const isSet = origins.get('gateway.drain_delay_ms')?.from !== 'default'
  return !isEmbedded(config.storage) || isSet ? config.gateway.drain_delay_ms : 0
}

async function drain({ gateway, dashboard }: Serving, delayMs: number, log: Log): Promise<void> {
  log.info({ delay_ms: delayMs }, 'draining: not ready, accepting until the delay ends')
  dashboard?.drain()
  await (gateway === undefined ? setTimeout(delayMs) : gateway.drain(delayMs))
}

function roleName({ gateway, dashboard }: Roles): string {
  if (gateway && dashboard) return 'all'
  return gateway ? 'gateway' : 'dashboard'
}

/** The process of a dashboard makes them; with an embedded store there is only one. */
function makesBackups({ backup, storage }: Config, { dashboard }: Roles, worker: number): boolean {
  return backup.folder !== '' && (dashboard || (isEmbedded(storage) && worker === 1))
}

/** Well-known secrets are accepted only where the sample is requested by name. @throws Fault `setting_invalid` */
function refuseShortSecrets({ config, origins, shortSecrets }: LoadedConfig): void {
  const isTrial = config.sample && origins.get('sample')?.from !== 'default'
  if (shortSecrets.length === 0 || isTrial) return
  throw fault('setting_invalid', shortSecrets.map((problem) => `${problem}; give a longer one`).join('\n'))
}

/**
 * Makes the next start of an installation whose store was lost a first one. Answers the file that its secrets are kept in, undefined where
 * there were none. @throws Fault `setting_invalid` where the store is not empty, and those of opening it
 */
export async function beginAgain({ config }: LoadedConfig): Promise<string | undefined> {
  const log = openLog(config, 'all')
  const path = resolve(config.storage.path)
  const now = new Date(systemClock.wall())
  const open = () => openStoreOf({ config, path, log, copyName: undefined })
  const { store } = await open().catch((error) => {
    if (toFault(error).code !== 'store_lost') throw error
    log.warn({ kept: setDatabaseAside(path, now) }, 'moved aside a database whose rows were deleted')
    return open()
  })
  try {
    return await moveSecretsAside(path, store.documents, now)
  } finally {
    await store.close()
    await log.close()
  }
}

function copyName(worker: number): string {
  return worker === 1 ? 'copy.db' : `copy-${worker}.db`
}

function openDashboard(ground: Ground, serving: Serving, roles: Roles): Promise<SupervisedThread> {
  const { loaded, log, opened, path, sealKey, version } = ground
  const { config } = loaded
  return superviseDashboard({
    ...{ config, store: opened, sealKey, version, log, path },
    settings: explainSettings(loaded),
    dropCells: serving.drops.cells,
    secretSources: secretSources(loaded, path),
    backupCells: ground.backups?.cells,
    serving: serving.dashboardServes,
    settled: async ({ revision, id }) => {
      await serving.gateway?.settled(revision)
      return id === undefined ? [] : ((await serving.gateway?.flawsOf(id)) ?? [])
    },
    tryRequest: async (trial) => {
      if (serving.gateway !== undefined) return serving.gateway.tryRequest(trial)
      throw roles.gateway
        ? fault('gateway_away')
        : fault('gateway_away', 'there is no gateway in the process of this dashboard')
    },
  })
}

async function openGateway(
  { loaded, log, opened, path, sealKey, defaultOrg, version, backups }: Ground,
  serving: Serving,
  dashboard: SupervisedThread | undefined,
  closers: (() => unknown)[],
): Promise<ServedGateway> {
  const { config } = loaded
  const { drops: dashboardDrops, dashboardServes } = serving
  const sink = config.gateway.access_log ? openLineSink('stdout') : undefined
  if (sink !== undefined) closers.push(() => sink.close())
  if (runsThreads(config)) {
    const threads = await startGatewayThreads({
      ...{ config, store: opened, log, accessLog: sink, sealKey, version, path },
      secretSources: secretSources(loaded, path),
      dashboard: dashboard && dashboardServes,
      dashboardDrops,
      backupCells: backups?.cells,
    })
    closers.push(() => threads.stop())
    return threads
  }
  const secrets = new LiveSecrets(secretSources(loaded, path), log)
  closers.push(() => secrets.close())
  const gateway = await startGateway({
    config,
    store: opened.store,
    clustered: opened.clustered,
    clock: opened.store.clock ?? systemClock,
    log,
    accessLog: sink,
    version,
    nodeName: config.gateway.node_name === '' ? hostname() : config.gateway.node_name,
    secrets: () => secrets.accepted.gateway,
    scraperSecrets: () => secrets.accepted.scraper,
    registrationTokens: () => secrets.accepted.registration,
    sealKey,
    passwordRules: readPasswordRules(join(config.dashboard.home_dir || path, 'schemas', 'basic_auth.json')),
    defaultOrg: defaultOrg.id,
    dashboard: dashboard && (() => (dashboard.up() ? 'pass' : 'fail')),
    dashboardDrops,
  })
  closers.push(() => gateway.stop())
  return {
    ...gateway,
    settled: (revision) => gateway.live.settled(revision),
    flawsOf: async (id) => gateway.nodeFlaws(id),
  }
}

/** The settings with one thread for the gateway where the system cannot have several at one port. */
async function withThreads(loaded: LoadedConfig, roles: Roles, log: Log): Promise<LoadedConfig> {
  const { config } = loaded
  if (!roles.gateway || !runsThreads(config) || (await canSharePorts())) return loaded
  log.warn({}, 'gateway.workers: this system cannot share a port, so the gateway runs on one thread')
  const workersReason = 'this system cannot share a port'
  return { ...loaded, workersReason, config: { ...config, gateway: { ...config.gateway, workers: 1 } } }
}

/** The number of gateway threads and why there are so many; undefined for one that nobody asked about. */
function workersLine({ config, workersReason: why }: LoadedConfig): string | undefined {
  const count = runsThreads(config) ? config.gateway.workers : 1
  if (why === undefined && count === 1) return undefined
  return `workers    ${count} ${count === 1 ? 'thread' : 'threads'}${why === undefined ? '' : ` (${why})`}`
}

/** True for a process whose gateway runs on several threads; the workers of a cluster are processes. */
export function runsThreads({ gateway, storage }: Config): boolean {
  return gateway.workers > 1 && isEmbedded(storage)
}

function greet(
  gateway: ServedGateway | undefined,
  dashboard: SupervisedThread | undefined,
  path: string,
  {
    made,
    workers,
    dashboard: { tls },
  }: Pick<Config, 'dashboard'> & { readonly made: boolean; readonly workers: string | undefined },
): string[] {
  const secretAt = made ? `"gateway_secret" in ${join(path, 'secrets.json')}` : 'as set by gateway.secret'
  return [
    ...(gateway === undefined ? [] : [`gateway    ${localUrl(gateway.port)}`]),
    ...(workers !== undefined && gateway !== undefined ? [workers] : []),
    ...(dashboard === undefined ? [] : [`dashboard  ${localUrl(dashboard.port, tls.enabled)}`]),
    `data       ${path}`,
    ...(gateway === undefined ? [] : [`secret     ${secretAt} (for X-Svc-Authorization)`]),
    ...(gateway?.controlPort === undefined ? [] : [`control    ${localUrl(gateway.controlPort)}`]),
    ...(gateway?.tlsPort === undefined ? [] : [`tls        https://127.0.0.1:${gateway.tlsPort}`]),
  ]
}

/** Ports that other machines reach: a newcomer may not expect it. */
function greetEverywhere(
  gateway: ServedGateway | undefined,
  dashboard: SupervisedThread | undefined,
  config: Pick<Config, 'gateway' | 'dashboard'>,
): string[] {
  const isOpen = (host: string) => host === '0.0.0.0' || host === '::'
  const open = [
    ...(gateway !== undefined && isOpen(config.gateway.listen_host) ? ['SVC_GW_LISTENHOST'] : []),
    ...(dashboard !== undefined && isOpen(config.dashboard.listen_host) ? ['SVC_DB_LISTENHOST'] : []),
  ]
  const [first, ...more] = open.map((name) => `${name}=127.0.0.1`)
  if (first === undefined) return []
  return [`network    open to other machines; ${[first, ...more].join(' ')} for this machine alone`]
}

function greetSample({ port }: ServedGateway): string[] {
  const url = localUrl(port)
  return ['', 'Try it:', `  curl ${url}/sample/hello`, `  curl -i ${url}/protected/hello   # asks for a key: 401`]
}

function localUrl(port: number, secure = false): string {
  return `${secure ? 'https' : 'http'}://127.0.0.1:${port}`
}

function dashboardUrl({ dashboard }: Config, { port }: SupervisedThread): string {
  return dashboard.public_url || localUrl(port, dashboard.tls.enabled)
}

/** Who opens the link makes the first organisation and its administrator; it is good until then. */
function greetNewcomer(dashboard: string, token: string): string[] {
  return token === '' ? [] : ['', 'Set up, once, in a browser:', `  ${setUpLink(dashboard, token)}`]
}
