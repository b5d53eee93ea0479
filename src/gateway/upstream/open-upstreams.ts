import type { Config } from '../../config/schema.ts'
import type { Log } from '../../model/logs/log.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { Feed } from '../../store/ports/ports.ts'
import type { SocketBudget } from '../../wire/listen/connection-limit.ts'
import type { OnGatewayEvent } from '../events/events.ts'
import { ResilienceRegistry } from './api-resilience.ts'
import type { Prober } from './api-upstream.ts'
import { ClientIdentities, type FindKeyPair } from './client-identities.ts'
import { UpstreamPool } from './targets.ts'

export interface OpenUpstreamsParts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly store: { readonly feed: Feed }
  readonly onGatewayEvent: OnGatewayEvent
  readonly sockets: SocketBudget
  /** As `ApiUpstreamParts.prober`. */
  readonly peers?: { readonly prober: Prober }
}

/** Creates the dependencies of all APIs' upstreams, from the settings. */
export function openUpstreams(parts: OpenUpstreamsParts, findKeyPair: FindKeyPair) {
  const { config, clock, log, store, onGatewayEvent, sockets } = parts
  const settings = config.gateway
  const upstreams = new UpstreamPool(
    {
      connectTimeoutMs: settings.connect_timeout_ms,
      headTimeoutMs: settings.proxy_default_timeout_ms,
      idleTimeoutMs: settings.upstream_idle_ms,
      totalTimeoutMs: 0,
      maxIdle: settings.upstream_max_idle,
      idleKeepMs: settings.upstream_keep_ms,
      http2: settings.proxy_enable_http2,
      sockets,
    },
    new ClientIdentities(findKeyPair, store.feed),
    settings.upstream_sockets,
  )
  const upstreamCares = new ResilienceRegistry({
    ...{ upstreams, clock, log, onGatewayEvent },
    dnsServers: settings.dns_servers,
    prober: parts.peers?.prober,
  })
  return { upstreams, upstreamCares }
}
