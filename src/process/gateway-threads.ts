import { hostname } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { MessageChannel, type ResourceLimits } from 'node:worker_threads'
import type { Config } from '../config/schema.ts'
import { fault } from '../errors/fault.ts'
import { dashboardRefusals } from '../gateway/record/refused-connections.ts'
import type { Gateway } from '../gateway/server/gateway.ts'
import type { PeerQuestion } from '../gateway/server/gateway-peers.ts'
import type { Flaw } from '../model/apis/definition/tree.ts'
import type { Trial } from '../model/apis/definition/trial.ts'
import type { LineSink, Log } from '../model/logs/log.ts'
import {
  countersAmong,
  MetricRegistry,
  type MetricTable,
  mergeMetricTables,
  metricTables,
} from '../model/metrics/metric-registry.ts'
import type { DroppedConnections } from '../model/nodes/descriptors.ts'
import { serveThread, ThreadClient } from '../model/threads/thread-rpc.ts'
import { writePassedLines } from '../runtime/line-merger.ts'
import { offerProcessMetrics } from '../runtime/process-metrics.ts'
import { reserveTables, SharedTableOwners } from '../runtime/shared-recent-tables.ts'
import { choosePorts, freePort } from '../wire/listen/shared-ports.ts'
import type { GatewayAnswer, GatewayQuestion, GatewayThreadData } from './gateway-thread.ts'
import type { OpenedStore } from './open-store.ts'
import { type SupervisedThread, superviseThread } from './supervise-thread.ts'

/** The gateway of a process as its other parts see it, on one thread or on several. */
export interface ServedGateway
  extends Pick<Gateway, 'port' | 'controlPort' | 'tlsPort' | 'ready' | 'tryRequest' | 'drain' | 'stop'> {
  /** Resolves when what was committed under this revision is served. */
  settled(revision: number): Promise<void>
  /** As `nodeFlaws` of a gateway; of several threads, which have the same settings, the first that serves answers. */
  flawsOf(id: string): Promise<readonly Flaw[]>
}

export interface GatewayThreadsOptions
  extends Pick<
    GatewayThreadData,
    'config' | 'dashboard' | 'backupCells' | 'sealKey' | 'secretSources' | 'version' | 'path'
  > {
  readonly store: OpenedStore
  readonly log: Log
  /** Connections that the dashboard of this process dropped. */
  readonly dashboardDrops: DroppedConnections
  /** Where lines of the access log go; undefined = none are written. */
  readonly accessLog: LineSink | undefined
  /** Bounds of the memory of each; absent = one of its young generation. */
  readonly memory?: ResourceLimits
}

const FIRST_WAIT_MS = 200
/** With no bound the young generation of each takes some 45 MB more after a start with 1,000 APIs, and a request costs no less CPU. */
const MEMORY: ResourceLimits = { maxYoungGenerationSizeMb: 16 }
/** Beyond the time for requests in flight: what a thread has counted is still to be written. */
const STOP_BEYOND_MS = 10_000
/** A thread that answers nothing for so long delays others no more. */
const ANSWER_WITHIN_MS = 10_000

/**
 * Starts `gateway.workers` threads that share the ports, each a node, and keeps them running: the others serve while one is started again.
 * @throws Fault as `startGateway`, of the first that cannot start; `setting_invalid` when the system cannot share a port
 */
export async function startGatewayThreads(options: GatewayThreadsOptions): Promise<GatewayThreads> {
  const threads = new GatewayThreads({ ...options, config: await withPorts(options.config) })
  await threads.start()
  return threads
}

/** Every thread listens at the same ports. */
async function withPorts(config: Config): Promise<Config> {
  const { gateway } = config
  const { traffic, tls } = await choosePorts(gateway)
  if (gateway.control_port !== 0)
    await freePort(gateway.control_host, gateway.control_port, 'gateway.control_port (SVC_GW_CONTROLPORT)')
  return { ...config, gateway: { ...gateway, listen_port: traffic, tls: { ...gateway.tls, listen_port: tls } } }
}

interface GatewayThread {
  supervised?: SupervisedThread
  client?: ThreadClient<GatewayQuestion, GatewayAnswer>
  /** As last heard. */
  tables: readonly MetricTable[]
}

/** The gateway threads of this process. */
export class GatewayThreads implements ServedGateway {
  readonly #options: GatewayThreadsOptions
  readonly #threads: GatewayThread[]
  readonly #serving: Int32Array<SharedArrayBuffer>
  readonly #attempts = reserveTables()
  readonly #attemptOwners = new SharedTableOwners(this.#attempts)
  /** Of the process, which no thread knows. */
  readonly #own = new MetricRegistry()
  readonly #stopMeasuring: () => void
  /** The counters of threads that have ended. */
  #gone: readonly MetricTable[] = []
  #draining = false

  constructor(options: GatewayThreadsOptions) {
    const count = options.config.gateway.workers
    this.#options = options
    this.#threads = Array.from({ length: count }, () => ({ tables: [] }))
    this.#serving = new Int32Array(new SharedArrayBuffer(count * Int32Array.BYTES_PER_ELEMENT))
    const { version, store, dashboardDrops } = options
    this.#stopMeasuring = offerProcessMetrics(this.#own, { version, thread: 'main', others: store.store.threads ?? [] })
    this.#own.offer('svc_connections_refused_total', () => dashboardRefusals(dashboardDrops))
  }

  get port(): number {
    return this.#news.port
  }

  get tlsPort(): number | undefined {
    return this.#news.tlsPort
  }

  get controlPort(): number | undefined {
    return this.#news.controlPort
  }

  async start(): Promise<void> {
    const started = await Promise.allSettled(this.#threads.map((thread, at) => this.#supervise(thread, at)))
    const failed = started.find((result) => result.status === 'rejected')
    if (failed === undefined) return
    await this.stop()
    throw failed.reason
  }

  ready(): boolean {
    return !this.#draining && this.#up.length > 0
  }

  async settled(revision: number): Promise<void> {
    await this.#askAll({ sort: 'settled', revision })
  }

  async flawsOf(id: string): Promise<readonly Flaw[]> {
    const client = this.#up[0]?.client
    return client === undefined ? [] : ((await client.ask({ sort: 'flaws', id })) as readonly Flaw[])
  }

  async tryRequest(trial: Parameters<Gateway['tryRequest']>[0]): Promise<Trial> {
    const client = this.#up[0]?.client
    if (client === undefined) throw fault('gateway_away')
    return (await client.ask({ sort: 'try', trial })) as Trial
  }

  async drain(delayMs: number): Promise<void> {
    this.#draining = true
    for (const { supervised } of this.#threads) supervised?.drain()
    await setTimeout(delayMs)
  }

  async stop(): Promise<void> {
    this.#draining = true
    await Promise.all(this.#threads.map(({ supervised }) => supervised?.stop()))
    this.#stopMeasuring()
  }

  /** Ends a thread at once, as a crash would; from 1. It is started again. */
  async end(thread: number): Promise<void> {
    await this.#threads[thread - 1]?.supervised?.end()
  }

  get #news() {
    return this.#threads[0]?.supervised?.news ?? { port: 0 }
  }

  get #up(): GatewayThread[] {
    return this.#threads.filter((_, at) => Atomics.load(this.#serving, at) === 1)
  }

  async #supervise(thread: GatewayThread, at: number): Promise<void> {
    const { config, log, memory = MEMORY } = this.#options
    thread.supervised = await superviseThread({
      module: new URL('./gateway-thread.ts', import.meta.url),
      name: `gateway-${at + 1}`,
      log,
      firstWaitMs: FIRST_WAIT_MS,
      stopWithinMs: config.gateway.drain_timeout_ms + STOP_BEYOND_MS,
      memory,
      serving: this.#serving.subarray(at, at + 1),
      data: () => this.#dataOf(thread, at),
    })
  }

  #dataOf(thread: GatewayThread, at: number) {
    const { store, log: _log, memory: _memory, dashboardDrops: _drops, accessLog, config, ...rest } = this.#options
    const { seed, ports } = store.seed(true)
    const [asking, asked, lines] = [new MessageChannel(), new MessageChannel(), accessLog && new MessageChannel()]
    serveThread(asking.port1, (question: PeerQuestion) => this.#relay(thread, question))
    asking.port1.unref()
    if (lines !== undefined && accessLog !== undefined) writePassedLines(lines.port1, accessLog)
    const client = new ThreadClient<GatewayQuestion, GatewayAnswer>(asked.port1)
    thread.client = client
    const { node_name: name } = config.gateway
    const attemptOwner = this.#attemptOwners.next()
    const workerData: GatewayThreadData = {
      ...rest,
      config: {
        ...config,
        gateway: { ...config.gateway, node_name: `${name === '' ? hostname() : name}-${at + 1}` },
      },
      store: seed,
      peers: asking.port2,
      questions: asked.port2,
      lines: lines?.port2,
      thread: at + 1,
      serving: this.#serving,
      attempts: this.#attempts,
      attemptOwner,
    }
    const onEnd = () => {
      store.ended(seed)
      this.#attemptOwners.ended(attemptOwner)
      client.end(fault('gateway_away', 'the gateway thread has ended'))
      this.#gone = tablesOf([this.#gone, countersAmong(thread.tables)])
      thread.tables = []
    }
    return { workerData, transferList: [...ports, asking.port2, asked.port2, ...(lines ? [lines.port2] : [])], onEnd }
  }

  /** Asks the others for a thread, and answers for the process. */
  async #relay(thread: GatewayThread, question: PeerQuestion): Promise<readonly (readonly MetricTable[])[]> {
    if (question.sort !== 'metrics') {
      await this.#askAll(question, thread)
      return []
    }
    thread.tables = question.own
    const others = this.#up.filter((other) => other !== thread)
    await Promise.all(
      others.map(async (other) => {
        const tables = await this.#ask(other, { sort: 'metrics' })
        if (tables !== undefined) other.tables = tables as readonly MetricTable[]
      }),
    )
    return [...others.map(({ tables }) => tables), this.#gone, metricTables(this.#own)]
  }

  async #askAll(question: GatewayQuestion, except?: GatewayThread): Promise<void> {
    await Promise.all(this.#up.filter((thread) => thread !== except).map((thread) => this.#ask(thread, question)))
  }

  /** One that ends or does not answer is not waited for. */
  #ask({ client }: GatewayThread, question: GatewayQuestion): Promise<GatewayAnswer> {
    const late = () => fault('gateway_behind')
    return (
      client?.ask(question, { withinMs: ANSWER_WITHIN_MS, late }).catch(() => undefined) ?? Promise.resolve(undefined)
    )
  }
}

function tablesOf(threads: readonly (readonly MetricTable[])[]): MetricTable[] {
  return metricTables({ sources: mergeMetricTables(threads) })
}
