import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { dashboardServices } from '../dashboard/server/compose-services.ts'
import type { DashboardInputs } from '../dashboard/server/parts.ts'
import { type Dashboard, startDashboard } from '../dashboard/server/server.ts'
import { fault, toFault } from '../errors/fault.ts'
import type { Flaw } from '../model/apis/definition/tree.ts'
import { TRIAL_WITHIN_MS, type Trial, type TrialRequest } from '../model/apis/definition/trial.ts'
import { DroppedConnections } from '../model/nodes/descriptors.ts'
import { BackupStatus } from '../model/nodes/health.ts'
import { type AnswerBound, ThreadClient } from '../model/threads/thread-rpc.ts'
import { systemClock } from '../model/time/clock.ts'
import { DEVELOPER_PASSWORD_SCHEMA } from '../publish/portal/developers/passwords.ts'
import { readPasswordRules } from '../publish/sign-in/password-rules-file.ts'
import { yieldToTraffic } from '../runtime/background-priority.ts'
import { SERVED_WITHIN_MS } from '../runtime/bounded-wait.ts'
import { KeyedMutex } from '../runtime/keyed-mutex.ts'
import { measuredStore } from '../store/measured/measured-store.ts'
import { sealedStore } from '../store/sealed/sealed-store.ts'
import type { DashboardThreadData, SettledQuestion } from './dashboard-host.ts'
import { followDefaultOrg } from './default-org.ts'
import { LiveSecrets } from './live-secrets.ts'
import { openLog } from './log.ts'
import { joinStoreOf, withDisk } from './open-store.ts'

/** The messages of the dashboard's thread to the thread that started it. */
export type DashboardMessage =
  | { readonly news: 'listening'; readonly port: number }
  | { readonly news: 'failed'; readonly code: string; readonly message: string }

const port = parentPort
if (port === null) throw new Error('the dashboard thread is started by the server, not by hand')

/** Longest wait for the gateway's thread, beyond the time that what it is asked for may take. */
const BEYOND_MS = 10_000
const BEHIND: AnswerBound = { withinMs: BEYOND_MS, late: () => fault('gateway_behind') }

const NOTHING = () => {}

const tell = (news: DashboardMessage) => port.postMessage(news)
try {
  yieldToTraffic()
  const dashboard = await run(workerData as DashboardThreadData)
  tell({ news: 'listening', port: dashboard.port })
  port.on('message', (word) => {
    if (word === 'drain') dashboard.drain()
    else if (word === 'stop') void dashboard.close().then(() => port.close())
  })
} catch (error) {
  const { code, message } = toFault(error)
  tell({ news: 'failed', code, message })
  port.close()
}

async function run(seed: DashboardThreadData): Promise<Pick<Dashboard, 'port' | 'drain' | 'close'>> {
  const { config, sealKey, version, settings } = seed
  const log = openLog(config, 'dashboard')
  const joined = await joinStoreOf(seed.store, log, { answerWithinMs: SERVED_WITHIN_MS })
  const { backupCells } = seed
  const backups = backupCells && new BackupStatus(config.backup.interval_minutes, backupCells)
  const store = measuredStore(sealedStore(withDisk(joined, seed.path), sealKey), backups)
  const closers: (() => unknown)[] = [() => log.close(), () => store.close()]
  const close = async () => {
    for (const each of closers.splice(0).reverse()) await each()
  }
  try {
    const secrets = new LiveSecrets(seed.secretSources, log)
    closers.push(() => secrets.close())
    const defaultOrg = await followDefaultOrg(store.documents, store.feed)
    closers.push(
      () => defaultOrg.close(),
      () => seed.settled.close(),
      () => seed.trials.close(),
    )
    const { documents, tokens, counters } = store
    const trials = new ThreadClient<TrialRequest, Trial>(seed.trials)
    const settled = new ThreadClient<SettledQuestion, readonly Flaw[]>(seed.settled)
    const home = config.dashboard.home_dir || seed.path
    const inputs: DashboardInputs = {
      ...{ store, documents, tokens, counters, config, log, sealKey, version, settings },
      adminSecrets: () => secrets.accepted.admin,
      scraperSecrets: () => secrets.accepted.scraper,
      mailPassword: () => secrets.accepted.mail,
      clock: store.clock ?? systemClock,
      locks: new KeyedMutex(),
      drops: new DroppedConnections(seed.dropCells),
      // Loaded with the first call.
      adminDocument: async () => (await import('../gateway/admin-openapi/admin-openapi.ts')).adminDocumentOf(version),
      defaultOrg: defaultOrg.id,
      // The write is done whatever becomes of the wait for it.
      settled: (revision) => settled.ask({ revision }, BEHIND).then(NOTHING, NOTHING),
      nodeFlaws: (revision, id) => settled.ask({ revision, id }, BEHIND).catch(() => []),
      tryRequest: (trial) => trials.ask(trial, { ...BEHIND, withinMs: TRIAL_WITHIN_MS + BEYOND_MS }),
      passwordRules: readPasswordRules(join(home, 'schemas', 'basic_auth.json')),
      userPasswordRules: readPasswordRules(join(home, 'schemas', 'password.json')),
      developerPasswordRules: readPasswordRules(
        join(home, 'schemas', 'developer_password.json'),
        DEVELOPER_PASSWORD_SCHEMA,
      ),
    }
    const parts = { ...inputs, ...dashboardServices(inputs) }
    const { listen_host: host, listen_port } = config.dashboard
    const dashboard = await startDashboard(parts, { host, port: listen_port })
    closers.push(() => dashboard.close())
    return { port: dashboard.port, drain: () => dashboard.drain(), close }
  } catch (error) {
    await close()
    throw error
  }
}
