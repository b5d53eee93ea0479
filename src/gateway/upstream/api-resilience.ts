import { toFault } from '../../errors/fault.ts'
import type { Api } from '../../model/apis/definition/api.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { Log } from '../../model/logs/log.ts'
import type { MetricRegistry, MetricSample } from '../../model/metrics/metric-registry.ts'
import type { Clock } from '../../model/time/clock.ts'
import { apiEventRow } from '../../model/webhooks/api-events.ts'
import type { OnGatewayEvent } from '../events/events.ts'
import { ApiUpstream, type ApiUpstreamParts, type ProbeResult, type Prober } from './api-upstream.ts'
import type { RetryCounts } from './resilience.ts'
import type { UpstreamPool } from './targets.ts'

export interface ResilienceRegistryParts {
  readonly upstreams: UpstreamPool
  readonly clock: Clock
  readonly log: Log
  readonly onGatewayEvent: OnGatewayEvent
  readonly dnsServers: readonly string[]
  /** As `ApiUpstreamParts.prober`. */
  readonly prober?: Prober | undefined
}

/** The upstreams of all APIs of this node, and their state. */
export class ResilienceRegistry {
  /** One for all APIs: most of them never use it. */
  readonly #parts: ApiUpstreamParts
  readonly #open = new Set<ApiUpstream>()
  /** By API, in the order in which they were opened: when an API changes, the next one is opened before the one that serves is closed. */
  readonly #byApi = new Map<string, readonly ApiUpstream[]>()
  readonly #counts: RetryCounts = { made: 0, refused: 0 }

  constructor({ upstreams, clock, log, onGatewayEvent, dnsServers, prober }: ResilienceRegistryParts) {
    this.#parts = {
      ...{ upstreams, clock, dnsServers, prober, counts: this.#counts },
      began: (upstream) => this.#open.add(upstream),
      closed: (upstream) => {
        this.#open.delete(upstream)
        const left = (this.#byApi.get(upstream.apiId) ?? []).filter((each) => each !== upstream)
        if (left.length > 0) this.#byApi.set(upstream.apiId, left)
        else this.#byApi.delete(upstream.apiId)
      },
      tell: (kind, apiId, detail) => {
        const [level, text] = apiEventRow(kind).log ?? ['info', kind]
        log[level]({ api_id: apiId, ...detail }, text)
        onGatewayEvent(kind, apiId, detail)
      },
      unresolved: (apiId, srvName, error) => {
        log.warn(
          { api_id: apiId, srv_name: srvName, reason: toFault(error).message },
          'DNS does not name the targets of an API; keeping the previous ones',
        )
      },
    }
  }

  /** Opens the upstreams of an API, until they are closed. */
  openApi(api: Api): ApiUpstream {
    const before = this.#byApi.get(api.apiId) ?? []
    const upstream = new ApiUpstream(api, this.#parts, before.at(-1))
    if (this.#open.has(upstream)) this.#byApi.set(api.apiId, [...before, upstream])
    return upstream
  }

  /** Takes in a check by the thread that probes targets. */
  checkedElsewhere(result: ProbeResult): void {
    for (const upstream of this.#byApi.get(result.apiId) ?? []) upstream.checkedElsewhere(result)
  }

  /** State of targets and breakers, of every API with resilience settings. */
  states(): JsonObject[] {
    return Array.from(this.#open, (each) => each.states())
  }

  /** Adds what is known of upstreams to the metrics page. */
  offerMetrics(metrics: MetricRegistry): void {
    metrics.offer('svc_upstream_targets', () => [...this.#open].flatMap((each) => targetSamples(each)))
    metrics.offer('svc_breakers_open', () => [...this.#open].reduce((sum, each) => sum + each.openBreakers(), 0))
    metrics.offer('svc_upstream_retries_total', () => this.#counts.made)
    metrics.offer('svc_upstream_retries_refused_total', () => this.#counts.refused)
  }
}

function targetSamples(upstream: ApiUpstream): MetricSample[] {
  const counts = { up: 0, down: 0, ejected: 0 }
  for (const { state } of upstream.targetStates()) counts[state]++
  return Object.entries(counts).map(([state, value]) => ({ labels: { api_id: upstream.apiId, state }, value }))
}
