import { Type } from 'typebox'
import { type Hit, HOUR_MS, type Latency, percentile } from '../../model/analytics/hit.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { UsagePer } from '../../store/ports/ports.ts'
import { moment } from '../routes/text-forms.ts'
import { SHOWN_MEMBERS } from './dimensions.ts'

/** The subject of a row. Other parts are 0 or '', never missing. */
export const RowId = Type.Object(
  {
    day: Type.Integer({ description: 'Day of the month in UTC, 1 to 31. 0 where rows cover a month or more.' }),
    month: Type.Integer({ description: 'Month in UTC, 1 to 12. 0 where one row covers all of the time.' }),
    year: Type.Integer({ description: 'Year in UTC. 0 where one row covers all of the time.' }),
    hour: Type.Integer({ description: 'Hour of the day in UTC, 0 to 23; 0 where rows cover a day or more.' }),
    code: Type.Integer({ description: 'Status code of the responses. 0 where rows are not by status.' }),
    path: Type.String({
      description: 'Path of a tracked endpoint, without the listen path. Blank where rows are not by endpoint.',
    }),
    key: Type.String({
      description: 'Hash of the key or token; `00000000`: requests without one. Blank where rows are not by key.',
    }),
    alias: Type.String({ description: 'Alias of the key: the present one, else the one that was counted last.' }),
    url: Type.String({ description: 'Always blank; kept for clients of the incumbent.' }),
    iso_country: SHOWN_MEMBERS.iso_country!,
    api_id: Type.String({ description: '`api_id` of the API. Blank where rows are not by API.' }),
    api_name: Type.String({ description: 'Present name of the API. Blank once the API is deleted.' }),
    /** Ours: the method of a tracked endpoint, a tag, a developer, a version, an OAuth client. */
    method: Type.String({ description: 'Method of a tracked endpoint. Blank where rows are not by endpoint.' }),
    tag: Type.String({ description: 'Tag of the requests. Blank where rows are not by tag.' }),
    developer_id: Type.String({ description: 'Id of the developer. Blank where rows are not by developer.' }),
    developer_email: Type.String({
      description: 'Email address of the developer. Blank once the developer is deleted.',
    }),
    ...SHOWN_MEMBERS,
    minute: Type.Integer({ description: 'Minute of the hour. 0 where rows are not by minute.' }),
  },
  {
    title: 'UsageRowId',
    description: 'What a row is about: the time, and what the call groups by. Other members are 0 or blank.',
  },
)

/** One row of analytics. Latencies in ms: averages, extremes, and percentiles from a histogram (exact to its bucket). */
export const UsageRowShape = Type.Object(
  {
    id: RowId,
    hits: Type.Integer({ description: 'Number of requests.' }),
    success: Type.Integer({ description: 'Requests that were answered with a status below 400.' }),
    error: Type.Integer({ description: 'Requests that were answered with a status from 400 on.' }),
    last_hit: moment('Time of the last request (RFC 3339).'),
    request_time: Type.Integer({ description: 'As `latency`: older name.' }),
    latency: Type.Integer({ description: 'Average time from request to response, in whole milliseconds.' }),
    upstream_latency: Type.Integer({ description: 'Average time that the upstream took, in whole milliseconds.' }),
    max_latency: Type.Integer({ description: 'Longest time from request to response, in whole milliseconds.' }),
    min_latency: Type.Integer({ description: 'Shortest time from request to response, in whole milliseconds.' }),
    max_upstream_latency: Type.Integer({ description: 'Longest time that the upstream took, in whole milliseconds.' }),
    min_upstream_latency: Type.Integer({ description: 'Shortest time that the upstream took, in whole milliseconds.' }),
    p50: Type.Number({ description: 'Median latency in milliseconds, estimated from a histogram.' }),
    p95: Type.Number({ description: '95th percentile of the latency in milliseconds, estimated from a histogram.' }),
    p99: Type.Number({ description: '99th percentile of the latency in milliseconds, estimated from a histogram.' }),
  },
  { title: 'UsageRow' },
)

const NO_ID: JsonObject = Object.fromEntries(
  Object.entries(RowId.properties).map(([name, shape]) => [name, shape.type === 'integer' ? 0 : '']),
)

/** Shows a row of sums. `id`: the parts that it is about, besides the time. */
export function toUsageRow(hit: Hit, per: UsagePer, id: JsonObject): JsonObject {
  const { total, upstream } = hit
  const average = averageMs(total)
  return {
    id: { ...NO_ID, ...timeOf(hit, per), ...id },
    ...{ hits: hit.count, success: hit.success, error: hit.error, last_hit: new Date(hit.lastAt).toISOString() },
    ...{ request_time: average, latency: average, upstream_latency: averageMs(upstream) },
    ...{ max_latency: Math.round(total.maxMs), min_latency: minMs(total) },
    ...{ max_upstream_latency: Math.round(upstream.maxMs), min_upstream_latency: minMs(upstream) },
    ...{ p50: rounded(percentile(total, 0.5)), p95: rounded(percentile(total, 0.95)) },
    p99: rounded(percentile(total, 0.99)),
  }
}

function timeOf({ hour, minute = 0 }: Hit, per: UsagePer): JsonObject {
  if (per === 'all') return {}
  const at = new Date(hour * HOUR_MS)
  const month = { month: at.getUTCMonth() + 1, year: at.getUTCFullYear() }
  if (per === 'month') return month
  const day = { day: at.getUTCDate(), ...month }
  if (per === 'day') return day
  return { ...day, hour: at.getUTCHours(), ...(per === 'minute' && { minute }) }
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
