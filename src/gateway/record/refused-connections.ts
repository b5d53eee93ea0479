import type { Log } from '../../model/logs/log.ts'
import type { MetricRegistry, MetricSample } from '../../model/metrics/metric-registry.ts'
import type { DroppedConnections } from '../../model/nodes/descriptors.ts'
import { type Clock, OncePerInterval } from '../../model/time/clock.ts'
import type { RefusalReason } from '../../wire/listen/connection-limit.ts'

/** Between two lines of the log about the same reason. */
const INTERVAL_MS = 60_000

const RAISE = 'raise the limit of open files (ulimit -n, LimitNOFILE)'
const MESSAGES: Readonly<Record<RefusalReason, string>> = {
  max_connections: 'connections were refused: as many as gateway.max_connections allows are open',
  descriptors: `connections were refused: no file descriptors are left for clients; ${RAISE} or set gateway.max_connections`,
  handshakes: 'connections were refused: as many TLS handshakes as gateway.tls.max_handshakes allows are under way',
  upstream: `requests were refused: no file descriptors are left for upstreams; ${RAISE} or lower gateway.max_connections`,
}

interface Refused {
  count: number
  /** Since the last line of the log. */
  untold: number
}

/** Counts connections that were refused, and logs each reason at most once a minute. */
export class RefusedConnections {
  readonly #clock: Clock
  readonly #log: Log
  /** File descriptors of this process. */
  readonly #limit: number
  readonly #lines = new OncePerInterval(INTERVAL_MS)
  readonly #reasons = new Map<RefusalReason, Refused>()

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }, limit: number) {
    this.#clock = clock
    this.#log = log
    this.#limit = limit
  }

  refused(reason: RefusalReason): void {
    const known = this.#reasons.get(reason) ?? { count: 0, untold: 0 }
    this.#reasons.set(reason, known)
    known.count++
    known.untold++
    if (!this.#lines.isDue(reason, this.#clock.mono())) return
    this.#log.warn({ reason, refused: known.untold, open_files_limit: this.#limit }, MESSAGES[reason])
    known.untold = 0
  }

  /** `dashboard`: what the dashboard of this process dropped. */
  offer(metrics: MetricRegistry, dashboard?: DroppedConnections): void {
    metrics.offer('svc_connections_refused_total', () => [
      ...Array.from(this.#reasons, ([reason, { count }]) => sample(reason, 'gateway', count)),
      ...dashboardRefusals(dashboard),
    ])
  }
}

/** The numbers of `svc_connections_refused_total` for the dashboard of a process. */
export function dashboardRefusals(dropped: DroppedConnections | undefined): MetricSample[] {
  return (dropped?.counts() ?? []).map(([reason, count]) => sample(reason, 'dashboard', count))
}

const sample = (reason: string, place: 'gateway' | 'dashboard', value: number) => ({ labels: { reason, place }, value })
