import { fault } from '../../errors/fault.ts'
import { systemClock } from '../../model/time/clock.ts'
import { type ApiMetrics, DURATION_TYPES } from '../record/api-metrics.ts'
import { type AdminAnswer, json } from './answer.ts'
import type { AdminParts } from './parts.ts'
import type { AdminRequest } from './request.ts'

/** Counts are compared with those of a call that is at most so old, or with the first one after it. */
const WINDOW_MS = 60_000

/** The counts of an API up to an instant of the monotonic clock. */
interface Counted {
  readonly atMs: number
  readonly requests: number
  readonly throttled: number
  readonly keyFailures: number
  readonly upstream: number
  readonly upstreamMs: number
}

/**
 * `GET /health?api_id=` of the incumbent, under an alias: requests and refusals a second on this node, since a call about a minute ago, else
 * since the start. Refusals by rate and by quota (429) are one number there, those of credentials are 401 and 403.
 */
export function apiHealth(parts: AdminParts): (request: AdminRequest) => AdminAnswer {
  const clock = parts.clock ?? systemClock
  const begun: Counted = { ...NOTHING, atMs: clock.mono() }
  const before = new WeakMap<ApiMetrics, Counted>()
  return (request) => {
    if (!request.isAlias) throw fault('not_found')
    const apiId = request.text('api_id')
    if (apiId === '') throw fault('query_invalid', 'missing api_id parameter')
    const metrics = parts.live.snapshot.apis.get(apiId)?.main.metrics
    if (metrics === undefined) throw fault('not_found', 'API ID not found')
    const base = before.get(metrics) ?? begun
    const now = countedBy(metrics, clock.mono())
    if (base === begun || now.atMs - base.atMs >= WINDOW_MS) before.set(metrics, now)
    const seconds = Math.max(1, (now.atMs - base.atMs) / 1000)
    const perSecond = (name: keyof Counted) => (now[name] - base[name]) / seconds
    const upstream = now.upstream - base.upstream
    return json({
      throttle_reqests_per_second: perSecond('throttled'),
      quota_violations_per_second: 0,
      key_failures_per_second: perSecond('keyFailures'),
      average_upstream_latency: upstream === 0 ? 0 : (now.upstreamMs - base.upstreamMs) / upstream,
      average_requests_per_second: perSecond('requests'),
    })
  }
}

const NOTHING: Omit<Counted, 'atMs'> = { requests: 0, throttled: 0, keyFailures: 0, upstream: 0, upstreamMs: 0 }

function countedBy(metrics: ApiMetrics, atMs: number): Counted {
  if (metrics.counts === undefined) return { ...NOTHING, atMs }
  const count = (...statuses: number[]) =>
    metrics.statuses.reduce((sum, each, at) => (statuses.includes(each) ? sum + metrics.statusCounts[at]! : sum), 0)
  const duration = (type: (typeof DURATION_TYPES)[number]) => {
    const { counts, sum } = metrics.durations(DURATION_TYPES.indexOf(type))
    return { count: counts.reduce((all, each) => all + each, 0), ms: sum * 1000 }
  }
  const upstream = duration('upstream')
  return {
    atMs,
    requests: duration('total').count,
    throttled: count(429),
    keyFailures: count(401, 403),
    upstream: upstream.count,
    upstreamMs: upstream.ms,
  }
}
