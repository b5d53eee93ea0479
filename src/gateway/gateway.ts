import { hostname } from 'node:os'
import type { Config } from '../config/schema.ts'
import type { FaultCode } from '../errors/catalog.ts'
import { addressList } from '../model/address.ts'
import type { Clock } from '../model/clock.ts'
import type { LineSink, Log } from '../model/log.ts'
import type { NodeShard } from '../model/node.ts'
import type { PasswordRules } from '../model/password-rules.ts'
import type { Trial, TrialRequest } from '../model/trial.ts'
import { privateKeyOf } from '../publish/certificates.ts'
import { forgetNodes, writeNodeStatus } from '../publish/node-status.ts'
import type { Store } from '../store/ports.ts'
import type { AdminParts } from './admin/parts.ts'
import { adminRoutes } from './admin/routes.ts'
import { ApiCatalogue } from './catalogue.ts'
import { type ExplainParts, type ExplainRequest, explain } from './explain.ts'
import { FileDefinitions } from './files.ts'
import { LiveConfig } from './live.ts'
import { offerGatewayMetrics } from './metrics.ts'
import { NodeReporter } from './node-status.ts'
import { type Authorization, openAuthorization } from './oauth/open-authorization.ts'
import { openPorts } from './open-ports.ts'
import { AccessLog } from './record/access-log.ts'
import { Metrics } from './record/metrics.ts'
import { openRecording, type Recording } from './record/open-recording.ts'
import { offerProcessMetrics } from './record/process-metrics.ts'
import { Recorder } from './record/recorder.ts'
import { chooseMetricsFormat, renderMetrics } from './record/render-metrics.ts'
import { nextRequestId } from './record/request-id.ts'
import { Sample } from './record/sample.ts'
import { recordWith } from './record.ts'
import { type ServerParts, trafficHandler } from './server.ts'
import { Sessions } from './sessions.ts'
import { policyKey } from './snapshot.ts'
import { type KeyPair, TlsCertificates } from './tls.ts'
import { RequestTrials } from './try-request.ts'
import { UpstreamPool } from './upstream/targets.ts'

export interface GatewayParts {
  readonly config: Config
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  /** Where access log lines go; undefined = none are written. */
  readonly accessLog: LineSink | undefined
  readonly version: string
  readonly nodeName: string
  /** What `X-Svc-Authorization` must hold. */
  readonly secret: string
  /** Key that private keys and shown-again secrets are sealed with. */
  readonly sealKey: Uint8Array
  /** What passwords of users must be like; absent = at least eight characters. */
  readonly passwordRules?: PasswordRules
  /** Organisation of objects that name none. */
  readonly defaultOrg: () => string
  /** How the dashboard of this process stands; undefined when there is none in it. */
  readonly dashboard: (() => 'pass' | 'fail') | undefined
}

/** A gateway that is listening. */
export interface Gateway {
  readonly port: number
  readonly controlPort: number | undefined
  readonly tlsPort: number | undefined
  readonly live: LiveConfig
  /** True when everything stored is loaded and nothing stops. */
  ready(): boolean
  /** Sends a request to itself, and tells what came of it. @throws Fault `try_elsewhere`, `body_invalid` (400), `try_busy` (503) */
  tryRequest(trial: TrialRequest): Promise<Trial>
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
  const metrics = new Metrics()
  const core = buildCore(parts, metrics)
  const { live, recording } = core
  const closers: (() => unknown)[] = [
    () => core.upstreams.close(),
    () => live.close(),
    () => core.authorization.close(),
  ]
  let stopping: Promise<void> | undefined
  const closeAll = async () => {
    // What was opened last is closed first: traffic ends before what it stands on.
    for (const close of closers.splice(0).reverse()) await close()
  }
  const stop = () => {
    stopping ??= closeAll()
    return stopping
  }
  try {
    await Promise.all([live.start(), recording.start()])
    const files = definitionFiles(parts, core)
    closers.push(() => files?.close())
    files?.start()
    const tls = new TlsCertificates({
      certFile: settings.tls.enabled ? settings.tls.cert_file : '',
      keyFile: settings.tls.key_file,
      snapshot: () => live.snapshot,
      findKeyPair: (id) => findKeyPair(store, parts.sealKey, id),
      log,
    })
    closers.push(() => tls.close())
    if (settings.tls.enabled) closers.push(await followCertificates(tls, live, store))

    const accessLog = parts.accessLog === undefined ? undefined : new AccessLog(parts.accessLog)
    closers.push(
      () => recording.close(),
      () => accessLog?.close(),
      offerProcessMetrics(metrics, parts.version),
    )
    const ready = () =>
      live.ready && stopping === undefined && (parts.dashboard === undefined || parts.dashboard() === 'pass')
    const explained = explainer(parts, core)
    const { own, ownControl, ...rest } = serverParts(parts, core, metrics, accessLog, {
      ready,
      stopping: () => stopping !== undefined,
      rescan: () => files?.scan(),
      fileDocuments: () => files?.documents() ?? [],
      explain: async (request) => (await explained(request)).explanation,
    })
    const ports = await openPorts(settings, {
      traffic: trafficHandler({ ...rest, own }),
      control: trafficHandler({ ...rest, own: ownControl }),
      tls: (serverName) => tls.choose(serverName),
    })
    closers.push(() => ports.drain(settings.drain_timeout_ms))
    core.authorization.deliveries.start()
    const reporter = nodeReporter(parts, core, ports.traffic)
    closers.push(() => reporter.close())
    offerGatewayMetrics(metrics, { ...core, ...recording, accessLog, connections: ports.connections })
    const trials = new RequestTrials({
      explain: explained,
      port: () => ports.traffic,
      listenHost: settings.listen_host,
    })
    return {
      ...{ port: ports.traffic, tlsPort: ports.tls, controlPort: ports.control, live, ready, stop },
      tryRequest: (trial) => trials.send(trial),
    }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Core {
  readonly shard: NodeShard
  readonly sessions: Sessions
  readonly upstreams: UpstreamPool
  readonly recording: Recording
  readonly catalogue: ApiCatalogue
  readonly live: LiveConfig
  readonly authorization: Authorization
}

/** What every request is judged by, before anything listens. */
function buildCore(parts: GatewayParts, metrics: Metrics): Core {
  const { config, store, log, clock } = parts
  const settings = config.gateway
  const segmentation = settings.db_app_conf_options
  const shard: NodeShard = { segmented: segmentation.node_is_segmented, tags: segmentation.tags }
  const authorization = openAuthorization({
    ...parts,
    findApi: (apiId) => catalogue.findApi(apiId),
    findPolicy: (orgId, id) => live.snapshot.policies.get(policyKey(orgId, id)),
  })
  const sessions = new Sessions(store.tokens, settings.session_cache_entries, authorization.clients)
  const upstreams = new UpstreamPool({
    connectTimeoutMs: settings.connect_timeout_ms,
    headTimeoutMs: settings.proxy_default_timeout_ms,
    idleTimeoutMs: settings.upstream_idle_ms,
    totalTimeoutMs: 0,
    maxIdle: settings.upstream_max_idle,
    idleKeepMs: settings.upstream_keep_ms,
  })
  const recording = openRecording(parts)
  const compileParts = {
    sessions,
    upstreams,
    metrics,
    book: recording.book,
    records: recording.records,
    recordsDetailed: config.analytics.detailed_recording,
    clock,
    counters: store.counters,
    maxBodyBytes: settings.max_body_bytes,
    legacyStatuses: config.compat.legacy_statuses,
    nodeTags: shard.segmented ? shard.tags : [],
    bindings: authorization.bindings,
    endpoints: authorization.endpoints,
  }
  const catalogue = new ApiCatalogue(compileParts, shard)
  const live = new LiveConfig({ documents: store.documents, feed: store.feed, catalogue, sessions, log })
  return { shard, sessions, upstreams, recording, catalogue, live, authorization }
}

/** Has the dashboard know how the APIs stand on this node. */
function nodeReporter(
  { clock, config, log, nodeName, store, version }: GatewayParts,
  { catalogue, live, shard }: Core,
  port: number,
) {
  const reporter = new NodeReporter({
    write: (status) => writeNodeStatus(store, status),
    about: {
      name: nodeName,
      hostname: hostname(),
      version,
      ...shard,
      management: config.gateway.management_node,
      port,
    },
    look: () => ({ states: catalogue.states(), revision: live.snapshot.revision, behind: live.behind }),
    clock,
    log,
  })
  live.onDefinitions(() => reporter.changed())
  reporter.changed()
  forgetNodes(store, clock.wall()).catch((error) => log.debug({ cause: error }, 'old nodes could not be forgotten'))
  return reporter
}

/** The folder of definition files, where one is set. */
function definitionFiles({ config, defaultOrg, log }: GatewayParts, { catalogue, live }: Core) {
  const folder = config.gateway.app_path
  if (folder === '') return undefined
  return new FileDefinitions({ folder, catalogue, changed: () => live.refresh(), defaultOrg, log })
}

/** What the handlers of all ports have in common, and the two ways of answering the product's own paths. */
function serverParts(
  parts: GatewayParts,
  core: Core,
  metrics: Metrics,
  accessLog: AccessLog | undefined,
  states: Pick<AdminParts, 'ready' | 'stopping' | 'rescan' | 'fileDocuments' | 'explain'>,
): ServerParts & { ownControl: ServerParts['own'] } {
  const { config, clock, log } = parts
  const legacyStatuses = config.compat.legacy_statuses
  const snapshot = () => core.live.snapshot
  const admin = adminRoutes({
    ...parts,
    ...core,
    ...states,
    nextRequestId,
    wakeDeliveries: () => core.authorization.deliveries.wake(),
    metrics: (accept: string | undefined) => {
      const { format, contentType } = chooseMetricsFormat(accept)
      return { contentType, text: renderMetrics(metrics, format) }
    },
  })
  return {
    clock,
    trustedProxies: trustedProxiesOf(config),
    snapshot,
    style: { legacyStatuses, nextRequestId },
    own: admin.traffic,
    ownControl: admin.control,
    endpoints: core.authorization.endpoints,
    record: recordWith(new Recorder(new Sample(), accessLog), metrics.api(''), {
      ...core.recording,
      logged: accessLog !== undefined,
    }),
    onFault(fault, x) {
      const code: FaultCode = fault.code
      if (code.startsWith('upstream_')) metrics.upstreamFailed(code)
      const fields = { request_id: x.requestId, api_id: x.chain?.api.apiId, code, cause: fault.cause }
      if (fault.entry.log === 'error') log.error(fields, fault.message)
      else log.warn(fields, fault.message)
    },
  }
}

/** Tells what would become of a request. */
function explainer({ config, clock, store }: GatewayParts, { live, authorization }: Core) {
  const parts: ExplainParts = {
    clock,
    counters: store.counters,
    snapshot: () => live.snapshot,
    isOwnPath: ownPaths(config),
    endpoints: authorization.endpoints,
    trustedProxies: trustedProxiesOf(config),
    legacyStatuses: config.compat.legacy_statuses,
  }
  return (request: ExplainRequest) => explain(parts, request)
}

function trustedProxiesOf({ gateway }: Config) {
  return gateway.trusted_proxies.length === 0 ? undefined : addressList(gateway.trusted_proxies)
}

/** A test for the paths that the product itself answers on the traffic port. */
function ownPaths({ gateway, compat }: Config): (path: string) => boolean {
  const words = ['svc', ...compat.vendor_aliases].join('|')
  const source =
    gateway.control_port === 0 ? `^/(?:(?:hello|ready|metrics)/?$|(?:${words})(?:/|$))` : '^/(?:hello|ready)/?$'
  const pattern = new RegExp(source)
  return (path) => pattern.test(path)
}

/** Keeps the chosen certificates in step with APIs and stored certificates. Answers the function that ends it. */
async function followCertificates(tls: TlsCertificates, live: LiveConfig, store: Store): Promise<() => void> {
  await tls.update()
  live.onApis(() => void tls.update())
  return store.feed.subscribe(({ changes }) => {
    if (changes.some(({ kind }) => kind === 'certificate')) void tls.updateCertificates()
  })
}

async function findKeyPair(store: Store, sealKey: Uint8Array, id: string): Promise<KeyPair | undefined> {
  const stored = await store.documents.find('certificate', 'cert_id', id)
  if (stored === undefined) return undefined
  const { certificate } = stored.body
  const key = privateKeyOf(stored.body, sealKey)
  return typeof certificate === 'string' && key !== undefined ? { certificate, key } : undefined
}
