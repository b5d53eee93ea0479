import type { HistogramSample, MetricRegistry, MetricSample, MetricSource } from '../model/metrics/metric-registry.ts'

/** `prometheus` is text format 0.0.4, `openmetrics` is OpenMetrics 1.0: the same lines but for the names in TYPE and the end mark. */
export type MetricsFormat = 'prometheus' | 'openmetrics'

/** A page of metrics as it is answered. */
export interface MetricsPage {
  readonly contentType: string
  readonly body: Uint8Array
}

/** The format that a scraper's Accept field asks for, and the Content-Type that goes with it. */
export function chooseMetricsFormat(accept: string | undefined): { format: MetricsFormat; contentType: string } {
  if (accept?.includes('application/openmetrics-text'))
    return { format: 'openmetrics', contentType: 'application/openmetrics-text; version=1.0.0; charset=utf-8' }
  return { format: 'prometheus', contentType: 'text/plain; version=0.0.4; charset=utf-8' }
}

/** The page in the format that a scraper's Accept field asks for. */
export async function metricsPage(
  metrics: Pick<MetricRegistry, 'sources'>,
  accept: string | undefined,
): Promise<MetricsPage> {
  const { format, contentType } = chooseMetricsFormat(accept)
  return { contentType, body: await renderMetrics(metrics, format) }
}

/** The size of a slice of rendering, after which requests are served: so many lines, some tenths of a millisecond. */
const LINES_PER_TURN = 500

/**
 * The whole page in UTF-8, written in turns that requests go between: a thousand APIs make five megabytes. Each turn encodes what it
 * wrote: joined and encoded at the end they took 10 to 15 ms at once, copied 1 ms (Node 26.10).
 */
export async function renderMetrics(
  metrics: Pick<MetricRegistry, 'sources'>,
  format: MetricsFormat = 'prometheus',
): Promise<Uint8Array> {
  const page: Uint8Array[] = []
  let text = ''
  let lines = 0
  for (const source of metrics.sources) {
    text += header(source, format)
    for (const sample of metricSamples(source)) {
      text += 'value' in sample ? sampleLine(source.name, sample) : histogramLines(source.name, sample)
      lines += 'value' in sample ? 1 : sample.counts.length + 2
      if (lines < LINES_PER_TURN) continue
      page.push(Buffer.from(text))
      text = ''
      lines = 0
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  page.push(Buffer.from(format === 'openmetrics' ? `${text}# EOF\n` : text))
  return Buffer.concat(page)
}

/** The samples of a metric; a single number has no labels. */
export function metricSamples(source: MetricSource): Iterable<MetricSample | HistogramSample> {
  const read = source.read()
  return typeof read === 'number' ? [{ labels: {}, value: read }] : read
}

function header({ name, kind, help }: MetricSource, format: MetricsFormat): string {
  const family = format === 'openmetrics' && kind === 'counter' ? name.replace(/_total$/, '') : name
  const unit = format === 'openmetrics' && family.endsWith('_seconds') ? `# UNIT ${family} seconds\n` : ''
  return `# HELP ${family} ${help}\n# TYPE ${family} ${kind}\n${unit}`
}

function sampleLine(name: string, { labels, value }: MetricSample): string {
  const pairs = pairsOf(labels)
  return `${name}${pairs === '' ? '' : `{${pairs}}`} ${number(value)}\n`
}

function histogramLines(name: string, { labels, bounds, counts, sum }: HistogramSample): string {
  const pairs = pairsOf(labels)
  const front = pairs === '' ? '' : `${pairs},`
  const own = pairs === '' ? '' : `{${pairs}}`
  let lines = ''
  let total = 0
  for (let i = 0; i < counts.length; i++) {
    total += counts[i]!
    lines += `${name}_bucket{${front}le="${i < bounds.length ? bounds[i] : '+Inf'}"} ${total}\n`
  }
  return `${lines}${name}_sum${own} ${number(sum)}\n${name}_count${own} ${total}\n`
}

function pairsOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',')
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
