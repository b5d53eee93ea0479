import {
  type MetricRegistry,
  type MetricTable,
  mergeMetricTables,
  metricTables,
} from '../../model/metrics/metric-registry.ts'
import type { ProbeResult, Prober } from '../upstream/api-upstream.ts'

/** The gateway threads of this process, as one of them sees them. */
export interface GatewayPeers {
  /** How many there are, this one too. */
  readonly threads: number
  /** Of this one. */
  readonly name: string
  /** How many serve now. */
  up(): number
  /** One of them probes the targets of upstreams for all. */
  readonly prober: Prober
  /** Resolves when all others that serve do so with what was committed under this revision. Never rejects. */
  settled(revision: number): Promise<void>
  /** Has all others read everything again. Never rejects. */
  reload(): Promise<void>
  /** The numbers of all others, of those that have ended, and of the process. `own`: those of this one, kept for when it ends. */
  metrics(own: readonly MetricTable[]): Promise<readonly (readonly MetricTable[])[]>
}

/** The question of a gateway thread to all others. */
export type PeerQuestion =
  | { readonly sort: 'settled'; readonly revision: number }
  | { readonly sort: 'reload' }
  | { readonly sort: 'probed'; readonly result: ProbeResult }
  | { readonly sort: 'metrics'; readonly own: readonly MetricTable[] }

/** The metrics of this gateway, and of the other threads where there are some. */
export async function metricsOf(
  own: MetricRegistry,
  peers: GatewayPeers | undefined,
): Promise<Pick<MetricRegistry, 'sources'>> {
  if (peers === undefined) return own
  const tables = metricTables(own)
  return { sources: mergeMetricTables([tables, ...(await peers.metrics(tables))]) }
}
