import { Type } from 'typebox'
import { percentile } from '../../model/analytics/histogram.ts'
import { type Hit, HOUR_MS, type Latency } from '../../model/analytics/hit.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { UsagePer } from '../../store/ports/ports.ts'
import { SHOWN_MEMBERS } from './dimensions.ts'

const int = Type.Integer()
const text = Type.String()

/** The subject of a row. Other parts are 0 or '', never missing. */
export const RowId = Type.Object(
  {
    day: int,
    month: int,
    year: int,
    hour: int,
    code: int,
    path: text,
    key: text,
    alias: text,
    url: text,
    iso_country: text,
    api_id: text,
    api_name: text,
    /** Ours: the method of a tracked endpoint, a tag, a developer, a version, an OAuth client. */
    method: text,
    tag: text,
    developer_id: text,
    developer_email: text,
    api_version: text,
    oauth_id: text,
    ...Object.fromEntries(SHOWN_MEMBERS.map((member) => [member, text])),
  },
  { title: 'UsageRowId' },
)

/** One row of analytics. Latencies in ms: averages, extremes, and percentiles from a histogram (exact to its bucket). */
export const UsageRowShape = Type.Object(
  {
    id: RowId,
    hits: int,
    success: int,
    error: int,
    last_hit: text,
    request_time: int,
    latency: int,
    upstream_latency: int,
    max_latency: int,
    min_latency: int,
    max_upstream_latency: int,
    min_upstream_latency: int,
    p50: Type.Number(),
    p95: Type.Number(),
    p99: Type.Number(),
  },
  { title: 'UsageRow' },
)

const NO_ID: JsonObject = Object.fromEntries(
  Object.entries(RowId.properties).map(([name, shape]) => [name, shape === int ? 0 : '']),
)

/** Shows a row of sums. `id`: the parts that it is about, besides the time. */
export function toUsageRow(hit: Hit, per: UsagePer, id: JsonObject): JsonObject {
  const { total, upstream } = hit
  const average = averageMs(total)
  return {
    id: { ...NO_ID, ...timeOf(hit.hour, per), ...id },
    ...{ hits: hit.count, success: hit.success, error: hit.error, last_hit: new Date(hit.lastAt).toISOString() },
    ...{ request_time: average, latency: average, upstream_latency: averageMs(upstream) },
    ...{ max_latency: Math.round(total.maxMs), min_latency: minMs(total) },
    ...{ max_upstream_latency: Math.round(upstream.maxMs), min_upstream_latency: minMs(upstream) },
    ...{ p50: rounded(percentile(total, 0.5)), p95: rounded(percentile(total, 0.95)) },
    p99: rounded(percentile(total, 0.99)),
  }
}

function timeOf(hour: number, per: UsagePer): JsonObject {
  if (per === 'all') return {}
  const at = new Date(hour * HOUR_MS)
  const month = { month: at.getUTCMonth() + 1, year: at.getUTCFullYear() }
  if (per === 'month') return month
  return { day: at.getUTCDate(), ...month, ...(per === 'hour' && { hour: at.getUTCHours() }) }
}

const countOf = ({ buckets }: Latency) => buckets.reduce((a, b) => a + b, 0)

/** Whole milliseconds: clients decode them into integers. */
function averageMs(latency: Latency): number {
  const count = countOf(latency)
  return count === 0 ? 0 : Math.round(latency.sumMs / count)
}

function minMs(latency: Latency): number {
  return countOf(latency) === 0 ? 0 : Math.round(latency.minMs)
}

const rounded = (ms: number) => Math.round(ms * 100) / 100
