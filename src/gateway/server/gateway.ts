import { setTimeout } from 'node:timers/promises'
import type { Config } from '../../config/schema.ts'
import type { FaultCode } from '../../errors/catalog.ts'
import { LATENCY_BOUNDS_MS } from '../../model/analytics/hit.ts'
import { sharedHosts } from '../../model/apis/definition/territory.ts'
import type { Flaw } from '../../model/apis/definition/tree.ts'
import type { Trial, TrialRequest } from '../../model/apis/definition/trial.ts'
import { ownWords } from '../../model/apis/definition/vendor-words.ts'
import type { LineSink, Log } from '../../model/logs/log.ts'
import { type MetricTable, metricTables } from '../../model/metrics/metric-registry.ts'
import { type DroppedConnections, descriptorLimit, shareDescriptors } from '../../model/nodes/descriptors.ts'
import type { GatewayCommand, NodeShard } from '../../model/nodes/node.ts'
import type { PasswordRules } from '../../model/passwords/password-rules.ts'
import type { SealKey } from '../../model/secrets/secret.ts'
import { type Clock, OncePerInterval } from '../../model/time/clock.ts'
import { issuerCalls } from '../../publish/apis/issuer-calls.ts'
import { ownUrls } from '../../publish/apis/listen-path.ts'
import { yamlFileToJson } from '../../publish/apis/yaml.ts'
import { findKeyPair } from '../../publish/certificates/certificates.ts'
import { TrafficEvents } from '../../publish/events/traffic-events.ts'
import { basicUserHash, checkBasicUser, newBasicAuthThrottle } from '../../publish/keys/basic-auth-users.ts'
import { certificateHash } from '../../publish/keys/certificate-keys.ts'
import { LegacyKeys, legacyRules } from '../../publish/keys/legacy-keys.ts'
import { offerHealthMetrics } from '../../publish/nodes/health.ts'
import { forgetNodes, nodeDocumentId, writeNodeStatus } from '../../publish/nodes/node-status.ts'
import { KeyedMutex } from '../../runtime/keyed-mutex.ts'
import { offerProcessMetrics } from '../../runtime/process-metrics.ts'
import { ownPlace, type RecentTables } from '../../runtime/recent-tables.ts'
import { metricsPage } from '../../runtime/render-metrics.ts'
import type { Store } from '../../store/ports/ports.ts'
import { SocketBudget } from '../../wire/listen/connection-limit.ts'
import { type ChangingSecrets, SecretGate } from '../admin/admin-secret.ts'
import { processHealth } from '../admin/health.ts'
import type { AdminParts } from '../admin/parts.ts'
import type { AdminRoute } from '../admin/route.ts'
import { adminRoutes } from '../admin/routes.ts'
import { ApiCatalogue } from '../apis/catalogue.ts'
import type { GatewayCompileParts } from '../apis/compile.ts'
import { DefinitionTraces } from '../apis/definition-traces.ts'
import { explainerOf, explainPartsOf, trustedProxiesOf } from '../apis/explainer.ts'
import { definitionFiles } from '../apis/files.ts'
import { LiveConfig } from '../apis/live.ts'
import { nodeFlaws } from '../apis/node-flaws.ts'
import { policyKey } from '../apis/snapshot.ts'
import type { Users } from '../authentication/auth-parts.ts'
import { AuthorityStore } from '../authentication/authorities.ts'
import { KeySets } from '../authentication/key-sets.ts'
import { ResponseCache } from '../cache/response-cache.ts'
import { type OnGatewayEvent, quotaWatch, recordWithEvents } from '../events/events.ts'
import { Modules } from '../modules/modules.ts'
import { offerGatewayMetrics } from '../nodes/metrics.ts'
import type { NodeReporter } from '../nodes/node-status.ts'
import { nodeReporter } from '../nodes/open-reporter.ts'
import { type Authorization, openAuthorization } from '../oauth/open-authorization.ts'
import { type AccessLog, openAccessLog } from '../record/access-log.ts'
import { LoadMeter } from '../record/load-meter.ts'
import { Metrics } from '../record/metrics.ts'
import { openRecording, type Recording } from '../record/open-recording.ts'
import { Recorder } from '../record/record-plan.ts'
import { RefusedConnections } from '../record/refused-connections.ts'
import { Sample } from '../record/sample.ts'
import { Sessions } from '../sessions/sessions.ts'
import { SharedMerges } from '../sessions/shared-merges.ts'
import { telemetryOf } from '../telemetry/load.ts'
import type { ResilienceRegistry } from '../upstream/api-resilience.ts'
import type { ProbeResult } from '../upstream/api-upstream.ts'
import { openUpstreams } from '../upstream/open-upstreams.ts'
import type { UpstreamPool } from '../upstream/targets.ts'
import { type GatewayPeers, metricsOf } from './gateway-peers.ts'
import { InnerCalls } from './inner-calls.ts'
import { openPorts, type PortBounds, wireLimitsOf } from './open-ports.ts'
import { recordGoaways, recordWith } from './record.ts'
import { type ServerParts, trafficHandler } from './server.ts'
import { followCertificates, TlsCertificates } from './tls.ts'
import { RequestTrials } from './try-request.ts'
import { Tunnels } from './tunnels.ts'

/** Between two lines of the log about one API whose rules hold too many patterns. */
const OVER_BUDGET_LOG_MS = 60_000

export interface GatewayParts extends ChangingSecrets {
  readonly config: Config
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  /** Where access log lines go; undefined = none are written. */
  readonly accessLog: LineSink | undefined
  readonly version: string
  readonly nodeName: string
  /** Key that private keys and shown-again secrets are sealed with. */
  readonly sealKey: SealKey
  /** The rules for passwords of users; absent = at least eight characters. */
  readonly passwordRules?: PasswordRules
  /** Organisation of objects that name none. */
  readonly defaultOrg: () => string
  /** True when other gateways share the store. */
  readonly clustered: boolean
  /** State of the dashboard of this process; undefined when it runs none. */
  readonly dashboard: (() => 'pass' | 'fail') | undefined
  /** Connections that the dashboard of this process dropped. */
  readonly dashboardDrops?: DroppedConnections
  /** Receives upstream events and the like, in addition to the handlers that an API names. */
  readonly onGatewayEvent?: OnGatewayEvent
  /** The other gateway threads of this process; absent = there are none. */
  readonly peers?: GatewayPeers
  /** In which failed attempts are counted; absent = those of this gateway alone. */
  readonly attemptTables?: RecentTables
  /** Longest wait of an administration call for a change to be in force, in milliseconds; absent = five seconds. */
  readonly settleWithinMs?: number
}

/** A gateway that is listening. */
export interface Gateway {
  readonly port: number
  readonly controlPort: number | undefined
  readonly tlsPort: number | undefined
  readonly live: LiveConfig
  /** Its numbers as they are now. */
  metricTables(): MetricTable[]
  /** Takes in the check of a target by another thread. */
  probed(result: ProbeResult): void
  /** Reads definition files and the store again. */
  reload(): Promise<void>
  /** The routes below `/svc/`. */
  readonly calls: readonly Pick<AdminRoute, 'method' | 'path' | 'acts'>[]
  /** True when everything stored is loaded and nothing stops. */
  ready(): boolean
  /** The flaws of the API under a storage id that this node adds to those of the definition by itself. */
  nodeFlaws(id: string): readonly Flaw[]
  /** Sends a request to itself, and tells what came of it. @throws Fault `try_elsewhere`, `body_invalid` (400), `try_busy` (503) */
  tryRequest(trial: TrialRequest): Promise<Trial>
  /** Says by `/ready` and with each answer that this gateway ends, and keeps accepting for so long. Comes before `stop`. */
  drain(delayMs: number): Promise<void>
  /** Stops accepting, lets requests in flight finish within the bound of the settings, writes what was counted. */
  stop(): Promise<void>
}

/**
 * Loads every API and policy, then opens the traffic port, the TLS port and the control port as set.
 * @throws Fault `port_in_use`, `setting_invalid`, `store_away`
 */
export async function startGateway(parts: GatewayParts): Promise<Gateway> {
  const { config, store, log } = parts
  const settings = config.gateway
  const metrics = new Metrics(durationBounds(config.metrics.duration_buckets_ms))
  // Threads of one process share its descriptors.
  const limit = Math.max(1, Math.floor(descriptorLimit() / (parts.peers?.threads ?? 1)))
  const bounds = {
    shares: shareDescriptors(limit, settings.max_connections),
    refusals: new RefusedConnections(parts, limit),
  }
  bounds.refusals.offer(metrics, parts.dashboardDrops)
  store.offerMetrics?.(metrics)
  offerHealthMetrics(metrics, store, 'gateway', () => processHealth(parts))
  const core = buildCore(parts, metrics, bounds)
  const { live, recording } = core
  const closers: (() => unknown)[] = [
    () => core.upstreams.close(),
    () => core.authorities.close(),
    () => live.close(),
    () => core.authorization.close(),
    () => core.events.close(),
  ]
  let stopping: Promise<void> | undefined
  let draining = false
  const closeAll = async () => {
    // Opened last, closed first: traffic ends before its dependencies.
    for (const close of closers.splice(0).reverse()) await close()
  }
  const stop = () => {
    draining = true
    stopping ??= closeAll()
    return stopping
  }
  try {
    await core.authorization.start()
    await Promise.all([live.start(), recording.start(), core.authorities.start()])
    const files = definitionFiles(parts, core, yamlFileToJson)
    closers.push(() => files?.close())
    await files?.start()
    const tls = new TlsCertificates({
      certFile: settings.tls.enabled ? settings.tls.cert_file : '',
      keyFile: settings.tls.key_file,
      rules: settings.tls,
      snapshot: () => live.snapshot,
      findKeyPair: (id, orgId) => findKeyPair(store, parts.sealKey, { id, orgId }),
      log,
    })
    closers.push(() => tls.close())
    if (settings.tls.enabled) closers.push(await followCertificates(tls, live, store))
    const accessLog = openAccessLog(parts)
    closers.push(
      () => recording.close(),
      () => accessLog?.close(),
      offerProcessMetrics(metrics, {
        version: parts.version,
        thread: parts.peers?.name ?? 'gateway',
        others: store.threads ?? [],
      }),
    )
    const ready = () => live.ready && !draining && (parts.dashboard === undefined || parts.dashboard() === 'pass')
    let reporter: NodeReporter | undefined
    const rescan = async () => {
      core.modules.reload()
      await files?.scan()
    }
    const explained = explainerOf(parts, core)
    const { own, ownControl, calls, ...rest } = serverParts(parts, core, metrics, accessLog, {
      ready,
      draining: () => draining,
      nodeName: () => reporter?.name ?? parts.nodeName,
      rescan,
      fileDocuments: () => files?.documents() ?? [],
      explain: async (request) => (await explained(request)).explanation,
      trace: (request) => traces.run(request),
    })
    const traces = new DefinitionTraces({
      ...{ ...explainPartsOf(parts, core), compile: core.compileParts, server: rest, upstreams: core.upstreams, log },
      ...{ dnsServers: settings.dns_servers, limits: wireLimitsOf(settings) },
    })
    const telemetry = await telemetryOf(parts, metrics)
    closers.push(() => telemetry?.close())
    const plain = trafficHandler({ ...rest, own })
    const traffic = telemetry?.trace(plain) ?? plain
    core.innerCalls.open(traffic, wireLimitsOf(settings), settings.batch_timeout_ms)
    const handlers = {
      traffic,
      control: trafficHandler({ ...rest, own: ownControl }),
      tls: (serverName: string) => tls.choose(serverName),
    }
    if (parts.peers !== undefined) await live.settled(await store.documents.revision())
    const ports = await openPorts(settings, handlers, { ...bounds, sharesControl: parts.peers !== undefined })
    closers.push(async () => {
      const cut = await ports.drain(settings.drain_timeout_ms)
      if (cut > 0) log.warn({ connections: cut }, 'cut connections that were busy after gateway.drain_timeout_ms')
    })
    core.authorization.deliveries.start()
    reporter = nodeReporter(parts, core, ports.traffic, new LoadMeter(metrics, ports.connections), {
      write: (status) => writeNodeStatus(store, status),
      idOf: nodeDocumentId,
      forget: () => forgetNodes(store, parts.clock.wall()),
    })
    closers.push(() => reporter?.close())
    core.upstreamCares.offerMetrics(metrics)
    offerGatewayMetrics(metrics, {
      ...{ ...core, ...recording, accessLog, connections: ports.connections },
      tls: settings.tls.enabled ? tls : undefined,
      upstreamConnections: () => core.sockets.open,
      storeClock: parts.store.clock,
      draining: () => draining,
    })
    telemetry?.offer()
    const trials = new RequestTrials({
      explain: explained,
      port: () => ports.traffic,
      listenHost: settings.listen_host,
    })
    return {
      ...{ port: ports.traffic, tlsPort: ports.tls, controlPort: ports.control, live, calls, ready, stop },
      async drain(delayMs) {
        draining = true
        ports.announceDrain()
        await setTimeout(delayMs)
      },
      nodeFlaws: (id) => nodeFlaws(core.catalogue, config, id),
      tryRequest: (trial) => trials.send(trial),
      metricTables: () => metricTables(metrics),
      probed: (result) => core.upstreamCares.checkedElsewhere(result),
      async reload() {
        await rescan()
        await live.reload()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Bounds of the histograms, in milliseconds. */
function durationBounds(set: readonly string[]): readonly number[] {
  return set.length === 0 ? LATENCY_BOUNDS_MS : set.map(Number)
}

interface Core {
  readonly locks: KeyedMutex
  readonly secretGate: SecretGate
  readonly compileParts: GatewayCompileParts
  readonly shard: NodeShard
  readonly sessions: Sessions
  readonly sockets: SocketBudget
  readonly authorities: AuthorityStore
  readonly upstreams: UpstreamPool
  readonly upstreamCares: ResilienceRegistry
  readonly responses: ResponseCache
  readonly innerCalls: InnerCalls
  readonly modules: Modules
  readonly recording: Recording
  readonly catalogue: ApiCatalogue
  readonly live: LiveConfig
  readonly authorization: Authorization
  readonly keySets: KeySets
  readonly events: TrafficEvents
}

/** The rules for every request, before anything listens. */
function buildCore(parts: GatewayParts, metrics: Metrics, { shares, refusals }: PortBounds): Core {
  const { config, store, log, clock } = parts
  const settings = config.gateway
  const segmentation = settings.db_app_conf_options
  const shard: NodeShard = { segmented: segmentation.node_is_segmented, tags: segmentation.tags }
  const words = ownWords(config.compat.vendor_aliases)
  const tables = parts.attemptTables ?? ownPlace().tables
  const secretGate = new SecretGate({
    secrets: parts.secrets,
    scraperSecrets: parts.scraperSecrets ?? (() => [config.metrics.secret].filter((secret) => secret !== '')),
    words,
    trustedProxies: trustedProxiesOf(config),
    clock,
    tables,
  })
  const merges = new SharedMerges()
  const locks = new KeyedMutex()
  const basicAuthThrottle = newBasicAuthThrottle(clock, tables)
  const issuers = issuerCalls(config.webhooks.allow_private)
  const clientKeySets = new KeySets({ clock, log, fetch: issuers.clientKeys })
  const authorization = openAuthorization({
    ...{ ...parts, locks, tables, basicAuthThrottle, secretGate },
    several: parts.clustered || parts.peers !== undefined,
    fetchClientDocument: issuers.clientDocument,
    clientKeySets,
    findApi: (apiId) => catalogue.findApi(apiId),
    findPolicy: (orgId, id) => live.snapshot.policies.get(policyKey(orgId, id)),
    mergeOf: (session, orgId) => merges.merge(session, orgId, live.snapshot).merged,
  })
  const rules = legacyRules(settings)
  const secretParts = { ...parts, documents: store.documents, counters: store.counters, tokens: store.tokens, locks }
  const legacy = rules && new LegacyKeys(secretParts, rules)
  const sessions = new Sessions(store.tokens, settings, {
    merges,
    clients: authorization.clients,
    legacy,
  })
  const events = new TrafficEvents({
    ...secretParts,
    findApi: (apiId) => catalogue.findApi(apiId),
    wakeDeliveries: () => authorization.deliveries.wake(),
  })
  const onGatewayEvent: OnGatewayEvent = (kind, apiId, detail) => {
    events.tell(kind, apiId, detail)
    parts.onGatewayEvent?.(kind, apiId, detail)
  }
  const sockets = new SocketBudget(shares.upstreams, () => refusals.refused('upstream'))
  const { upstreams, upstreamCares } = openUpstreams({ ...parts, onGatewayEvent, sockets }, (id, orgId) =>
    findKeyPair(store, parts.sealKey, { id, orgId }),
  )
  const recording = openRecording(parts)
  const passwordParts = { tokens: store.tokens, sealKey: parts.sealKey, basicAuthThrottle }
  const users: Users = {
    hashOf: (orgId, name) => basicUserHash(parts, orgId, name).toString('hex'),
    check: (orgId, name, password, address) => checkBasicUser(passwordParts, orgId, name, password, address),
  }
  const keySets = new KeySets({ clock, log, fetch: issuers.fetch })
  const authorities = new AuthorityStore(store, log, settings.tls.enabled ? settings.tls.client_crl_file : '')
  const compileParts = {
    watchQuotas: quotaWatch(settings.monitor, onGatewayEvent),
    traces: config.opentelemetry.enabled,
    sessions,
    users,
    certificateKeys: {
      hashOf: (orgId: string, print: string) => certificateHash(parts, orgId, print).toString('hex'),
    },
    authorities,
    keySets,
    introspection: { clock, log, post: issuers.post },
    upstreamCares,
    responses: new ResponseCache({
      maxBytes: Math.floor(settings.cache_bytes / (parts.peers?.threads ?? 1)),
      entryBytes: settings.cache_entry_bytes,
      waitMs: settings.cache_wait_ms,
    }),
    innerCalls: new InnerCalls(),
    modules: openModules(parts),
    metrics,
    book: recording.book,
    records: recording.records,
    recordsDetailed: config.analytics.detailed_recording,
    words,
    clock,
    counters: store.counters,
    maxBodyBytes: settings.max_body_bytes,
    takesUnderscores: settings.allow_underscore_fields,
    requestIds: settings.request_id,
    legacyStatuses: config.compat.legacy_statuses,
    nodeTags: shard.segmented ? shard.tags : [],
    bindings: authorization.bindings,
    endpoints: authorization.endpoints,
  }
  const { innerCalls, modules, responses } = compileParts
  const catalogue = new ApiCatalogue(compileParts, shard, sharedHosts(ownUrls(config)))
  const applyCommand = commandHandler(responses, [keySets, clientKeySets])
  const { ownKeys } = authorization.bindings
  const live = new LiveConfig({
    ...{ documents: store.documents, feed: store.feed, log },
    catalogue,
    sessions,
    ownKeys,
    applyCommand,
  })
  const stands = { sockets, authorities, upstreams, upstreamCares, responses, innerCalls, modules, events }
  return {
    locks,
    secretGate,
    compileParts,
    shard,
    sessions,
    ...stands,
    recording,
    catalogue,
    live,
    authorization,
    keySets,
  }
}

function openModules({ config, log }: GatewayParts): Modules {
  const { path, timeout_ms: timeoutMs, memory_mb: memoryMb } = config.gateway.modules
  return new Modules({ folder: path, timeoutMs, memoryMb }, log)
}

/** Creates the handlers of gateway commands. */
function commandHandler(
  responses: ResponseCache,
  keySets: readonly KeySets[],
): (order: GatewayCommand | undefined) => void {
  return (order) => {
    if (order?.order !== 'responses') for (const each of keySets) each.forget()
    if (order === undefined) responses.forgetAll()
    else if (order.order === 'responses') responses.forget(order.subject)
  }
}

/** The common part of the handlers of all ports, and the two ways of answering the product's own paths. */
function serverParts(
  parts: GatewayParts,
  core: Core,
  metrics: Metrics,
  accessLog: AccessLog | undefined,
  states: Pick<AdminParts, 'ready' | 'draining' | 'nodeName' | 'rescan' | 'fileDocuments' | 'explain' | 'trace'>,
): ServerParts & { ownControl: ServerParts['own']; calls: Gateway['calls'] } {
  const { config, clock, log } = parts
  const snapshot = () => core.live.snapshot
  const overBudget = new OncePerInterval(OVER_BUDGET_LOG_MS)
  const admin = adminRoutes({
    ...parts,
    ...core,
    ...states,
    wakeDeliveries: () => core.authorization.deliveries.wake(),
    addresses: core.authorization.bindings.addresses,
    metrics: async (accept: string | undefined) => metricsPage(await metricsOf(metrics, parts.peers), accept),
  })
  return {
    clock,
    trustedProxies: trustedProxiesOf(config),
    snapshot,
    style: { legacyStatuses: config.compat.legacy_statuses },
    bodyBytesInFlight: config.gateway.body_bytes_in_flight,
    own: admin.traffic,
    ownControl: admin.control,
    calls: admin.calls,
    endpoints: core.authorization.endpoints,
    tunnels: new Tunnels({ sessions: core.sessions, snapshot, clock }),
    catchUp: parts.store.catchUp,
    began: () => metrics.inFlight++,
    record: recordWithEvents(
      recordWith(new Recorder(new Sample(), accessLog), metrics, {
        ...core.recording,
        logged: accessLog !== undefined,
      }),
      core.events.tell,
    ),
    onMalformed: ({ code }) => metrics.refused(code),
    onGoaway: recordGoaways(metrics, accessLog, clock),
    onHiddenFields: (count) => metrics.fieldsHidden(count),
    damaged: () => parts.store.damaged?.() === true,
    onFault(fault, x) {
      const code: FaultCode = fault.code
      if (code.startsWith('upstream_')) metrics.upstreamFailed(code)
      if (code === 'patterns_over_budget') metrics.patternsOverBudget()
      if (code === 'patterns_over_budget' && !overBudget.isDue(x.chain?.api.apiId ?? '', x.mono)) return
      const fields = {
        ...{ request_id: x.requestId, api_id: x.chain?.api.apiId, code, cause: fault.cause },
        ...(code === 'patterns_over_budget' && { key_alias: x.session?.alias, key_hash: x.session?.keyHash }),
      }
      log[fault.entry.log === 'error' ? 'error' : 'warn'](fields, fault.message)
    },
  }
}
