import { join } from 'node:path'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Config } from '../config/schema.ts'
import { toFault } from '../errors/fault.ts'
import { type Gateway, startGateway } from '../gateway/server/gateway.ts'
import type { GatewayPeers, PeerQuestion } from '../gateway/server/gateway-peers.ts'
import type { Flaw } from '../model/apis/definition/tree.ts'
import type { Trial, TrialRequest } from '../model/apis/definition/trial.ts'
import type { MetricTable } from '../model/metrics/metric-registry.ts'
import { BackupStatus } from '../model/nodes/health.ts'
import type { SealKey } from '../model/secrets/secret.ts'
import { serveThread, ThreadClient } from '../model/threads/thread-rpc.ts'
import { clockSince } from '../model/time/clock.ts'
import { readPasswordRules } from '../publish/sign-in/password-rules-file.ts'
import { PassedLines } from '../runtime/line-merger.ts'
import { SharedRecentTables, type SharedTableMemory } from '../runtime/shared-recent-tables.ts'
import { measuredStore } from '../store/measured/measured-store.ts'
import { sealedStore } from '../store/sealed/sealed-store.ts'
import { followDefaultOrg } from './default-org.ts'
import { LiveSecrets, type SecretSources } from './live-secrets.ts'
import { openLog } from './log.ts'
import { joinStoreOf, type StoreThreadData, withDisk } from './open-store.ts'

/** The data that a gateway thread is started with. */
export interface GatewayThreadData {
  /** With the ports and the node name of this thread. */
  readonly config: Config
  readonly store: StoreThreadData
  /** Asks all other gateway threads. */
  readonly peers: MessagePort
  /** Asks this one. */
  readonly questions: MessagePort
  /** Takes the lines of the access log; undefined = none are written. */
  readonly lines: MessagePort | undefined
  /** From 1. */
  readonly thread: number
  /** A cell for each gateway thread: 1 while it serves. */
  readonly serving: Int32Array<SharedArrayBuffer>
  /** 1 while the dashboard serves; undefined = this process runs none. */
  readonly dashboard: Int32Array<SharedArrayBuffer> | undefined
  /** Of `BackupStatus`; undefined = this process makes no backups. */
  readonly backupCells: Float64Array<SharedArrayBuffer> | undefined
  /** In which all gateway threads count failed attempts. */
  readonly attempts: SharedTableMemory
  /** Of this thread among those that use `attempts`. */
  readonly attemptOwner: number
  readonly sealKey: SealKey
  readonly secretSources: SecretSources
  readonly version: string
  /** The data folder. */
  readonly path: string
}

/** A question to one gateway thread. */
export type GatewayQuestion =
  | Exclude<PeerQuestion, { sort: 'metrics' }>
  | { readonly sort: 'metrics' }
  | { readonly sort: 'flaws'; readonly id: string }
  | TryQuestion

interface TryQuestion {
  readonly sort: 'try'
  readonly trial: TrialRequest
}

/** Of `metrics` the numbers, of `flaws` those of an API, of `try` what came of it. */
export type GatewayAnswer = readonly MetricTable[] | readonly Flaw[] | Trial | undefined

const port = parentPort
if (port === null) throw new Error('a gateway thread is started by the server, not by hand')

try {
  const { gateway, close } = await run(workerData as GatewayThreadData)
  const { port: traffic, tlsPort, controlPort } = gateway
  port.postMessage({ news: 'listening', port: traffic, tlsPort, controlPort })
  port.on('message', (word) => {
    if (word === 'drain') void gateway.drain(0)
    else if (word === 'stop') void close().then(() => port.close())
  })
} catch (error) {
  const { code, message } = toFault(error)
  port.postMessage({ news: 'failed', code, message })
  port.close()
}

async function run(seed: GatewayThreadData): Promise<{ gateway: Gateway; close(): Promise<void> }> {
  const { config, sealKey, version, path, backupCells } = seed
  const log = openLog(config, 'gateway')
  const closers: (() => unknown)[] = [() => log.close()]
  const close = async () => {
    for (const each of closers.splice(0).reverse()) await each()
  }
  try {
    const clock = clockSince(seed.store.shared!.clockOrigin)
    const joined = await joinStoreOf(seed.store, log, { clock })
    const backups = backupCells && new BackupStatus(config.backup.interval_minutes, backupCells)
    const store = measuredStore(sealedStore(withDisk(joined, path), sealKey), backups)
    closers.push(() => store.close())
    const secrets = new LiveSecrets(seed.secretSources, log)
    closers.push(() => secrets.close())
    const defaultOrg = await followDefaultOrg(store.documents, store.feed)
    closers.push(() => defaultOrg.close())
    const accessLog = seed.lines && new PassedLines(seed.lines)
    closers.push(
      () => accessLog?.close(),
      () => seed.peers.close(),
      () => seed.questions.close(),
    )
    const { dashboard } = seed
    const gateway = await startGateway({
      ...{ config, store, clock, log, accessLog, version, sealKey },
      clustered: false,
      nodeName: config.gateway.node_name,
      secrets: () => secrets.accepted.gateway,
      scraperSecrets: () => secrets.accepted.scraper,
      registrationTokens: () => secrets.accepted.registration,
      passwordRules: readPasswordRules(join(config.dashboard.home_dir || path, 'schemas', 'basic_auth.json')),
      defaultOrg: defaultOrg.id,
      dashboard: dashboard && (() => (Atomics.load(dashboard, 0) === 1 ? 'pass' : 'fail')),
      peers: peersOf(seed),
      attemptTables: new SharedRecentTables(seed.attempts, seed.attemptOwner),
    })
    closers.push(() => gateway.stop())
    serveThread(seed.questions, (question: GatewayQuestion) => answer(gateway, question))
    return { gateway, close }
  } catch (error) {
    await close()
    throw error
  }
}

function peersOf({ peers, serving, thread }: GatewayThreadData): GatewayPeers {
  const client = new ThreadClient<PeerQuestion, readonly (readonly MetricTable[])[]>(peers)
  const ask = (question: PeerQuestion) => client.ask(question).catch(() => [])
  return {
    threads: serving.length,
    name: `gateway-${thread}`,
    // The first, which is the same one after it was started again.
    prober: { isHere: thread === 1, found: (result) => void ask({ sort: 'probed', result }) },
    up: () => serving.reduce((sum, cell) => sum + cell, 0),
    settled: async (revision) => void (await ask({ sort: 'settled', revision })),
    reload: async () => void (await ask({ sort: 'reload' })),
    metrics: (own) => ask({ sort: 'metrics', own }),
  }
}

async function answer(gateway: Gateway, question: GatewayQuestion): Promise<GatewayAnswer> {
  switch (question.sort) {
    case 'settled':
      await gateway.live.settled(question.revision)
      return undefined
    case 'reload':
      await gateway.reload()
      return undefined
    case 'probed':
      gateway.probed(question.result)
      return undefined
    case 'metrics':
      return gateway.metricTables()
    case 'flaws':
      return gateway.nodeFlaws(question.id)
    default:
      return gateway.tryRequest(question.trial)
  }
}
