import { call, download, type Sent } from '../calls/call.ts'
import {
  DIMENSION_NAMES,
  DIMENSIONS,
  type Dimension,
  dimensionRow,
  type UsageFilters,
  type UsageRowId,
} from './dimensions.ts'

/** Buckets of time, UTC. */
export type Resolution = 'minute' | 'hour' | 'day' | 'month'

/** A time, from its first millisecond up to but not including `toMs`; both are full minutes. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** One row as `GET /api/usage...` answers it; latencies in milliseconds. */
export interface UsageRow {
  readonly id: UsageRowId
  readonly hits: number
  readonly success: number
  readonly error: number
  readonly latency: number
  readonly upstream_latency: number
  readonly max_latency: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

export interface UsagePage {
  readonly data: readonly UsageRow[]
  readonly pages: number
}

export interface Sorted {
  readonly by: string
  readonly descending: boolean
  readonly page: number
}

export const USAGE_KEY = ['usage'] as const

const SECOND_MS = 1000
const DAY_MS = 86_400_000

/** The buckets of a time, oldest first; those without a request are left out by the dashboard. */
export function readSeries(span: Span, res: Resolution, filters: UsageFilters, signal?: AbortSignal) {
  const query = { ...queryOf(span, filters), res, p: -1 }
  return call<UsagePage>('GET', `/api/usage/${pathOf(span)}`, { query, ...(signal && { signal }) })
}

/** All requests of a time as one row; null when there were none. */
export async function readTotal(span: Span, filters: UsageFilters, signal?: AbortSignal) {
  const query = { ...queryOf(span, filters), res: 'all' }
  const path = `/api/usage/${pathOf(span)}`
  return (await call<UsagePage>('GET', path, { query, ...(signal && { signal }) })).data[0] ?? null
}

/** A page of the breakdown of requests. */
export function readBreakdown(
  dimension: Dimension,
  span: Span,
  filters: UsageFilters,
  sorted: Sorted,
  signal?: AbortSignal,
) {
  const query = { ...breakdownQuery(span, filters, sorted), p: sorted.page }
  return call<UsagePage>('GET', `${DIMENSIONS[dimension].path}/${pathOf(span)}`, { query, ...(signal && { signal }) })
}

/** All rows of the same as a CSV file. @throws CallError */
export function downloadBreakdown(dimension: Dimension, span: Span, filters: UsageFilters, sorted: Sorted) {
  const query = { ...breakdownQuery(span, filters, sorted), type: 'csv' }
  return download(`${DIMENSIONS[dimension].path}/${pathOf(span)}`, { query })
}

/** The buckets of a time as a CSV file. @throws CallError */
export function downloadSeries(span: Span, res: Resolution, filters: UsageFilters) {
  return download(`/api/usage/${pathOf(span)}`, { query: { ...queryOf(span, filters), res, type: 'csv' } })
}

/** When the bucket of a row begins, in Unix milliseconds. */
export function bucketStart({ id }: Pick<UsageRow, 'id'>): number {
  return Date.UTC(id.year, id.month - 1, id.day === 0 ? 1 : id.day, id.hour, id.minute)
}

function breakdownQuery(span: Span, filters: UsageFilters, { by, descending }: Sorted): Sent['query'] {
  return { ...queryOf(span, filters), by, sort: descending ? '-1' : '1' }
}

/** Both days, UTC, as six segments of the path. */
function pathOf({ fromMs, toMs }: Span): string {
  return [new Date(fromMs), new Date(toMs - 1)]
    .map((date) => `${date.getUTCDate()}/${date.getUTCMonth() + 1}/${date.getUTCFullYear()}`)
    .join('/')
}

function queryOf({ fromMs, toMs }: Span, filters: UsageFilters) {
  const [from, to] = [fromMs, toMs].map((ms) => (ms % DAY_MS === 0 ? undefined : ms / SECOND_MS))
  return {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...Object.assign({}, ...DIMENSION_NAMES.map((name) => parametersOf(name, filters))),
    errors: filters.errors,
  }
}

function parametersOf(name: Dimension, filters: UsageFilters): Readonly<Record<string, string>> {
  const { parameter } = dimensionRow(name)
  const value = filters[name]
  if (value === '') return {}
  return typeof parameter === 'string' ? { [parameter]: value } : parameter(value)
}
