import { BUCKETS } from '../../model/analytics/histogram.ts'
import { LATENCY_BOUNDS_MS } from '../../model/analytics/hit.ts'
import { type ApiMetrics, DURATION_TYPES, HISTOGRAM_NUMBERS } from './api-metrics.ts'
import type { MetricSource, Metrics } from './metrics.ts'

/** `prometheus` is text format 0.0.4, `openmetrics` is OpenMetrics 1.0: the same lines but for the names in TYPE and the end mark. */
export type MetricsFormat = 'prometheus' | 'openmetrics'

/** The format that a scraper's Accept field asks for, and the Content-Type that goes with it. */
export function chooseMetricsFormat(accept: string | undefined): { format: MetricsFormat; contentType: string } {
  if (accept?.includes('application/openmetrics-text'))
    return { format: 'openmetrics', contentType: 'application/openmetrics-text; version=1.0.0; charset=utf-8' }
  return { format: 'prometheus', contentType: 'text/plain; version=0.0.4; charset=utf-8' }
}

/** The size of a slice of rendering, after which requests are served: the lines of so many APIs, some tenths of a millisecond. */
const PIECES_PER_TURN = 10
const SAMPLES_PER_PIECE = 50

/**
 * The whole page in UTF-8, written in turns that requests go between: a thousand APIs make five megabytes. Each turn encodes what it
 * wrote: joined and encoded at the end they took 10 to 15 ms at once, copied 1 ms (Node 26.10).
 */
export async function renderMetrics(metrics: Metrics, format: MetricsFormat = 'prometheus'): Promise<Uint8Array> {
  const page: Uint8Array[] = []
  let text = ''
  let count = 0
  for (const piece of pieces(metrics, format)) {
    text += piece
    if (++count % PIECES_PER_TURN !== 0) continue
    page.push(Buffer.from(text))
    text = ''
    await new Promise((resolve) => setImmediate(resolve))
  }
  page.push(Buffer.from(text))
  return Buffer.concat(page)
}

function* pieces(metrics: Metrics, format: MetricsFormat): Generator<string> {
  yield header('svc_http_requests', 'counter', 'Requests answered, by API and status.', format)
  for (const [label, api] of metrics.labelledApis()) yield requestLines(label, api)
  yield header(
    'svc_http_request_duration_seconds',
    'histogram',
    'Time of requests: all of it, the upstream, ourselves.',
    format,
  )
  for (const [label, api] of metrics.labelledApis()) yield durationLines(label, api)
  for (const source of metrics.sources) {
    yield header(source.name, source.kind, source.help, format)
    yield* sourceLines(source)
  }
  if (format === 'openmetrics') yield '# EOF\n'
}

function header(name: string, kind: string, help: string, format: MetricsFormat): string {
  const full = kind === 'counter' && format === 'prometheus' ? `${name}_total` : name
  const unit = format === 'openmetrics' && name.endsWith('_seconds') ? `# UNIT ${full} seconds\n` : ''
  return `# HELP ${full} ${help}\n# TYPE ${full} ${kind}\n${unit}`
}

function requestLines(label: string, api: ApiMetrics): string {
  const front = `svc_http_requests_total{api="${escapeLabel(label)}",status="`
  let lines = ''
  for (const [i, status] of api.statuses.entries()) lines += `${front}${status}"} ${api.statusCounts[i]}\n`
  if (api.otherStatuses > 0) lines += `${front}other"} ${api.otherStatuses}\n`
  return lines
}

const BOUND_LABELS = [...LATENCY_BOUNDS_MS.map((ms) => String(ms / 1000)), '+Inf']

function durationLines(label: string, api: ApiMetrics): string {
  const counts = api.counts
  if (counts === undefined) return ''
  const name = 'svc_http_request_duration_seconds'
  let lines = ''
  for (const [type, typeName] of DURATION_TYPES.entries()) {
    const labels = `api="${escapeLabel(label)}",type="${typeName}"`
    const at = type * HISTOGRAM_NUMBERS
    let total = 0
    for (let i = 0; i < BUCKETS; i++) {
      total += counts[at + i]!
      lines += `${name}_bucket{${labels},le="${BOUND_LABELS[i]}"} ${total}\n`
    }
    lines += `${name}_sum{${labels}} ${counts[at + BUCKETS]! / 1000}\n${name}_count{${labels}} ${total}\n`
  }
  return lines
}

function* sourceLines(source: MetricSource): Generator<string> {
  const name = source.kind === 'counter' ? `${source.name}_total` : source.name
  const value = source.read()
  if (typeof value === 'number') {
    yield `${name} ${number(value)}\n`
    return
  }
  let lines = ''
  let count = 0
  for (const sample of value) {
    lines += `${name}${labelText(sample.labels)} ${number(sample.value)}\n`
    if (++count % SAMPLES_PER_PIECE !== 0) continue
    yield lines
    lines = ''
  }
  yield lines
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function number(value: number): string {
  if (Number.isFinite(value)) return String(value)
  if (Number.isNaN(value)) return 'NaN'
  return value > 0 ? '+Inf' : '-Inf'
}

/** Label values may hold anything but a bare backslash, quote or line feed (text format 0.0.4). */
function escapeLabel(value: string): string {
  if (!/[\\"\n]/.test(value)) return value
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
